"""The cost of a query, and the jobs that wait or run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

#: how well a number of rows is known
Precision = Literal["exact", "about", "at most"]


@dataclass(frozen=True, slots=True)
class ResultRows:
    """The number of rows of a result without row limit."""

    rows: int
    precision: Precision

    def __str__(self) -> str:
        return f"{self.rows}" if self.precision == "exact" else f"{self.precision} {self.rows}"


@dataclass(frozen=True, slots=True)
class SmallReading:
    """What a query that reads little reads, at most; ``is_by_id``: it looks up rows of a table by their ids."""

    rows: float
    is_by_id: bool


@dataclass(frozen=True, slots=True)
class Steps:
    """The estimated work after reading: pairs that joins find by their keys, and rows of the result to write.

    ``sure``: the numbers are about right; otherwise they are upper bounds or guesses.
    """

    joined: int
    join_seconds: float
    written: int
    write_seconds: float
    sure: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated cost of a query.

    Attributes
    ----------
    rows, bytes
        What the engine reads.
    seconds
        The duration of all work.
    kind
        The kind of work, for which the engine's rate is measured.
    result
        The rows of the result; None if unknown.
    warning
        What the query perhaps does not mean, and what the row limit will cut; '' for nothing.
    steps
        The work after reading.
    """

    rows: int
    bytes: int
    seconds: float
    kind: str
    result: ResultRows | None = None
    warning: str = ""
    steps: Steps | None = None


class WorkClass(StrEnum):
    """The class of a job by its estimated duration, or by the elapsed time if that is longer.

    A job without estimate is SHORT: mostly its query fails at once.
    """

    SHORT = "short"
    LONG = "long"
    VERY_LONG = "very long"

    @classmethod
    def from_seconds(cls, seconds: float) -> WorkClass:
        if seconds < 10:
            return cls.SHORT
        return cls.LONG if seconds < 600 else cls.VERY_LONG


@dataclass(frozen=True, slots=True)
class EngineWait:
    """The wait of a QUEUED job for the engine.

    Attributes
    ----------
    reason
        For the job's owner.
    since
        When the wait began.
    retry
        The job is not started before; None if it waits until the engine answers at all.
    """

    reason: str
    since: datetime
    retry: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A QUEUED or EXECUTING job: its user, its turn, its estimated seconds, when it started, and its wait."""

    job_id: str
    user: str
    turn: int = 0
    seconds: float = 0.0
    started: datetime | None = None
    wait: EngineWait | None = None

    def work_class(self, at: datetime) -> WorkClass:
        """Return the class at an instant; a job that exceeds its estimate moves to a heavier class."""
        elapsed = 0.0 if self.started is None else (at - self.started).total_seconds()
        return WorkClass.from_seconds(max(self.seconds, elapsed))
