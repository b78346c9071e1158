"""What a query costs, and a job's place among those that wait or run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

#: how well a number of rows is known
Precision = Literal["exact", "about", "at most"]


@dataclass(frozen=True, slots=True)
class ResultRows:
    """How many rows a query gives if no row limit cuts them."""

    rows: int
    precision: Precision

    def __str__(self) -> str:
        return f"{self.rows}" if self.precision == "exact" else f"{self.precision} {self.rows}"


@dataclass(frozen=True, slots=True)
class Steps:
    """What is foreseen after the reading: pairs that joins find by their keys, and rows of the result to be written.

    ``sure``: these are about so many; else conditions may leave fewer, or nobody knows.
    """

    joined: int
    join_seconds: float
    written: int
    write_seconds: float
    sure: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """``rows`` and ``bytes`` that the engine will read, ``seconds`` of all work, and the ``kind`` of work.

    ``steps``: what of the work follows after the reading.
    ``result``: the rows that it gives, None if nobody knows; ``warning``: what the row limit will cut, '' for nothing.
    """

    rows: int
    bytes: int
    seconds: float
    kind: str
    result: ResultRows | None = None
    warning: str = ""
    steps: Steps | None = None


class WorkClass(StrEnum):
    """By the seconds of work that are foreseen, or have been worked already.

    Unknown is SHORT, for it is mostly a query that fails at once.
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
class Place:
    """Of a job that is QUEUED or EXECUTING: who shares the turns, its turn, the seconds foreseen, and since when."""

    job_id: str
    user: str
    turn: int = 0
    seconds: float = 0.0
    started: datetime | None = None

    def work_class(self, at: datetime) -> WorkClass:
        """Its class at that time: a job that lasts longer than foreseen is of a heavier one."""
        elapsed = 0.0 if self.started is None else (at - self.started).total_seconds()
        return WorkClass.from_seconds(max(self.seconds, elapsed))
