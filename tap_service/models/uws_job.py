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
    """A stored result: its ``key`` in the result store, ``size`` in bytes, ``etag`` without quotes.

    ``provenance``: None unless the job had CHECKSUM=true.
    """

    key: str
    size: int
    content_type: str
    extension: str
    etag: str
    provenance: ResultProvenance | None = None

    @property
    def is_collection(self) -> bool:
        """Whether it is an archive of the files of a HATS collection."""
        return self.extension == "zip"


@dataclass(frozen=True, slots=True)
class JobFile:
    """An uploaded file of a job: the ``name`` of its part, its ``key`` in the result store, and its SHA-256."""

    name: str
    key: str
    size: int
    content_type: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class JobError:
    """Why a job failed. ``transient``: the same job may succeed later; ``errors``: those of its query."""

    message: str
    transient: bool = False
    errors: tuple[QueryError, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One job. Instants are in UTC, cut to milliseconds.

    Attributes
    ----------
    owner
        None for an anonymous job, which everyone may use who knows its address.
    run_id, note
        The user's name for it and remarks on it, which the user may change at any time.
    execution_duration
        In seconds.
    client
        The address of the job's creator, for the query log.
    foreseen, turn
        The estimate and the position in the order of jobs, set when the job is queued.
    fingerprint
        Equal for jobs of one owner that must have the same result; '' if unknown.
    attempt
        How often the job has started. Workers name their attempt in every change, so that a worker that was wrongly
        declared dead cannot change the record of its successor.
    deaths
        The number of workers that died with the job since its last finished piece.
    heartbeat
        The last report of the present worker.
    pieces
        None for a job that is not divided.
    wait
        Why the job waits for the engine; kept while it is tried again.
    disk_limit
        The disk space for the jobs of its owner when it was created, in bytes; None: that of the settings.
    watch
        Of which run of a watch it is the job; None for others.
    stored
        The bytes for which the job store has counted it (``stored_bytes``); only the store sets it.
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
        """The bytes of its result, its finished parts and the files that it still needs."""
        result = self.result.size if self.result else 0
        is_unfinished = self.end_time is None
        parts = sum(part.size for part in self.pieces.parts) if self.pieces and is_unfinished else 0
        return result + parts + (sum(file.size for file in self.files) if is_unfinished else 0)

    @property
    def stored_bytes(self) -> int:
        """The bytes that it takes on disk, with what it has written so far by its last report."""
        is_writing = self.phase is ExecutionPhase.EXECUTING
        return self.kept_bytes + (int(self.info.get("bytesWritten", 0)) if is_writing else 0)

    @property
    def queued_job(self) -> QueuedJob:
        """What the queue needs of the job; anonymous jobs from one address take turns like the jobs of one user."""
        user = find_client_key(self.owner, self.client)
        seconds = self.foreseen.seconds if self.foreseen else 0.0
        return QueuedJob(self.job_id, user, self.turn, seconds, self.start_time, self.wait)

    def end_after(self, at: datetime, seconds: float) -> datetime:
        """Return the instant ``seconds`` after ``at``, at most the destruction time."""
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
        """The key of this attempt's first rows, in all formats of previews."""
        return f"{self.result_key}f"

    def part_key(self, attempt: int, number: int) -> str:
        """Return the key of the part of piece ``number``, from 0, in an attempt."""
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
    """Which jobs to list; all conditions apply.

    ``owner`` None selects all owners, no ``phases`` all but ARCHIVED; ``after`` and ``before`` are exclusive; ``last``
    selects that many most recent jobs. Job stores leave ``words`` to ``job_search``.
    """

    owner: str | None
    phases: frozenset[ExecutionPhase] = frozenset()
    after: datetime | None = None
    last: int | None = None
    before: datetime | None = None
    words: tuple[str, ...] = ()


def merge_parameters(old: Sequence[Pair], new: Iterable[Pair]) -> tuple[Pair, ...]:
    """Add posted parameters to those of a job: they replace others of the same name, except that UPLOAD accumulates.

    A parameter that one request repeats stays repeated; the query then fails, as in /sync.
    """
    new = [(_canonical_name(name), value) for name, value in new]
    replaced = {name.upper() for name, _ in new} - {"UPLOAD"}
    return (*(pair for pair in old if pair[0].upper() not in replaced), *new)


def _canonical_name(name: str) -> str:
    """Return TAP's parameters, which are case-insensitive, in capitals; others stay as they are."""
    return name.upper() if name.upper() in _TAP_PARAMETERS else name


_TAP_PARAMETERS = frozenset({*SINGLE_VALUED, "UPLOAD", "REUSE", "CHECKSUM"})
