"""The name of a table in a command."""

from __future__ import annotations

from loaders.load_error import LoadError


def split_name(name: str, option: str = "--table") -> tuple[str, str]:
    """Return schema and table of ``schema.table``. ``option``: where it was given, for the message of ``LoadError``."""
    schema, dot, table = name.partition(".")
    if not (schema and dot and table) or "." in table:
        raise LoadError(f"{option} needs schema.table, for example survey.stars, not {name!r}")
    return schema, table
