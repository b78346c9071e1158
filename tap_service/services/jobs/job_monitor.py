"""The thread that watches the jobs of a process: it sends heartbeats and progress, and stops revoked or long jobs."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from tap_service.config import Config
from tap_service.constants import JOB_TICK_SECONDS
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Job, JobError
from tap_service.service_errors import QueryTooHeavy, ServiceError
from tap_service.services.jobs.job_execution import JobRevoked, RunningJob
from tap_service.services.jobs.job_progress import JobProgress
from tap_service.services.periodic_thread import PeriodicThread, call_and_log
from tap_service.services.queries.query_stages import QueryStage
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, NoSuchJob

_log = logging.getLogger("skyhouse")


class JobMonitor:
    """Watches the jobs that this process executes. Thread-safe."""

    def __init__(self, config: Config, engine: Engine, jobs: JobStore) -> None:
        self._config = config
        self._engine = engine
        self._jobs = jobs
        self._running: dict[str, RunningJob] = {}
        self._preparing: dict[str, Job] = {}
        self._stop_reason: ServiceError | None = None
        self._thread = PeriodicThread(
            "job-monitor", JOB_TICK_SECONDS, self._report_jobs, "jobs cannot be monitored now"
        )

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._thread.close()

    def stop_jobs(self, reason: ServiceError) -> None:
        """Stop all jobs, also jobs that start later. Returns at once: call it again until no job runs.

        Parameters
        ----------
        reason : ServiceError
            The error with which the jobs end.
        """
        self._stop_reason = reason
        for running in tuple(self._running.values()):
            running.stop(reason)

    @contextmanager
    def keep_alive(self, job: Job) -> Iterator[None]:
        """Send heartbeats of a job during the context, in which its uploaded tables are read.

        The execution duration is not checked, since reading has its own time limits.

        Parameters
        ----------
        job : Job
            The job in its present attempt.
        """
        self._preparing[job.job_id] = job
        try:
            yield
        finally:
            del self._preparing[job.job_id]

    @contextmanager
    def watch(self, running: RunningJob) -> Iterator[None]:
        """Report the progress of a job during the context, and stop it when it must end.

        Parameters
        ----------
        running : RunningJob
            The work of the job.

        Raises
        ------
        ServiceError
            The reason of ``stop_jobs``, if it was called before.
        """
        self._running[running.job.job_id] = running
        try:
            if self._stop_reason is not None:
                raise self._stop_reason
            yield
        finally:
            del self._running[running.job.job_id]

    def update_progress(self, progress: Mapping[str, JobProgress]) -> None:
        """Ask the engine for the progress of queries, by their ids."""
        try:
            found = self._engine.read_progress(list(progress))
        except EngineError as error:
            _log.warning("the progress of jobs cannot be read now: %s", error.detail)
            return
        for query_id, each in progress.items():
            each.update_progress(found.get(query_id))

    def _report_jobs(self) -> None:
        running_jobs = tuple(self._running.values())
        if running_jobs:
            self.update_progress({running.job.query_id: running.progress for running in running_jobs})
        for running in running_jobs:
            call_and_log(partial(self._report_running, running), f"job {running.job.job_id} cannot be monitored now")
        for job in tuple(self._preparing.values()):
            call_and_log(partial(self._report_preparing, job), f"job {job.job_id} cannot be monitored now")

    def _report_preparing(self, job: Job) -> None:
        with suppress(NoSuchJob, IllegalTransition):  # the start of the query reports it
            self._jobs.report_progress(job.job_id, job.attempt, now(), {"stage": QueryStage.PREPARING})

    def _report_running(self, running: RunningJob) -> None:
        """Store heartbeat and progress; stop the job if it was revoked or has exceeded its execution duration."""
        job = running.job
        try:
            job = self._jobs.report_progress(job.job_id, job.attempt, now(), running.progress.info_while_running())
            limit = job.execution_duration
            if limit and time.monotonic() - running.since >= limit:
                reason = (
                    f"the job reached its execution duration of {limit} seconds. Set a longer one before you start the "
                    f"job, up to {self._config.async_hard_seconds} seconds, or ask for less at once, such as a smaller "
                    "region"
                )
                self._jobs.abort_job(job.job_id, now(), JobError(reason))
                running.stop(QueryTooHeavy(reason))
        except (NoSuchJob, IllegalTransition):
            running.stop(JobRevoked("the job was aborted"))
