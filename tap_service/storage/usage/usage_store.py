"""What is stored of usage, and keys that are the same in all processes for a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol


class UsageKey(NamedTuple):
    """What queries are counted for.

    ``by`` is ``all`` (then ``name`` is empty), ``table`` or ``format``; ``users`` is the class of users.
    """

    by: str
    name: str
    users: str


@dataclass(slots=True)
class UsageCounts:
    """``seconds`` are those of the engine; ``failed`` queries are among ``queries``, and so are those of ``jobs``."""

    queries: int = 0
    failed: int = 0
    jobs: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def add(self, other: UsageCounts) -> None:
        self.queries += other.queries
        self.failed += other.failed
        self.jobs += other.jobs
        self.rows += other.rows
        self.bytes += other.bytes
        self.seconds += other.seconds


MEASURES = tuple(field.name for field in fields(UsageCounts))


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """One key in one month, such as ``2026-11``; ``clients``: how many different ones there were."""

    month: str
    key: UsageKey
    counts: UsageCounts
    clients: int


@dataclass(frozen=True, slots=True)
class UsageAddition:
    """What a process has counted for a key; ``clients`` are keyed hashes."""

    counts: UsageCounts
    clients: frozenset[bytes]


class UsageUnavailable(Exception):
    """The store cannot be used now; the message says why."""


class UsageStore(Protocol):
    """Safe for threads and processes. All methods but ``close`` may raise UsageUnavailable."""

    def add_usage(self, month: str, additions: Mapping[UsageKey, UsageAddition]) -> None:
        """Add all of them or none."""

    def read_usage(self) -> list[UsageEntry]:
        """Return all entries, in any order."""

    def find_key(self, name: str, seconds: float) -> bytes:
        """Return the key of this name, which is made at random and forgotten after so many seconds."""

    def close(self) -> None: ...
