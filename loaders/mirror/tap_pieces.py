"""Divides a table into pieces by ranges of columns, each with at most as many rows as its service returns at once.

The pieces are disjoint and contain all rows: ranges are half open, the outermost have no bound, and rows without a
value are a separate piece. Only comparisons are used, which every service understands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from clickhouse_schema.reserved_words import name_to_adql
from loaders.load_error import LoadError

_MAX_PIECES = 200_000

Number = int | float


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """``low <= column < high``; None means no bound. ``least``, ``greatest``: the extreme values in the table."""

    column: str
    least: Number
    greatest: Number
    low: Number | None = None
    high: Number | None = None

    @property
    def condition(self) -> str:
        name = name_to_adql(self.column)
        ends = [f"{name} >= {self.low!r}"] if self.low is not None else []
        ends += [f"{name} < {self.high!r}"] if self.high is not None else []
        return " AND ".join(ends) or f"{name} IS NOT NULL"

    @property
    def middle(self) -> Number | None:
        """A border with values on both sides; None if there is none."""
        low = self.least if self.low is None else self.low
        high = self.greatest if self.high is None else self.high
        if isinstance(low, int) and isinstance(high, int):
            found: Number = (low + high + 1) // 2
        else:
            found = low + (high - low) / 2
        return found if low < found and (found < high or (self.high is None and found == high)) else None

    @property
    def width(self) -> float:
        low = self.least if self.low is None else self.low
        return float((self.greatest if self.high is None else self.high) - low)

    def split(self, border: Number) -> tuple[ColumnRange, ColumnRange]:
        return replace(self, high=border), replace(self, low=border)


@dataclass(frozen=True, slots=True)
class TablePiece:
    """The rows in ranges of one or two columns, or all rows; or rows with a NULL in one of the columns ``nulls``."""

    ranges: tuple[ColumnRange, ...] = ()
    nulls: tuple[str, ...] = ()

    @property
    def condition(self) -> str:
        if self.nulls:
            return " OR ".join(f"{name_to_adql(column)} IS NULL" for column in self.nulls)
        return " AND ".join(each.condition for each in self.ranges)

    def split(self) -> tuple[TablePiece, TablePiece] | None:
        """Return the halves of the piece, divided in the range that is widest on the sky; None if indivisible."""
        for i in sorted(range(len(self.ranges)), key=self._measure, reverse=True):
            border = self.ranges[i].middle
            if border is not None:
                halves = self.ranges[i].split(border)
                first, second = ((*self.ranges[:i], half, *self.ranges[i + 1 :]) for half in halves)
                return TablePiece(first), TablePiece(second)
        return None

    def _measure(self, i: int) -> float:
        """Return the width of a range; for a longitude, at the middle latitude."""
        if len(self.ranges) < 2 or i:
            return self.ranges[i].width
        latitude = self.ranges[1]
        low = latitude.least if latitude.low is None else latitude.low
        return self.ranges[0].width * max(0.01, math.cos(math.radians(low + latitude.width / 2)))


@dataclass(frozen=True, slots=True)
class CountedPiece:
    """A piece with the number of its rows."""

    piece: TablePiece
    rows: int


def divide_table(
    count: Callable[[TablePiece], int], ranges: Sequence[ColumnRange], total: int, limit: int
) -> Iterator[CountedPiece]:
    """Yield pieces of at most ``limit`` rows that together have all rows of a table.

    Parameters
    ----------
    count : callable
        Returns the number of rows of a piece.
    ranges : sequence of ColumnRange
        The columns by which the table is divided; empty if that is not necessary.
    total : int
        The number of rows of the table.

    Raises
    ------
    LoadError
        Too many rows have the same values, or the halves of a piece do not have its rows.
    """
    whole = TablePiece()
    if total <= limit:
        yield CountedPiece(whole, total)
        return
    columns = tuple(each.column for each in ranges)
    missing = TablePiece(nulls=columns)
    waiting = [_split_counted(count, CountedPiece(whole, total), (TablePiece(tuple(ranges)), missing))]
    found = 0
    while waiting:
        for part in waiting.pop():
            if not part.rows:
                continue
            halves = part.piece.split() if part.rows > limit else None
            if halves is not None:
                waiting.append(_split_counted(count, part, halves))
            elif part.rows > limit:
                raise LoadError(
                    f"{part.rows:,} rows are in one piece that cannot be divided ({part.piece.condition}), and the"
                    f" service returns {limit:,} at once: divide the table by another column with --by"
                )
            else:
                found += 1
                if found > _MAX_PIECES:
                    raise LoadError(f"the table has more than {_MAX_PIECES:,} pieces: raise --piece-rows")
                yield part


def _split_counted(
    count: Callable[[TablePiece], int], whole: CountedPiece, parts: tuple[TablePiece, TablePiece]
) -> list[CountedPiece]:
    counted = [CountedPiece(part, count(part)) for part in parts]
    rows = sum(part.rows for part in counted)
    if rows != whole.rows:
        where = whole.piece.condition or "the table"
        raise LoadError(
            f"{where} has {whole.rows:,} rows, but its parts have {rows:,}: values are NaN, or the table is changing."
            " Divide it by another column with --by, or start again with --restart"
        )
    return counted
