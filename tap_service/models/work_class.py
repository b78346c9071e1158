"""The estimated cost of a query, the classes of jobs by cost, and queued jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

#: the precision of a number of rows
Precision = Literal["exact", "about", "at most"]


@dataclass(frozen=True, slots=True)
class ResultRows:
    """The number of rows that a result would have without a row limit."""

    rows: int
    precision: Precision

    def __str__(self) -> str:
        return f"{self.rows}" if self.precision == "exact" else f"{self.precision} {self.rows}"


@dataclass(frozen=True, slots=True)
class SmallReading:
    """An upper bound of what a query reads.

    Attributes
    ----------
    rows : float
        The maximum number of rows.
    is_by_id : bool
        Whether the query looks up rows of a table by their ids.
    """

    rows: float
    is_by_id: bool


@dataclass(frozen=True, slots=True)
class Steps:
    """The estimated work after reading.

    Attributes
    ----------
    joined, join_seconds : int, float
        The pairs that joins find by their keys, and the seconds this takes.
    written, write_seconds : int, float
        The rows of the result, and the seconds to write them.
    sure : bool
        Whether the numbers are approximately right; otherwise they are upper bounds or guesses.
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
    rows, bytes : int
        The rows and bytes that the engine reads.
    seconds : float
        The duration of the query.
    kind : str
        The kind of work; the engine's rate is measured for each kind.
    result : ResultRows or None
        The rows of the result; None if unknown.
    warning : str
        Notes on what the query may not intend, and on rows that the row limit will cut; '' for none.
    steps : Steps or None
        The work after reading; None if unknown.
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

    A job without an estimate is SHORT, because usually its query fails at once.
    """

    SHORT = "short"
    LONG = "long"
    VERY_LONG = "very long"

    @classmethod
    def from_seconds(cls, seconds: float) -> WorkClass:
        """Return the class of a job: SHORT below 10 s, LONG below 600 s, otherwise VERY_LONG.

        Parameters
        ----------
        seconds : float
            The estimated or elapsed duration.
        """
        if seconds < 10:
            return cls.SHORT
        return cls.LONG if seconds < 600 else cls.VERY_LONG


@dataclass(frozen=True, slots=True)
class EngineWait:
    """The wait of a QUEUED job for the engine.

    Attributes
    ----------
    reason : str
        Why the job waits, for its owner.
    since : datetime
        The start of the wait.
    retry : datetime or None
        The earliest instant of the next attempt; None if the job waits until the engine answers again.
    """

    reason: str
    since: datetime
    retry: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A QUEUED or EXECUTING job, as the queue sees it.

    Attributes
    ----------
    job_id : str
        The id.
    user : str
        The key of the client that owns it.
    turn : int
        The position in the order of jobs.
    seconds : float
        The estimated duration.
    started : datetime or None
        The start of the job; None for a QUEUED job.
    wait : EngineWait or None
        The wait for the engine, if any.
    """

    job_id: str
    user: str
    turn: int = 0
    seconds: float = 0.0
    started: datetime | None = None
    wait: EngineWait | None = None

    def work_class(self, at: datetime) -> WorkClass:
        """Return the class of the job at an instant.

        Parameters
        ----------
        at : datetime
            The present instant.

        Returns
        -------
        WorkClass
            The class by the estimate, or by the elapsed time if that is longer: a job that exceeds its estimate moves
            to a heavier class.
        """
        elapsed = 0.0 if self.started is None else (at - self.started).total_seconds()
        return WorkClass.from_seconds(max(self.seconds, elapsed))
