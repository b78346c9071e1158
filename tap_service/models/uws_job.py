"""A job, in the terms of UWS 1.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tap_service.models.client import find_client_key
from tap_service.models.piece_work import PieceWork
from tap_service.models.query_errors import QueryError
from tap_service.models.request_parameters import SINGLE_VALUED, Pair
from tap_service.models.result_provenance import ResultProvenance
from tap_service.models.timestamps import add_seconds
from tap_service.models.watch import JobWatch
from tap_service.models.work_class import EngineWait, Estimate, QueuedJob


class ExecutionPhase(StrEnum):
    """The phases of UWS 1.1, section 2.1.3. This service does not use HELD and SUSPENDED."""

    PENDING = "PENDING"
    QUEUED = "QUEUED"
    EXECUTING = "EXECUTING"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"
    ABORTED = "ABORTED"
    UNKNOWN = "UNKNOWN"
    HELD = "HELD"
    SUSPENDED = "SUSPENDED"
    ARCHIVED = "ARCHIVED"


#: phases in which a client can wait for the next one (UWS 1.1, section 2.2.1.2)
ACTIVE = frozenset({ExecutionPhase.PENDING, ExecutionPhase.QUEUED, ExecutionPhase.EXECUTING})

#: the XML elements of a jobInfo
Info = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class JobResult:
    """The description of a stored result.

    Attributes
    ----------
    key : str
        The key in the result store.
    size : int
        The size in bytes.
    content_type, extension : str
        The media type, and the extension of file names.
    etag : str
        The entity tag, without quotes.
    provenance : ResultProvenance or None
        The provenance; None unless the job had CHECKSUM=true.
    """

    key: str
    size: int
    content_type: str
    extension: str
    etag: str
    provenance: ResultProvenance | None = None

    @property
    def is_collection(self) -> bool:
        """Whether the result is an archive of the files of a HATS collection."""
        return self.extension == "zip"


@dataclass(frozen=True, slots=True)
class JobFile:
    """An uploaded file of a job.

    Attributes
    ----------
    name : str
        The name of its part in the request.
    key : str
        The key in the result store.
    size : int
        The size in bytes.
    content_type : str
        The media type that the client declared.
    digest : str
        The SHA-256 in hexadecimal; '' if unknown.
    """

    name: str
    key: str
    size: int
    content_type: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class JobError:
    """The error of a failed job.

    Attributes
    ----------
    message : str
        The message for the owner.
    transient : bool
        Whether the same job may succeed later.
    errors : tuple of QueryError
        The errors of the query, with their positions.
    """

    message: str
    transient: bool = False
    errors: tuple[QueryError, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A job. Instants are in UTC, cut to milliseconds.

    Attributes
    ----------
    owner : str or None
        The user; None for an anonymous job, which every client may use that knows its URL.
    execution_duration : int
        The time limit in seconds.
    run_id, note : str
        The owner's name for the job and note on it, which the owner may change at any time.
    client : str
        The address of the client that created the job, for the query log.
    foreseen, turn : Estimate or None, int
        The estimate and the position in the order of jobs, set when the job is queued.
    fingerprint : str
        Equal for jobs of one owner that must have the same result; '' if unknown.
    attempt : int
        The number of times that the job has started. Workers name their attempt in every change, so that a worker that
        was wrongly declared dead cannot change the record of its successor.
    deaths : int
        The number of workers that died with the job since its last finished piece.
    heartbeat : datetime or None
        The last report of the present worker.
    pieces : PieceWork or None
        The pieces; None for a job that is not divided.
    wait : EngineWait or None
        The wait for the engine; kept while the job is tried again.
    disk_limit : int or None
        The limit of the disk space for all jobs of the owner when the job was created, in bytes; None for the limit in
        the settings.
    watch : JobWatch or None
        The watch whose run this job is; None for other jobs.
    stored : int
        The bytes that the job store has counted for the job (``stored_bytes``); only the store sets it.
    """

    job_id: str
    owner: str | None
    creation_time: datetime
    destruction_time: datetime
    execution_duration: int
    phase: ExecutionPhase = ExecutionPhase.PENDING
    parameters: tuple[Pair, ...] = ()
    files: tuple[JobFile, ...] = ()
    run_id: str = ""
    note: str = ""
    client: str = ""
    quote: datetime | None = None
    foreseen: Estimate | None = None
    turn: int = 0
    start_time: datetime | None = None
    end_time: datetime | None = None
    result: JobResult | None = None
    fingerprint: str = ""
    error: JobError | None = None
    info: Info = field(default_factory=dict)
    attempt: int = 0
    deaths: int = 0
    worker: str = ""
    heartbeat: datetime | None = None
    pieces: PieceWork | None = None
    wait: EngineWait | None = None
    disk_limit: int | None = None
    watch: JobWatch | None = None
    stored: int = field(default=0, compare=False)

    @property
    def kept_bytes(self) -> int:
        """The size of the result, of the parts, and of the files that the job still needs, in bytes."""
        result = self.result.size if self.result else 0
        is_unfinished = self.end_time is None
        parts = sum(part.size for part in self.pieces.parts) if self.pieces and is_unfinished else 0
        return result + parts + (sum(file.size for file in self.files) if is_unfinished else 0)

    @property
    def stored_bytes(self) -> int:
        """The size of the job on disk in bytes, with the bytes that it has written by its last report."""
        is_writing = self.phase is ExecutionPhase.EXECUTING
        return self.kept_bytes + (int(self.info.get("bytesWritten", 0)) if is_writing else 0)

    @property
    def queued_job(self) -> QueuedJob:
        """The job as the queue sees it; anonymous jobs from one address take turns like the jobs of one user."""
        user = find_client_key(self.owner, self.client)
        seconds = self.foreseen.seconds if self.foreseen else 0.0
        return QueuedJob(self.job_id, user, self.turn, seconds, self.start_time, self.wait)

    def end_after(self, at: datetime, seconds: float) -> datetime:
        """Return the instant ``seconds`` after ``at``, at most the destruction time.

        Parameters
        ----------
        at : datetime
            The start.
        seconds : float
            The duration, which may be infinite.
        """
        life = (self.destruction_time - at).total_seconds()
        return add_seconds(at, seconds) if seconds < life else self.destruction_time

    @property
    def query_id(self) -> str:
        """The engine's id of the query of this attempt."""
        return f"async-{self.job_id}-{self.attempt}"

    @property
    def result_key(self) -> str:
        """The key of this attempt's result in the result store."""
        return f"{self.job_id}-{self.attempt}"

    @property
    def preview_key(self) -> str:
        """The key of the file with the preview of this attempt, in all its formats."""
        return f"{self.result_key}f"

    def part_key(self, attempt: int, number: int) -> str:
        """Return the key of a stored part of the result in the result store.

        Parameters
        ----------
        attempt : int
            The attempt that has stored the part.
        number : int
            The number of the piece, counted from 0.
        """
        return f"{self.job_id}-{attempt}x{number}"

    @property
    def part_keys(self) -> tuple[str, ...]:
        """The keys of all stored parts."""
        parts = self.pieces.parts if self.pieces else ()
        return tuple(self.part_key(part.attempt, number) for number, part in enumerate(parts) if part.size)


@dataclass(frozen=True, slots=True)
class JobReference:
    """An entry of a job list."""

    job_id: str
    phase: ExecutionPhase
    run_id: str
    owner: str | None
    creation_time: datetime


@dataclass(frozen=True, slots=True)
class JobFilter:
    """A selection of jobs that fulfil all conditions.

    Attributes
    ----------
    owner : str or None
        The owner; None for jobs of all owners.
    phases : frozenset of ExecutionPhase
        The phases; empty for all phases except ARCHIVED.
    after, before : datetime or None
        Exclusive bounds of the creation time.
    last : int or None
        The maximum number of jobs, the newest; None for all.
    words : tuple of str
        Words that the job contains; ``job_search`` applies this condition, not job stores.
    """

    owner: str | None
    phases: frozenset[ExecutionPhase] = frozenset()
    after: datetime | None = None
    last: int | None = None
    before: datetime | None = None
    words: tuple[str, ...] = ()


def merge_parameters(old: Sequence[Pair], new: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return the parameters of a job after a request to change them.

    Parameters
    ----------
    old : Sequence[Pair]
        The parameters of the job.
    new : Iterable[Pair]
        The parameters of the request. They replace old parameters with the same names, except that UPLOAD accumulates.
        A parameter that the request repeats stays repeated, and the query then fails, as in /sync.
    """
    new = [(_canonical_name(name), value) for name, value in new]
    replaced = {name.upper() for name, _ in new} - {"UPLOAD"}
    return (*(pair for pair in old if pair[0].upper() not in replaced), *new)


def _canonical_name(name: str) -> str:
    """Return names of TAP, which are case-insensitive, in upper case, and other names unchanged."""
    return name.upper() if name.upper() in _TAP_PARAMETERS else name


_TAP_PARAMETERS = frozenset({*SINGLE_VALUED, "UPLOAD", "REUSE", "CHECKSUM"})
