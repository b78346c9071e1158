"""What runs now in all processes of a deployment, and stopping it.

Each process lists its own queries of /sync and its downloads; jobs are in the job store. Where several processes share
a Redis, each writes its list there every two seconds while it has any, and looks for what others want stopped.
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
#: seconds until a list expires that its process does not renew, and a request to stop
_LIST_SECONDS, _STOP_SECONDS = 10.0, 60.0


class RunningQueries(Protocol):
    """The queries of /sync of a process."""

    def list_running(self) -> list[RunningWork]: ...

    def stop_query(self, query_id: str) -> bool: ...


class WorkList:
    """``queries`` and ``downloads``: those of this process, None in a command. ``is_shared``: others have some too."""

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
            "running work", _PUBLISH_SECONDS, self._exchange, "what runs cannot be published to other processes"
        )

    def start(self) -> None:
        if self._is_shared:
            self._publisher.start()

    def close(self) -> None:
        self._publisher.close()

    def list_running(self) -> list[RunningWork]:
        """Return what runs in all processes, the oldest first. Raises JobStoreUnavailable, SiteStateUnavailable."""
        others: list[RunningWork] = []
        if self._is_shared:
            lists = self._state.read_all(StateKind.WORK)
            others = [RunningWork(**each) for name, listed in lists.items() if name != self._name for each in listed]
        jobs = self._jobs.list_executing()
        query_ids = {job.job_id: job.query_id for job in jobs}
        found = self._add_progress([*map(_describe_job, jobs), *self._list_own(), *others], query_ids)
        return sorted(found, key=lambda work: work.since)

    def stop(self, work_id: str) -> RunningWork:
        """Stop a query, a job or a download, and return what it was. Raises AdministrationError, and as above."""
        found = next((work for work in self.list_running() if work.work_id == work_id), None)
        if found is None:
            raise AdministrationError(f"nothing of the id {work_id[:60]!r} runs now; skyhouse queries lists what runs")
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
        """Add what the engine has read; without an answer of the engine, leave it out."""
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
        """Tell the other processes what runs here, and stop what they want stopped."""
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
    # the heartbeat's instant decides no class: that of a running job is the one by its estimate
    work_class = str(job.queued_job.work_class(job.heartbeat or job.creation_time))
    query = shorten_query(find_query(job))
    return RunningWork(job.job_id, "job", job.owner or job.client, work_class, "running", since, query)
