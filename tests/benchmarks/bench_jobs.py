"""Jobs from creation to result through HTTP, and lists of 100,000 jobs, in both deployments.

    python -m tests.benchmarks.bench_jobs

Aims: over 50 jobs per second embedded and over 30 through Celery, a median under 100 ms, lists with filters under 100
ms, ABORT within a second. A job is one request that creates and runs it, long polls until it has ended, and its
result. For the rate, four clients do so in parallel. The server is in the same process, so its clients share its
processor; in the cluster, Redis, the workers, and a ClickHouse server share it too.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job, JobFilter
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tests.servers.server_cluster import running_server
from tests.support.running_service import running_service
from tests.tap_service.storage.redis_server import RedisServer, redis_server
from tests.tap_service.worker_processes import Workers

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


def aborted(client: httpx.Client, tap: str, engine: Engine) -> float:
    """For a job that works in the engine, return the seconds from the request to the end of that work."""
    query = "SELECT COUNT(*) AS c FROM " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")
    created = client.post(f"{tap}/async", data={"LANG": "ADQL", "QUERY": query, "PHASE": "RUN"})
    url = created.headers["location"]
    works = f"SELECT 1 AS n FROM system.processes WHERE Settings['log_comment'] LIKE '%{url.rsplit('/', 1)[1]}%'"
    while not engine.fetch_table(works).num_rows:
        pass
    began = time.perf_counter()
    client.post(f"{url}/phase", data={"PHASE": "ABORT"})
    while engine.fetch_table(works).num_rows:
        pass
    return time.perf_counter() - began


def measure_jobs(deployment: str, config: Config, engine: Engine) -> None:
    with running_service(config, engine) as server:

        def many(count: int) -> list[float]:
            with httpx.Client(timeout=100) as client:
                return [one_job(client, server.tap) for _ in range(count)]

        many(10)
        alone = many(JOBS // CLIENTS)
        began = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as pool:
            together = [seconds for part in pool.map(many, [JOBS // CLIENTS] * CLIENTS) for seconds in part]
        rate = JOBS / (time.perf_counter() - began)
        with httpx.Client(timeout=100) as client:
            aborts = [aborted(client, server.tap, engine) for _ in range(10)]
    print(f"{deployment}, one client: median {statistics.median(alone) * 1000:.1f} ms a job")
    print(
        f"{deployment}, {CLIENTS} clients: {rate:.0f} jobs a second, median {statistics.median(together) * 1000:.1f} ms"
    )
    print(f"{deployment}, ABORT until the engine is free: median {statistics.median(aborts) * 1000:.0f} ms", end="")
    print(f", at most {max(aborts) * 1000:.0f} ms")


def measure_cluster(folder: Path, jobs: RedisServer) -> None:
    with running_server(folder / "clickhouse") as clickhouse:
        settings = {
            "query_log": "",
            "redis_url": jobs.new_url(),
            "clickhouse_url": clickhouse.url,
            "results_url": str(folder / "results"),
        }
        engine, workers = ClickHouseEngine(clickhouse.url), Workers(settings, folder / "output")
        prepare_engine(engine)
        try:
            measure_jobs("cluster", Config(**settings), engine)
        finally:
            workers.stop()
            workers.wait()
            engine.close()


def fill(store: JobStore) -> None:
    """Half of the jobs belong to one user; the phases alternate."""
    phases = (ExecutionPhase.COMPLETED, ExecutionPhase.ERROR, ExecutionPhase.ABORTED, ExecutionPhase.PENDING)
    first = Job("", "kepler", now(), add_seconds(now(), 86_400), 600, parameters=(("QUERY", QUERY),))
    for number in range(LISTED):
        owner = "kepler" if number % 2 else f"user{number % 1000}"
        store.create_job(
            replace(
                first,
                job_id=f"{number:032x}",
                owner=owner,
                creation_time=add_seconds(first.creation_time, number / 100),
                phase=phases[number // 2 % 4],
            )
        )


def measure_lists(kind: str, store: JobStore) -> None:
    fill(store)
    recent = add_seconds(now(), LISTED / 100 * 0.9)
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
            found = sum(1 for _ in store.list_references(wanted))
            times.append(time.perf_counter() - began)
        print(f"{kind}, list of {LISTED}: {told}: {found} in {statistics.median(times) * 1000:.2f} ms")
    store.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = EmbeddedEngine(folder / "data")
        prepare_engine(engine)
        measure_jobs("embedded", Config(query_log="", jobs_path=folder / "jobs"), engine)
        measure_lists("SQLite", SqliteJobStore(folder / "listed"))
        with redis_server(folder / "redis") as jobs:
            measure_cluster(folder, jobs)
            measure_lists("Redis", RedisJobStore(jobs.new_url()))
        engine.close()


if __name__ == "__main__":
    main()
