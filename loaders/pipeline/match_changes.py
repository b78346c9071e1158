"""Updates kept matches after changes of their tables.

    record: the cells of the rows that are about to change -> the change is published -> the matches follow

After the record, no query uses the match until it has followed the change. A command that is killed in between leaves
the cells, from which the next change of one of the tables, or ``skyhouse match follow``, continues.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, write_match_records
from clickhouse_schema.engine_tables.match_record import MAX_CELLS, MatchRecord
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.kept_match import find_matches_of, read_sides
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.table_ddl import HPX29
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline.kept_match import open_match
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine, EngineError

#: Orders for the cells of changed rows; the finest order with few cells is used
_ORDERS = (12, 10, 8, 6, 4)

#: One match follows at a time: both of its tables may be changing.
_following = threading.Lock()

_ChangeRecord = Callable[[MatchRecord], MatchRecord | None]

_log = logging.getLogger("skyhouse")


class MatchChanges:
    """The kept matches of the table ``name`` (schema.table), which is about to change.

    The list is read once. A match that is made meanwhile notices the change of a table by itself.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    @cached_property
    def _schemas(self) -> tuple[Schema, ...]:
        return read_catalogue(self._engine).schemas

    def has_any(self) -> bool:
        return bool(self._find_matches())

    def _find_matches(self, columns: Collection[str] | None = None) -> list[tuple[Schema, Table]]:
        """Return the matches; for a correction of some ``columns``, only matches that depend on one of them."""
        found = []
        for schema, table in find_matches_of(self._schemas, self._name):
            sides = read_sides(self._schemas, table)
            if columns is not None and sides is not None:
                used = {column for side in sides if side.name == self._name for column in side.used_columns}
                if used.isdisjoint(columns):
                    continue
            found.append((schema, table))
        return found

    def announce_rows(self, rows: Sequence[str], columns: Collection[str] | None = None) -> None:
        """Record that rows change, are added or are deleted, before the change is visible. May be repeated.

        Parameters
        ----------
        rows : sequence of str
            The SQL of relations, with conditions, that have the old and the new rows with ``hpx29``.
        columns : collection of str, optional
            The columns that get new values; None for all.
        """
        matches = self._find_matches(columns)
        if matches:
            order, cells = self._find_cells(rows)
            self._write_records(matches, lambda record: record.add_cells(order, cells))

    def announce_all(self) -> None:
        """Record that the table is replaced: its matches are recomputed."""
        if matches := self._find_matches():
            self._write_records(matches, lambda _: None)

    def _find_cells(self, rows: Sequence[str]) -> tuple[int, list[int]]:
        """Return the finest order in which the rows are in few cells, and these cells."""
        for order in _ORDERS:
            cell = f"intDiv({HPX29}, {4 ** (ORDER - order)})"
            parts = (f"SELECT DISTINCT {cell} AS cell FROM {each}" for each in rows)
            united = " UNION ALL ".join(parts)
            last = NO_POSITION // 4 ** (ORDER - order)
            sql = f"SELECT DISTINCT cell FROM ({united}) WHERE cell < {last} ORDER BY cell LIMIT {4 * MAX_CELLS}"
            cells = self._engine.fetch_table(sql).column(0).to_pylist()
            if len(cells) <= MAX_CELLS or order == _ORDERS[-1]:
                break
        return order, cells

    def _write_records(self, matches: Iterable[tuple[Schema, Table]], change: _ChangeRecord) -> None:
        names = [f"{schema.name}.{table.name}" for schema, table in matches]

        def change_all(records: dict[str, MatchRecord]) -> None:
            for name in names:
                record = records.pop(name, None)
                changed = None if record is None else change(record)
                if changed is not None:
                    records[name] = changed

        write_match_records(self._engine, change_all)
        reach(Failpoint.MATCH_ANNOUNCE)

    def follow_change(self, reporter: Reporter | None = None) -> None:
        """Update the matches to the rows that are visible now.

        An error of a match is reported or, without a reporter, logged. It is not raised, because the change is done.
        """
        for schema, table in self._find_matches():
            name = f"{schema.name}.{table.name}"
            try:
                follow_match(self._engine, name, reporter or _LogReporter())
            except (LoadError, LoadCancelled, EngineError) as error:
                message = f"{name} has not followed {self._name}, so queries do not use it: {error}"
                _report(reporter, f"{message} Then start skyhouse match follow {name}")


class _LogReporter:
    """Reports to the log, because a starting process has no user."""

    def output(self, text: str) -> None:
        _log.info(text)

    def message(self, text: str) -> None:
        _log.info(text)

    def progress(self, rows: int, fraction: float) -> None:
        """Do nothing: nobody waits."""

    def check(self) -> None:
        """Do nothing: nobody can stop the process."""


def _report(reporter: Reporter | None, message: str) -> None:
    if reporter is None:
        _log.warning(message)
    else:
        reporter.message(f"warning: {message}")


def follow_match(engine: Engine, name: str, reporter: Reporter) -> bool:
    """Update a kept match after changes of its tables. One match follows at a time in a process.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    name : str
        ``schema.table`` of the match.
    reporter : Reporter
        Receives progress and messages.

    Returns
    -------
    bool
        Whether there were changes.

    Raises
    ------
    LoadError
        There is no such match, or it cannot be made (``KeptMatch.make_pairs``).
    LoadCancelled
        The user has stopped the command.
    """
    with _following:
        return open_match(engine, name).follow_tables(reporter)
