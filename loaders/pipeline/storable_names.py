"""Names under which tables and columns of other services can be stored."""

from __future__ import annotations

from clickhouse_schema.schema_files.schema_checks import RESERVED_SCHEMAS, find_table_problems
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.strict_model import MAX_NAME_LENGTH
from tap_service.readers.unique_names import name_columns

_ANY_COLUMNS = (Column(name="c", datatype="int"),)


def make_schema_name(name: str) -> str:
    """Return ``name``, or a similar name that a schema may have."""
    made = _make_printable(name).replace(".", "_") or "origin"
    return (
        f"origin_{made}"[:MAX_NAME_LENGTH]
        if made.lower() in RESERVED_SCHEMAS or made.lower().startswith("mydb_")
        else made
    )


def make_table_name(name: str) -> str:
    """Return ``name``, or a similar name that a table may have: some endings with two underscores are reserved."""
    made = _make_printable(name).replace(".", "_")
    if find_table_problems(Table(name=made or "table", columns=_ANY_COLUMNS)):
        made = made.replace("__", "_")
    return made or "table"


def make_column_names(names: list[str]) -> tuple[str, ...]:
    """Return names that the columns of one table may have, in the same order, distinct even without regard to case."""
    return name_columns([_replace_unprintable(name) for name in names])[0]


def _replace_unprintable(name: str) -> str:
    return "".join(sign if sign.isprintable() else "_" for sign in name).strip()


def _make_printable(name: str) -> str:
    return _replace_unprintable(name)[:MAX_NAME_LENGTH].strip()
