"""Describe the cone search of a table, for its capabilities and for the registry."""

from __future__ import annotations

import math
from urllib.parse import quote

import numpy as np

from adql import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.healpix import cell_centres, max_cell_radius
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.documents.service_description import ConeSearch
from tap_service.storage.engine.engine import Engine


def describe_cone_search(engine: Engine, catalogue: Catalogue, entry: TableEntry, base_url: str) -> ConeSearch:
    """Describe the cone search of a table with a position.

    Parameters
    ----------
    engine, catalogue : Engine, Catalogue
        The engine and the catalogue that contain the table.
    entry : TableEntry
        The table.
    base_url : str
        The URL of the service's root, without a slash at its end.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    url = f"{base_url}/scs/{quote(entry.qualified_name, safe='')}"
    return ConeSearch(table_name_to_adql(entry), url, _find_position(engine, catalogue, entry))


def _find_position(engine: Engine, catalogue: Catalogue, entry: TableEntry) -> tuple[float, float] | None:
    """Return the position of a row, always of the same row, so that records of the registry do not change."""
    centre = _find_cell(engine, entry)
    if centre is None:
        return None
    lon, lat = (name_to_adql(name) for name in entry.table.layout.position or ())
    circle = (*centre, math.degrees(max_cell_radius(entry.table.layout.healpix_order)))
    query = (
        f"SELECT TOP 1 {lon}, {lat} FROM {table_name_to_adql(entry)} "
        f"WHERE 1 = CONTAINS(POINT({lon}, {lat}), CIRCLE{circle!r}) ORDER BY {lat}, {lon}"
    )
    translation = translate(query, catalogue)
    for ra, dec in zip(*engine.fetch_table(translation.sql, translation.settings).to_pydict().values(), strict=True):
        return float(ra), float(dec)
    return None


def _find_cell(engine: Engine, entry: TableEntry) -> tuple[float, float] | None:
    """Return the centre of the cell with the fewest rows, in degrees; None if no cell has rows."""
    order = entry.table.layout.healpix_order
    counted = read_density(engine, *entry.density_key).to_pydict()
    counts = [
        count for count in zip(counted["rows"], counted["cell"], strict=True) if count[0] and count[1] < 12 * 4**order
    ]
    if not counts:
        return None
    [(x, y, z)] = cell_centres(order, np.array([min(counts)[1]], np.uint64))
    return math.degrees(math.atan2(y, x)) % 360, math.degrees(math.asin(z))
