"""The availability of the service, by a check of each part on which it depends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from tap_service.documents.service_description import Availability
from tap_service.services.announcements import Announcements
from tap_service.services.queries.spool import SpoolStore
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.jobs.job_store import JobStore, JobStoreUnavailable
from tap_service.storage.results.result_store import ResultStore

_log = logging.getLogger("skyhouse")

#: seconds after which a part without an answer is unavailable
_TIMEOUT_SECONDS = 5.0

#: maximum age of a check whose outcome other probes share, in seconds
_RECENT_SECONDS = 1.0


class AvailabilityService:
    """Checks the engine, the stores and the disk."""

    def __init__(
        self, engine: Engine, spools: SpoolStore, jobs: JobStore, results: ResultStore, announcements: Announcements
    ) -> None:
        self._announcements = announcements
        self._checks: dict[str, Callable[[], None]] = {
            "the engine": engine.ping,
            "the store for results": spools.check_disk,
            "the store for jobs": jobs.check_writable,
            "the store for results of jobs": results.check_writable,
        }
        self._since = datetime.now(UTC)
        self._last: tuple[float, asyncio.Future[Availability]] | None = None
        self._threads = ThreadPoolExecutor(len(self._checks), "availability")

    async def check_availability(self) -> Availability:
        """Check all parts."""
        notes = await asyncio.gather(*(self._try_check(name, check) for name, check in self._checks.items()))
        errors = tuple(note for note in notes if note)
        announced = self._announcements.current
        draining = (f"no new queries are accepted: {announced.drain}",) if announced.drain else ()
        state = (*draining, *errors) or ("the service accepts queries, by /sync and /async",)
        downtimes = tuple(downtime.describe() for downtime in announced.downtimes)
        next_downtime = announced.downtimes[0] if announced.downtimes else None
        return Availability(
            available=not (errors or draining),
            up_since=self._since,
            notes=(*state, *downtimes, *(note.text for note in announced.notes)),
            down_at=next_downtime.start if next_downtime else None,
            back_at=next_downtime.end if next_downtime else None,
        )

    async def check_recently(self) -> Availability:
        """Return the outcome of a check in the last second, which probes share."""
        now = asyncio.get_running_loop().time()
        if self._last is None or (self._last[1].done() and now - self._last[0] > _RECENT_SECONDS):
            self._last = now, asyncio.ensure_future(self.check_availability())
        return await asyncio.shield(self._last[1])

    def close(self) -> None:
        """End the threads of checks."""
        self._threads.shutdown(wait=False)

    async def _try_check(self, name: str, check: Callable[[], None]) -> str:
        """Return a sentence about a failed check, '' if the check succeeds."""
        running = asyncio.get_running_loop().run_in_executor(self._threads, check)
        done, _ = await asyncio.wait({running}, timeout=_TIMEOUT_SECONDS)
        if not done:
            return f"{name} has not answered for {_TIMEOUT_SECONDS:g} seconds"
        error = running.exception()
        if error is None:
            return ""
        if not isinstance(error, EngineError | JobStoreUnavailable | OSError):
            raise error
        _log.warning("%s is unavailable: %s", name, getattr(error, "detail", error))
        reason = (error.strerror or "it does not work") if isinstance(error, OSError) else str(error)
        return f"{name} is unavailable: {reason}"
