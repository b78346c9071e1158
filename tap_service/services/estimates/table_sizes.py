"""The sizes of tables: rows by cell, bytes per row of each column, and mean radii, cached for a catalogue version."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adql.ir import Expr, Output, Scan, Select
from adql.query_analysis import SETTINGS, emit_query
from adql.regions import Moc
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import DOUBLE, Field
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.quoting import quote_string
from tap_service.models.upload_parameter import UPLOAD_SCHEMA
from tap_service.services.estimates.row_density import RowDensity, area_to_radius
from tap_service.storage.engine.engine import Engine, EngineError

#: bytes of a value if ClickHouse does not know them, as for small tables
_DEFAULT_WIDTH = 8.0

#: maximum number of sizes, and of radii, in the cache
_MAX_KEPT = 1000

#: number of rows from which a mean radius is computed
_MAX_SAMPLED_ROWS = 10_000
_RADIUS = Field("r", DOUBLE)
_MAX_SECONDS: dict[str, str | int] = {"max_execution_time": 1}


@dataclass(frozen=True)
class TableSize:
    """The size of a table.

    Attributes
    ----------
    order : int
        The HEALPix order of the cells.
    rows : NDArray
        The rows in each NESTED cell, followed by the rows without a position: shape (12 * 4**order + 1,).
    widths : dict of str to float
        The bytes per row of each stored column, uncompressed.
    """

    order: int
    rows: NDArray[np.int64]
    widths: dict[str, float]

    @cached_property
    def total(self) -> float:
        """The number of rows."""
        return float(self.rows.sum())

    @cached_property
    def _rows_before(self) -> NDArray[np.float64]:
        """The number of rows in all cells before each border between cells."""
        return np.concatenate(([0.0], np.cumsum(self.rows[:-1], dtype=np.float64)))

    @cached_property
    def _borders(self) -> NDArray[np.float64]:
        return np.arange(len(self.rows), dtype=np.float64)

    @property
    def cell_rows(self) -> NDArray[np.float64]:
        """The rows in each cell, shape (12 * 4**order,)."""
        return self.rows[:-1].astype(np.float64)

    def sum_widths(self, names: Iterable[str]) -> float:
        """Return the bytes per row of columns together."""
        return sum(self.widths.get(name) or _DEFAULT_WIDTH for name in names)

    def count_in_cells(self, cells: Moc) -> float:
        """Return the rows in a set of cells; rows are assumed to be evenly distributed in a cell of ``order``."""
        before = np.interp(cells.ranges / 4.0 ** (ORDER - self.order), self._borders, self._rows_before)
        return float((before[:, 1] - before[:, 0]).sum())


class TableSizes:
    """Reads sizes from the engine, and caches them. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._version = -1
        self._sizes: dict[str, TableSize] = {}
        self._radii: dict[str, float] = {}

    def get_size(self, entry: TableEntry, version: int) -> TableSize:
        """Return the size of a table in a ``version`` of the catalogue. Raises EngineError."""
        with self._lock:
            if version != self._version:
                self._sizes, self._radii, self._version = {}, {}, version
            known = self._sizes.get(entry.storage_key)
        if known is None:
            known = self._read_size(entry)
            with self._lock:
                if entry.schema.name != UPLOAD_SCHEMA:
                    if len(self._sizes) >= _MAX_KEPT:  # each load creates a new storage of a user table
                        self._sizes.clear()
                    self._sizes[entry.storage_key] = known
        return known

    def make_density(self, entry: TableEntry, version: int) -> RowDensity:
        """Return the density of all rows of a table. Raises EngineError."""
        size = self.get_size(entry, version)
        rows, others = size.cell_rows, float(size.rows[-1])
        is_located = entry.table.layout.position is not None and bool(rows.any())  # and the density table has it
        unlocated, positionless = (0.0, others) if is_located else (others, 0.0)
        return RowDensity(
            size.order, rows, np.ones(len(rows)), unlocated, positionless, frozenset((entry.storage_key,))
        )

    def find_mean_radius(self, scan: Scan, radius: Expr) -> float | None:
        """Return the radius of the circle with the mean area of the circles of a sample of rows.

        Parameters
        ----------
        scan : Scan
            The table.
        radius : Expr
            The radius of a row, in degrees.

        Returns
        -------
        float or None
            The radius in degrees; None if the engine cannot compute it in time.
        """
        output = Output("r", radius, _RADIUS)
        sample = Select(replace(scan, part=""), None, (), None, (output,), False, (), _MAX_SAMPLED_ROWS, 0)
        key = emit_query(sample)
        with self._lock:
            known = self._radii.get(key)
        if known is None:
            area = "if(r >= 0, pow(sin(radians(least(r, 180)) / 2), 2), 0)"
            sql = f"SELECT avgOrDefault({area}) AS area FROM ({key})"
            try:
                found = self._engine.fetch_table(sql, SETTINGS | _MAX_SECONDS)
            except EngineError:
                return None  # for example, after _MAX_SECONDS
            known = area_to_radius(found["area"][0].as_py() or 0.0)
            with self._lock:
                if scan.entry.schema.name != UPLOAD_SCHEMA and len(self._radii) < _MAX_KEPT:
                    self._radii[key] = known
        return known

    def _read_size(self, entry: TableEntry) -> TableSize:
        if entry.schema.name == UPLOAD_SCHEMA:
            return TableSize(0, np.array([0] * 12 + [entry.rows or 0]), {})
        if (
            entry.is_computed and entry.rows is not None and entry.attached is None
        ):  # TAP_SCHEMA of some users, without the sizes of tables that they do not see
            return TableSize(0, np.array([0] * 12 + [entry.rows]), {})
        order = entry.table.layout.healpix_order
        density = read_density(self._engine, *entry.density_key)
        rows = np.zeros(12 * 4**order + 1, dtype=np.int64)
        rows[density["cell"].to_numpy()] = density["rows"].to_numpy()
        if entry.attached is not None:
            return TableSize(order, rows, dict(entry.attached.attachment.widths))
        database, names = entry.part_tables  # on a cluster, the parts of one server suffice for widths
        name_list = ", ".join(quote_string(name) for name in names)
        is_part = f"database = {quote_string(database)} AND table IN ({name_list}) AND active"
        if not density.num_rows:  # TAP_SCHEMA
            stored = self._engine.fetch_table(f"SELECT sum(rows) AS n FROM system.parts WHERE {is_part}")
            rows[-1] = stored["n"][0].as_py()
        widths = self._engine.fetch_table(
            "SELECT column, sum(column_data_uncompressed_bytes) / greatest(sum(rows), 1) AS width"
            f" FROM system.parts_columns WHERE {is_part} GROUP BY column"
        )
        columns = (widths[name].to_pylist() for name in ("column", "width"))
        return TableSize(order, rows, dict(zip(*columns, strict=True)))
