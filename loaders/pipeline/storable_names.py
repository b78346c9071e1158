"""Names under which the tables and columns of others can be stored."""

from __future__ import annotations

from clickhouse_schema.schema_files.schema_checks import RESERVED_SCHEMAS, find_table_problems, is_reserved_column
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.strict_model import MAX_NAME_LENGTH

_ANY_COLUMNS = (Column(name="c", datatype="int"),)

#: Leaves room for a number behind a name that is taken
_MAX_STEM = MAX_NAME_LENGTH - 4


def make_schema_name(name: str) -> str:
    """Return ``name`` or a name like it that a schema may have."""
    made = _make_printable(name).replace(".", "_") or "origin"
    return f"origin_{made}" if made.lower() in RESERVED_SCHEMAS or made.lower().startswith("mydb_") else made


def make_table_name(name: str) -> str:
    """Return ``name`` or a name like it that a table may have: loads use some endings with two underscores."""
    made = _make_printable(name).replace(".", "_")
    if find_table_problems(Table(name=made or "table", columns=_ANY_COLUMNS)):
        made = made.replace("__", "_")
    return made or "table"


def make_column_names(names: list[str]) -> list[str]:
    """Return names that columns of one table may have, different without regard to case, in the same order."""
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    made = []
    for number, name in enumerate(names, 1):
        new = _make_printable(name) or f"column_{number}"
        if is_reserved_column(new):
            new = f"origin_{new.lstrip('_')}"
        stem, count = new[:_MAX_STEM], 1
        while new.lower() in seen or (count > 1 and new.lower() in taken):
            count += 1
            new = f"{stem}_{count}"
        seen.add(new.lower())
        made.append(new)
    return made


def _make_printable(name: str) -> str:
    made = "".join(sign if sign.isprintable() else "_" for sign in name).strip()
    return made if len(made) <= MAX_NAME_LENGTH else made[:_MAX_STEM].strip()
