"""Jobs that wait for the engine: they are QUEUED, with the reason in jobInfo, and fail if it stays unavailable."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime

from tap_service.config import Config
from tap_service.models.timestamps import add_seconds, format_instant, now
from tap_service.models.uws_job import Job, JobError
from tap_service.models.work_class import EngineWait, QueuedJob
from tap_service.storage.engine.engine import (
    Engine,
    EngineError,
    EngineSilent,
    EngineUnavailable,
    QueryCancelled,
    ShardLost,
    TablesApart,
)
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, NoSuchJob

_log = logging.getLogger("skyhouse")

#: the pause before a job is tried again: a part of its wait so far, within these seconds
_PAUSE_PART, _MIN_PAUSE, _MAX_PAUSE = 0.1, 1.0, 15.0


class EnginePatience:
    """Decides how long jobs wait for the engine. Safe for threads and processes: each change is a compare-and-set."""

    def __init__(self, config: Config, engine: Engine, jobs: JobStore) -> None:
        self._seconds = 60 * config.engine_patience
        self._is_remote = bool(config.clickhouse_url)
        self._engine = engine
        self._jobs = jobs

    def find_problem(self) -> EngineError | None:
        """Return why no job can run now; None if the engine answers. The embedded engine always does."""
        if not self._is_remote:
            return None
        try:
            self._engine.ping()
        except EngineError as error:
            return error
        return None

    def update_waits(self) -> bool:
        """Record in the queued jobs whether they wait for the engine, and end waits that are over.

        Return whether the engine answers.
        """
        problem, at = self.find_problem(), now()
        queued, _ = self._jobs.list_queued_jobs()
        if problem is not None and any(job.wait is None for job in queued):
            _log.warning("jobs wait for the engine: %s", problem.detail)
        for job in queued:
            with suppress(NoSuchJob, IllegalTransition):  # started, aborted or destroyed meanwhile
                self._update_wait(job, problem, at)
        return problem is None

    def plan_retry(self, job: Job, error: BaseException | None) -> tuple[EngineWait, bool] | None:
        """Return the wait of a job that failed for this reason, and whether a server died during its work.

        Return None if the job should fail: another attempt would fail too, or it has waited too long.
        """
        if not self._is_remote or not self._is_unreachable(error):
            return None
        has_died = type(error) in (EngineUnavailable, ShardLost, QueryCancelled) and not _is_refusal(error)
        at = now()
        since = at if has_died or job.wait is None else job.wait.since
        if self._is_over(since, at):
            return None
        pause = min(max(_PAUSE_PART * (at - since).total_seconds(), _MIN_PAUSE), _MAX_PAUSE)
        return EngineWait(self._tell_reason(str(error), since), since, add_seconds(at, pause)), has_died

    def _is_unreachable(self, error: BaseException | None) -> bool:
        if isinstance(error, QueryCancelled):  # not by this service: a server also does this when it shuts down
            return self.find_problem() is not None
        return isinstance(error, EngineUnavailable) and not isinstance(error, EngineSilent | TablesApart)

    def _update_wait(self, job: QueuedJob, problem: EngineError | None, at: datetime) -> None:
        """Start, keep or end the wait of a job. A job with a failed attempt keeps its wait until its next attempt."""
        wait = job.wait
        if problem is None:
            if wait is not None and wait.retry is None:
                self._jobs.set_wait(job.job_id, None)
        elif self._is_over(at if wait is None else wait.since, at):
            self._jobs.fail_waiting_job(job.job_id, at, JobError(f"{problem}. Run the job again later", transient=True))
        elif wait is None:
            self._jobs.set_wait(job.job_id, EngineWait(self._tell_reason(str(problem), at), at))

    def _is_over(self, since: datetime, at: datetime) -> bool:
        return (at - since).total_seconds() >= self._seconds

    def _tell_reason(self, reason: str, since: datetime) -> str:
        end = format_instant(add_seconds(since, self._seconds))
        return f"{reason}. The job runs as soon as it can, and fails if it cannot until {end}"


def _is_refusal(error: BaseException | None) -> bool:
    """Return whether the engine answered that it cannot do this now."""
    return type(error) is EngineUnavailable and error.code > 0
