"""The rows of ADQL queries, and a form in which the rows of two engines can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from adql.resolve.tableless_check import check_without_tables
from adql.translation import Translation, translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine

Rows = list[tuple[Any, ...]]

Ask = Callable[[str], Rows]

#: Small tables are read by their projections, like large tables.
BY_PROJECTION: dict[str, str | int] = {"min_table_rows_to_use_projection_index": 0}


def query_rows(engine: Engine, catalogue: Catalogue, query: str) -> Rows:
    """Return the rows of an ADQL query, with the declared Arrow types; also check the query without its tables."""
    translation = translate(query, catalogue)
    read = {name[-1].lower() for name in check_without_tables(query)}
    assert read == {entry.table.name.lower() for entry in translation.tables}
    return fetch_translated(engine, translation, translation.sql)


def fetch_translated(engine: Engine, translation: Translation, sql: str) -> Rows:
    """Return the rows of one form of a translated query, with the declared Arrow types."""
    answer = engine.fetch_table(sql, translation.settings | BY_PROJECTION)
    if not answer.num_columns:
        return []
    columns = [c.cast(f.type.arrow).to_pylist() for c, f in zip(answer.columns, translation.fields, strict=True)]
    return list(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    """Convert numbers to one type with 12 digits, because engines may differ in the last bit and in the type."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, list):
        return ("list", tuple(_plain(item) for item in value))
    if isinstance(value, datetime):
        return ("instant", value.replace(tzinfo=None))
    if isinstance(value, float) and math.isnan(value):
        return ("nan", None)
    if isinstance(value, int) and abs(value) > 1 << 50:
        return ("number", value)
    return ("number", float(f"{float(value):.12g}") + 0.0)  # no negative zero


def make_comparable(rows: Rows) -> list[tuple[Any, ...]]:
    """Return rows that can be compared with the rows of another engine."""
    return [tuple(_plain(value) for value in row) for row in rows]
