"""A hundred jobs run while workers and Redis are killed at random: no job is lost, no result is wrong.

``CHAOS_SECONDS`` in the environment sets the duration, with proportionally more jobs; ``CHAOS_SEED`` repeats the order
of kills.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from tap_service.models.uws_job import JobFilter
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tests.tap_service.async_client import FINISHED, UWS
from tests.tap_service.jobs.test_cluster_faults import Cluster, _cluster, cluster
from tests.tap_service.worker_processes import Workers

__all__ = ["_cluster", "cluster"]  # fixtures

SECONDS = float(os.environ.get("CHAOS_SECONDS", "6"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))
JOBS = int(20 * SECONDS)
CLIENTS = 8
AGAIN = (429, 503)


def wanted(number: int) -> tuple[str, str]:
    """Return the query of job ``number`` and its result; one query in ten takes a while."""
    if number % 10:
        rows = 1 + number % 7
        return f"SELECT TOP {rows} {number} AS mine FROM TAP_SCHEMA.columns", "mine\r\n" + f"{number}\r\n" * rows
    rows = 150_000 + number
    tables = ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcd")
    return f"SELECT TOP {rows} {number} AS mine FROM {tables}", "mine\r\n" + f"{number}\r\n" * rows


class Client:
    """A client that retries after 503 and after connection errors."""

    def __init__(self, tap: str, http: httpx.Client) -> None:
        self._tap = tap
        self._http = http

    def ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        while True:
            answer = self._http.request(method, url, **options)
            if answer.status_code not in AGAIN:
                return answer
            time.sleep(0.2)

    def done(self, number: int) -> tuple[str, str, str]:
        """Run a job; return its URL, phase, and result or error."""
        parameters = {"LANG": "ADQL", "QUERY": wanted(number)[0], "FORMAT": "csv", "MAXREC": "1000000"}
        url = self.ask("POST", self._tap + "/async", data=parameters).headers["location"]
        while self.ask("GET", url + "/phase").text == "PENDING":
            self.ask("POST", url + "/phase", data={"PHASE": "RUN"})
        while True:
            summary = ElementTree.fromstring(self.ask("GET", url, params={"WAIT": "-1"}).content)
            phase = summary.findtext(UWS + "phase") or ""
            if phase == "COMPLETED":
                return url, phase, self.ask("GET", url + "/results/result").text
            if phase in FINISHED:
                return url, phase, summary.findtext(f"{UWS}errorSummary/{UWS}message") or ""


def havoc(cluster: Cluster, fleet: list[Workers], over: threading.Event) -> list[str]:
    """Kill a process about every second until all jobs end or the time is up; return the kills."""
    dice, until, killed = random.Random(SEED), time.monotonic() + SECONDS, []
    while time.monotonic() < until and not over.wait(dice.uniform(0.3, 1.2)):
        what = dice.choice(["process", "process", "process", "worker", "redis"])
        killed.append(what)
        workers = dice.choice(fleet)
        if what == "process":
            for child in workers.children()[:1]:
                os.kill(child, signal.SIGKILL)
        elif what == "worker":
            workers.kill()
            workers.start()
        else:
            cluster.jobs.kill()
            cluster.jobs.start()
    return killed


@pytest.mark.timeout(120 + 4 * SECONDS)
def test_no_job_is_lost_and_none_is_wrong(cluster: Cluster) -> None:
    over = threading.Event()
    with (
        cluster.served() as service,
        cluster.workers(concurrent_jobs=2) as one,
        cluster.workers(concurrent_jobs=2) as two,
        httpx.Client(timeout=100) as http,
        ThreadPoolExecutor(CLIENTS + 1) as threads,
    ):
        client = Client(service.tap, http)
        killed = threads.submit(havoc, cluster, [one, two], over)
        ended = list(threads.map(client.done, range(JOBS)))
        over.set()
    assert len(killed.result()) > 0
    assert len({url for url, _, _ in ended}) == JOBS
    for number, (_, phase, said) in enumerate(ended):
        if phase == "COMPLETED":
            assert said == wanted(number)[1]
        else:
            assert (phase, "ended unexpectedly 3 times" in said) == ("ERROR", True), said
    store = RedisJobStore(cluster.settings["redis_url"])
    found = {reference.job_id: reference.phase for reference in store.list_references(JobFilter(None))}
    completed = {job_id: store.get_job(job_id).result for job_id, phase in found.items() if phase == "COMPLETED"}
    store.close()
    # a job that is PENDING was made, but the answer was lost and the client made another one
    run = {job_id: phase for job_id, phase in found.items() if phase != "PENDING"}
    assert run == {url.rsplit("/", 1)[1]: phase for url, phase, _ in ended}
    # nothing fails that was not killed three times
    assert 3 * (len(run) - len(completed)) <= 2 * len(killed.result())
    # each result is there once: no half one, and none of an attempt that was given up
    results = {result.key for result in completed.values() if result is not None}
    assert set(cluster.stored()) == {key + preview for key in results for preview in ("", "p")}
    print(f"{JOBS} jobs, killed: {', '.join(killed.result())}")
