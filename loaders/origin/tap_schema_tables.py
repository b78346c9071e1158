"""Reads tables of an origin from its TAP_SCHEMA (TAP 1.1, section 4; TAP 1.0 has fewer columns)."""

from __future__ import annotations

from loaders.origin.origin_error import AmbiguousTable, OriginError
from loaders.origin.sync_query import SyncQueries, quote_text
from loaders.origin.table_choice import TableName, Wanted, read_table_name, split_identifiers
from tap_service.readers.table_definition import DefinedColumn, DefinedKey, DefinedSchema, Definition, build_column
from tap_service.readers.tap_types import undelimit_name

_TRUE = frozenset({"1", "true", "t", "y", "yes"})


def read_from_tap_schema(queries: SyncQueries, wanted: Wanted) -> Definition | None:
    """Return the table; None if TAP_SCHEMA lacks it. Raises OriginError."""
    row = _find_table(queries, wanted)
    if row is None:
        return None
    name = row["table_name"]
    rows = queries.ask(f"SELECT * FROM TAP_SCHEMA.columns WHERE table_name = {quote_text(name)}")
    columns = [_build_column(row) for row in rows if row.get("column_name") and row.get("datatype")]
    columns.sort(key=lambda column: (column.index is None, column.index or 0))
    return Definition(
        columns,
        row.get("description", ""),
        row.get("utype", ""),
        _read_keys(queries, name),
        name=name,
        schema=_read_schema(queries, row.get("schema_name", "")),
    )


def list_tables(queries: SyncQueries) -> list[TableName]:
    """Return the names of all tables. Raises OriginError."""
    rows = queries.ask("SELECT schema_name, table_name FROM TAP_SCHEMA.tables")
    return [_row_name(row) for row in rows if row.get("table_name")]


def _row_name(row: dict[str, str]) -> TableName:
    return read_table_name(row.get("schema_name", ""), row["table_name"])


def _find_table(queries: SyncQueries, wanted: Wanted) -> dict[str, str] | None:
    """Return the row of the table, by its name as written or, if that is not found, in any case."""
    names = _list_spellings(wanted.text)
    found = _find_among(queries, wanted, f"table_name IN ({', '.join(map(quote_text, names))})")
    if found is not None:
        return found
    lower = dict.fromkeys(name.lower() for name in names)
    try:
        return _find_among(queries, wanted, f"LOWER(table_name) IN ({', '.join(map(quote_text, lower))})")
    except AmbiguousTable:
        raise
    except OriginError:  # LOWER is optional before ADQL 2.1
        return None


def _find_among(queries: SyncQueries, wanted: Wanted, condition: str) -> dict[str, str] | None:
    rows = queries.ask(f"SELECT * FROM TAP_SCHEMA.tables WHERE {condition}")
    by_name = {_row_name(row): row for row in rows if row.get("table_name")}
    name = wanted.choose(by_name)
    return by_name[name] if name else None


def _list_spellings(text: str) -> list[str]:
    """Return the ways in which services write the name: with and without schema and double quotes."""
    parts = split_identifiers(text)
    bare, last = ".".join(parts), parts[-1]
    quoted = [f'"{bare}"', f'"{last}"', *([f'{parts[0]}."{last}"'] if len(parts) > 1 else [])]
    return [*dict.fromkeys((text, bare, last, ".".join(parts[1:]) or bare, *quoted))]


def _build_column(row: dict[str, str]) -> DefinedColumn:
    attributes = {
        "name": row["column_name"],
        "datatype": row["datatype"],
        "arraysize": row.get("arraysize", ""),
        "size": row.get("size", ""),
        "extendedType": row.get("xtype", ""),
        "std": "true" if _is_true(row.get("std", "")) else "",
    }
    about = {key: row.get(key, "") for key in ("description", "unit", "ucd", "utype")}
    flags = frozenset(key for key in ("indexed", "principal") if _is_true(row.get(key, "")))
    index = row.get("column_index", "")
    return build_column(attributes | about, flags, int(index) if index.removeprefix("-").isdigit() else None)


def _is_true(text: str) -> bool:
    return text.strip().lower() in _TRUE


def _read_schema(queries: SyncQueries, name: str) -> DefinedSchema:
    try:
        rows = queries.ask(f"SELECT * FROM TAP_SCHEMA.schemas WHERE schema_name = {quote_text(name)}")
    except OriginError:  # the description is optional
        rows = []
    row = rows[0] if rows else {}
    return DefinedSchema(name, row.get("description", ""), row.get("utype", ""))


def _read_keys(queries: SyncQueries, table: str) -> list[DefinedKey]:
    rows = queries.ask(f"SELECT * FROM TAP_SCHEMA.keys WHERE from_table = {quote_text(table)}")
    keys = {row["key_id"]: row for row in rows if row.get("key_id") and row.get("target_table")}
    if not keys:
        return []
    ids = ", ".join(map(quote_text, keys))
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in keys}
    for row in queries.ask(f"SELECT * FROM TAP_SCHEMA.key_columns WHERE key_id IN ({ids})"):
        if row.get("key_id") in pairs and row.get("from_column") and row.get("target_column"):
            pairs[row["key_id"]].append((undelimit_name(row["from_column"]), undelimit_name(row["target_column"])))
    return [
        DefinedKey(row["target_table"], pairs[name], row.get("description", ""), row.get("utype", ""), name)
        for name, row in keys.items()
    ]
