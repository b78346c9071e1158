"""Chooses the table that an operator means among the names of an origin."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from loaders.origin.origin_error import AmbiguousTable
from tap_service.readers.tap_types import undelimit_name

#: Maximum number of names to remember for a message, and to show in it
MAX_NAMES = 100_000
_SHOWN = 5


class TableName(NamedTuple):
    """Schema and table, without quotes. ``schema``: '' if there is none."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}" if self.schema else self.table


def split_identifiers(name: str) -> list[str]:
    """Split a qualified name of ADQL at the dots outside double quotes, and remove the quotes."""
    parts = [""]
    is_quoted = False
    for character in name:
        is_quoted ^= character == '"'
        if character == "." and not is_quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [undelimit_name(part.strip()) for part in parts]


def read_table_name(schema: str, table: str) -> TableName:
    """Return the name of a table, which an origin writes with or without its schema.

    Parameters
    ----------
    schema : str
        Name of the schema as the origin writes it, with or without quotes; '' if it gives none.
    table : str
        Name of the table, with or without the schema and quotes.

    Returns
    -------
    TableName
        The parts without quotes. A schema in ``table`` takes precedence over another ``schema``.
    """
    schema = ".".join(split_identifiers(schema))
    name = ".".join(split_identifiers(table))
    if schema and name.lower().startswith(f"{schema.lower()}."):
        return TableName(schema, name[len(schema) + 1 :])
    parts = split_identifiers(table)
    return TableName(parts[0], parts[1]) if len(parts) == 2 else TableName(schema, name)


class Wanted:
    """The wanted table. ``text``: its name as in queries, with or without schema and quotes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._name = ".".join(split_identifiers(text))

    def is_like(self, name: TableName) -> bool:
        return self._name.lower() in (str(name).lower(), name.table.lower())

    def choose(self, names: Iterable[TableName]) -> TableName | None:
        """Return the name that matches best; None if no name matches.

        Names in the same case take precedence over others, and names with the schema over names without it.

        Raises
        ------
        AmbiguousTable
            Several names match equally well.
        """
        known = [*dict.fromkeys(name for name in names if self.is_like(name))]
        ways = (
            [name for name in known if self._name == str(name)],
            [name for name in known if self._name == name.table],
            [name for name in known if self._name.lower() == str(name).lower()],
            known,
        )
        for meant in ways:
            if len(meant) > 1:
                listed = ", ".join(map(str, meant[:_SHOWN]))
                raise AmbiguousTable(f"{self.text} may be one of several tables: {listed}. Write one of these names")
            if meant:
                return meant[0]
        return None

    def describe_missing(self, address: str, names: Iterable[TableName]) -> str:
        """Return the message that the origin lacks the table, with similar names."""
        known = {str(name).lower(): str(name) for name in names} | {name.table.lower(): str(name) for name in names}
        near = difflib.get_close_matches(self._name.lower(), known, _SHOWN, 0.6)
        hint = f": did you mean {', '.join(dict.fromkeys(known[name] for name in near))}?" if near else ""
        return f"{address} has no table {self.text}{hint}"
