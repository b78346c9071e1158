"""The thread of a process that watches over the jobs it executes: life, progress, time limit, and whose they are."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from tap_service.config import Config
from tap_service.constants import JOB_TICK_SECONDS
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Job, JobError
from tap_service.service_errors import QueryTooHeavy, ServiceError
from tap_service.services.jobs.job_info import JobProgress
from tap_service.services.queries.query_execution import QueryExecution
from tap_service.services.queries.query_stages import QueryStage
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, NoSuchJob

_log = logging.getLogger("skyhouse")


class JobRevoked(ServiceError):
    """The job was aborted, destroyed or given to another worker."""


class RunningJob:
    """A job in execution."""

    def __init__(self, job: Job, execution: QueryExecution) -> None:
        self.job = job
        self.execution = execution
        self.progress = JobProgress(execution, job.foreseen)
        self.since = time.monotonic()

    def stop_execution(self, reason: ServiceError) -> None:
        """To be said again until it has ended: the engine may not know the query yet, or may not answer now."""
        try:
            self.execution.stop(reason)
        except EngineError as error:
            _log.warning("job %s cannot be stopped yet: %s", self.job.job_id, error)


class JobMonitor:
    def __init__(self, config: Config, engine: Engine, jobs: JobStore) -> None:
        self._config = config
        self._engine = engine
        self._jobs = jobs
        self._running: dict[str, RunningJob] = {}
        self._preparing: dict[str, Job] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._report_until_closed, name="job-monitor", daemon=True)

    @property
    def running_jobs(self) -> tuple[RunningJob, ...]:
        return tuple(self._running.values())

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    @contextmanager
    def keep_alive(self, job: Job) -> Iterator[None]:
        """The job is not dead while its uploaded tables are read, which cannot be stopped but has limits of its own."""
        self._preparing[job.job_id] = job
        try:
            yield
        finally:
            del self._preparing[job.job_id]

    def add_job(self, running: RunningJob) -> None:
        self._running[running.job.job_id] = running

    def remove_job(self, running: RunningJob) -> None:
        del self._running[running.job.job_id]

    def update_progress(self, running: Sequence[RunningJob]) -> None:
        """Ask the engine how far these are. What it does not say is not told."""
        try:
            found = self._engine.read_progress([each.job.query_id for each in running])
        except EngineError as error:
            _log.warning("the progress of jobs cannot be seen now: %s", error)
            return
        for each in running:
            each.progress.update_progress(found.get(each.job.query_id))

    def _report_until_closed(self) -> None:
        while not self._closing.wait(JOB_TICK_SECONDS):
            if running := self.running_jobs:
                self.update_progress(running)
            told = [(each.job, partial(self._report_running, each)) for each in running]
            told += [(job, partial(self._report_preparing, job)) for job in tuple(self._preparing.values())]
            for job, tell in told:
                try:
                    tell()
                except Exception as error:
                    # whatever it is, such as a job store that is out of order: the other jobs and the next tick count
                    _log.warning("job %s cannot be watched over now: %s", job.job_id, error)

    def _report_preparing(self, job: Job) -> None:
        with suppress(NoSuchJob, IllegalTransition):  # it is told when it begins
            self._jobs.report_progress(job.job_id, job.attempt, now(), {"stage": QueryStage.PREPARING})

    def _report_running(self, running: RunningJob) -> None:
        """Tell the store that the job lives and how far it is; stop it if it is ours no more, or has had its time."""
        job = running.job
        try:
            job = self._jobs.report_progress(job.job_id, job.attempt, now(), running.progress.info_while_running())
            limit = job.execution_duration
            if limit and time.monotonic() - running.since >= limit:
                reason = (
                    f"the job has worked for {limit} seconds, its execution duration. Give it more before it runs, up "
                    f"to {self._config.async_hard_seconds}, or ask for less at once, such as a smaller region"
                )
                self._jobs.abort_job(job.job_id, now(), JobError(reason))
                running.stop_execution(QueryTooHeavy(reason))
        except (NoSuchJob, IllegalTransition):
            running.stop_execution(JobRevoked("the job was aborted"))
