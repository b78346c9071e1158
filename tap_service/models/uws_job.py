"""A job as UWS 1.1 describes it, with the words of the standard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from ipaddress import IPv6Address, ip_address, ip_network

from tap_service.models.piece_progress import PieceWork
from tap_service.models.request_parameters import Pair
from tap_service.models.timestamps import add_seconds
from tap_service.models.work_class import Estimate, Place


class ExecutionPhase(StrEnum):
    """UWS 1.1, section 2.1.3. This service puts no job on hold, suspends none and archives none."""

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


#: a client may wait for the next phase of these (UWS 1.1, section 2.2.1.2)
ACTIVE = frozenset({ExecutionPhase.PENDING, ExecutionPhase.QUEUED, ExecutionPhase.EXECUTING})

#: what jobInfo tells: the names of XML elements
Info = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class JobResult:
    """A stored result. ``key`` is its name in the result store, ``size`` in bytes, ``etag`` without quotes."""

    key: str
    size: int
    content_type: str
    extension: str
    etag: str


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file that came with a job, by the ``name`` of its part; ``key`` is its name in the result store."""

    name: str
    key: str
    size: int
    content_type: str


@dataclass(frozen=True, slots=True)
class JobError:
    """Why a job has no result. ``transient``: the same job may well succeed later."""

    message: str
    transient: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One job. Instants are UTC, cut to milliseconds; ``execution_duration`` in seconds.

    ``owner`` is None for an anonymous job, which whoever knows its address may use. ``attempt`` counts how often the
    job has begun to execute: a worker names its attempt with each word about the job, so that one that was given up for
    dead cannot speak for its successor. ``foreseen`` and ``turn``, its place in the order of jobs, are those of a job
    that was queued. ``fingerprint`` is the same for jobs of an owner whose results must be the same, '' for none.
    ``deaths`` counts the workers that were given up, since the last piece that was done; ``heartbeat`` is when the
    present one was last heard of. ``pieces`` is None for a job that is done in one.
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
    client: str = ""  # address of who created it, for the query log
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

    @property
    def place(self) -> Place:
        """Its place among the jobs that wait or run; anonymous ones from one address take turns as one user's."""
        user = f"anonymous at {_shared_address(self.client)}" if self.owner is None else self.owner
        seconds = self.foreseen.seconds if self.foreseen else 0.0
        return Place(self.job_id, user, self.turn, seconds, self.start_time)

    def end_after(self, at: datetime, seconds: float) -> datetime:
        """The instant so much later than ``at``, but not later than its destruction."""
        life = (self.destruction_time - at).total_seconds()
        return add_seconds(at, seconds) if seconds < life else self.destruction_time

    @property
    def query_id(self) -> str:
        """What the engine knows the query of this attempt by."""
        return f"async-{self.job_id}-{self.attempt}"

    @property
    def result_key(self) -> str:
        """Where this attempt writes its result."""
        return f"{self.job_id}-{self.attempt}"

    @property
    def preview_key(self) -> str:
        """Where this attempt has put its first rows, if it has given any."""
        return f"{self.result_key}p"

    def part_key(self, attempt: int, number: int) -> str:
        """Where an attempt writes the part of the result that a piece gives; pieces are numbered from 0."""
        return f"{self.job_id}-{attempt}x{number}"

    @property
    def part_keys(self) -> tuple[str, ...]:
        """Of all parts that are done."""
        parts = self.pieces.parts if self.pieces else ()
        return tuple(self.part_key(part.attempt, number) for number, part in enumerate(parts) if part.size)


@dataclass(frozen=True, slots=True)
class JobReference:
    """A line of a job list."""

    job_id: str
    phase: ExecutionPhase
    run_id: str
    owner: str | None
    creation_time: datetime


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list: all conditions hold together. ``owner`` None = everybody's, no phases = all but ARCHIVED.

    ``after`` is exclusive; ``last`` is the largest number of jobs, the most recent ones.
    """

    owner: str | None
    phases: frozenset[ExecutionPhase] = frozenset()
    after: datetime | None = None
    last: int | None = None


def merge_parameters(old: Sequence[Pair], new: Iterable[Pair]) -> tuple[Pair, ...]:
    """The parameters of a job after ``new`` ones were posted: they replace those of their names, UPLOAD accumulates.

    A parameter that one request gives twice stays so: it is the query that then fails, as in /sync.
    """
    new = [(_canonical_name(name), value) for name, value in new]
    replaced = {name.upper() for name, _ in new} - {"UPLOAD"}
    return (*(pair for pair in old if pair[0].upper() not in replaced), *new)


def _shared_address(client: str) -> str:
    """The address, or the network of an IPv6 one: who has one of its addresses has 2^64."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if not isinstance(address, IPv6Address):
        return client
    return str(address.ipv4_mapped or ip_network((int(address) >> 64 << 64, 64)))


def _canonical_name(name: str) -> str:
    """TAP's own parameters have no case: they are told in capitals. Others stay as the client wrote them."""
    return name.upper() if name.upper() in _OWN else name


_OWN = frozenset({"REQUEST", "LANG", "QUERY", "MAXREC", "RESPONSEFORMAT", "FORMAT", "RUNID", "UPLOAD", "REUSE"})
