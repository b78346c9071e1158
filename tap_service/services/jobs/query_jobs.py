"""Executes the jobs that are queries: prepares, reuses, divides and runs them into the result store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from tap_service.config import Config
from tap_service.models.engine_share import ENGINE_SHARES, EngineShare
from tap_service.models.query_report import QueryReport
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Info, Job, JobResult
from tap_service.models.work_class import Estimate
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.service_errors import QueryTooHeavy
from tap_service.services.jobs.job_execution import JobCompletion, JobReturn, JobRevoked, RunningJob
from tap_service.services.jobs.job_monitor import JobMonitor
from tap_service.services.jobs.job_progress import JobProgress
from tap_service.services.jobs.job_queue import JobQueue
from tap_service.services.jobs.piecewise_jobs import PiecewiseJobs, PiecewiseRun
from tap_service.services.jobs.preview_writer import PreviewWriter
from tap_service.services.jobs.provenance_note import ProvenanceNote, parse_checksum
from tap_service.services.jobs.result_reuse import ResultReuse, compute_fingerprint, parse_reuse
from tap_service.services.jobs.watch_jobs import WatchJobs
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.query_preparation import Costing, QueryPreparation
from tap_service.services.queries.query_run import QueryRun, RunObserver
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters
from tap_service.storage.engine.engine import Engine, MemoryLimit
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.job_upload_files import StoredPart

_log = logging.getLogger("skyhouse")


class QueryJobs:
    """Implements ``JobExecutor``."""

    def __init__(
        self,
        config: Config,
        engine: Engine,
        preparation: QueryPreparation,
        stores: JobStores,
        queue: JobQueue,
        monitor: JobMonitor,
        pieces: PiecewiseJobs,
        watches: WatchJobs,
    ) -> None:
        self._config = config
        self._engine = engine
        self._preparation = preparation
        self._jobs = stores.jobs
        self._results = stores.results
        self._queue = queue
        self._monitor = monitor
        self._pieces = pieces
        self._watches = watches
        self._reuse = ResultReuse(stores)
        self._scratch = ScratchSpace(config.spool_path, Budget(config.spool_disk))

    def read_parameters(self, job: Job) -> TapParameters:
        parts = {file.name: StoredPart(self._results, file, self._config.spool_path) for file in job.files}
        return read_tap_parameters(job.parameters, self._config.max_query_length, parts)

    def execute_job(self, job: Job, parameters: TapParameters, report: QueryReport) -> JobCompletion | JobReturn:
        with self._monitor.keep_alive(job):
            query = self._preparation.prepare_query(
                parameters,
                job.query_id,
                self._config.async_hard_maxrec,
                owner=job.owner,
                costing=Costing.NONE if job.foreseen is not None else Costing.ALWAYS,
                addition=self._watches.find_addition(job),
            )
        with closing(query):
            job = self._store_estimate(job, query.estimate)
            fingerprint = compute_fingerprint(
                job, parameters, query, self._config.title, self._preparation.current_data_version
            )
            if parse_reuse(job.parameters) and (reused := self._reuse_result(job, query, fingerprint, report)):
                return reused
            return self._run_query(job, parameters, query, report, fingerprint)

    def _store_estimate(self, job: Job, estimate: Estimate | None) -> Job:
        """Store the estimate of a job that had none in the queue; a new work class takes effect at once."""
        if estimate is None:
            return job
        try:
            return self._jobs.set_estimate(job.job_id, job.attempt, now(), estimate)
        except JobStoreUnavailable as error:
            _log.warning("the estimate of a job cannot be stored: %s", error)
            return job
        except (NoSuchJob, IllegalTransition) as error:
            raise JobRevoked("the job was aborted") from error

    def _reuse_result(
        self, job: Job, query: PreparedQuery, fingerprint: str, report: QueryReport
    ) -> JobCompletion | None:
        """Return a copy of the result of an identical job, if there is one."""
        is_checked = parse_checksum(job.parameters)
        if (found := self._reuse.reuse_result(job, fingerprint, with_checksum=is_checked)) is None:
            return None
        result, info = found
        query.start_report(report)
        report.status = "REUSED"
        report.rows, report.bytes = int(info.get("rowsWritten", 0)), result.size
        return JobCompletion(result, info, fingerprint)

    def _run_query(
        self, job: Job, parameters: TapParameters, query: PreparedQuery, report: QueryReport, fingerprint: str
    ) -> JobCompletion | JobReturn:
        """Run a query into the result store; if it exceeds its memory, continue in pieces where possible."""
        plan, translation = self._pieces.plan_job(job, query.translation), query.translation
        if isinstance(plan, PiecewiseRun):
            progress = _build_progress(job, query, report, (plan.plan,), plan.pieces_info)
            return self._write_result(job, parameters, replace(query, source=plan), report, fingerprint, progress)
        notes = (f"in one: {plan.reason}", *self._preparation.describe_memory(translation))
        progress = _build_progress(job, query, report, notes)
        try:
            return self._write_result(job, parameters, query, report, fingerprint, progress)
        except QueryTooHeavy as failure:
            if isinstance(failure.__cause__, MemoryLimit) and self._pieces.cut_job(job, translation):
                return JobReturn("the job continues in pieces that fit into memory")
            raise

    def _write_result(
        self,
        job: Job,
        parameters: TapParameters,
        query: PreparedQuery,
        report: QueryReport,
        fingerprint: str,
        progress: JobProgress,
    ) -> JobCompletion:
        with ExitStack() as stack:
            preview = PreviewWriter(
                self._monitor, self._results, job, progress, query.translation, parameters.query, self._config.title
            )
            observers: list[RunObserver] = [preview]
            note = None
            if parse_checksum(job.parameters):
                note = stack.enter_context(closing(ProvenanceNote(self._engine, query.translation, self._scratch)))
                observers.append(note)
            run = QueryRun(query, report, observers)
            with self._monitor.watch(RunningJob(job, run, progress)):
                size = self._run_into_store(job, run)
                provenance = note.finish(run) if note is not None else None
        if job.watch is not None:
            with self._monitor.keep_alive(job):
                self._watches.add_result(job, run, size)
        if progress.bytes_read and progress.pieces is None and job.foreseen is not None:
            self._preparation.record_measured_cost(job.foreseen, progress.bytes_read, run.clock.seconds)
        key, output_format = job.result_key, parameters.format
        result = JobResult(key, size, output_format.content_type, output_format.extension, key, provenance)
        info = {**progress.info_at_end(), **({"checksum": provenance.checksum} if provenance else {})}
        return JobCompletion(result, info, fingerprint)

    def _run_into_store(self, job: Job, run: QueryRun) -> int:
        """Run a query into the result store; return the bytes of the result."""
        writer = self._results.create_result(job.result_key)
        try:
            run.run(writer, self._choose_share(job))
            return writer.commit()
        finally:
            writer.discard()

    def _choose_share(self, job: Job) -> EngineShare:
        share = ENGINE_SHARES[job.queued_job.work_class(now())]
        try:
            return replace(share, max_threads=self._queue.share_threads(job))
        except JobStoreUnavailable as error:
            _log.warning("the other jobs cannot be counted: %s", error)
            return share


def _build_progress(
    job: Job, query: PreparedQuery, report: QueryReport, notes: Sequence[str], pieces: Callable[[], Info] | None = None
) -> JobProgress:
    """``notes``: the first lines of the plan."""
    plan = "\n".join([*notes, *query.translation.plan])
    return JobProgress(report, query.row_limit.limit, query.translation.query, job.foreseen, plan=plan, pieces=pieces)
