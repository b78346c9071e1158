"""Find the coverage of tables on the sky and in time."""

from __future__ import annotations

import math
from collections.abc import Iterable

from adql.regions import Moc
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Column
from tap_service.documents.registry_records import Coverage
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable

#: maximum number of characters of a MOC in a record: VODataService recommends at most a few dozen kB
_MAX_MOC_LENGTH = 30_000

#: maximum number of rows of a table whose times are read from all rows, in some milliseconds
_MAX_SCANNED_ROWS = 10_000_000

#: ClickHouse knows the first and last time of each part of a table that is partitioned by years; with this setting the
#: query fails instead of reading rows
_FROM_PARTS = {"force_optimize_projection": 1}

_JD_OF_MJD = 2_400_000.5
_MJD_OF_UNIX = 40_587.0

#: limits are rounded outwards to 1/100 of a day, which exceeds the differences between time scales and the light travel
#: time to the barycentre
_PARTS_OF_DAY = 100


def read_moc(engine: Engine, entry: TableEntry) -> Moc:
    """Return the cells of a table that contain rows, by its density table; empty for a table without a position.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    layout = entry.table.layout
    if not layout.position:
        return Moc.from_ranges([])
    counted = read_density(engine, *entry.density_key)
    cells = [cell for cell in counted.column("cell").to_pylist() if cell < 12 * 4**layout.healpix_order]
    return Moc.from_cells([(layout.healpix_order, cells)])


def read_times(engine: Engine, entry: TableEntry) -> tuple[float, float] | None:
    """Return the first and last time of a table.

    Returns
    -------
    (float, float) or None
        MJDs; None if the layout names no time column, its time system is unknown, or reading it would take long.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    layout = entry.table.layout
    to_mjd = _find_conversion(entry.table.get_column(layout.time)) if layout.time and not entry.is_computed else None
    if to_mjd is None:
        return None
    column = entry.table.get_column(layout.time)
    if entry.rows is not None and entry.rows <= _MAX_SCANNED_ROWS:
        ends = _fetch_ends(engine, entry, column, {})
    elif layout.years:
        try:
            ends = _fetch_ends(engine, entry, column, _FROM_PARTS)
        except EngineUnavailable:
            raise
        except EngineError:  # rows were deleted since the parts were written
            return None
    else:
        return None
    factor, offset = to_mjd
    return (ends[0] * factor + offset, ends[1] * factor + offset) if ends else None


def _fetch_ends(
    engine: Engine, entry: TableEntry, column: Column, settings: dict[str, int]
) -> tuple[float, float] | None:
    """Return the first and last time, for timestamps in seconds since 1970; None if all times are NULL."""
    name = quote_identifier(column.name)
    conditions = [] if settings else [f"{name} IS NOT NULL"]
    if column.type.is_timestamp:
        ends = "toUnixTimestamp64Micro(first) / 1e6 AS first, toUnixTimestamp64Micro(last) / 1e6 AS last"
    else:
        ends = "first, last"
        conditions += [] if settings else [f"isFinite({name})"]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    read = f"SELECT min({name}) AS first, max({name}) AS last, count() AS n FROM {entry.storage_sql}{where}"
    [row] = engine.fetch_table(f"SELECT {ends}, n FROM ({read})", settings).to_pylist()
    first, last = row["first"], row["last"]
    is_known = row["n"] and first is not None and math.isfinite(first) and math.isfinite(last)
    return (first, last) if is_known else None


def _find_conversion(column: Column) -> tuple[float, float] | None:
    """Return the factor and offset that convert the column's values to MJDs; None if its time system is unknown."""
    if column.type.is_timestamp:
        return 1 / 86_400, _MJD_OF_UNIX
    if column.times is None:
        return None
    factor = {"d": 1.0, "s": 1 / 86_400, "a": 365.25, "yr": 365.25}.get(column.unit)
    origin = {"MJD-origin": _JD_OF_MJD, "JD-origin": 0.0}.get(str(column.times.timeorigin), column.times.timeorigin)
    if factor is None or not isinstance(origin, float):
        return None
    return factor, origin - _JD_OF_MJD


def join_coverages(parts: Iterable[tuple[Moc, tuple[float, float] | None]]) -> Coverage:
    """Return the coverage of several tables together.

    Parameters
    ----------
    parts : Iterable of (Moc, (float, float) or None)
        The cells, and the first and last MJD, of each table.
    """
    moc, times = Moc.from_ranges([]), []
    for cells, interval in parts:
        moc = moc.union(cells)
        times += [interval] if interval else []
    if not times:
        return Coverage(format_moc(moc))
    first = math.floor(min(first for first, _ in times) * _PARTS_OF_DAY) / _PARTS_OF_DAY
    last = math.ceil(max(last for _, last in times) * _PARTS_OF_DAY) / _PARTS_OF_DAY
    return Coverage(format_moc(moc), (first, last))


def format_moc(moc: Moc, max_length: int = _MAX_MOC_LENGTH) -> str:
    """Return a MOC in ASCII, in coarser cells that contain it if it is longer than ``max_length`` characters."""
    text = str(moc)
    while len(text) > max_length:
        order = max(order for order, _ in moc.list_cells()) - 1
        moc = _coarsen(moc, order)
        text = str(moc)
    return text


def _coarsen(moc: Moc, order: int) -> Moc:
    return Moc.from_cells(
        [
            (min(order, of_order), sorted({cell >> 2 * max(0, of_order - order) for cell in of_cells}))
            for of_order, of_cells in moc.list_cells()
        ]
    )
