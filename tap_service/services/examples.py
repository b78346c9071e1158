"""Queries to start from, one or two for each table that is loaded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from adql.translate import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.words import published
from tap_service.documents.service import Example
from tap_service.storage.engine import Engine

_FEW_COLUMNS = 8
_TABLES_SHOWN = 50
_POSITIONS_TRIED = 100
_CONE_DEGREES = 0.5


def examples(engine: Engine, catalogue: Catalogue) -> tuple[Example, ...]:
    """Examples for the first tables of ``catalogue``; a cone lies on a position that the table has."""
    loaded = [entry for entry in catalogue.entries if entry.schema.name.upper() != "TAP_SCHEMA"]
    found = [example for entry in loaded[:_TABLES_SHOWN] for example in _of_table(engine, catalogue, entry)]
    return (*found, _ABOUT_TABLES)


_ABOUT_TABLES = Example(
    "tables",
    "The tables of this service",
    "SELECT table_name, description FROM TAP_SCHEMA.tables ORDER BY table_name",
    "Every table with its description; TAP_SCHEMA.columns has the columns.",
    ("TAP_SCHEMA.tables",),
)


def _of_table(engine: Engine, catalogue: Catalogue, entry: TableEntry) -> Iterator[Example]:
    ident = re.sub(r"[^A-Za-z0-9_.-]", "_", f"t-{entry.qualified}")
    table = f"{published(entry.schema.name)}.{published(entry.table.name)}"
    columns = [column.name for column in entry.table.columns if column.principal] or [
        column.name for column in entry.table.columns
    ]
    few = ", ".join(published(name) for name in columns[:_FEW_COLUMNS])
    yield Example(
        f"{ident}-top",
        f"First rows of {entry.qualified}",
        f"SELECT TOP 10 {few}\nFROM {table}",
        entry.table.description,
        (entry.qualified,),
    )
    if entry.table.layout.position is None:
        return
    lon, lat = (published(name) for name in entry.table.layout.position)
    query = f"SELECT TOP {_POSITIONS_TRIED} {lon}, {lat} FROM {table}"  # noqa: S608 (ADQL, quoted, from the catalogue)
    if (position := _a_position(engine, catalogue, query)) is None:
        return
    centre = ", ".join(f"{value:.4f}" for value in position)
    yield Example(
        f"{ident}-cone",
        f"{entry.qualified} around a position",
        f"SELECT {few}\nFROM {table}\nWHERE 1 = CONTAINS(POINT({lon}, {lat}), CIRCLE({centre}, {_CONE_DEGREES}))",
        f"All rows within {_CONE_DEGREES} degrees of ({centre}), ICRS.",
        (entry.qualified,),
    )


def _a_position(engine: Engine, catalogue: Catalogue, query: str) -> tuple[float, float] | None:
    translation = translate(query, catalogue)
    answer = engine.query(translation.sql, translation.settings)
    for lon, lat in zip(*(column.to_pylist() for column in answer.columns), strict=True):
        if lon is not None and lat is not None and math.isfinite(lon) and math.isfinite(lat):
            return float(lon), float(lat)
    return None
