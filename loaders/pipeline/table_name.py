"""The name of a table in a command."""

from __future__ import annotations

from loaders.load_error import LoadError


def split_name(name: str) -> tuple[str, str]:
    """Return schema and table of ``schema.table``."""
    schema, dot, table = name.partition(".")
    if not (schema and dot and table) or "." in table:
        raise LoadError(f"--table needs schema.table, for example survey.stars, not {name!r}")
    return schema, table
