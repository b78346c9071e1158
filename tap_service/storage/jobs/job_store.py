"""The job store: what is known of each job, and the only place where a phase changes.

A job store keeps records and changes one at a time, atomically (``_change``); which phase may follow which is written
here once, for every store. Two may want to change a job at the same moment, in two threads or two machines: whoever
comes second finds a phase that is no predecessor of the one it wants, and is refused with ``IllegalTransition``.

    JobStoreError
    ├── NoSuchJob             never made, or destroyed
    ├── IllegalTransition     the job's phase, or another attempt, does not allow it
    └── JobStoreUnavailable   cannot be reached, or has no room
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from tap_service.models.piece_progress import PieceWork
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
from tap_service.models.work_class import Estimate, Place

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
    """``phase`` is the phase that the job has."""

    def __init__(self, phase: ExecutionPhase, message: str) -> None:
        super().__init__(message)
        self.phase = phase


class JobStore(ABC):
    """Safe to call from several threads, and where its records are shared, from several processes.

    Any method may raise JobStoreUnavailable; those that name a job raise NoSuchJob.
    """

    # Records

    @abstractmethod
    def create_job(self, job: Job) -> None: ...

    @abstractmethod
    def get_job(self, job_id: str) -> Job: ...

    @abstractmethod
    def delete_job(self, job_id: str) -> Job:
        """Forget the job; its last record, so that the caller can stop its query and remove its result.

        Of two who delete it at once only one gets it. A worker that executes it finds out at its next word.
        """

    @abstractmethod
    def _change_job(self, job_id: str, change: Callable[[Job], Job]) -> Job:
        """Replace the record by what ``change`` makes of it, with nothing in between; the new record.

        ``change`` is called again if somebody else was quicker. What it raises goes through, and nothing is changed.
        """

    # Lists, by index

    @abstractmethod
    def list_references(self, wanted: JobFilter) -> Iterator[JobReference]:
        """The newest first, read as the caller goes on."""

    @abstractmethod
    def list_queued(self) -> list[Place]:
        """The QUEUED jobs, the oldest first."""

    @abstractmethod
    def list_executing(self) -> list[Place]:
        """The EXECUTING jobs."""

    @abstractmethod
    def find_alike(self, fingerprint: str) -> list[str]:
        """Ids of the COMPLETED jobs of this fingerprint."""

    @abstractmethod
    def lock_choice(self) -> AbstractContextManager[None]:
        """Nobody else, in whatever process, is in such a block: who chooses the next job, or gives one a turn."""

    @abstractmethod
    def list_expired(self, at: datetime, most: int) -> list[str]:
        """Ids of up to ``most`` jobs whose destruction time has come."""

    @abstractmethod
    def list_silent(self, since: datetime) -> list[Job]:
        """The EXECUTING jobs whose worker was last heard of before ``since``."""

    @abstractmethod
    def watch_job(self, job_id: str, notify: Callable[[], None]) -> AbstractContextManager[None]:
        """Call ``notify``, from any thread, after each change of the job's phase and after its end; or more often."""

    # What has been learned of the engine

    @abstractmethod
    def read_rates(self) -> dict[str, float]:
        """What ``set_rate`` was told last, of each kind of work."""

    @abstractmethod
    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None: ...

    @abstractmethod
    def check_writable(self) -> None:
        """Raise JobStoreUnavailable unless records can be written and read."""

    @abstractmethod
    def close(self) -> None: ...

    # Phases

    def queue_job(
        self, job_id: str, foreseen: Estimate | None = None, turn: int = 0, quote: datetime | None = None
    ) -> Job:
        """PENDING, HELD -> QUEUED: the client says RUN. Two that say it at once queue the job once."""

        def queued(job: Job) -> Job:
            return replace(job, foreseen=foreseen, turn=turn, quote=quote)

        return self._advance_job(job_id, frozenset({PENDING, HELD}), QUEUED, queued)

    def start_job(self, job_id: str, worker: str, at: datetime) -> Job:
        """QUEUED -> EXECUTING, as the next attempt. A job that is dispatched twice is executed once."""

        def started(job: Job) -> Job:
            quote = job.end_after(at, job.foreseen.seconds) if job.foreseen else None
            attempt = job.attempt + 1
            return replace(job, start_time=at, heartbeat=at, worker=worker, attempt=attempt, quote=quote, info={})

        return self._advance_job(job_id, frozenset({QUEUED}), EXECUTING, started)

    def complete_job(
        self, job_id: str, attempt: int, at: datetime, result: JobResult, info: Info, fingerprint: str = ""
    ) -> Job:
        """EXECUTING -> COMPLETED. Never overrides ABORTED: whoever aborts first wins, and the result is thrown away.

        May be told again, when the first answer was lost on its way.
        """

        def completed(job: Job) -> Job:
            kept = {**_drop_running_info(job.info), **info}
            return replace(job, end_time=at, result=result, fingerprint=fingerprint, info=kept)

        end = _restrict_change(
            {EXECUTING}, lambda job: replace(completed(job), phase=ExecutionPhase.COMPLETED), attempt
        )
        return self._change_job(job_id, lambda job: job if job.result == result else end(job))

    def fail_job(self, job_id: str, attempt: int, at: datetime, error: JobError, info: Info) -> Job:
        """EXECUTING -> ERROR. Never overrides ABORTED: an aborted query fails, and that is no error.

        May be told again, as ``complete``.
        """

        def failed(job: Job) -> Job:
            return replace(job, end_time=at, error=error, info={**_drop_running_info(job.info), **info})

        end = _restrict_change({EXECUTING}, lambda job: replace(failed(job), phase=ExecutionPhase.ERROR), attempt)
        told = (ExecutionPhase.ERROR, attempt, at, error)
        return self._change_job(
            job_id, lambda job: job if (job.phase, job.attempt, job.end_time, job.error) == told else end(job)
        )

    def abort_job(self, job_id: str, at: datetime, error: JobError | None = None) -> Job:
        """Unfinished -> ABORTED, by the client, or with ``error`` by the service. Never overrides another end."""

        def aborted(job: Job) -> Job:
            return replace(job, end_time=at, error=error, info=_drop_running_info(job.info))

        return self._advance_job(job_id, UNFINISHED, ExecutionPhase.ABORTED, aborted)

    def requeue_job(self, job_id: str, attempt: int, *, died: bool) -> Job:
        """EXECUTING -> QUEUED: its worker shuts down or has ``died``, and the job begins anew.

        One that is done in pieces goes on after those that are done.

        UWS would call this SUSPENDED, a phase in which pyvo refuses to wait; QUEUED is as true. If the worker lives
        after all and ends first, this one is refused; if it ends later, it is.
        """

        def again(job: Job) -> Job:
            deaths = job.deaths + died
            return replace(job, start_time=None, heartbeat=None, worker="", info={}, quote=None, deaths=deaths)

        return self._advance_job(job_id, frozenset({EXECUTING}), QUEUED, again, attempt)

    # What else may change

    def report_progress(self, job_id: str, attempt: int, at: datetime, info: Info) -> Job:
        """A sign of life of the worker, with all of ``info`` for jobInfo: empty, it stays as it was.

        Refused when the job is no longer its own.
        """

        def heard(job: Job) -> Job:
            return replace(job, heartbeat=at, info=info or job.info, quote=_estimate_end(job, at, info))

        return self._advance_job(job_id, frozenset({EXECUTING}), EXECUTING, heard, attempt)

    def set_estimate(self, job_id: str, attempt: int, at: datetime, foreseen: Estimate) -> Job:
        """What it will cost, where that could not be told before. Refused when the job is not the worker's own."""

        def told(job: Job) -> Job:
            return replace(job, heartbeat=at, foreseen=foreseen, quote=job.end_after(at, foreseen.seconds))

        return self._advance_job(job_id, frozenset({EXECUTING}), EXECUTING, told, attempt)

    def set_pieces(self, job_id: str, attempt: int, at: datetime, pieces: PieceWork) -> Job:
        """What is done of a job in pieces; it may be told again. Refused when the job is no longer the worker's own."""

        def done(job: Job) -> Job:
            return replace(job, heartbeat=at, pieces=pieces, deaths=0 if pieces.parts else job.deaths)

        return self._advance_job(job_id, frozenset({EXECUTING}), EXECUTING, done, attempt)

    def set_parameters(
        self, job_id: str, posted: Sequence[Pair], run_id: str | None = None, files: Sequence[JobFile] = ()
    ) -> Job:
        """Merge posted parameters and files, while the job is PENDING. ``run_id`` None = as it was."""

        def with_parameters(job: Job) -> Job:
            name = job.run_id if run_id is None else run_id
            new = {file.name for file in files}
            kept = (*(file for file in job.files if file.name not in new), *files)
            return replace(job, parameters=merge_parameters(job.parameters, posted), run_id=name, files=kept)

        return self._advance_job(job_id, frozenset({PENDING}), PENDING, with_parameters)

    def set_execution_duration(self, job_id: str, seconds: int) -> Job:
        """As long as the job is not finished: a running one is held to the new duration."""
        return self._change_job(
            job_id, _restrict_change(UNFINISHED, lambda job: replace(job, execution_duration=seconds))
        )

    def set_destruction_time(self, job_id: str, at: datetime) -> Job:
        """In any phase. No job is foreseen to end after it."""

        def changed(job: Job) -> Job:
            return replace(job, destruction_time=at, quote=None if job.quote is None else min(job.quote, at))

        return self._change_job(job_id, changed)

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
    """What was told while the job ran, without what is true only then."""
    return {name: value for name, value in info.items() if name not in ("stage", "secondsLeft")}


def _estimate_end(job: Job, at: datetime, info: Info) -> datetime | None:
    """Of a running job: what was foreseen, until that is past or pieces tell it better; None if nobody knows."""
    left = info.get("secondsLeft")
    known = job.quote is not None and job.quote > at
    if left is not None and ("pieces" in info or not known):
        return job.end_after(at, float(left))
    return job.quote if known else None


def _restrict_change(
    predecessors: Iterable[ExecutionPhase], change: Callable[[Job], Job], attempt: int | None = None
) -> Callable[[Job], Job]:
    """``change``, refused unless the job is in one of these phases, and at this attempt if one is named."""

    def checked(job: Job) -> Job:
        if job.phase not in predecessors:
            raise IllegalTransition(job.phase, f"the job is {job.phase}")
        if attempt is not None and job.attempt != attempt:
            raise IllegalTransition(job.phase, f"attempt {attempt} has been given up for attempt {job.attempt}")
        return change(job)

    return checked
