"""The usage store: sums of what queries took, and random keys that all processes share for a while.

It is not on a ``RecordStore``: Redis adds to sums, and counts the clients of a key in 14 kB, whatever their number. As
members of an index, 10,000 clients of one key and month take 1.3 MB there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol


class UsageKey(NamedTuple):
    """What queries are counted by.

    Attributes
    ----------
    by : str
        ``all``, ``table`` or ``format``.
    name : str
        The table or the format; '' for all.
    users : str
        The class of users.
    """

    by: str
    name: str
    users: str


@dataclass(slots=True)
class UsageCounts:
    """Sums over queries.

    Attributes
    ----------
    queries : int
        Number of queries.
    failed, jobs : int
        How many of them failed, and how many were jobs.
    rows, bytes : int
        Rows and bytes of their results.
    seconds : float
        Seconds in the engine.
    """

    queries: int = 0
    failed: int = 0
    jobs: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def add(self, other: UsageCounts) -> None:
        """Add other sums to these sums in place. Not thread-safe.

        Parameters
        ----------
        other : UsageCounts
            The sums to add, which do not change.
        """
        self.queries += other.queries
        self.failed += other.failed
        self.jobs += other.jobs
        self.rows += other.rows
        self.bytes += other.bytes
        self.seconds += other.seconds


MEASURES = tuple(field.name for field in fields(UsageCounts))


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """The sums of one key in one month.

    Attributes
    ----------
    month : str
        Such as ``2026-11``.
    key : UsageKey
        What was counted.
    counts : UsageCounts
        The sums.
    clients : int
        Number of different clients.
    """

    month: str
    key: UsageKey
    counts: UsageCounts
    clients: int


@dataclass(frozen=True, slots=True)
class UsageAddition:
    """What one process has counted for a key; ``clients`` are keyed hashes of the clients."""

    counts: UsageCounts
    clients: frozenset[bytes]


class UsageUnavailable(Exception):
    """The store cannot be used now; the message says why."""


class UsageStore(Protocol):
    """Stores usage. Safe for threads and processes. All methods but ``close`` may raise UsageUnavailable."""

    def add_usage(self, month: str, additions: Mapping[UsageKey, UsageAddition]) -> None:
        """Add counts to the sums of a month, all or none.

        Parameters
        ----------
        month : str
            Such as ``2026-11``.
        additions : Mapping[UsageKey, UsageAddition]
            What was counted, by key.
        """

    def read_usage(self) -> list[UsageEntry]:
        """Return all sums, in any order."""

    def find_key(self, name: str, seconds: float) -> bytes:
        """Return the random key called ``name``, created if absent, expiring after ``seconds``.

        Parameters
        ----------
        name : str
            The name of the key.
        seconds : float
            Lifetime of a new key, at least 1; the lifetime of an existing key does not change.

        Returns
        -------
        bytes
            32 bytes, the same for all processes.
        """

    def close(self) -> None: ...
