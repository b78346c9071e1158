"""Estimate the cost of a query: rows, bytes and seconds.

The rows to read are the rows of the density table in the cells of the covers. If a query of one table reads much by
this estimate, the engine analyses how many rows its indexes select (``index_analysis``).

The seconds are the sum of three parts: reading the bytes, at a learned rate; finding the pairs of rows of joins; and
writing the values of the result (``join_work``). Estimates advise users and queues. No query is refused because of its
estimate; only time limits stop it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from adql import Translation
from adql.ir import (
    Aggregate,
    Join,
    Query,
    Scan,
    Select,
    walk_columns,
    walk_expr,
    walk_leaves,
    walk_listed_constants,
    walk_select_expressions,
    walk_selects,
)
from adql.query_analysis import cover_region
from adql.regions import Moc, Region
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.row_store import ROW_STORE_GRANULE
from tap_service.models.upload_parameter import UPLOAD_SCHEMA
from tap_service.models.work_class import Estimate, ResultRows, SmallReading, Steps
from tap_service.services.estimates.index_analysis import find_part_read
from tap_service.services.estimates.join_work import JoinWork, estimate_join_work
from tap_service.services.estimates.row_counter import RowCounter
from tap_service.services.estimates.row_density import RowDensity, find_covered_parts
from tap_service.services.estimates.table_sizes import TableSize, TableSizes
from tap_service.services.estimates.work_costs import estimate_write_seconds, needs_all_rows
from tap_service.storage.engine.engine import Engine

#: minimum number of rows of a read: a granule in tables of earlier versions; new tables have smaller granules
_GRANULE_ROWS = 8192

#: bytes that any query reads and writes in a tenth of a second
_SMALL_BYTES = 16e6

#: initial seconds of work per gigabyte read, by kind of work; each finished query corrects them
_FIRST_RATES = {"scan": 0.5, "group": 1.0, "sort": 1.5, "join": 5.0}

#: the weight of one query in a learned rate, the minimum number of bytes of a query that counts, and the maximum
#: fraction of its seconds in joins
_LEARNING_WEIGHT = 0.2
_MIN_LEARNED_BYTES = 50e6
_MAX_JOIN_PART = 0.1


class Rates(Protocol):
    """The store of learned rates, in seconds per gigabyte by kind of work: the job store."""

    def read_rates(self) -> dict[str, float]:
        """Return the rate of each kind of work that was measured."""

    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None:
        """Store the rate of a kind of work.

        Parameters
        ----------
        kind : str
            An ``Estimate.kind``.
        seconds_per_gigabyte : float
            The seconds of work for each 1e9 bytes read.
        """


class Estimator:
    """Estimates queries. Thread-safe.

    Methods take the ``version`` of the catalogue with which a query was translated, and raise EngineError.

    Parameters
    ----------
    engine : Engine
        The engine.
    rates : Rates
        The store of learned rates.
    """

    def __init__(self, engine: Engine, rates: Rates) -> None:
        self._engine = engine
        self._sizes = TableSizes(engine)
        self._rates = rates
        self._last = threading.local()

    def estimate_cost(self, translation: Translation, version: int) -> Estimate:
        """Estimate the cost of a query.

        Parameters
        ----------
        translation : Translation
            The query. SQL that was not translated from ADQL costs 0.
        version : int
            The version of the catalogue with which it was translated.

        Returns
        -------
        Estimate
            Rows, bytes and seconds, without the number of rows of the result.
        """
        query = translation.query
        if query is None:
            return Estimate(0, 0, 0.0, "scan")
        scans = tuple(_walk_scans(translation, query))
        rows, size = self._estimate_reading(translation, scans, version)
        if (
            translation.stored_rows is None
            and size > _SMALL_BYTES
            and len(scans) == 1
            and _is_stored_here(scans[0].scan.entry)
        ):
            rows, size = self._analyse_reading(translation, scans[0], version) or (rows, size)
        kind = _find_work_kind(query)
        work = self._estimate_join_work(query, version)
        write_seconds = estimate_write_seconds(work.rows, len(query.outputs))
        steps = Steps(round(work.pairs), work.seconds, round(work.rows), write_seconds, work.is_sure)
        seconds = size / 1e9 * self._find_rate(kind) + steps.join_seconds + steps.write_seconds
        return Estimate(round(rows), round(size), seconds, kind, steps=steps)

    def _estimate_reading(
        self, translation: Translation, scans: tuple[_TableReading, ...], version: int
    ) -> tuple[float, float]:
        """Return the rows and bytes that the engine reads."""
        cells = translation.cells
        granule = _GRANULE_ROWS if translation.stored_rows is None else ROW_STORE_GRANULE
        rows, size = 0.0, 0.0
        for scan, columns, id_count in scans:
            table = self._sizes.get_size(scan.entry, version)
            read = _count_rows_read(table, cells.get(f"{scan.entry.qualified_name}.hpx29"), id_count, granule)
            rows += read
            size += read * table.sum_widths(columns)
        return rows, size

    def _analyse_reading(
        self, translation: Translation, reading: _TableReading, version: int
    ) -> tuple[float, float] | None:
        """Return the rows and bytes that the engine's indexes select; None if the engine does not tell."""
        part = find_part_read(self._engine, translation)
        if part is None:
            return None
        table = self._sizes.get_size(reading.scan.entry, version)
        rows = part * table.total
        return rows, rows * table.sum_widths(reading.columns)

    def find_small_reading(self, translation: Translation, version: int) -> SmallReading | None:
        """Return an upper bound of what a query reads if it reads little and has no joins.

        No other estimate of such a query is needed: its result has at most as many rows, and it takes milliseconds.

        Returns
        -------
        SmallReading or None
            The upper bound; None for other queries.
        """
        query = translation.query
        selects = () if query is None else tuple(walk_selects(query))
        if query is None or any(isinstance(select.from_, Join) for select in selects):
            return None
        is_by_id = False
        if len(selects) == 1 and isinstance(query, Select) and isinstance(query.from_, Scan) and _is_cut_early(query):
            entry, rows = query.from_.entry, float((query.limit or 0) + query.offset)
            size = rows * self._sizes.get_size(entry, version).sum_widths(column.name for column in entry.table.columns)
        else:
            scans = tuple(_walk_scans(translation, query))
            is_by_id = any(scan.id_count for scan in scans)
            rows, size = self._estimate_reading(translation, scans, version)
        return SmallReading(rows, is_by_id) if size <= _SMALL_BYTES else None

    def _estimate_join_work(self, query: Query, version: int) -> JoinWork:
        """Estimate the joins of a query. Each thread keeps its last estimate, which two methods need for one query."""
        known: tuple[Query, int, JoinWork] | None = getattr(self._last, "work", None)
        if known is not None and known[0] is query and known[1] == version:
            return known[2]
        find_density = partial(self._sizes.make_density, version=version)

        def find_width(entry: TableEntry, name: str) -> float:
            return self._sizes.get_size(entry, version).sum_widths((name,))

        found = estimate_join_work(query, find_density, find_width, self._sizes.find_mean_radius)
        self._last.work = query, version, found
        return found

    def estimate_result_rows(self, translation: Translation, version: int) -> ResultRows | None:
        """Estimate the number of rows that the result would have without a row limit.

        Parameters
        ----------
        translation, version
            As for ``estimate_cost``.

        Returns
        -------
        ResultRows or None
            The number with its precision; None if it is unknown.
        """

        def count_table(entry: TableEntry) -> float:
            return self._sizes.get_size(entry, version).total

        def count_region(entry: TableEntry, region: Region) -> float:
            cover, size = cover_region(region), self._sizes.get_size(entry, version)
            inside, overlapping = (size.count_in_cells(Moc.from_cells(cells)) for cells in (cover.inside, cover.all))
            return (inside + overlapping) / 2  # half of each cell on the border

        query = _remove_row_limit(translation)
        found = None if query is None else RowCounter(count_table, count_region).count_rows(query)
        if found is None and translation.query is not None:
            rows = self._estimate_join_work(translation.query, version).unlimited_rows
            return None if rows is None else ResultRows(round(rows), "about")
        return found

    def find_kept_bytes(self, translation: Translation, version: int) -> RowDensity:
        """Estimate the memory of the rows that cross-matches keep.

        Parameters
        ----------
        translation, version
            As for ``estimate_cost``.

        Returns
        -------
        RowDensity
            Bytes, instead of rows, by the cells of the kept rows; 0 for a query without joins.
        """
        query = translation.query
        if query is None or not any(isinstance(select.from_, Join) for select in walk_selects(query)):
            return RowDensity.make_unlocated(0.0)
        return self._estimate_join_work(query, version).kept

    def find_rows_reached(
        self, translation: Translation, entry: TableEntry, version: int
    ) -> tuple[int, NDArray[np.float64]]:
        """Return the distribution of the rows of one table that a query reads.

        Returns
        -------
        (int, NDArray)
            A HEALPix order, and the rows in each NESTED cell of this order, shape (12 * 4**order,).
        """
        size = self._sizes.get_size(entry, version)
        cells = translation.cells.get(f"{entry.qualified_name}.hpx29")
        rows = size.cell_rows
        return size.order, rows if cells is None else rows * find_covered_parts(size.order, cells)

    def get_density(self, entry: TableEntry, version: int) -> tuple[int, NDArray[np.int64]]:
        """Return the distribution of the rows of a table.

        Returns
        -------
        (int, NDArray)
            A HEALPix order, and the rows in each NESTED cell of this order, followed by the rows without a position:
            shape (12 * 4**order + 1,).
        """
        size = self._sizes.get_size(entry, version)
        return size.order, size.rows

    def learn_rate(self, estimate: Estimate, bytes_read: int, seconds: float) -> None:
        """Correct the rate of a kind of work by a finished query, unless it read little or its joins took long.

        Parameters
        ----------
        estimate : Estimate
            The estimate of the query.
        bytes_read : int
            The bytes that the engine read.
        seconds : float
            The duration in the engine.
        """
        join_seconds = estimate.steps.join_seconds if estimate.steps else 0.0
        if bytes_read < _MIN_LEARNED_BYTES or join_seconds > _MAX_JOIN_PART * estimate.seconds:
            return
        rate = self._find_rate(estimate.kind)
        measured = seconds / (bytes_read / 1e9)
        self._rates.set_rate(estimate.kind, rate + _LEARNING_WEIGHT * (measured - rate))

    def _find_rate(self, kind: str) -> float:
        return self._rates.read_rates().get(kind, _FIRST_RATES[kind])


def _is_stored_here(entry: TableEntry) -> bool:
    """Return whether this server has all rows of a table, so that the engine can analyse what a query reads."""
    return not entry.is_sharded and entry.schema.name != UPLOAD_SCHEMA


def _is_cut_early(select: Select) -> bool:
    """Return whether a SELECT from one table without subqueries ends after it has read its first rows."""
    return select.limit is not None and select.where is None and not needs_all_rows(select)


class _TableReading(NamedTuple):
    """A table, the columns that are read, and the number of ids that are looked up; 0 for all rows."""

    scan: Scan
    columns: set[str]
    id_count: int


def _walk_scans(translation: Translation, query: Query) -> Iterator[_TableReading]:
    """Yield what the query of the row store reads, or without one what the query of columns reads."""
    for select in walk_selects(query if translation.stored_rows is None else translation.stored_rows.query):
        used: dict[int, set[str]] = {}
        for expr in walk_select_expressions(select):
            for column in walk_columns(expr):
                used.setdefault(column.relation, set()).add(column.name)
        for leaf in walk_leaves(select.from_):
            if isinstance(leaf, Scan):
                yield _TableReading(leaf, used.get(leaf.relation, set()), _count_ids(select, leaf))


def _count_ids(select: Select, scan: Scan) -> int:
    first = scan.entry.table.layout.id[:1]
    return len(next(walk_listed_constants(select.where, scan.relation, lambda column: column.name in first), ()))


def _count_rows_read(size: TableSize, cells: Moc | None, id_count: int, granule: int) -> float:
    if id_count:
        return min(size.total, float(id_count * granule))
    if cells is None:
        return size.total
    if not len(cells.ranges):
        return 0.0
    return min(size.total, size.count_in_cells(cells) + _GRANULE_ROWS)


def _find_work_kind(query: Query) -> str:
    """Return the heaviest kind of work of a query."""
    found = "scan"
    for select in walk_selects(query):
        if isinstance(select.from_, Join):
            return "join"
        if select.order_by and select.limit is None:
            found = "sort"
        aggregated = any(isinstance(part, Aggregate) for output in select.outputs for part in walk_expr(output.expr))
        if found == "scan" and (select.group_by or select.distinct or aggregated):
            found = "group"
    return found


def _remove_row_limit(translation: Translation) -> Query | None:
    """Return the bound query with its own TOP instead of the row limit of the request."""
    if translation.bound is None:
        return None
    return replace(translation.bound.query, limit=translation.top)
