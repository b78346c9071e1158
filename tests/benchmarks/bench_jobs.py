"""Jobs from creation to result through HTTP, and lists of 100,000. Aims: over 50 jobs a second, a median under 100 ms,
lists with filters under 100 ms.

    python -m tests.benchmarks.bench_jobs

A job is one request that creates and runs it, long polls until it has ended, and its result. For the rate, four clients
do so side by side. The server is in the same process, so its clients share its processor.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx

from clickhouse_schema.apply import initialise
from tap_service.config import Config
from tap_service.models.instants import later, now
from tap_service.models.job import ExecutionPhase, Job, JobFilter
from tap_service.storage.embedded import EmbeddedEngine
from tap_service.storage.jobs import JobStore
from tap_service.storage.sqlite_jobs import SqliteJobStore
from tests.tap_service.conftest import served

JOBS = 400
CLIENTS = 4
LISTED = 100_000
QUERY = "SELECT TOP 1 table_name FROM TAP_SCHEMA.tables"


def one_job(client: httpx.Client, tap: str) -> float:
    began = time.perf_counter()
    created = client.post(f"{tap}/async", data={"LANG": "ADQL", "QUERY": QUERY, "PHASE": "RUN"})
    url = created.headers["location"]
    while "COMPLETED" not in client.get(url, params={"WAIT": "60"}).text:
        pass
    client.get(f"{url}/results/result").raise_for_status()
    return time.perf_counter() - began


def measure_jobs(folder: Path) -> None:
    engine = EmbeddedEngine(folder / "data")
    initialise(engine)
    with served(Config(query_log="", jobs_path=folder / "jobs"), engine) as server:

        def many(count: int) -> list[float]:
            with httpx.Client() as client:
                return [one_job(client, server.tap) for _ in range(count)]

        many(10)
        alone = many(JOBS // CLIENTS)
        began = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as pool:
            together = [seconds for part in pool.map(many, [JOBS // CLIENTS] * CLIENTS) for seconds in part]
        rate = JOBS / (time.perf_counter() - began)
    print(f"one client: median {statistics.median(alone) * 1000:.1f} ms a job")
    print(f"{CLIENTS} clients: {rate:.0f} jobs a second, median {statistics.median(together) * 1000:.1f} ms")
    engine.close()


def fill(store: JobStore) -> None:
    """Half of them one user's, phases in turn."""
    phases = (ExecutionPhase.COMPLETED, ExecutionPhase.ERROR, ExecutionPhase.ABORTED, ExecutionPhase.PENDING)
    first = Job("", "kepler", now(), later(now(), 86_400), 600, parameters=(("QUERY", QUERY),))
    for number in range(LISTED):
        owner = "kepler" if number % 2 else f"user{number % 1000}"
        store.create(
            replace(
                first,
                job_id=f"{number:032x}",
                owner=owner,
                creation_time=later(first.creation_time, number / 100),
                phase=phases[number // 2 % 4],
            )
        )


def measure_lists(folder: Path) -> None:
    store = SqliteJobStore(folder / "listed")
    fill(store)
    recent = later(now(), LISTED / 100 * 0.9)
    for told, wanted in (
        ("the last 100", JobFilter("kepler", last=100)),
        (
            "the last 100 of two phases",
            JobFilter("kepler", frozenset({ExecutionPhase.ERROR, ExecutionPhase.PENDING}), last=100),
        ),
        ("the last 100 of a phase without jobs", JobFilter("kepler", frozenset({ExecutionPhase.EXECUTING}), last=100)),
        ("one phase, the latest tenth", JobFilter("kepler", frozenset({ExecutionPhase.ERROR}), after=recent)),
        ("all of one user's", JobFilter("kepler")),
        ("the last 100 of everybody's", JobFilter(None, last=100)),
    ):
        times = []
        for _ in range(10):
            began = time.perf_counter()
            found = sum(1 for _ in store.references(wanted))
            times.append(time.perf_counter() - began)
        print(f"list of {LISTED}: {told}: {found} in {statistics.median(times) * 1000:.2f} ms")
    store.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure_jobs(Path(folder))
        measure_lists(Path(folder))


if __name__ == "__main__":
    main()
