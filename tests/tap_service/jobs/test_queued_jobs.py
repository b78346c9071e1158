"""Queues, quotes and limits as clients see them, on both deployments; test_job_queues covers the order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service.config import Config
from tap_service.models.timestamps import add_seconds, format_instant, now, parse_instant
from tap_service.models.uws_job import JobFilter
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.thread_priority import can_restore_priority
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.users import USERS
from tests.tap_service.worker_processes import Workers

THREE = "SELECT n FROM svc.numbers WHERE n < 3 ORDER BY n"

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def service(request: pytest.FixtureRequest, serve: Callable[..., RunningService]) -> RunningService:
    start = serve if request.param == "embedded" else request.getfixturevalue("serve_cluster")
    started: RunningService = start(concurrent_jobs=2, user_running_jobs=4, user_waiting_jobs=3)
    return started


@pytest.fixture
def run(service: RunningService) -> Iterator[Callable[..., Job]]:
    """Start a job, and destroy it after the test."""
    jobs: list[Job] = []

    def start(query: str, **parameters: str) -> Job:
        jobs.append(create_job(service.tap, query, PHASE="RUN", **parameters))
        return jobs[-1]

    yield start
    for job in jobs:
        job.delete()


def known(service: RunningService) -> list[str]:
    """Return the ids of all jobs."""
    jobs = service.server.config.app.state.services.stores.jobs
    return [each.job_id for each in jobs.list_references(JobFilter(None))]


def test_light_work_passes_heavy_work(run: Callable[..., Job], heavy: str, eventually: Eventually) -> None:
    first = run(heavy)
    eventually(lambda: first.phase == "EXECUTING")
    second = run(heavy)
    light = run(THREE)
    assert light.wait_for_end() == "COMPLETED"
    assert (first.phase, second.phase) == ("EXECUTING", "QUEUED")
    first.delete()
    eventually(lambda: second.phase == "EXECUTING")


def test_heavy_work_gives_way_to_light_work(
    service: RunningService, run: Callable[..., Job], heavy: str, eventually: Eventually
) -> None:
    """The engine gets the niceness of heavy queries; whether a server's threads adopt it depends on its rights."""
    job = run(heavy)
    ident = job.url.rsplit("/", 1)[1]
    running = (
        "SELECT toString(Settings['os_threads_nice_value_query']) AS nice FROM system.processes"
        f" WHERE startsWith(Settings['log_comment'], 'async-{ident}')"
    )
    niceness = "15" if isinstance(service.engine, ClickHouseEngine) or can_restore_priority() else ""
    eventually(lambda: service.engine.fetch_table(running).to_pylist() == [{"nice": niceness}])


def test_what_is_foreseen(run: Callable[..., Job], heavy: str) -> None:
    before = now()
    job = run(heavy)
    seconds = float(job.info["secondsForeseen"] or 0)
    assert job.info["workClass"] == "very long"
    assert int(job.info["rowsForeseen"] or 0) == 2_000_000
    assert int(job.info["bytesForeseen"] or 0) > 1_000_000
    quote = job.element_text("quote")
    assert quote is not None
    assert add_seconds(before, seconds * 0.9) <= parse_instant(quote)
    assert (
        abs(parse_instant(job.get("/quote").text) - parse_instant(quote)).total_seconds() < 60
    )  # it is renewed in the meantime
    again = run(heavy)
    assert parse_instant(again.element_text("quote") or "") > parse_instant(quote)  # it follows the first
    light = run(THREE)
    assert light.wait_for_end() == "COMPLETED"
    assert (light.info["workClass"], light.info["rowsForeseen"]) == ("short", "1000000")


def test_a_long_query_is_foreseen_when_it_starts(run: Callable[..., Job], heavy: str, eventually: Eventually) -> None:
    """The translation may take seconds, for which the client would have to wait."""
    long = f"{heavy} -- {'long ' * 5000}"
    job = run(long)
    eventually(lambda: job.phase == "EXECUTING" and "secondsForeseen" in job.info)
    assert job.info["workClass"] == "very long"
    assert parse_instant(job.element_text("quote") or "") > add_seconds(now(), 100)


def test_a_quote_is_not_after_the_destruction(run: Callable[..., Job], heavy: str) -> None:
    destruction = format_instant(add_seconds(now(), 60))
    job = run(heavy, DESTRUCTION=destruction)
    assert job.element_text("quote") == destruction


@pytest.mark.parametrize("query", ["SELECT nothing FROM svc.numbers", "SELECT 1 FROM", ""])
def test_what_will_fail_has_no_quote(run: Callable[..., Job], query: str) -> None:
    job = run(query)
    assert job.wait_for_end() == "ERROR"
    assert job.element_text("quote") is None
    assert job.get("/quote").text == ""


def test_who_has_too_many_waiting_jobs(
    service: RunningService, run: Callable[..., Job], heavy: str, eventually: Eventually
) -> None:
    first = run(heavy)
    eventually(lambda: first.phase == "EXECUTING")
    waiting = [run(heavy) for _ in range(3)]
    one_more = create_job(service.tap, THREE)
    refused = one_more.post("/phase", PHASE="RUN")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert "3 of your jobs wait already" in refused.text
    assert one_more.phase == "PENDING"
    before = known(service)
    at_once = httpx.post(f"{service.tap}/async", data={"QUERY": THREE, "PHASE": "RUN"})
    assert (at_once.status_code, "location" in at_once.headers) == (429, False)
    assert known(service) == before  # a job that was created here could never be found
    waiting[0].post("/phase", PHASE="ABORT")
    assert one_more.run().wait_for_end() == "COMPLETED"
    one_more.delete()


def test_anonymous_clients_leave_slots_for_users(serve: Callable[..., RunningService], accounts: Path) -> None:
    """Many addresses, each within its limits, do not prevent users from creating jobs."""
    service = serve(accounts=accounts, pending_jobs=4, trusted_proxies="127.0.0.1")

    def create(number: int = 0, **options: Any) -> httpx.Response:
        headers = {"X-Forwarded-For": f"192.0.2.{number}"}
        return httpx.post(f"{service.tap}/async", headers=headers, timeout=30, **{"data": {"QUERY": THREE}, **options})

    asked = [create(number) for number in range(4)]
    assert [answer.status_code for answer in asked] == [303, 303, 503, 503]
    assert "2 jobs are PENDING, and the rest is reserved for users: create this one with PHASE=RUN" in asked[-1].text
    alice = ("alice", USERS["alice"])
    assert [create(auth=alice).status_code for _ in range(3)] == [303, 303, 503]


def test_who_has_too_many_pending_jobs(serve: Callable[..., RunningService]) -> None:
    """Nothing of the refused job is stored; another address may create jobs, and this one may run jobs."""
    service = serve(user_pending_jobs=3, pending_jobs=4)

    def create(client: str = "192.0.2.1", **parameters: str) -> httpx.Response:
        data = {"QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f", **parameters}
        files = {"f": ("f.csv", b"id\n1\n", "text/csv")}
        return httpx.post(f"{service.tap}/async", data=data, files=files, headers={"X-Forwarded-For": client})

    made = [create() for _ in range(5)]
    assert [answer.status_code for answer in made] == [303] * 3 + [429] * 2
    assert "3 of your jobs are PENDING, the maximum: run or delete some of them" in made[-1].text
    assert int(made[-1].headers["retry-after"]) > 0
    assert len(service.server.config.app.state.services.stores.results.list_keys(0)) == 3
    assert (create("192.0.2.2").status_code, create(PHASE="RUN").status_code) == (303, 303)
    full = create("192.0.2.2")
    assert (full.status_code, "4 jobs of all users are PENDING" in full.text) == (503, True)
    assert create("192.0.2.2", PHASE="RUN").status_code == 303
    Job(made[0].headers["location"]).delete()
    assert create().status_code == 303


def test_a_slot_that_becomes_free_without_a_wake_up(service: RunningService, eventually: Eventually) -> None:
    """A slot becomes free without a wake-up, for example when a job moves to a heavier class."""
    job = create_job(service.tap, THREE)
    services = service.server.config.app.state.services
    services.stores.jobs.queue_job(job.url.rsplit("/", 1)[1])
    eventually(lambda: job.phase == "COMPLETED")
    job.delete()


def test_workers_for_short_jobs_leave_long_ones_to_others(
    cluster_settings: Callable[..., dict[str, Any]], heavy: str, tmp_path: Path, eventually: Eventually
) -> None:
    settings = cluster_settings(concurrent_jobs=1)
    engine = ClickHouseEngine(settings["clickhouse_url"])
    with ExitStack() as stack:
        stack.callback(engine.close)
        service = stack.enter_context(running_service(Config(**settings), engine))
        stack.callback(Workers(settings, tmp_path / "short", "short").kill)
        job = create_job(service.tap, heavy, PHASE="RUN")
        assert create_job(service.tap, THREE, PHASE="RUN").wait_for_end() == "COMPLETED"
        time.sleep(2)  # the caretaker runs twice
        assert (job.phase, job.info["workClass"]) == ("QUEUED", "very long")
        stack.callback(Workers(settings, tmp_path / "long", "long").kill)
        eventually(lambda: job.phase == "EXECUTING")
        assert create_job(service.tap, THREE, PHASE="RUN").wait_for_end() == "COMPLETED"
        job.delete()
        eventually(lambda: not engine.list_running_ids("async-"))
