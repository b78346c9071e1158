"""The definition of a table as a service publishes it, in a VOSI document or in its TAP_SCHEMA."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from clickhouse_schema.datatypes import Field
from tap_service.readers.tap_types import parse_tap_column


@dataclass(frozen=True, slots=True)
class DefinedColumn:
    """A column.

    Attributes
    ----------
    field : Field
        Its name, type and metadata.
    unusable : str
        The reason if it cannot be stored.
    arraysize, xtype : str
        As declared.
    flags : frozenset[str]
        'indexed', 'primary', 'nullable' (VODataService) and 'principal' (TAP_SCHEMA).
    is_standard : bool
        Whether a standard defines it.
    index : int | None
        The recommended position in a list; None if there is none.
    """

    field: Field
    unusable: str = ""
    arraysize: str = ""
    xtype: str = ""
    flags: frozenset[str] = frozenset()
    is_standard: bool = False
    index: int | None = None


class DefinedKey(NamedTuple):
    """A foreign key. ``pairs``: the columns and the columns to which they refer; ``name``: '' if it has none."""

    target: str
    pairs: list[tuple[str, str]]
    description: str = ""
    utype: str = ""
    name: str = ""


class DefinedSchema(NamedTuple):
    """The schema of a table; its name as it is written."""

    name: str = ""
    description: str = ""
    utype: str = ""


@dataclass
class Definition:
    """A table. ``name``: as it is written, with or without the schema; ``rows``: '' if their number is unknown."""

    columns: list[DefinedColumn] = field(default_factory=list)
    description: str = ""
    utype: str = ""
    keys: list[DefinedKey] = field(default_factory=list)
    name: str = ""
    title: str = ""
    rows: str = ""
    schema: DefinedSchema = field(default_factory=DefinedSchema)


def build_column(column: dict[str, str], flags: frozenset[str], index: int | None = None) -> DefinedColumn:
    """Build a column from its attributes.

    Parameters
    ----------
    column : dict[str, str]
        The attributes of ``parse_tap_column``, and ``std``.
    flags, index
        As in ``DefinedColumn``.
    """
    found = parse_tap_column(column)
    is_standard = column.get("std", "").strip().lower() in ("true", "1")
    xtype = column.get("extendedType", "")
    return DefinedColumn(found.field, found.unusable, found.arraysize, xtype, flags, is_standard, index)
