"""Fetches the rows of a table of a TAP service in pieces below its row limit, each verified by the service's count."""

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
    """The pieces of a table. In ``files`` of the plan, addresses are conditions and checksums are numbers of rows.

    Parameters
    ----------
    columns : sequence of str
        The columns to fetch.
    condition : str
        The condition for the rows to fetch; '' for all.
    """

    def __init__(
        self, table: TapTable, files: Sequence[PlannedFile], columns: Sequence[str], condition: str, folder: Path
    ) -> None:
        self._table = table
        self._files = files
        self._columns = ", ".join(map(name_to_adql, columns))
        self._condition = condition
        self._folder = folder

    def get_name(self, index: int) -> str:
        return f"{self._table.address}, {self._table.name}, {self._files[index].address or 'all rows'}"

    def fetch(self, index: int, check: Callable[[], None]) -> FetchedPiece:
        check()
        path, rows = self._choose_path(index), int(self._files[index].checksum)
        if not path.exists():
            condition = join_conditions(self._condition, self._files[index].address)
            query = f"SELECT {self._columns} FROM {self._table.table_adql}{write_where(condition)}"
            self._table.fetch_rows(query, rows + 1, path)
            self._verify(index, path, rows)
        return FetchedPiece(index, (path,), hash_file(path, "sha256", check))

    def forget(self, index: int) -> None:
        self._choose_path(index).unlink(missing_ok=True)

    def _verify(self, index: int, path: Path, wanted: int) -> None:
        try:
            found = count_file_rows(path)
        except ReadError as error:
            path.unlink()
            raise LoadError(f"{self.get_name(index)}: the result cannot be read: {error}") from error
        if found != wanted:
            path.unlink()
            cut = "the service truncates results" if found < wanted else "the table has changed"
            raise LoadError(
                f"{self.get_name(index)}: {found:,} rows arrived, but the service counts {wanted:,}: {cut}."
                " Fetch fewer rows at a time with --piece-rows, and start again with --restart"
            )

    def _choose_path(self, index: int) -> Path:
        return self._folder / f"{index:06d}.vot"


def plan_pieces(
    table: TapTable,
    columns: Table,
    by: str,
    condition: str,
    max_rows: int,
    folder: Path,
    reporter: Reporter,
) -> list[PlannedFile]:
    """Count the rows of ``table`` for which ``condition`` is true, and divide them into pieces.

    Parameters
    ----------
    columns : Table
        The model of the table.
    by : str
        A column to divide by; '' for the position, else the id.
    max_rows : int
        Maximum number of rows of a piece; less if the service's row limit is lower.
    folder : Path
        Folder for results, and for the counts of a stopped run.

    Raises
    ------
    LoadError
        The service does not answer, or the table cannot be divided.
    """
    row_limit = table.read_row_limit()
    limit = min(max_rows, row_limit) if row_limit else max_rows
    counts = _Counts(table, condition, folder, reporter)
    total = counts.count(TablePiece())
    reporter.message(
        f"{table.address}: {table.name} has {total:,} rows, of which at most {limit:,} are fetched at a time"
    )
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
            raise LoadError(f"{table.address} counts {largest.rows:,} rows of {table.name}, but returns none")
        reporter.message(f"{table.address} truncates results after {given:,} rows: fetching smaller pieces")
        limit = given


def _count_given(table: TapTable, columns: Table, condition: str, rows: int, folder: Path) -> int:
    """Return the number of rows that the service returns of a piece with ``rows`` rows: it may have a hidden limit."""
    path = folder / "probe.vot"
    query = f"SELECT {name_to_adql(columns.columns[0].name)} FROM {table.table_adql}{write_where(condition)}"
    table.fetch_rows(query, rows + 1, path)
    try:
        return count_file_rows(path)
    finally:
        path.unlink()


class _Counts:
    """The service's counts of pieces, which are stored in a file for a stopped run."""

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
    """Return the columns by which to divide the table, with their least and greatest values."""
    names = _choose_columns(columns, by, table.name)
    expressions = ", ".join(
        f"MIN({name_to_adql(name)}) AS least_{i}, MAX({name_to_adql(name)}) AS greatest_{i}"
        for i, name in enumerate(names)
    )
    found = table.fetch_values(expressions, condition, folder / "ends.vot")
    ends = [*zip(names, found[::2], found[1::2], strict=True)]
    if endless := [name for name, *values in ends if not all(math.isfinite(value or 0) for value in values)]:
        raise LoadError(
            f"{table.name} cannot be divided by {endless[0]}, which has infinite or NaN values: name another column"
            " with --by"
        )
    return tuple(ColumnRange(name, low, high) for name, low, high in ends if low is not None)


def _choose_columns(table: Table, by: str, origin_name: str) -> tuple[str, ...]:
    if by:
        found = next((column for column in table.columns if column.name.lower() == by.lower()), None)
        if found is None or not found.type.is_numeric:
            raise LoadError(f"--by: {origin_name} has no numeric column {by}")
        return (found.name,)
    if table.layout.position:
        return table.layout.position
    ids = [name for name in table.layout.id if table.get_column(name).type.is_integer]
    if not ids:
        raise LoadError(
            f"{origin_name} has more rows than the service returns at once, and neither a position nor an id of whole"
            " numbers to divide it by: name a column with --by"
        )
    return (ids[0],)


def join_conditions(*conditions: str) -> str:
    """Return the conjunction of conditions; '' stands for a condition that is always true."""
    given = [f"({condition}\n)" for condition in conditions if condition]
    return " AND ".join(given)
