"""Checks after a chaos run, when all components run again. Each check returns the problems that it finds."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.shard_map import LOCAL, MARGIN, OVERLAP
from tap_service.config import Config
from tap_service.factory.lifetime_factory import build_job_lifetimes
from tap_service.models.uws_job import ExecutionPhase, JobFilter
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.jobs.job_store import NoSuchJob
from tap_service.storage.open_storage import JobStores, open_job_stores, open_remote_engine
from tests.chaos.clients import RIGHT, Client
from tests.chaos.known_rows import count_table
from tests.chaos.processes import Deployment
from tests.tap_service.processes import children, said_by

#: time that leftovers of killed components may remain: silent workers are detected, abandoned queries are stopped
CLEARING_SECONDS = 30

_FINISHED = {ExecutionPhase.COMPLETED, ExecutionPhase.ERROR, ExecutionPhase.ABORTED}

#: the query that keeps a server of the tests running, and the query of the check
_OF_SERVER = ("numbers(1000000000) FORMAT Null", "FROM system.processes")


class Checks:
    """Connects to all components, which must be running."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._config = Config(**deployment.settings)

    def list_tables(self) -> list[set[str]]:
        """Return the names of the tables on each server."""
        sql = (
            "SELECT concat(database, '.', name) AS name FROM system.tables"
            " WHERE lower(database) NOT IN ('system', 'information_schema')"
        )
        with self._servers() as servers:
            return [set(server.fetch_table(sql)["name"].to_pylist()) for server in servers]

    def check_jobs(self, acknowledged: Iterable[str]) -> list[str]:
        """Every acknowledged job has ended, or is PENDING because nobody has started it."""
        with self._stores() as stores:
            phases = {job.job_id: job.phase for job in stores.jobs.list_references(JobFilter(None))}
        known = {url.rpartition("/")[2] for url in acknowledged}
        errors = [f"job {job_id} is lost" for job_id in known - set(phases)]
        for job_id, phase in phases.items():
            if phase not in _FINISHED and (job_id in known or phase is not ExecutionPhase.PENDING):
                errors.append(f"job {job_id} is {phase}")
        return errors

    def check_results(self) -> list[str]:
        """Each completed job has its result.

        The only other files are uploads of pending jobs and files that the next sweep deletes.
        """
        with self._stores() as stores:
            engine = open_remote_engine(self._config)
            build_job_lifetimes(self._config, engine, stores).sweep_orphans(minimum_age=0)
            engine.close()
            jobs = []
            for reference in stores.jobs.list_references(JobFilter(None)):
                with suppress(NoSuchJob):  # it has expired meanwhile
                    jobs.append(stores.jobs.get_job(reference.job_id))
            stored = set(stores.results.list_keys(0))
        results = [job.result for job in jobs if job.phase is ExecutionPhase.COMPLETED]
        keys = {result.key for result in results if result is not None}
        waiting = {file.key for job in jobs if job.phase is ExecutionPhase.PENDING for file in job.files}
        return [
            *(f"the result {key} is missing" for key in keys - stored),
            *(f"the result {key} has no job" for key in stored - keys - {f"{key}f" for key in keys} - waiting),
            *(["a COMPLETED job has no result"] if None in results else []),
        ]

    def check_tables(self, contents: dict[str, tuple[int, int]]) -> list[str]:
        """``skyhouse verify`` finds no problem, and the rows are the rows of the loads."""
        errors = []
        for table, content in contents.items():
            process = self._deployment.start_command("verify", table, output="verify.log")
            if process.wait() != 0:
                errors.append(f"verify {table}: {(self._deployment.folder / 'verify.log').read_text()[-1000:]}")
            with closing(
                Client(self._deployment.service.tap, time.monotonic() + CLEARING_SECONDS, Counter())
            ) as client:
                answer = client.ask_sync(count_table(table, [content].__eq__))
            if answer.outcome != RIGHT:
                errors.append(f"{table} has not {content}: {answer.said}")
        return errors

    def check_leftover_tables(self, before: Sequence[set[str]]) -> list[str]:
        """No server has more tables than ``before`` the kills, except published tables."""
        engine = open_remote_engine(self._config)
        published = set()
        for entry in read_catalogue(engine).entries:
            base = f"{entry.schema.name}.{entry.base_name or entry.table.name}"
            published |= {base, *((base + part for part in (LOCAL, OVERLAP, MARGIN)) if entry.is_sharded else ())}
        engine.close()
        return [
            f"server {number} has the table {name}"
            for number, (old, new) in enumerate(zip(before, self.list_tables(), strict=True))
            for name in sorted(new - old - published)
        ]

    def check_queries(self) -> list[str]:
        """No query runs on any server for longer than ``CLEARING_SECONDS``: nobody waits for it."""
        until = time.monotonic() + CLEARING_SECONDS
        running = self._list_queries()
        while running and time.monotonic() < until:
            time.sleep(0.5)
            running = {query: text for query, text in self._list_queries().items() if query in running}
        return [f"the query {query} runs on: {text[:500]}" for query, text in running.items()]

    def check_processes(self) -> list[str]:
        """Killed components leave no processes."""
        until = time.monotonic() + CLEARING_SECONDS
        while (left := self._list_strays()) and time.monotonic() < until:
            time.sleep(0.5)
        return [f"the process {pid} is left: {command}" for pid, command in left.items()]

    def _list_queries(self) -> dict[str, str]:
        sql = "SELECT query_id, query FROM system.processes"
        with self._servers() as servers:
            rows = [row for server in servers for row in server.fetch_table(sql).to_pylist()]
        return {row["query_id"]: row["query"] for row in rows if not any(text in row["query"] for text in _OF_SERVER)}

    def _list_strays(self) -> dict[int, str]:
        """Return the processes with the settings of this run that no running component has started."""
        mark = f"SKYHOUSE_RESULTS_URL={self._deployment.settings['results_url']}\0".encode()
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        ours = {pid for pid in pids if mark in said_by(pid, "environ") + b"\0"}
        roots = [self._deployment.service.pid, *(workers.process.pid for workers in self._deployment.workers)]
        wanted: set[int] = set()
        while roots:
            wanted |= set(roots)
            roots = [child for root in roots for child in children(root)]
        return {pid: said_by(pid, "cmdline").replace(b"\0", b" ").decode()[:200] for pid in ours - wanted}

    @contextmanager
    def _servers(self) -> Iterator[list[ClickHouseEngine]]:
        servers = [ClickHouseEngine(server.url) for server in self._deployment.servers]
        try:
            yield servers
        finally:
            for server in servers:
                server.close()

    @contextmanager
    def _stores(self) -> Iterator[JobStores]:
        stores = open_job_stores(self._config)
        try:
            yield stores
        finally:
            stores.jobs.close()
