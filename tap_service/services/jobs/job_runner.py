"""Executes jobs, on threads of the service or in worker processes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime

import pyarrow as pa

from clickhouse_schema.catalogue import TableEntry
from tap_service.config import Config
from tap_service.constants import (
    CLOSING_SECONDS,
    JOB_TICK_SECONDS,
    MAX_DEATHS,
    STORE_RETRY_SECONDS,
)
from tap_service.models.engine_share import ENGINE_SHARES
from tap_service.models.query_report import QueryReport
from tap_service.models.result_provenance import ResultProvenance
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Info, Job, JobError, JobResult
from tap_service.models.work_class import WorkClass
from tap_service.prometheus_metrics import ServiceMetrics
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.service_errors import QueryTooHeavy, ServiceError, ServiceUnavailable
from tap_service.services.announcements import Announcements
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.services.jobs.job_monitor import JobMonitor, JobRevoked, RunningJob
from tap_service.services.jobs.job_preview import build_preview
from tap_service.services.jobs.job_provenance import ProvenanceNote, parse_checksum
from tap_service.services.jobs.job_queues import JobQueue
from tap_service.services.jobs.piecewise_job import CutIntoPieces, DataChanged, PiecewiseJobs, PiecewiseRun
from tap_service.services.jobs.result_reuse import ResultReuse, compute_fingerprint, parse_reuse
from tap_service.services.jobs.watch_jobs import WatchJobs
from tap_service.services.queries.query_execution import QueryExecution, translate_errors
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters
from tap_service.services.translation.query_errors import list_query_errors
from tap_service.services.usage_counter import UsageCounter
from tap_service.services.user_tables.user_table_jobs import UserTableJobs, find_table_request
from tap_service.storage.engine.engine import Engine, MemoryLimit
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.job_upload_files import StoredPart

_log = logging.getLogger("skyhouse")

#: a query that reads less ends before anybody sees its progress; asking for it costs more than the query
_MIN_MEASURED_BYTES = 10_000_000


class _ShuttingDown(ServiceUnavailable):
    """The job returns to the queue."""


class JobRunner:
    """Executes the jobs of a process, one on each calling thread."""

    def __init__(
        self,
        config: Config,
        engine: Engine,
        preparation: QueryPreparation,
        tables: UserTableJobs,
        watches: WatchJobs,
        stores: JobStores,
        queue: JobQueue,
        metrics: ServiceMetrics,
        log: QueryLog,
        usage: UsageCounter,
        announcements: Announcements,
        worker: str,
        work_classes: Collection[WorkClass] = tuple(WorkClass),
    ) -> None:
        self._announcements = announcements
        self._config = config
        self._engine = engine
        self._preparation = preparation
        self._tables = tables
        self._watches = watches
        self._jobs = stores.jobs
        self._results = stores.results
        self._queue = queue
        self._metrics = metrics
        self._log = log
        self._usage = usage
        self._worker = worker
        self._work_classes = work_classes
        self._monitor = JobMonitor(config, engine, stores.jobs)
        self._patience = EnginePatience(config, engine, stores.jobs)
        self._reuse = ResultReuse(stores)
        self._scratch = ScratchSpace(config.spool_path, Budget(config.spool_disk))
        self._pieces = PiecewiseJobs(config, engine, preparation, stores)
        self._busy_threads: set[int] = set()
        self._closing = threading.Event()

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
            if (job := self._take_job()) is None:
                return False
            self._run_job(job)
            return True
        finally:
            self._busy_threads.discard(threading.get_ident())

    def close(self) -> None:
        """Stop running jobs, which return to the queue. Returns when all have stopped, or after CLOSING_SECONDS."""
        self._closing.set()
        until = time.monotonic() + CLOSING_SECONDS
        while self._busy_threads and time.monotonic() < until:
            for running in self._monitor.running_jobs:
                running.stop_execution(_ShuttingDown("the service is shutting down"))
            time.sleep(JOB_TICK_SECONDS / 10)
        self._monitor.close()

    def _run_job(self, job: Job) -> None:
        report = QueryReport()
        parameters: TapParameters | None = None
        tables: Sequence[TableEntry] = ()
        try:
            with translate_errors(job.query_id):
                parameters = self._read_parameters(job)
                with self._prepared_execution(job, parameters) as execution:
                    report, tables = execution.report, execution.translation.tables
                    job = self._set_missing_estimate(job, execution)
                    self._share_engine(job, execution)
                    fingerprint = compute_fingerprint(
                        job, parameters, execution, self._config.title, self._preparation.current_data_version
                    )
                    if not (parse_reuse(job.parameters) and self._complete_from_reuse(job, fingerprint, report)):
                        self._execute_query(job, parameters, execution, fingerprint)
        except ServiceError as failure:
            self._end_without_result(job, report, failure)
        finally:
            self._record_query(job, parameters, tables, report)

    def _read_parameters(self, job: Job) -> TapParameters:
        if find_table_request(job.parameters):
            return self._tables.read_parameters(job)
        parts = {file.name: StoredPart(self._results, file, self._config.spool_path) for file in job.files}
        return read_tap_parameters(job.parameters, self._config.max_query_length, parts)

    @contextmanager
    def _prepared_execution(self, job: Job, parameters: TapParameters) -> Iterator[QueryExecution]:
        with self._monitor.keep_alive(job):
            if find_table_request(job.parameters):
                execution = self._tables.prepare_execution(job, parameters)
            else:
                hard_maxrec = self._config.async_hard_maxrec
                addition = self._watches.find_addition(job)
                execution = self._preparation.prepare_query(
                    parameters, job.query_id, hard_maxrec, owner=job.owner, addition=addition
                )
        try:
            yield execution
        finally:
            execution.close()

    def _set_missing_estimate(self, job: Job, execution: QueryExecution) -> Job:
        """Estimate a job that could not be estimated when it was queued; a new work class takes effect at once."""
        if job.foreseen is not None or execution.translation.query is None:
            return job
        estimate = self._preparation.estimate_cost(execution)
        try:
            return job if estimate is None else self._jobs.set_estimate(job.job_id, job.attempt, now(), estimate)
        except JobStoreUnavailable as error:
            _log.warning("the estimate of a job cannot be stored: %s", error)
            return job
        except (NoSuchJob, IllegalTransition) as error:
            raise JobRevoked("the job was aborted") from error

    def _share_engine(self, job: Job, execution: QueryExecution) -> None:
        share = ENGINE_SHARES[job.place.work_class(now())]
        try:
            share = replace(share, max_threads=self._queue.share_threads(job))
        except JobStoreUnavailable as error:
            _log.warning("the other jobs cannot be counted: %s", error)
        execution.set_engine_share(share)

    def _take_job(self) -> Job | None:
        """Take the next job, unless the service drains or the engine is away; retry while the job store is away."""
        if self._announcements.is_draining or self._patience.find_problem() is not None:
            return None
        while not self._closing.is_set():
            try:
                return self._queue.take_job(self._worker, self._work_classes)
            except JobStoreUnavailable as error:
                _log.warning("a job cannot be started yet: %s", error)
                self._closing.wait(STORE_RETRY_SECONDS)
        return None

    def _complete_from_reuse(self, job: Job, fingerprint: str, report: QueryReport) -> bool:
        """Complete the job with the result of an identical job, if one exists."""
        is_checked = parse_checksum(job.parameters)
        if (found := self._reuse.reuse_result(job, fingerprint, with_checksum=is_checked)) is None:
            return False
        result, info = found
        report.status = "REUSED"
        report.rows, report.bytes = int(info.get("rowsWritten", 0)), result.size
        self._complete_job(job, report, result, info, fingerprint)
        return True

    def _execute_query(self, job: Job, parameters: TapParameters, execution: QueryExecution, fingerprint: str) -> None:
        """Run the query and store its result. Raises the query's error."""
        running = RunningJob(job, execution)
        self._plan_execution(job, running)
        execution.on_first_rows = lambda batch: self._store_preview(running, parameters.query, batch)
        self._monitor.add_job(running)
        try:
            if self._closing.is_set():
                raise _ShuttingDown("the service is shutting down")
            size, provenance = self._write_noted_result(job, execution)
        except QueryTooHeavy as failure:
            lacks_memory = isinstance(failure.__cause__, MemoryLimit)
            is_whole = running.progress.pieces is None
            if lacks_memory and is_whole and self._pieces.cut_job(job, execution.translation):
                raise CutIntoPieces("the job goes on in pieces, so that each fits into memory") from failure
            raise
        finally:
            self._monitor.remove_job(running)
        if job.watch is not None:
            with self._monitor.keep_alive(job):
                self._watches.add_result(job, execution, size)
        progress, output_format = running.progress, parameters.format
        if progress.bytes_read and progress.pieces is None:
            self._preparation.record_measured_cost(job.foreseen, progress.bytes_read, execution.clock.seconds)
        key = job.result_key
        result = JobResult(key, size, output_format.content_type, output_format.extension, key, provenance)
        info = {**progress.info_at_end(), **({"checksum": provenance.checksum} if provenance else {})}
        self._complete_job(job, execution.report, result, info, fingerprint)

    def _write_noted_result(self, job: Job, execution: QueryExecution) -> tuple[int, ResultProvenance | None]:
        """Run the query into the result store; return the bytes of the result, and its provenance if it is wanted."""
        if not parse_checksum(job.parameters) or find_table_request(job.parameters):
            return self._write_result(job, execution), None
        with closing(ProvenanceNote(self._engine, execution, self._scratch)) as note:
            size = self._write_result(job, execution)
            return size, note.finish()

    def _write_result(self, job: Job, execution: QueryExecution) -> int:
        """Run the query into the result store; return the bytes of the result."""
        writer = self._results.create_result(job.result_key)
        try:
            execution.run(writer)
            if execution.failure is not None:
                raise execution.failure
            return writer.commit()
        finally:
            writer.discard()

    def _plan_execution(self, job: Job, running: RunningJob) -> None:
        """Decide whether the job runs in pieces, and write its plan for jobInfo."""
        translation = running.execution.translation
        plan = self._pieces.plan_job(job, translation)
        if isinstance(plan, PiecewiseRun):
            running.execution.source = plan
            running.progress.pieces = plan.pieces_info
            notes = [plan.plan]
        else:
            notes = [f"in one: {plan.reason}", *self._preparation.describe_memory(translation)]
        running.progress.plan = "\n".join([*notes, *translation.plan])

    def _complete_job(self, job: Job, report: QueryReport, result: JobResult, info: Info, fingerprint: str) -> None:
        if not self._update_store(
            lambda at: self._jobs.complete_job(job.job_id, job.attempt, at, result, info, fingerprint)
        ):
            self._note_abortion(job, report)
            self._results.delete_result(job.result_key)
            self._results.delete_result(job.preview_key)
        self._pieces.delete_parts(job)

    def _store_preview(self, running: RunningJob, query: str, batch: pa.RecordBatch) -> None:
        """Store the preview. Read the progress too, unless little is read: a short query ends before the monitor."""
        foreseen = running.job.foreseen
        if foreseen is None or foreseen.bytes >= _MIN_MEASURED_BYTES:
            self._monitor.update_progress((running,))
        writer = self._results.create_result(running.job.preview_key, is_durable=False)
        try:
            writer.write(build_preview(running.execution.translation, query, self._config.title, batch))
            writer.commit()
        finally:
            writer.discard()

    def _end_without_result(self, job: Job, report: QueryReport, failure: ServiceError) -> None:
        """Fail the job, or queue it again. The report is ABORTED if the job was revoked."""
        report.status, report.error = "ERROR", str(failure)
        with suppress(OSError):  # the sweep deletes it
            self._results.delete_result(job.preview_key)
        wait, has_died = self._patience.plan_retry(job, failure.__cause__) or (None, False)
        is_tried_again = wait is not None and not (has_died and job.deaths + 1 >= MAX_DEATHS)
        if is_tried_again or isinstance(failure, (_ShuttingDown, DataChanged, CutIntoPieces)):
            report.status = "REQUEUED"
            self._update_store(lambda _: self._jobs.requeue_job(job.job_id, job.attempt, died=has_died, wait=wait))
            return
        error = JobError(str(failure), isinstance(failure, ServiceUnavailable), list_query_errors(failure))
        if not self._update_store(lambda at: self._jobs.fail_job(job.job_id, job.attempt, at, error, {})):
            self._note_abortion(job, report)
        self._pieces.delete_parts(job)

    def _note_abortion(self, job: Job, report: QueryReport) -> None:
        """Tell why a job was revoked, rather than what stopping its query made the engine say."""
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
                if self._closing.wait(STORE_RETRY_SECONDS):
                    return False  # the next start finds the job EXECUTING and restarts it

    def _record_query(
        self, job: Job, parameters: TapParameters | None, tables: Sequence[TableEntry], report: QueryReport
    ) -> None:
        report.seconds["total"] = (now() - job.creation_time).total_seconds()
        self._metrics.record_query(report)
        if parameters is not None:
            self._log.log_query(parameters, report, query_id=job.query_id, client=job.client, user=job.owner)
            self._usage.count_query(
                report, tables, parameters.format.extension, owner=job.owner, client=job.client, is_job=True
            )
        else:
            self._log.log_failure(report, query_id=job.query_id, client=job.client, user=job.owner)
