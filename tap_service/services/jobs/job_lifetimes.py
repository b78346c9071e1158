"""Ends jobs: at their destruction time, on demand, and when their worker has died."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from tap_service.constants import (
    MAX_DEATHS,
    ORPHAN_AGE_SECONDS,
    ORPHAN_EXPORT_SECONDS,
    ORPHAN_TABLE_SECONDS,
    SWEEP_SECONDS,
)
from tap_service.models.share import find_share_id
from tap_service.models.timestamps import now
from tap_service.models.uws_job import ExecutionPhase, Job, JobError
from tap_service.services.periodic_thread import PeriodicThread, call_and_log
from tap_service.services.shares.share_lifetimes import ShareLifetimes
from tap_service.services.user_tables.user_table_expiry import UserTableExpiry
from tap_service.storage.engine import merge_tables
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.engine.query_tables import RESULT_OF_EXPORT, UPLOAD_OF_JOB, UPLOAD_OF_SYNC, drop_orphan_tables
from tap_service.storage.jobs.job_store import UNFINISHED, IllegalTransition, JobStore, NoSuchJob
from tap_service.storage.results.result_store import ResultStore
from tap_service.storage.share_store import ShareStoreUnavailable

_log = logging.getLogger("skyhouse")

_MAX_DESTROYED_AT_ONCE = 1000

_FAILURE = "expired and orphaned jobs cannot be ended now"


class JobLifetimes:
    """Destroys and aborts jobs, recovers jobs of dead workers, and sweeps what no job owns. Thread-safe.

    Methods raise JobStoreUnavailable.
    """

    def __init__(
        self,
        engine: Engine,
        jobs: JobStore,
        results: ResultStore,
        tables: UserTableExpiry | None = None,
        shares: ShareLifetimes | None = None,
    ) -> None:
        self._engine = engine
        self._shares = shares
        self._tables = tables
        self._jobs = jobs
        self._results = results

    def destroy_job(self, job_id: str) -> None:
        """Stop a job if it runs, and delete it with its results and files.

        Parameters
        ----------
        job_id : str
            The job, in any phase.

        Raises
        ------
        NoSuchJob
            There is no such job; of two concurrent callers, one destroys it.
        """
        job = self._jobs.delete_job(job_id)
        if job.phase is ExecutionPhase.EXECUTING:
            self.stop_query(job.query_id)
        if job.attempt:
            self._delete_results(job)
        self._delete_upload_files(job)

    def abort_job(self, job_id: str, reason: JobError | None = None) -> Job:
        """Abort a job that has not ended, and stop its query.

        Parameters
        ----------
        job_id : str
            The job.
        reason : JobError | None
            Why the service aborts it; None if its user does.

        Returns
        -------
        Job
            The aborted job.

        Raises
        ------
        NoSuchJob
            There is no such job.
        IllegalTransition
            The job has ended.
        """
        job = self._jobs.abort_job(job_id, now(), reason)
        if job.start_time is not None:
            self.stop_query(job.query_id)
        else:
            self._delete_upload_files(job)
        return job

    def stop_query(self, query_id: str) -> None:
        """Kill the query of an ended job. If the engine is unavailable, the worker does it at its next report."""
        try:
            self._engine.cancel_query(query_id)
        except EngineError as error:
            _log.warning("query %s cannot be stopped yet: %s", query_id, error.detail)

    def destroy_expired(self, at: datetime) -> int:
        """Destroy jobs whose destruction time has passed, and shares that are due.

        Parameters
        ----------
        at : datetime
            The present instant.

        Returns
        -------
        int
            The number of expired jobs, at most 1,000 in one call.
        """
        if self._shares is not None:
            self._shares.delete_due(at)
        expired = self._jobs.list_expired(at, _MAX_DESTROYED_AT_ONCE)
        for job_id in expired:
            try:
                self.destroy_job(job_id)
            except NoSuchJob:
                continue
        return len(expired)

    def recover_jobs(self, since: datetime) -> int:
        """Queue again the jobs whose worker is silent. A job whose workers have died MAX_DEATHS times becomes an ERROR.

        Parameters
        ----------
        since : datetime
            Workers whose last heartbeat is earlier count as dead.

        Returns
        -------
        int
            The number of jobs of silent workers.
        """
        silent = self._jobs.list_silent(since)
        for job in silent:
            try:
                if job.deaths + 1 < MAX_DEATHS:
                    self._jobs.requeue_job(job.job_id, job.attempt, died=True)
                    self._delete_results(replace(job, pieces=None))  # keep the finished pieces
                else:
                    self._jobs.fail_job(job.job_id, job.attempt, now(), _LOST, {})
                    self._delete_results(job)
            except (NoSuchJob, IllegalTransition):
                continue  # its worker is alive after all, or the job was aborted
        return len(silent)

    def stop_stray_queries(self) -> None:
        """Stop queries of jobs that have ended while their worker could not reach the engine.

        Unknown jobs may belong to another deployment over the same engine: leave them alone.
        """
        for query_id in self._engine.list_running_ids("async-"):
            if self._is_executing(query_id.removeprefix("async-").replace("-", "_")) is False:
                self.stop_query(query_id)

    def sweep_orphans(self, minimum_age: float = ORPHAN_AGE_SECONDS) -> int:
        """Delete results, incomplete results and parts that belong to no job or share, and tables of dead queries.

        Tables of unknown jobs are dropped when they are old, since they may belong to another deployment over the same
        engine. Errors of the engine are logged.

        Parameters
        ----------
        minimum_age : float
            The age of results in seconds from which they are deleted. 0 means that no query runs now.

        Returns
        -------
        int
            The number of deleted results and parts.
        """
        old = ORPHAN_TABLE_SECONDS if minimum_age else 0

        def is_orphan(name: str, age: float) -> bool:
            executed = self._is_executing(name)
            return age >= old if executed is None else not executed

        try:
            for server in self._engine.list_servers():
                for prefix in (merge_tables.MERGE_TABLE_PREFIX, UPLOAD_OF_JOB):
                    drop_orphan_tables(server, prefix, is_orphan)
                drop_orphan_tables(server, UPLOAD_OF_SYNC, lambda _, age: age >= old)
                drop_orphan_tables(server, RESULT_OF_EXPORT, lambda _, age: age >= ORPHAN_EXPORT_SECONDS)
            if self._tables is not None:
                self._tables.sweep_tables(alone=not minimum_age)
        except EngineError as error:
            _log.warning("tables of dead queries cannot be dropped now: %s", error.detail)
        try:
            orphans = [key for key in self._results.list_keys(minimum_age) if not self._has_owner(key)]
        except ShareStoreUnavailable as error:
            _log.warning("orphaned results cannot be found now: %s", error)
            return 0
        for key in orphans:
            self._results.delete_result(key)
        return len(orphans)

    def _delete_results(self, job: Job) -> None:
        """Delete the results of a job. If the store is unreachable, the next sweep deletes them."""
        try:
            for key in (job.result_key, job.preview_key, *job.part_keys):
                self._results.delete_result(key)
        except OSError as error:
            _log.warning("the results of job %s cannot be deleted yet: %s", job.job_id, error)

    def _delete_upload_files(self, job: Job) -> None:
        """Delete the files of a job that no longer needs them. If the store is unavailable, the next sweep does it."""
        try:
            for file in job.files:
                self._results.delete_result(file.key)
        except OSError as error:
            _log.warning("the uploaded files of job %s cannot be deleted yet: %s", job.job_id, error)

    def _is_executing(self, name: str) -> bool | None:
        """Return None for an unknown job. ``name`` begins with ``{job id}_{attempt}_``."""
        job_id, attempt = name.split("_")[:2]
        try:
            job = self._jobs.get_job(job_id)
        except NoSuchJob:
            return None
        return job.phase is ExecutionPhase.EXECUTING and str(job.attempt) == attempt

    def _has_owner(self, key: str) -> bool:
        if find_share_id(key):
            return self._shares is None or self._shares.has_owner(key)
        try:
            job = self._jobs.get_job(key.rpartition("-")[0])
        except NoSuchJob:
            return False
        executing = job.phase is ExecutionPhase.EXECUTING
        if key in (job.result_key, job.preview_key):
            return executing or job.result is not None
        if key in (file.key for file in job.files):
            return job.phase in UNFINISHED
        if executing and key.startswith(f"{job.result_key}x"):  # a part being written
            return True
        return (executing or job.phase is ExecutionPhase.QUEUED) and key in job.part_keys


class JobSweeper:
    """A thread of the embedded deployment that ends jobs, and calls ``wake_idle`` every SWEEP_SECONDS."""

    def __init__(self, lifetimes: JobLifetimes, wake_idle: Callable[[], None]) -> None:
        self._lifetimes = lifetimes
        self._wake_idle = wake_idle
        self._last_sweep = time.monotonic()
        self._thread = PeriodicThread("job-sweeper", SWEEP_SECONDS, self._run_round, _FAILURE)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._thread.close()

    def _run_round(self) -> None:
        call_and_log(lambda: self._lifetimes.destroy_expired(now()), _FAILURE)
        call_and_log(self._wake_idle, _FAILURE)
        if time.monotonic() - self._last_sweep >= ORPHAN_AGE_SECONDS:
            self._last_sweep = time.monotonic()
            self._lifetimes.sweep_orphans()


_LOST = JobError(
    f"the process that executed this job has ended unexpectedly {MAX_DEATHS} times, perhaps by what the job needs: "
    "ask for less at once, such as a smaller region, or fewer columns to sort or group by"
)
