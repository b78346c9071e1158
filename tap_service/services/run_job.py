"""Executes jobs: ``run_job`` is the same on a thread of the service and in a worker process of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tap_service.config import Config
from tap_service.constants import JOB_TICK_SECONDS, STORE_AGAIN_SECONDS
from tap_service.exceptions import QueryTooHeavy, ServiceError, ServiceUnavailable
from tap_service.metrics import Metrics
from tap_service.models.instants import now
from tap_service.models.job import Job, JobError, JobResult
from tap_service.models.parameters import TapParameters, tap_parameters
from tap_service.services.execution import Execution, Report, faults_told
from tap_service.services.job_info import JobProgress
from tap_service.services.preparation import Preparation
from tap_service.services.query_log import QueryLog
from tap_service.storage.engine import Engine, EngineError
from tap_service.storage.jobs import IllegalTransition, JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.results import ResultStore

_log = logging.getLogger("skyhouse")


class _ShuttingDown(ServiceUnavailable):
    pass


class _NotOurs(ServiceError):
    """The job was aborted, destroyed or given to another worker."""


@dataclass(slots=True)
class _Running:
    """A job in execution, as the monitor sees it."""

    job: Job
    execution: Execution
    progress: JobProgress
    since: float  # monotonic


class JobRunner:
    """One for each process that executes jobs, with a thread that watches over all of them."""

    def __init__(
        self,
        config: Config,
        engine: Engine,
        preparation: Preparation,
        jobs: JobStore,
        results: ResultStore,
        metrics: Metrics,
        log: QueryLog,
        worker: str,
    ) -> None:
        self._config = config
        self._engine = engine
        self._preparation = preparation
        self._jobs = jobs
        self._results = results
        self._metrics = metrics
        self._log = log
        self._worker = worker
        self._running: dict[str, _Running] = {}
        self._closing = threading.Event()
        self._monitor = threading.Thread(target=self._watch_over, name="job-monitor", daemon=True)

    def start(self) -> None:
        self._monitor.start()

    @property
    def running(self) -> int:
        return len(self._running)

    def run_job(self, job_id: str) -> None:
        """Execute a QUEUED job to its end: COMPLETED, ERROR, or QUEUED again if this process shuts down.

        Returns at once if the job is not QUEUED any more: it was aborted, destroyed or is another's.
        """
        job = self._started(job_id)
        if job is None:
            return
        report = Report()
        parameters: TapParameters | None = None
        try:
            with faults_told(job.query_id):
                parameters = tap_parameters(job.parameters, self._config.max_query_length)
                execution = self._preparation.prepare(parameters, job.query_id, self._config.async_hard_maxrec)
                report = execution.report
                self._execute(job, parameters, execution)
        except ServiceError as failure:
            self._end(job, report, failure)
        finally:
            self._record(job, parameters, report)

    def close(self) -> None:
        """Stop what runs; the jobs go back into the queue. Returns when all have."""
        self._closing.set()
        while self._running:
            self._stop(tuple(self._running.values()), _ShuttingDown("the service is shutting down"))
            time.sleep(JOB_TICK_SECONDS / 10)
        if self._monitor.is_alive():
            self._monitor.join()

    def _started(self, job_id: str) -> Job | None:
        """The job, which is ours now. A store that is out of order is asked until it answers."""
        while not self._closing.is_set():
            try:
                return self._jobs.start(job_id, self._worker, now())
            except (NoSuchJob, IllegalTransition):
                return None
            except JobStoreUnavailable as error:
                _log.warning("a job cannot be started yet: %s", error)
                self._closing.wait(STORE_AGAIN_SECONDS)
        return None

    def _execute(self, job: Job, parameters: TapParameters, execution: Execution) -> None:
        """Run the query and store its result. Raises what it fails with."""
        running = _Running(job, execution, JobProgress(execution), time.monotonic())
        writer = self._results.create(job.result_key)
        self._running[job.job_id] = running
        try:
            execution.run(writer)
            if execution.failure is not None:
                raise execution.failure
            size = writer.commit()
        finally:
            del self._running[job.job_id]
            writer.discard()
        chosen = parameters.format
        result = JobResult(job.result_key, size, chosen.content_type, chosen.extension, job.result_key)
        info = running.progress.at_end()
        if not self._told(lambda at: self._jobs.complete(job.job_id, job.attempt, at, result, info)):
            self._results.delete(job.result_key)

    def _end(self, job: Job, report: Report, failure: ServiceError) -> None:
        """The job has no result. If it is no longer ours, that is why it failed, and nobody has to be told."""
        report.status, report.error = "ERROR", str(failure)
        if isinstance(failure, _ShuttingDown):
            report.status = "REQUEUED"
            self._told(lambda _: self._jobs.requeue(job.job_id, job.attempt, died=False))
            return
        error = JobError(str(failure), isinstance(failure, ServiceUnavailable))
        if not self._told(lambda at: self._jobs.fail(job.job_id, job.attempt, at, error, {})):
            report.status = "ABORTED"

    def _told(self, tell: Callable[[datetime], Job]) -> bool:
        """Tell the job store how a job has ended; false if it is no longer ours.

        A store that is out of order is told again until it listens: nobody else knows.
        """
        at = now()
        while True:
            try:
                tell(at)
                return True
            except (NoSuchJob, IllegalTransition):
                return False
            except JobStoreUnavailable as error:
                _log.warning("the end of a job cannot be told yet: %s", error)
                if self._closing.wait(STORE_AGAIN_SECONDS):
                    return False  # the job is found EXECUTING at the next start, and begins anew

    def _record(self, job: Job, parameters: TapParameters | None, report: Report) -> None:
        report.seconds["total"] = (now() - job.creation_time).total_seconds()
        self._metrics.record(report)
        if parameters is not None:
            self._log.query(parameters, report, query_id=job.query_id, client=job.client)
        else:
            self._log.write(query_id=job.query_id, client=job.client, status=report.status, error=report.error)

    # The monitor

    def _watch_over(self) -> None:
        while not self._closing.wait(JOB_TICK_SECONDS):
            running = tuple(self._running.values())
            if not running:
                continue
            # a job lives while its worker does, whatever the engine says
            for work in (self._see_progress, self._report_all):
                try:
                    work(running)
                except (EngineError, JobStoreUnavailable) as error:
                    _log.warning("jobs cannot be watched over now: %s", error)

    def _see_progress(self, running: tuple[_Running, ...]) -> None:
        found = self._engine.progress([each.job.query_id for each in running])
        for each in running:
            if each.job.query_id in found:
                each.progress.seen(found[each.job.query_id])

    def _report_all(self, running: tuple[_Running, ...]) -> None:
        for each in running:
            self._report(each)

    def _report(self, running: _Running) -> None:
        """Tell the store that the job lives and how far it is; stop it if it is ours no more, or has had its time."""
        job = running.job
        try:
            job = self._jobs.report(job.job_id, job.attempt, now(), running.progress.while_running())
            limit = job.execution_duration
            if limit and time.monotonic() - running.since >= limit:
                reason = (
                    f"the job has worked for {limit} seconds, its execution duration. Give it more before it runs, up "
                    f"to {self._config.async_hard_seconds}, or ask for less at once, such as a smaller region"
                )
                self._jobs.abort(job.job_id, now(), JobError(reason))
                self._stop((running,), QueryTooHeavy(reason))
        except (NoSuchJob, IllegalTransition):
            self._stop((running,), _NotOurs("the job was aborted"))

    def _stop(self, running: tuple[_Running, ...], reason: ServiceError) -> None:
        for each in running:
            try:
                each.execution.stop(reason)
            except EngineError as error:
                _log.warning("job %s cannot be stopped yet: %s", each.job.job_id, error)
