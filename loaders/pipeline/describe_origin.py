"""Describes a table of another TAP service as a schema file, for ``skyhouse describe`` and mirrors."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from clickhouse_schema.datatypes import TEXT
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from clickhouse_schema.schema_model import Column, Schema
from clickhouse_schema.schema_problem import SchemaError, YamlPath
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.ucd_words import find_ucd_problem
from clickhouse_schema.vounit import normalise_unit
from loaders.load_error import LoadError
from loaders.origin.origin_table import OriginTable
from loaders.pipeline.describe_file import describe_layout
from loaders.pipeline.origin_keys import describe_keys
from loaders.pipeline.storable_names import make_column_names, make_schema_name, make_table_name
from loaders.pipeline.yaml_comments import add_comments, make_printable
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.position_columns import split_ucd
from tap_service.readers.table_definition import DefinedColumn

_TABLE: YamlPath = ("tables", 0)
_COLUMNS: YamlPath = (*_TABLE, "columns")

_TEXTS = ("description", "unit", "ucd", "utype")

#: xtypes that the datatype of a column implies
_KEPT_BY_TYPE = frozenset({"timestamp", "adql:timestamp", "clob", "adql:clob"})


@dataclass(frozen=True, slots=True)
class OriginDescription:
    """A schema with the YAML of its file, and the columns that it leaves out, each with the reason."""

    schema: Schema
    text: str
    left_out: dict[str, str]


@dataclass(slots=True)
class _Described:
    """A column of the origin, with its keys and comments in the schema file."""

    origin: DefinedColumn
    keys: dict[str, Any]
    comments: list[str] = field(default_factory=list)


def describe_origin(table: OriginTable, schema_name: str = "", table_name: str = "") -> OriginDescription:
    """Return the schema file of a table, which ``load`` and ``schema apply`` take as it is.

    Parameters
    ----------
    table : OriginTable
        The table, as the service describes it.
    schema_name, table_name : str, optional
        Names in the file; by default the names of the origin, changed if they are reserved.

    Returns
    -------
    OriginDescription
        The schema with the YAML of its file, and the columns that it leaves out, each with the reason.

    Raises
    ------
    LoadError
        No column can be stored, or the description is too large or contradicts itself.
    """
    return _Description(table, schema_name, table_name).write()


class _Description:
    def __init__(self, table: OriginTable, schema_name: str, table_name: str) -> None:
        self._table = table
        self._definition = table.definition
        self._schema_name = schema_name or make_schema_name(table.name.schema)
        self._name = table_name or make_table_name(table.name.table)
        self._comments: dict[YamlPath, list[str]] = {}
        self._columns, self._left_out = _describe_columns(_find_principals(table))
        if not self._columns:
            raise LoadError(f"{table.address}: no column of {table.name} can be stored: {self._list_left_out()}")
        self._names = {column.origin.field.name: column.keys["name"] for column in reversed(self._columns)}

    def write(self) -> OriginDescription:
        text = add_comments(document_to_yaml(self._build_document()), self._comments)
        try:
            schema, _ = read_schema(text, str(self._table.name))
        except SchemaError as error:
            raise LoadError(f"{self._table.address}: {self._table.name} cannot be described: {error}") from None
        return OriginDescription(schema, text, self._left_out)

    def _build_document(self) -> dict[str, Any]:
        definition = self._definition
        self._comment((), *self._describe_source())
        table = {
            "name": self._name,
            "description": _clean(definition.description or definition.title),
            "votable:utype": _clean(definition.utype),
            "primaryKey": self._find_primary_key(),
            "skyhouse:layout": describe_layout(tuple(self._iterate_fields())),
            "columns": [column.keys for column in self._columns],
            "constraints": self._describe_constraints(),
        }
        table = {key: value for key, value in table.items() if value}
        self._require_ids(table)
        self._comment_columns(table)
        schema = {
            "name": self._schema_name,
            "description": _clean(definition.schema.description),
            "votable:utype": _clean(definition.schema.utype),
            "tables": [table],
        }
        return {key: value for key, value in schema.items() if value}

    def _comment(self, path: YamlPath, *lines: str) -> None:
        self._comments.setdefault(path, []).extend(lines)

    def _describe_source(self) -> Iterator[str]:
        origin = self._table
        yield f"{origin.name} of {origin.address}, from its {' and '.join(origin.sources)}"
        if self._definition.rows.isdigit() and int(self._definition.rows):
            yield f"{int(self._definition.rows):,} rows"
        if (self._schema_name, self._name) != (origin.name.schema, origin.name.table):
            yield f"{self._schema_name}.{self._name} here"

    def _iterate_fields(self) -> Iterator[Any]:
        for column in self._columns:
            yield replace(column.origin.field, name=column.keys["name"])

    def _find_primary_key(self) -> list[str]:
        """Return the columns with the flag ``primary``, if it stands for the primary key.

        Some services give it to their principal columns.
        """
        flagged = [column for column in self._columns if "primary" in column.origin.flags]
        is_key = all("meta.id" in split_ucd(column.origin.field.ucd) for column in flagged)
        return [column.keys["name"] for column in flagged] if is_key else []

    def _describe_constraints(self) -> list[dict[str, Any]]:
        found = describe_keys(self._definition.keys, self._table.name, self._name, self._names)
        self._comment((*_TABLE, "name"), *found.comments)
        return found.constraints

    def _require_ids(self, table: dict[str, Any]) -> None:
        """Forbid NULLs in the id if the origin marks nullable columns by flags."""
        ids = {*table.get("skyhouse:layout", {}).get("id", ()), *table.get("primaryKey", ())}
        if any("nullable" in column.origin.flags for column in self._columns):
            for column in self._columns:
                if column.keys["name"] in ids and "nullable" not in column.origin.flags:
                    column.keys["nullable"] = False

    def _comment_columns(self, table: dict[str, Any]) -> None:
        for i, column in enumerate(self._columns):
            self._comment((*_COLUMNS, i), *column.comments)
        self._comment(_COLUMNS, *(f"left out: {name}: {reason}" for name, reason in self._left_out.items()))
        layout = table.get("skyhouse:layout", {})
        used = {*layout.get("position", ()), *layout.get("id", ()), *table.get("primaryKey", ())}
        at: YamlPath = (*_TABLE, "skyhouse:layout" if layout else "columns")
        self._comment(at, *_describe_indexes([c for c in self._columns if c.keys["name"] not in used]))

    def _list_left_out(self) -> str:
        return "; ".join(f"{name}: {reason}" for name, reason in self._left_out.items())


def _find_principals(table: OriginTable) -> list[DefinedColumn]:
    """Return the columns with the flag ``principal``, for which VODataService has only ``primary``."""
    columns = table.definition.columns
    if "TAP_SCHEMA" in table.sources:
        return columns
    return [replace(c, flags=c.flags | {"principal"}) if "primary" in c.flags else c for c in columns]


def _describe_columns(columns: list[DefinedColumn]) -> tuple[list[_Described], dict[str, str]]:
    """Return the columns that can be stored, and the reasons for the others."""
    described: list[_Described] = []
    left_out: dict[str, str] = {}
    for column in columns:
        made = _describe_column(column)
        reason = column.unusable or _find_problem(made.keys)
        if reason:
            left_out[make_printable(column.field.name)] = make_printable(reason)
        else:
            described.append(made)
    for new, made in zip(make_column_names([c.origin.field.name for c in described]), described, strict=True):
        if new != made.origin.field.name:
            made.comments.append(f"{made.origin.field.name!r} at the origin: reserved, or not unique")
        made.keys["name"] = new
    indexes = [made.origin.index for made in described]
    if indexes not in ([*range(len(indexes))], [*range(1, len(indexes) + 1)]):
        for made in described:
            if made.origin.index is not None and abs(made.origin.index) < 1 << 31:
                made.keys["tap:column_index"] = made.origin.index
    return described, left_out


def _describe_column(column: DefinedColumn) -> _Described:
    comments: list[str] = []
    kind = column.field.type
    if kind.datatype in TEXT and not column.arraysize and not kind.is_timestamp:
        kind = replace(kind, arraysize="*")
        comments.append("the origin has no arraysize, which means one character in VOTable")
    about: dict[str, Any] = {key: _clean(getattr(column.field, key)) for key in _TEXTS}
    keys = field_to_felis(replace(column.field, type=kind, **about))
    if kind.datatype == "unicodeChar" and kind.is_text and kind.arraysize != "*":
        keys["votable:arraysize"] = kind.arraysize
    if "principal" in column.flags:
        keys["tap:principal"] = True
    if column.is_standard:
        keys["tap:std"] = True
    comments += _find_doubts(column)
    return _Described(column, keys, comments)


def _find_doubts(column: DefinedColumn) -> Iterator[str]:
    """Yield comments on units that are not VOUnits, UCDs that are not UCD1+, and xtypes that are left out."""
    if column.field.unit and normalise_unit(column.field.unit) is None:
        yield f"{column.field.unit!r} is not a VOUnit: write one, such as km.s**-1"
    if column.field.ucd and (problem := find_ucd_problem(column.field.ucd)):
        yield f"{column.field.ucd!r} {problem}: it is not published"
    if column.xtype and not column.field.type.xtype and column.xtype.lower() not in _KEPT_BY_TYPE:
        yield f"the xtype {column.xtype!r} is not one of this datatype and arraysize: left out"


def _find_problem(keys: dict[str, Any]) -> str:
    """Return why a column cannot be in a schema file; '' if it can. Its name is not considered."""
    try:
        Column.model_validate(keys | {"name": "c"})
    except ValidationError as error:
        return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return ""


def _describe_indexes(columns: list[_Described]) -> list[str]:
    """Return the comment about columns that are indexed at the origin, as they would be written in the layout."""
    names = [
        column.keys["name"]
        for column in columns
        if "indexed" in column.origin.flags
        and not (column.origin.field.type.is_array or has_cover(column.origin.field.type))
    ]
    if not names:
        return []
    listed = document_to_yaml({"indexes": names}).splitlines()
    return [
        "also indexed at the origin; an index takes disk space, so name in the layout the columns that queries need:",
        *listed,
    ]


def _clean(text: str) -> str:
    """Return a text without characters that XML cannot carry, on one line."""
    return textwrap.shorten("".join(sign if sign.isprintable() else " " for sign in text), 100_000)
