"""Executes jobs, on threads of the service or in worker processes."""

from __future__ import annotations

import threading
import time

from tap_service.constants import CLOSING_SECONDS, JOB_TICK_SECONDS
from tap_service.models.query_report import QueryReport
from tap_service.models.uws_job import Job
from tap_service.service_errors import ServiceError
from tap_service.services.jobs.job_endings import JobEndings
from tap_service.services.jobs.job_execution import JobCompletion, JobExecutor, ServiceShuttingDown
from tap_service.services.jobs.job_intake import JobIntake
from tap_service.services.jobs.job_monitor import JobMonitor
from tap_service.services.jobs.table_change_jobs import find_table_request
from tap_service.services.queries.run_errors import translate_errors
from tap_service.services.queries.tap_parameters import TapParameters


class JobRunner:
    """Executes the jobs of a process, one on each calling thread.

    Parameters
    ----------
    intake : JobIntake
        Takes jobs from the queue.
    queries, table_changes : JobExecutor
        Execute the jobs that are queries, and the jobs that change user tables.
    monitor : JobMonitor
        Watches the jobs at work.
    endings : JobEndings
        Stores how jobs end.
    """

    def __init__(
        self,
        intake: JobIntake,
        queries: JobExecutor,
        table_changes: JobExecutor,
        monitor: JobMonitor,
        endings: JobEndings,
    ) -> None:
        self._intake = intake
        self._queries = queries
        self._table_changes = table_changes
        self._monitor = monitor
        self._endings = endings
        self._busy_threads: set[int] = set()

    def start(self) -> None:
        self._monitor.start()

    @property
    def n_running(self) -> int:
        return len(self._busy_threads)

    def run_next(self) -> bool:
        """Execute the next job until it is COMPLETED, in ERROR, or QUEUED again because this process shuts down.

        Returns False if no job may start now.
        """
        self._busy_threads.add(threading.get_ident())
        try:
            if (job := self._intake.take_job()) is None:
                return False
            self._run_job(job)
            return True
        finally:
            self._busy_threads.discard(threading.get_ident())

    def close(self) -> None:
        """Stop running jobs, which return to the queue. Returns when all have stopped, or after CLOSING_SECONDS."""
        self._intake.close()
        self._endings.close()
        until = time.monotonic() + CLOSING_SECONDS
        while self._busy_threads and time.monotonic() < until:
            self._monitor.stop_jobs(ServiceShuttingDown("the service is shutting down"))
            time.sleep(JOB_TICK_SECONDS / 10)
        self._monitor.close()

    def _run_job(self, job: Job) -> None:
        report = QueryReport()
        parameters: TapParameters | None = None
        executor = self._table_changes if find_table_request(job.parameters) else self._queries
        try:
            with translate_errors(job.query_id):
                parameters = executor.read_parameters(job)
                outcome = executor.execute_job(job, parameters, report)
                if isinstance(outcome, JobCompletion):
                    self._endings.complete_job(job, outcome, report)
                else:
                    self._endings.return_job(job, outcome.reason, report)
        except ServiceError as failure:
            self._endings.fail_job(job, failure, report)
        finally:
            self._endings.record_end(job, parameters, report)
