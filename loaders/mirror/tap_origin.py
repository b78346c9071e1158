"""The rows of a table of a TAP service, in pieces below its limit, each verified by a count of the service."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.mirror.download import hash_file
from loaders.mirror.mirror_origin import FetchedPiece
from loaders.mirror.mirror_state import PlannedFile
from loaders.mirror.tap_pieces import ColumnRange, TablePiece, divide_table
from loaders.mirror.tap_table import TapTable, count_file_rows, write_where
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError


class TapMirrorOrigin:
    """``files`` of the plan are pieces: their addresses are conditions, and their checksums counts of rows.

    Parameters
    ----------
    columns
        The columns that are asked for.
    condition
        The rows that are wanted; '' for all.
    """

    def __init__(
        self, table: TapTable, files: Sequence[PlannedFile], columns: Sequence[str], condition: str, folder: Path
    ) -> None:
        self._table = table
        self._files = files
        self._columns = ", ".join(map(name_to_adql, columns))
        self._condition = condition
        self._folder = folder

    def get_name(self, position: int) -> str:
        return f"{self._table.address}, {self._table.name}, {self._files[position].address or 'all rows'}"

    def fetch(self, position: int, check: Callable[[], None]) -> FetchedPiece:
        check()
        path, rows = self._choose_path(position), int(self._files[position].checksum)
        if not path.exists():
            condition = join_conditions(self._condition, self._files[position].address)
            query = f"SELECT {self._columns} FROM {self._table.table_adql}{write_where(condition)}"
            self._table.fetch_rows(query, rows + 1, path)
            self._verify(position, path, rows)
        return FetchedPiece(position, (path,), hash_file(path, "sha256", check))

    def forget(self, position: int) -> None:
        self._choose_path(position).unlink(missing_ok=True)

    def _verify(self, position: int, path: Path, wanted: int) -> None:
        try:
            found = count_file_rows(path)
        except ReadError as error:
            path.unlink()
            raise LoadError(f"{self.get_name(position)}: the result cannot be read: {error}") from error
        if found != wanted:
            path.unlink()
            cut = "the service cuts results" if found < wanted else "the table has changed"
            raise LoadError(
                f"{self.get_name(position)}: {found:,} rows came, where the service counts {wanted:,}: {cut}."
                " Ask for fewer at once with --piece-rows, and begin again with --restart"
            )

    def _choose_path(self, position: int) -> Path:
        return self._folder / f"{position:06d}.vot"


def plan_pieces(
    table: TapTable,
    columns: Table,
    by: str,
    condition: str,
    max_rows: int,
    folder: Path,
    reporter: Reporter,
) -> list[PlannedFile]:
    """Count and divide the rows of ``table`` for which ``condition`` is true.

    Parameters
    ----------
    columns
        The model of the table.
    by
        A column to divide by; '' for the position, else the id.
    max_rows
        Rows of a piece at most; fewer if the service gives fewer.
    folder
        For results, and the counts of a run that was stopped.

    Raises
    ------
    LoadError
        The service does not answer, or the table cannot be divided.
    """
    said = table.read_row_limit()
    limit = min(max_rows, said) if said else max_rows
    counts = _Counts(table, condition, folder, reporter)
    total = counts.count(TablePiece())
    reporter.message(f"{table.address}: {table.name} has {total:,} rows, which come {limit:,} at a time at most")
    ranges: tuple[ColumnRange, ...] = ()
    while True:
        if total > limit and not ranges:
            ranges = _find_ranges(table, columns, by, condition, folder)
        pieces = list(divide_table(counts.count, ranges, total, limit))
        largest = max(pieces, key=lambda found: found.rows)
        given = _count_given(table, columns, join_conditions(condition, largest.piece.condition), largest.rows, folder)
        if given >= largest.rows:
            return [PlannedFile(address=found.piece.condition, checksum=str(found.rows)) for found in pieces]
        if not given:
            raise LoadError(f"{table.address} counts {largest.rows:,} rows of {table.name}, and gives none")
        reporter.message(f"{table.address} cuts results after {given:,} rows: smaller pieces are asked for")
        limit = given


def _count_given(table: TapTable, columns: Table, condition: str, rows: int, folder: Path) -> int:
    """Return the rows that the service gives of a piece with ``rows`` rows: it may have a secret limit."""
    path = folder / "probe.vot"
    query = f"SELECT {name_to_adql(columns.columns[0].name)} FROM {table.table_adql}{write_where(condition)}"
    table.fetch_rows(query, rows + 1, path)
    try:
        return count_file_rows(path)
    finally:
        path.unlink()


class _Counts:
    """Counts of pieces by the service; those of a run that was stopped are kept in a file."""

    def __init__(self, table: TapTable, condition: str, folder: Path, reporter: Reporter) -> None:
        self._table = table
        self._condition = condition
        self._folder = folder
        self._reporter = reporter
        self._digest = hashlib.sha256(f"{table.address}\n{table.name}\n{condition}".encode()).hexdigest()
        self._path = folder / "counts.json"
        self._counts = self._read_counts()

    def count(self, piece: TablePiece) -> int:
        self._reporter.check()
        if piece.condition not in self._counts:
            condition = join_conditions(self._condition, piece.condition)
            [rows] = self._table.fetch_values("COUNT(*) AS n", condition, self._folder / "count.vot")
            self._counts[piece.condition] = int(rows)
            self._path.write_text(json.dumps({"digest": self._digest, "counts": self._counts}))
        return self._counts[piece.condition]

    def _read_counts(self) -> dict[str, int]:
        try:
            found = json.loads(self._path.read_text())
            return dict(found["counts"]) if found["digest"] == self._digest else {}
        except (OSError, ValueError, KeyError):
            return {}


def _find_ranges(table: TapTable, columns: Table, by: str, condition: str, folder: Path) -> tuple[ColumnRange, ...]:
    """Return the columns to divide by with the values that they have."""
    names = _choose_columns(columns, by, table.name)
    expressions = ", ".join(
        f"MIN({name_to_adql(name)}) AS least_{i}, MAX({name_to_adql(name)}) AS greatest_{i}"
        for i, name in enumerate(names)
    )
    found = table.fetch_values(expressions, condition, folder / "ends.vot")
    ends = [*zip(names, found[::2], found[1::2], strict=True)]
    if endless := [name for name, *values in ends if not all(math.isfinite(value or 0) for value in values)]:
        raise LoadError(
            f"{table.name} cannot be divided by {endless[0]}, of which values are infinite or NaN: name another column"
            " with --by"
        )
    return tuple(ColumnRange(name, low, high) for name, low, high in ends if low is not None)


def _choose_columns(table: Table, by: str, origin_name: str) -> tuple[str, ...]:
    if by:
        found = next((column for column in table.columns if column.name.lower() == by.lower()), None)
        if found is None or not found.type.is_numeric:
            raise LoadError(f"--by: {origin_name} has no column {by} of numbers")
        return (found.name,)
    if table.layout.position:
        return table.layout.position
    ids = [name for name in table.layout.id if table.get_column(name).type.is_integer]
    if not ids:
        raise LoadError(
            f"{origin_name} has more rows than the service gives at once, and neither a position nor an id of whole"
            " numbers to divide it by: name a column with --by"
        )
    return (ids[0],)


def join_conditions(*conditions: str) -> str:
    """Return the conjunction of conditions, of which '' is always true."""
    given = [f"({condition}\n)" for condition in conditions if condition]
    return " AND ".join(given)
