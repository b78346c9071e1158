"""The declarations in a seed's module: tables, and measures with their aims and the seed's figures."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

#: S: right answers, in the tests. M: an hour for all seeds. F: the seed's size.
Size = Literal["S", "M", "F"]
SIZES: tuple[Size, ...] = ("S", "M", "F")


@dataclass(frozen=True)
class SeedTable:
    """A table of generated rows.

    Attributes
    ----------
    name
        ``schema.table``.
    schema
        Its schema file, YAML.
    batches
        The number of batches of rows, by size.
    make_batch
        Returns the rows of a batch, the same ones each time: ``make_batch(size, number)``.
    """

    name: str
    schema: str
    batches: Mapping[Size, int]
    make_batch: Callable[[Size, int], pa.Table]


@dataclass(frozen=True)
class Question:
    """A query, and the query for DuckDB with the same rows over the files of the tables; '' if it cannot be checked."""

    adql: str
    duckdb: str = ""


#: Returns a question with new constants
AskQuestion = Callable[[random.Random, Size], Question]


@dataclass(frozen=True)
class Measure:
    """Queries through the service, and what the seed measured.

    Attributes
    ----------
    name, what
        Its name in the seed, and its subject.
    ask
        Makes a question.
    aim
        Seconds: of the one query, or the 95th percentile of several; for ``rate`` the least queries per second.
    seed
        What the seed measured, with its machines.
    seed_core_seconds
        The seed's seconds times the cores that can have been busy; None if that cannot be derived.
    count
        Number of queries; a query with a small count is repeated with other constants.
    clients
        Number of simultaneous clients.
    format
        RESPONSEFORMAT.
    is_rate
        The aim is a rate.
    is_job
        It runs as a job, because it takes longer than /sync allows.
    is_cold
        It is also measured on servers that have just started, without the page cache; ``cold_aim`` is for that.
    tables
        The tables that it reads.
    """

    name: str
    what: str
    ask: AskQuestion
    aim: float | None
    seed: str
    seed_core_seconds: float | None = None
    count: int = 1
    clients: int = 1
    format: str = "csv"
    is_rate: bool = False
    is_job: bool = False
    is_cold: bool = False
    cold_aim: float | None = None
    tables: Sequence[SeedTable] = ()


@dataclass(frozen=True)
class Activity:
    """A measure that is not a series of equal queries: simultaneous streams, loads, corrections.

    ``run`` returns figures by name. ``tables`` are loaded before; tables that ``run`` itself loads are not included.
    """

    name: str
    what: str
    run: Callable[[Any, Size], Sequence[Mapping[str, Any]]]
    seed: str = ""
    tables: Sequence[SeedTable] = ()


@dataclass(frozen=True)
class SeedWorkload:
    """``number``: of the seed; ``source``: the publication and its machines."""

    number: str
    title: str
    source: str
    measures: Sequence[Measure | Activity]

    @property
    def tables(self) -> list[SeedTable]:
        return [*{table.name: table for measure in self.measures for table in measure.tables}.values()]
