"""What a query will cost: rows, bytes and seconds, from the density table over the cells that its covers leave.

Seconds are those of the bytes that are read, at a rate that is learned, of the pairs of rows that joins find, and of
the values that are written (``join_work``).
It advises, for users and queues; only the time that a query takes refuses it. (The engine's own EXPLAIN ESTIMATE says
20 million rows for a look-up by id.)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adql import Translation
from adql.ir import (
    Aggregate,
    Expr,
    Join,
    Output,
    Query,
    Scan,
    Select,
    walk_columns,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.query_analysis import SETTINGS, cover_region, emit_query
from adql.regions import Moc, Region
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import DOUBLE, Field
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.quoting import quote_string
from tap_service.models.upload_parameter import UPLOAD_SCHEMA as UPLOADED
from tap_service.models.work_class import Estimate, ResultRows, Steps
from tap_service.services.queries.column_origins import count_named_ids
from tap_service.services.queries.join_work import JoinWork, estimate_join_work, estimate_write_seconds
from tap_service.services.queries.result_rows import RowCounter
from tap_service.services.queries.row_density import RowDensity, area_to_radius, find_covered_parts
from tap_service.services.queries.row_limit import without_limit
from tap_service.storage.engine.engine import Engine, EngineError

#: rows of one granule (the engine's default): the least that is read at a place
_GRANULE = 8192

#: Seconds of work per gigabyte read, to begin with, by what the engine does with it; each query that ends corrects it.
_FIRST_RATES = {"scan": 0.5, "group": 1.0, "sort": 1.5, "join": 5.0}

#: bytes of a value where the engine does not tell: it does not of small tables
_WIDTH = 8.0

#: tables whose sizes are kept
_MOST_SIZES = 1000

#: what the mean of radii that depend on rows is taken of
_SAMPLED_ROWS = 10_000
_RADIUS = Field("r", DOUBLE)
#: nobody waits longer for an estimate
_QUICKLY: dict[str, str | int] = {"max_execution_time": 1}

#: how much one query's figure counts
_WEIGHT = 0.2
#: and of how large a query it counts
_TELLING_BYTES = 50e6
#: and what part of its work its joins may be
_MOST_LATER = 0.1


class Rates(Protocol):
    """Where what was learned is kept, seconds per gigabyte by kind of work: the job store."""

    def read_rates(self) -> dict[str, float]: ...

    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None: ...


@dataclass(frozen=True, slots=True)
class _Size:
    """``rows`` per cell of ``order``, the last entry without position; ``widths``: bytes per row by stored column."""

    order: int
    rows: NDArray[np.int64]
    widths: dict[str, float]


class Estimator:
    """Safe to call from several threads at once."""

    def __init__(self, engine: Engine, rates: Rates) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._version = -1
        self._sizes: dict[str, _Size] = {}
        self._radii: dict[str, float] = {}
        self._rates = rates

    def estimate_cost(self, translation: Translation, version: int) -> Estimate:
        """``version``: of the catalogue that the translation was made with."""
        if translation.query is None:
            return Estimate(0, 0, 0.0, "scan")
        cells = translation.cells
        rows, size = 0.0, 0.0
        for scan, stored, looked_up in _scans(translation.query):
            entry = scan.entry
            known = self._size(entry, version)
            read = _rows_read(known, cells.get(f"{entry.qualified_name}.hpx29"), looked_up)
            rows += read
            size += read * sum(known.widths.get(name) or _WIDTH for name in stored)
        kind = _kind(translation.query)
        rate = self._rates.read_rates().get(kind, _FIRST_RATES[kind])
        work = self._join_work(translation.query, version)
        steps = Steps(
            round(work.found),
            work.seconds,
            round(work.rows),
            estimate_write_seconds(work.rows, len(translation.query.outputs)),
            work.sure,
        )
        seconds = size / 1e9 * rate + steps.join_seconds + steps.write_seconds
        return Estimate(round(rows), round(size), seconds, kind, steps=steps)

    def _join_work(self, query: Query, version: int) -> JoinWork:
        def rows_of(entry: TableEntry) -> RowDensity:
            size = self._size(entry, version)
            rows, others = size.rows[:-1].astype(np.float64), float(size.rows[-1])
            is_placed = entry.table.layout.position is not None and bool(rows.any())  # and counted
            anywhere, placeless = (0.0, others) if is_placed else (others, 0.0)
            return RowDensity(
                size.order, rows, np.ones(len(rows)), anywhere, placeless, frozenset((entry.storage_sql,))
            )

        return estimate_join_work(query, rows_of, self._mean_radius)

    def _mean_radius(self, scan: Scan, radius: Expr) -> float | None:
        """Of a circle as large as those of a sample of a table's rows in the mean; None if the engine does not tell."""
        sampled = Select(
            replace(scan, part=""), None, (), None, (Output("r", radius, _RADIUS),), False, (), _SAMPLED_ROWS, 0
        )
        key = emit_query(sampled)
        with self._lock:
            known = self._radii.get(key)
        if known is None:
            area = "if(r >= 0, pow(sin(radians(least(r, 180)) / 2), 2), 0)"
            sql = f"SELECT avgOrDefault({area}) AS area FROM ({key})"
            try:
                known = area_to_radius(self._engine.fetch_table(sql, SETTINGS | _QUICKLY)["area"][0].as_py() or 0.0)
            except EngineError:
                return None  # such as after a second
            with self._lock:
                if scan.entry.schema.name != UPLOADED and len(self._radii) < _MOST_SIZES:
                    self._radii[key] = known
        return known

    def estimate_result_rows(self, translation: Translation, version: int) -> ResultRows | None:
        """How many rows the query gives without a row limit; None if nobody knows."""
        query = without_limit(translation)

        def covered(entry: TableEntry, region: Region) -> float:
            cells, size = cover_region(region), self._size(entry, version)
            inside, all_ = (find_covered_parts(size.order, Moc.from_cells(part)) for part in (cells.inside, cells.all))
            return float(((inside + all_) / 2 * size.rows[:-1]).sum())  # half of each cell on the border

        counter = RowCounter(lambda entry: float(self._size(entry, version).rows.sum()), covered)
        found = None if query is None else counter.count_rows(query)
        if found is None and translation.query is not None:
            matched = self._join_work(translation.query, version).whole
            return None if matched is None else ResultRows(round(matched), "about")
        return found

    def find_rows_reached(
        self, translation: Translation, entry: TableEntry, version: int
    ) -> tuple[int, NDArray[np.float64]]:
        """The rows of one table that the query reaches, by NESTED cell of the order that comes first."""
        size = self._size(entry, version)
        rows = size.rows[:-1].astype(np.float64)
        cells = translation.cells.get(f"{entry.qualified_name}.hpx29")
        return size.order, rows if cells is None else rows * find_covered_parts(size.order, cells)

    def get_density(self, entry: TableEntry, version: int) -> tuple[int, NDArray[np.int64]]:
        """The rows of a table by NESTED cell of the order that comes first, and after them those without position.

        Raises EngineError.
        """
        size = self._size(entry, version)
        return size.order, size.rows

    def learn_rate(self, estimate: Estimate, bytes_read: int, seconds: float) -> None:
        """What a query of this kind has really taken; small ones and those of many pairs tell nothing of the rate."""
        later = estimate.steps.join_seconds if estimate.steps else 0.0
        if bytes_read < _TELLING_BYTES or later > _MOST_LATER * estimate.seconds:
            return
        rate = self._rates.read_rates().get(estimate.kind, _FIRST_RATES[estimate.kind])
        self._rates.set_rate(estimate.kind, rate + _WEIGHT * (seconds / (bytes_read / 1e9) - rate))

    def _size(self, entry: TableEntry, version: int) -> _Size:
        with self._lock:
            if version != self._version:
                self._sizes, self._radii, self._version = {}, {}, version
            known = self._sizes.get(entry.storage_sql)
        if known is None:
            known = self._measured(entry)
            with self._lock:
                if entry.schema.name != UPLOADED:
                    if len(self._sizes) >= _MOST_SIZES:  # each load makes another table of a user's
                        self._sizes.clear()
                    self._sizes[entry.storage_sql] = known
        return known

    def _measured(self, entry: TableEntry) -> _Size:
        if entry.schema.name == UPLOADED:
            return _Size(0, np.array([0] * 12 + [entry.rows or 0]), {})
        order = entry.table.layout.healpix_order
        counted = read_density(self._engine, *entry.density_key)
        rows = np.zeros(12 * 4**order + 1, dtype=np.int64)
        rows[counted["cell"].to_numpy()] = counted["rows"].to_numpy()
        database, names = entry.part_tables  # of a cluster those of one server tell enough
        given = ", ".join(quote_string(name) for name in names)
        table = f"database = {quote_string(database)} AND table IN ({given}) AND active"
        if not counted.num_rows:  # TAP_SCHEMA's
            stored = self._engine.fetch_table(f"SELECT sum(rows) AS n FROM system.parts WHERE {table}")
            rows[-1] = stored["n"][0].as_py()
        widths = self._engine.fetch_table(
            "SELECT column, sum(column_data_uncompressed_bytes) / greatest(sum(rows), 1) AS width"
            f" FROM system.parts_columns WHERE {table} GROUP BY column"
        )
        return _Size(order, rows, dict(zip(*(widths[name].to_pylist() for name in ("column", "width")), strict=True)))


def _scans(query: Query) -> Iterator[tuple[Scan, set[str], int]]:
    """Each reading of a table: its columns that are needed, and how many rows are looked up by id, 0 for all."""
    for select in walk_selects(query):
        used: dict[int, set[str]] = {}
        for expr in walk_select_expressions(select):
            for column in walk_columns(expr):
                used.setdefault(column.relation, set()).add(column.name)
        for leaf in walk_leaves(select.from_):
            if isinstance(leaf, Scan):
                yield leaf, used.get(leaf.relation, set()), _looked_up(select, leaf)


def _looked_up(select: Select, scan: Scan) -> int:
    """How many ids a condition of WHERE names, 0 if there is none."""
    ids = scan.entry.table.layout.id[:1]
    return count_named_ids(select, lambda column: column.relation == scan.relation and column.name in ids)


def _rows_read(size: _Size, cells: Moc | None, looked_up: int) -> float:
    total = float(size.rows.sum())
    if looked_up:
        return min(total, float(looked_up * _GRANULE))
    if cells is None:
        return total
    if not len(cells.ranges):
        return 0.0
    return min(total, float((find_covered_parts(size.order, cells) * size.rows[:-1]).sum()) + _GRANULE)


def _kind(query: Query) -> str:
    """The heaviest thing that the engine does for it."""
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
