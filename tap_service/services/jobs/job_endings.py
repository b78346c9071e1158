"""Stores and records how jobs end: COMPLETED, in ERROR, or QUEUED again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from tap_service.constants import MAX_DEATHS, STORE_RETRY_SECONDS
from tap_service.models.query_report import QueryReport
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Job, JobError
from tap_service.service_errors import ServiceError, ServiceUnavailable
from tap_service.services.client_directory import ClientDirectory
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.services.jobs.job_execution import JobCompletion, ServiceShuttingDown
from tap_service.services.jobs.piecewise_jobs import DataChanged, PiecewiseJobs
from tap_service.services.queries.query_recorder import QueryRecorder
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.services.translation.query_errors import list_query_errors
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores

_log = logging.getLogger("skyhouse")


class JobEndings:
    """Stores the ends of the jobs of a process. A job that was revoked in the meantime has the status ABORTED."""

    def __init__(
        self,
        stores: JobStores,
        pieces: PiecewiseJobs,
        patience: EnginePatience,
        recorder: QueryRecorder,
        clients: ClientDirectory,
    ) -> None:
        self._jobs = stores.jobs
        self._results = stores.results
        self._pieces = pieces
        self._patience = patience
        self._recorder = recorder
        self._clients = clients
        self._closed = threading.Event()

    def complete_job(self, job: Job, completion: JobCompletion, report: QueryReport) -> None:
        if not self._update_store(
            lambda at: self._jobs.complete_job(
                job.job_id, job.attempt, at, completion.result, completion.info, completion.fingerprint
            )
        ):
            self._note_abortion(job, report)
            self._results.delete_result(job.result_key)
            self._results.delete_result(job.preview_key)
        self._pieces.delete_parts(job)

    def return_job(self, job: Job, reason: str, report: QueryReport) -> None:
        """Queue the job again."""
        self._delete_preview(job)
        report.status, report.error = "REQUEUED", reason
        self._update_store(lambda _: self._jobs.requeue_job(job.job_id, job.attempt, died=False))

    def fail_job(self, job: Job, failure: ServiceError, report: QueryReport) -> None:
        """End the job in ERROR, or queue it again if another attempt may succeed."""
        if isinstance(failure, (ServiceShuttingDown, DataChanged)):
            self.return_job(job, str(failure), report)
            return
        self._delete_preview(job)
        wait, has_died = self._patience.plan_retry(job, failure.__cause__) or (None, False)
        if wait is not None and not (has_died and job.deaths + 1 >= MAX_DEATHS):
            report.status, report.error = "REQUEUED", str(failure)
            self._update_store(lambda _: self._jobs.requeue_job(job.job_id, job.attempt, died=has_died, wait=wait))
            return
        report.status, report.error = "ERROR", str(failure)
        error = JobError(str(failure), isinstance(failure, ServiceUnavailable), list_query_errors(failure))
        if not self._update_store(lambda at: self._jobs.fail_job(job.job_id, job.attempt, at, error, {})):
            self._note_abortion(job, report)
        self._pieces.delete_parts(job)

    def record_end(self, job: Job, parameters: TapParameters | None, report: QueryReport) -> None:
        """Record the end in the logs and statistics. ``parameters``: None if they are invalid."""
        report.seconds["total"] = (now() - job.creation_time).total_seconds()
        client = self._clients.find_client(job.client, job.owner)
        self._recorder.record_query(report, parameters, client, query_id=job.query_id, is_job=True)

    def close(self) -> None:
        """Stop waiting for a job store that is unavailable."""
        self._closed.set()

    def _delete_preview(self, job: Job) -> None:
        with suppress(OSError):  # the sweep deletes it
            self._results.delete_result(job.preview_key)

    def _note_abortion(self, job: Job, report: QueryReport) -> None:
        """Replace the engine's error about the stopped query by the reason why the job was revoked."""
        report.status, report.error = "ABORTED", "the job was aborted"
        try:
            stored = self._jobs.get_job(job.job_id)
        except (NoSuchJob, JobStoreUnavailable):
            return
        if stored.error is not None:  # a limit has ended it
            report.error = stored.error.message

    def _update_store(self, update: Callable[[datetime], Job]) -> bool:
        """Store the end of a job; return False if the job was revoked.

        Retry while the store is unavailable: no other process knows how the job ended.
        """
        at = now()
        while True:
            try:
                update(at)
                return True
            except (NoSuchJob, IllegalTransition):
                return False
            except JobStoreUnavailable as error:
                _log.warning("the end of a job cannot be stored yet: %s", error)
                if self._closed.wait(STORE_RETRY_SECONDS):
                    return False  # the next start finds the job EXECUTING and restarts it
