"""List and stop the queries, jobs and downloads that run in all processes of a deployment.

Each process lists its own queries of /sync and its downloads; the job store lists jobs. If several processes share a
Redis, each writes its list to Redis every two seconds while the list is not empty, and reads requests to stop work.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from tap_service.models.running_work import RunningWork, shorten_query
from tap_service.models.timestamps import format_instant
from tap_service.models.uws_job import Job
from tap_service.services.administration.job_administration import AdministrationError, JobAdministration
from tap_service.services.jobs.result_downloads import ResultDownloads, find_query
from tap_service.services.periodic_thread import PeriodicThread
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.site_state import SiteState, StateKind

_PUBLISH_SECONDS = 2.0
#: seconds until a list expires unless its process renews it, and until a request to stop expires
_LIST_SECONDS, _STOP_SECONDS = 10.0, 60.0


class RunningQueries(Protocol):
    """The queries of /sync of a process. Thread-safe."""

    def list_running(self) -> list[RunningWork]:
        """Return the queries that wait or run."""

    def stop_query(self, query_id: str) -> bool:
        """Stop a query.

        Parameters
        ----------
        query_id : str
            The id of the query.

        Returns
        -------
        bool
            Whether this process has the query.
        """


class WorkList:
    """The running work of all processes.

    Parameters
    ----------
    engine : Engine
        The engine, which knows the progress of queries.
    state : SiteState
        The store by which processes exchange their lists.
    jobs : JobAdministration
        The jobs.
    queries, downloads : RunningQueries or None, ResultDownloads or None
        The queries and downloads of this process; None in a command.
    is_shared : bool
        Whether other processes run queries too.
    """

    def __init__(
        self,
        engine: Engine,
        state: SiteState,
        jobs: JobAdministration,
        queries: RunningQueries | None = None,
        downloads: ResultDownloads | None = None,
        *,
        is_shared: bool = False,
    ) -> None:
        self._engine = engine
        self._state = state
        self._jobs = jobs
        self._queries = queries
        self._downloads = downloads
        self._is_shared = is_shared
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._is_published = False
        self._publisher = PeriodicThread(
            "running work", _PUBLISH_SECONDS, self._exchange, "running work cannot be published to other processes"
        )

    def start(self) -> None:
        """Start the exchange with other processes."""
        if self._is_shared:
            self._publisher.start()

    def close(self) -> None:
        """End the exchange with other processes."""
        self._publisher.close()

    def list_running(self) -> list[RunningWork]:
        """Return the running work of all processes, oldest first. Raises JobStoreUnavailable, SiteStateUnavailable."""
        others: list[RunningWork] = []
        if self._is_shared:
            lists = self._state.read_all(StateKind.WORK)
            others = [RunningWork(**each) for name, listed in lists.items() if name != self._name for each in listed]
        jobs = self._jobs.list_executing()
        query_ids = {job.job_id: job.query_id for job in jobs}
        found = self._add_progress([*map(_describe_job, jobs), *self._list_own(), *others], query_ids)
        return sorted(found, key=lambda work: work.since)

    def stop(self, work_id: str) -> RunningWork:
        """Stop a query, a job or a download.

        Parameters
        ----------
        work_id : str
            The id of the work.

        Returns
        -------
        RunningWork
            The work that was stopped.

        Raises
        ------
        AdministrationError
            No running work has this id.
        JobStoreUnavailable, SiteStateUnavailable
            A store does not answer.
        """
        found = next((work for work in self.list_running() if work.work_id == work_id), None)
        if found is None:
            raise AdministrationError(
                f"nothing with the id {work_id[:60]!r} runs now; skyhouse queries lists running work"
            )
        if found.kind == "job":
            self._jobs.stop_job(work_id)
        elif not self._stop_own(work_id) and self._is_shared:
            self._state.put(StateKind.STOPS, work_id, True, _STOP_SECONDS)
        return found

    def _list_own(self) -> list[RunningWork]:
        queries = self._queries.list_running() if self._queries is not None else []
        return [*queries, *(self._downloads.list_running() if self._downloads is not None else ())]

    def _stop_own(self, work_id: str) -> bool:
        is_query = self._queries is not None and self._queries.stop_query(work_id)
        return is_query or (self._downloads is not None and self._downloads.stop(work_id))

    def _add_progress(self, works: Iterable[RunningWork], query_ids: dict[str, str]) -> list[RunningWork]:
        """Add the progress of queries in the engine, unless the engine does not answer."""
        works = list(works)
        names = {work.work_id: query_ids.get(work.work_id, work.work_id) for work in works if work.kind != "download"}
        again = {work_id: f"{name}-again" for work_id, name in names.items()}
        try:
            found = self._engine.read_progress([*names.values(), *again.values()]) if names else {}
        except EngineError:
            found = {}
        return [
            replace(work, read_rows=seen.read_rows, read_bytes=seen.read_bytes, memory=seen.peak_memory)
            if (seen := found.get(names.get(work.work_id, "")) or found.get(again.get(work.work_id, "")))
            else work
            for work in works
        ]

    def _exchange(self) -> None:
        """Publish the work of this process, and stop the work that other processes want to stop."""
        own: list[dict[str, Any]] = [work.to_document() for work in self._list_own()]
        if own:
            self._state.put(StateKind.WORK, self._name, own, _LIST_SECONDS)
        elif self._is_published:
            self._state.remove(StateKind.WORK, self._name)
        self._is_published = bool(own)
        for work_id in self._state.read_all(StateKind.STOPS) if own else ():
            if self._stop_own(work_id):
                self._state.remove(StateKind.STOPS, work_id)


def _describe_job(job: Job) -> RunningWork:
    since = format_instant(job.start_time or job.creation_time)
    # at the instant of the heartbeat, so that the class depends on the record alone
    work_class = str(job.queued_job.work_class(job.heartbeat or job.creation_time))
    query = shorten_query(find_query(job))
    return RunningWork(job.job_id, "job", job.owner or job.client, work_class, "running", since, query)
