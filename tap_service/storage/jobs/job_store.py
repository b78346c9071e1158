"""The job store: the records of jobs, and the only module that changes phases.

A job store changes one record at a time, atomically (``_change_job``). The allowed phase transitions are defined here,
once for all stores. If two threads or machines change a job at the same time, the second one finds a phase that does
not allow its transition, and gets ``IllegalTransition``.

    JobStoreError
    ├── NoSuchJob             never created, or destroyed
    ├── IllegalTransition     the job's phase or attempt does not allow the change
    └── JobStoreUnavailable   unreachable, or out of space
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from tap_service.models.piece_work import PieceWork
from tap_service.models.request_parameters import Pair
from tap_service.models.uws_job import (
    ExecutionPhase,
    Info,
    Job,
    JobError,
    JobFile,
    JobFilter,
    JobReference,
    JobResult,
    merge_parameters,
)
from tap_service.models.work_class import EngineWait, Estimate, QueuedJob

PENDING, QUEUED, EXECUTING = ExecutionPhase.PENDING, ExecutionPhase.QUEUED, ExecutionPhase.EXECUTING
HELD, SUSPENDED = ExecutionPhase.HELD, ExecutionPhase.SUSPENDED

#: "at any time before the COMPLETED phase a job may either be ABORTED or may suffer an ERROR" (UWS 1.1, 2.1.3)
UNFINISHED = frozenset({PENDING, HELD, QUEUED, EXECUTING, SUSPENDED})


class JobStoreError(Exception):
    pass


class NoSuchJob(JobStoreError):
    pass


class JobStoreUnavailable(JobStoreError):
    pass


class IllegalTransition(JobStoreError):
    """The job does not allow the change. ``phase`` is its current phase."""

    def __init__(self, phase: ExecutionPhase, message: str) -> None:
        super().__init__(message)
        self.phase = phase


class JobStore(ABC):
    """The records of jobs. Thread-safe; a shared store is also safe for several processes.

    All methods may raise ``JobStoreUnavailable``; methods with a ``job_id`` raise ``NoSuchJob``. ``at`` is the present
    instant. Methods with an ``attempt`` raise ``IllegalTransition`` if another attempt has followed. Methods that
    change a job return its new record.
    """

    # Records

    @abstractmethod
    def create_job(self, job: Job) -> None:
        """Store the record of a new job."""

    @abstractmethod
    def get_job(self, job_id: str) -> Job:
        """Return the record of a job."""

    @abstractmethod
    def get_jobs(self, job_ids: Sequence[str]) -> list[Job]:
        """Return the records of the existing jobs among ``job_ids``, in any order."""

    @abstractmethod
    def delete_job(self, job_id: str) -> Job:
        """Delete a job and return its last record, so that the caller can cancel its query and delete its result.

        Of two concurrent callers, one gets the record and the other ``NoSuchJob``. A worker that executes the job
        learns of the deletion with its next report.
        """

    @abstractmethod
    def _change_job(self, job_id: str, change: Callable[[Job], Job]) -> Job:
        """Replace the record atomically by what ``change`` returns; return the new record.

        ``change`` is called again after a concurrent change. If it raises, nothing changes.
        """

    # Lists, read from indexes

    @abstractmethod
    def list_references(self, wanted: JobFilter) -> Iterator[JobReference]:
        """List jobs, the newest first.

        Parameters
        ----------
        wanted : JobFilter
            Which jobs, and how many.

        Returns
        -------
        Iterator[JobReference]
            The jobs. Pages of the list are read on demand.
        """

    @abstractmethod
    def list_queued_jobs(self) -> tuple[list[QueuedJob], list[QueuedJob]]:
        """Return the QUEUED jobs and the EXECUTING jobs, the oldest first."""

    @abstractmethod
    def count_pending(self, user: str = "") -> int:
        """Count the PENDING jobs of a user or an anonymous client (``QueuedJob.user``), by default all PENDING jobs."""

    @abstractmethod
    def count_stored(self, user: str = "") -> int:
        """Return the bytes on disk of the jobs of a user or an anonymous client, by default of all jobs.

        The store keeps this sum: each change of a record adds the difference of ``Job.stored_bytes``. Jobs of earlier
        versions count from their next change on.
        """

    @abstractmethod
    def list_archivable(self, limit: int) -> list[str]:
        """Return the ids of up to ``limit`` COMPLETED jobs of anonymous clients, the oldest first."""

    @abstractmethod
    def list_idle(self, limit: int) -> list[str]:
        """Return the ids of up to ``limit`` PENDING and QUEUED anonymous jobs with files, the oldest first."""

    @abstractmethod
    def find_alike(self, fingerprint: str) -> list[str]:
        """Return the ids of the COMPLETED jobs with this fingerprint of the query."""

    @abstractmethod
    def lock_choice(self) -> AbstractContextManager[None]:
        """Lock the choice of the next job and the assignment of turns, for all processes."""

    @abstractmethod
    def list_expired(self, at: datetime, limit: int) -> list[str]:
        """Return the ids of up to ``limit`` jobs whose destruction time is not after ``at``, the earliest first."""

    @abstractmethod
    def list_silent(self, since: datetime) -> list[Job]:
        """Return the EXECUTING jobs whose worker last reported before ``since``."""

    @abstractmethod
    def watch_job(self, job_id: str, notify: Callable[[], None]) -> AbstractContextManager[None]:
        """Watch a job during the context.

        Parameters
        ----------
        job_id : str
            The job.
        notify : Callable[[], None]
            Called from any thread, at least after each change of the job's phase and after its deletion.
        """

    # Measured rates of the engine

    @abstractmethod
    def read_rates(self) -> dict[str, float]:
        """Return the last measured rate of each kind of work, in seconds per gigabyte."""

    @abstractmethod
    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None:
        """Store the measured rate of a kind of work, which replaces the last one."""

    @abstractmethod
    def check_writable(self) -> None:
        """Raise ``JobStoreUnavailable`` unless records can be written."""

    @abstractmethod
    def close(self) -> None: ...

    # Phases

    def create_queued_job(self, job: Job, foreseen: Estimate | None, turn: int, quote: datetime | None) -> Job:
        """Create a job that the client runs at once: ``create_job`` and ``queue_job`` in one change.

        Parameters
        ----------
        job : Job
            The new job.
        foreseen : Estimate | None
            The estimate of its query, None if unknown.
        turn : int
            Its turn among the jobs of its user.
        quote : datetime | None
            When it is expected to end.
        """
        queued = replace(job, phase=QUEUED, foreseen=foreseen, turn=turn, quote=quote)
        self.create_job(queued)
        return queued

    def queue_job(
        self, job_id: str, foreseen: Estimate | None = None, turn: int = 0, quote: datetime | None = None
    ) -> Job:
        """PENDING, HELD -> QUEUED: the client runs the job. Of two concurrent requests, one succeeds.

        Parameters
        ----------
        job_id : str
            The job.
        foreseen, turn, quote
            As for ``create_queued_job``.
        """

        def add_estimate(job: Job) -> Job:
            return replace(job, foreseen=foreseen, turn=turn, quote=quote)

        return self._advance_job(job_id, frozenset({PENDING, HELD}), QUEUED, add_estimate)

    def start_job(self, job_id: str, worker: str, at: datetime) -> Job:
        """QUEUED -> EXECUTING, as the next attempt. A job that is dispatched twice is executed once.

        Parameters
        ----------
        job_id, at
            The job, and the instant of its start.
        worker : str
            The name of the worker.
        """

        def start_attempt(job: Job) -> Job:
            quote = job.end_after(at, job.foreseen.seconds) if job.foreseen else None
            attempt = job.attempt + 1
            return replace(job, start_time=at, heartbeat=at, worker=worker, attempt=attempt, quote=quote, info={})

        return self._advance_job(job_id, frozenset({QUEUED}), EXECUTING, start_attempt)

    def complete_job(
        self, job_id: str, attempt: int, at: datetime, result: JobResult, info: Info, fingerprint: str = ""
    ) -> Job:
        """EXECUTING -> COMPLETED. Never overrides ABORTED; the caller then discards the result.

        May be repeated after a lost reply.

        Parameters
        ----------
        job_id, attempt, at
            The job, its attempt, and the instant of its end.
        result : JobResult
            The stored result.
        info : Info
            Entries of the jobInfo.
        fingerprint : str
            What the job has in common with jobs of the same query on the same data; '' if it is not reused.
        """

        def add_result(job: Job) -> Job:
            final_info = {**_drop_running_info(job.info), **info}
            completed = replace(job, phase=ExecutionPhase.COMPLETED, end_time=at, result=result)
            return replace(completed, fingerprint=fingerprint, info=final_info)

        end = _restrict_change({EXECUTING}, add_result, attempt)
        return self._change_job(job_id, lambda job: job if job.result == result else end(job))

    def fail_job(self, job_id: str, attempt: int, at: datetime, error: JobError, info: Info) -> Job:
        """EXECUTING -> ERROR. Never overrides ABORTED: the query of an aborted job fails, which is not an error.

        May be repeated after a lost reply.

        Parameters
        ----------
        job_id, attempt, at
            The job, its attempt, and the instant of its end.
        error : JobError
            The error that its user reads.
        info : Info
            Entries of the jobInfo.
        """

        def add_error(job: Job) -> Job:
            final_info = {**_drop_running_info(job.info), **info}
            return replace(job, phase=ExecutionPhase.ERROR, end_time=at, error=error, info=final_info)

        def is_recorded(job: Job) -> bool:
            return (job.phase, job.attempt, job.end_time, job.error) == (ExecutionPhase.ERROR, attempt, at, error)

        end = _restrict_change({EXECUTING}, add_error, attempt)
        return self._change_job(job_id, lambda job: job if is_recorded(job) else end(job))

    def abort_job(self, job_id: str, at: datetime, error: JobError | None = None) -> Job:
        """Unfinished -> ABORTED. Never overrides another final phase.

        Parameters
        ----------
        job_id, at
            The job, and the instant of its end.
        error : JobError | None
            Why the service aborts it; None if the client does.
        """

        def add_end(job: Job) -> Job:
            return replace(job, end_time=at, error=error, info=_drop_running_info(job.info))

        return self._advance_job(job_id, UNFINISHED, ExecutionPhase.ABORTED, add_end)

    def requeue_job(self, job_id: str, attempt: int, *, died: bool, wait: EngineWait | None = None) -> Job:
        """EXECUTING -> QUEUED: the worker shuts down, the worker or a server died, or the engine is unreachable.

        The job restarts after its finished pieces. UWS's phase for this is SUSPENDED, but pyvo does not wait in it. If
        the worker is still alive, either its report or this change comes first, and wins.

        Parameters
        ----------
        job_id, attempt
            The job and its attempt.
        died : bool
            Whether the attempt counts as a death of a worker.
        wait : EngineWait | None
            What the job waits for.
        """

        def end_attempt(job: Job) -> Job:
            deaths = job.deaths + died
            again = replace(job, start_time=None, heartbeat=None, worker="", info={}, quote=None)
            return replace(again, deaths=deaths, wait=wait)

        return self._advance_job(job_id, frozenset({EXECUTING}), QUEUED, end_attempt, attempt)

    def set_wait(self, job_id: str, wait: EngineWait | None) -> Job:
        """Record that a QUEUED job waits for the engine; None if it no longer does."""
        return self._advance_job(job_id, frozenset({QUEUED}), QUEUED, lambda job: replace(job, wait=wait))

    def fail_waiting_job(self, job_id: str, at: datetime, error: JobError) -> Job:
        """QUEUED -> ERROR: the job has waited too long for the engine.

        Parameters
        ----------
        job_id, at
            The job, and the instant of its end.
        error : JobError
            The error that its user reads.
        """

        def add_error(job: Job) -> Job:
            return replace(job, end_time=at, error=error)

        return self._advance_job(job_id, frozenset({QUEUED}), ExecutionPhase.ERROR, add_error)

    def archive_job(self, job_id: str, info: Info) -> Job:
        """COMPLETED -> ARCHIVED: the result is deleted. The caller deletes the files.

        Parameters
        ----------
        job_id : str
            The job.
        info : Info
            Entries of the jobInfo that give the reason.
        """

        def drop_result(job: Job) -> Job:
            return replace(job, result=None, fingerprint="", info={**job.info, **info})

        return self._advance_job(job_id, frozenset({ExecutionPhase.COMPLETED}), ExecutionPhase.ARCHIVED, drop_result)

    # Other changes

    def report_progress(self, job_id: str, attempt: int, at: datetime, info: Info) -> Job:
        """Record a heartbeat of the worker.

        Parameters
        ----------
        job_id, attempt, at
            The job, its attempt, and the present instant.
        info : Info
            The new jobInfo; if it is empty, the jobInfo is unchanged.
        """

        def add_heartbeat(job: Job) -> Job:
            return replace(job, heartbeat=at, info=info or job.info, quote=_estimate_end(job, at, info))

        return self._advance_job(job_id, frozenset({EXECUTING}), EXECUTING, add_heartbeat, attempt)

    def set_estimate(self, job_id: str, attempt: int, at: datetime, foreseen: Estimate) -> Job:
        """Set the estimate of a running job that was queued without one.

        Parameters
        ----------
        job_id, attempt, at
            The job, its attempt, and the present instant.
        foreseen : Estimate
            The estimate.
        """

        def add_estimate(job: Job) -> Job:
            return replace(job, heartbeat=at, foreseen=foreseen, quote=job.end_after(at, foreseen.seconds))

        return self._advance_job(job_id, frozenset({EXECUTING}), EXECUTING, add_estimate, attempt)

    def set_pieces(self, job_id: str, attempt: int, at: datetime, pieces: PieceWork) -> Job:
        """Record the finished pieces of a job; may be repeated.

        Parameters
        ----------
        job_id, attempt, at
            The job, its attempt, and the present instant.
        pieces : PieceWork
            The pieces.
        """

        def add_pieces(job: Job) -> Job:
            if not pieces.parts:
                return replace(job, heartbeat=at, pieces=pieces)
            return replace(job, heartbeat=at, pieces=pieces, deaths=0, wait=None)

        return self._advance_job(job_id, frozenset({EXECUTING}), EXECUTING, add_pieces, attempt)

    def set_parameters(
        self, job_id: str, posted: Sequence[Pair], run_id: str | None = None, files: Sequence[JobFile] = ()
    ) -> Job:
        """Merge parameters and files into a PENDING job.

        Parameters
        ----------
        job_id : str
            The job.
        posted : Sequence[Pair]
            The posted parameters.
        run_id : str | None
            The new name of the job; None keeps the old one.
        files : Sequence[JobFile]
            Uploaded files; they replace files with the same names.
        """

        def add_parameters(job: Job) -> Job:
            name = job.run_id if run_id is None else run_id
            new = {file.name for file in files}
            kept = (*(file for file in job.files if file.name not in new), *files)
            return replace(job, parameters=merge_parameters(job.parameters, posted), run_id=name, files=kept)

        return self._advance_job(job_id, frozenset({PENDING}), PENDING, add_parameters)

    def set_execution_duration(self, job_id: str, seconds: int) -> Job:
        """Set the execution duration in seconds of an unfinished job, also of a running one."""
        return self._change_job(
            job_id, _restrict_change(UNFINISHED, lambda job: replace(job, execution_duration=seconds))
        )

    def set_destruction_time(self, job_id: str, at: datetime) -> Job:
        """Set the destruction time, in any phase; the quote is never later."""

        def set_time(job: Job) -> Job:
            return replace(job, destruction_time=at, quote=None if job.quote is None else min(job.quote, at))

        return self._change_job(job_id, set_time)

    def set_name(self, job_id: str, name: str) -> Job:
        """Set the user's name for the job, in any phase. Its parameters stay as they were sent."""
        return self._change_job(job_id, lambda job: replace(job, run_id=name))

    def set_note(self, job_id: str, note: str) -> Job:
        """Set the user's remarks on the job, in any phase."""
        return self._change_job(job_id, lambda job: replace(job, note=note))

    def _advance_job(
        self,
        job_id: str,
        predecessors: Iterable[ExecutionPhase],
        phase: ExecutionPhase,
        also: Callable[[Job], Job] = lambda job: job,
        attempt: int | None = None,
    ) -> Job:
        changed = _restrict_change(predecessors, lambda job: replace(also(job), phase=phase), attempt)
        return self._change_job(job_id, changed)


def _drop_running_info(info: Info) -> Info:
    """Remove the entries of a jobInfo that hold only while the job runs."""
    return {name: value for name, value in info.items() if name not in ("stage", "secondsLeft")}


def _estimate_end(job: Job, at: datetime, info: Info) -> datetime | None:
    """Return the quote of a running job: by its pieces, otherwise the former quote until it passes; None if unknown."""
    left = info.get("secondsLeft")
    known = job.quote is not None and job.quote > at
    if left is not None and ("pieces" in info or not known):
        return job.end_after(at, float(left))
    return job.quote if known else None


def _restrict_change(
    predecessors: Iterable[ExecutionPhase], change: Callable[[Job], Job], attempt: int | None = None
) -> Callable[[Job], Job]:
    """Wrap ``change`` so that it raises unless the job is in one of these phases and, if given, at this attempt."""

    def check_and_change(job: Job) -> Job:
        if job.phase not in predecessors:
            raise IllegalTransition(job.phase, f"the job is {job.phase}")
        if attempt is not None and job.attempt != attempt:
            raise IllegalTransition(job.phase, f"attempt {job.attempt} has replaced attempt {attempt}")
        return change(job)

    return check_and_change
