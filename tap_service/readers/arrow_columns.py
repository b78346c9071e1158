"""The columns of Arrow and Parquet files: the types of the data with the metadata that programs embed.

VOParquet (IVOA Note, "VOTable metadata in Parquet"): the key ``IVOA.VOTable-Parquet.content`` of the schema's metadata
holds a VOTable document without data, whose FIELDs describe the columns of the same names. Arrow files that Skyhouse
writes have it too. Astropy writes the YAML header of ECSV (``table_meta_yaml``), and a column of masks for each column
with missing values; pandas writes which columns are its index.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.readers.arrow_types import FindRange, find_column_type
from tap_service.readers.column_parts import ColumnParts, Part, flatten_structs, fold_masks
from tap_service.readers.ecsv_header import list_columns, list_fields, parse_header, read_description
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS, TypeNote
from tap_service.readers.unique_names import name_columns
from tap_service.readers.votable_reader import read_metadata

#: metadata of a field, which astropy and HATS catalogues write too
_FIELD_KEYS = ("description", "unit", "ucd", "utype")

_VOTABLE_KEY = b"IVOA.VOTable-Parquet.content"
_ASTROPY_KEY = b"table_meta_yaml"
_PANDAS_KEY = b"pandas"

#: pandas' name of an unnamed index, which mostly numbers the rows of an earlier table
_UNNAMED_INDEX = re.compile(r"__index_level_[0-9]+__")

#: a column and its location in the file
_Column = tuple[pa.Field, Part]


@dataclass
class ArrowColumns:
    """The columns of a schema.

    Attributes
    ----------
    fields : tuple of Field
        The columns that can be stored.
    parts : ColumnParts
        The location of each column in the file.
    description : str
        The description of the table.
    unusable : dict of str to str
        The columns that cannot be stored, each with the reason.
    notes : tuple of str
        What a sender should know about names and types.
    """

    fields: tuple[Field, ...]
    parts: ColumnParts
    description: str = ""
    unusable: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def _find_no_range(_column: str, _may_scan: bool) -> None:
    """Return None: the range of the column is unknown."""


def read_arrow_schema(
    schema: pa.Schema, name: str, *, case_matters: bool = False, find_range: FindRange = _find_no_range
) -> ArrowColumns:
    """Return the columns of a schema.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns and metadata of a file.
    name : str
        The file in messages.
    case_matters : bool
        See ``ReadOptions.case_matters``.
    find_range : FindRange
        Finds the range of a column's values; integers whose range is unknown may become text.

    Returns
    -------
    ArrowColumns
        The columns.

    Raises
    ------
    ReadError
        The metadata are broken, or there are too many columns.
    """
    try:
        columns, notes = _list_columns(schema)
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} has a column name that is not UTF-8") from error
    if len(columns) > MAX_FILE_COLUMNS:
        raise ReadError(f"{name} has {len(columns)} columns; the limit is {MAX_FILE_COLUMNS}")
    names, changes = name_columns([column.name for column, _ in columns], case_matters=case_matters)
    named = [(column.with_name(new), part) for (column, part), new in zip(columns, names, strict=True)]
    found = ArrowColumns((), ColumnParts({column.name: part for column, part in named}))
    found.fields = tuple(_find_fields(named, find_range, found))
    found.notes = (*notes, *changes, *found.notes)
    _describe_fields(found, schema.metadata or {}, name)
    return found


def _list_columns(schema: pa.Schema) -> tuple[list[_Column], tuple[str, ...]]:
    """Return the columns without masks and indexes, and notes about the columns that are left out."""
    columns = [*flatten_structs([*schema])]
    metadata = schema.metadata or {}
    if _ASTROPY_KEY in metadata:
        columns = [*fold_masks(columns)]
    indexes = _read_indexes(metadata.get(_PANDAS_KEY, b""))
    unnamed = {index for index in indexes if isinstance(index, str) and _UNNAMED_INDEX.fullmatch(index)}
    left_out = {column.name for column, _ in columns if column.name in unnamed and pa.types.is_integer(column.type)}
    notes = tuple(f"the column {name} is left out: it is pandas' index without a name" for name in sorted(left_out))
    notes += tuple(_describe_ranges(indexes))
    return [each for each in columns if each[0].name not in left_out], notes


def _read_indexes(document: bytes) -> list[object]:
    """Return the indexes in pandas' metadata: names of columns, and mappings for ranges."""
    try:
        indexes = json.loads(document)["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return []
    return indexes if isinstance(indexes, list) else []


def _describe_ranges(indexes: list[object]) -> Iterator[str]:
    """Yield a note for each named index that pandas keeps only as a range in the metadata, without a column."""
    for index in indexes:
        if isinstance(index, dict) and index.get("kind") == "range" and isinstance(name := index.get("name"), str):
            yield f"pandas' index {name} is not in the file, which has only its range: reset_index() makes it a column"


def _find_fields(columns: list[_Column], find_range: FindRange, found: ArrowColumns) -> Iterator[Field]:
    """Yield the fields that can be stored; add the other columns and the notes to ``found``."""
    for column, part in columns:
        given = column.metadata or {}
        metadata = {key: given.get(key.encode(), b"").decode("utf-8", "replace") for key in _FIELD_KEYS}
        try:
            kind, reason = find_column_type(part.column, column.type, find_range)
        except KeyError:
            found.unusable[column.name] = f"the type {column.type} has no VOTable equivalent"
            continue
        if reason:
            found.notes += (TypeNote(f"column {column.name} {reason}", column.name),)
        yield Field(column.name, kind, nullable=column.nullable, **metadata)


def _describe_fields(found: ArrowColumns, metadata: dict[bytes, bytes], name: str) -> None:
    """Add the metadata that astropy and VOParquet embed; the VOTable has priority."""
    described: dict[tuple[str, int], Field] = {}
    if (text := metadata.get(_ASTROPY_KEY)) is not None:
        header = parse_header(text, f"{name} ({_ASTROPY_KEY.decode()})", 1)
        fields = list_fields(list_columns(header, f"{name} ({_ASTROPY_KEY.decode()})"), {})
        described |= _number_fields(fields)
        found.description = read_description(header)
    if (document := metadata.get(_VOTABLE_KEY)) is not None:
        table = read_metadata(document, f"{name} ({_VOTABLE_KEY.decode()})")
        described |= _number_fields(column.field for column in table.columns)
        found.description = table.description or found.description
    found.fields = tuple(
        _merge_metadata(each, described[own]) if (own := _find_own_name(each, found.parts)) in described else each
        for each in found.fields
    )


def _number_fields(fields: Iterable[Field]) -> dict[tuple[str, int], Field]:
    """Return the fields by name and by index among the columns of that name, which results may repeat."""
    seen: Counter[str] = Counter()
    numbered: dict[tuple[str, int], Field] = {}
    for each in fields:
        numbered[each.name, seen[each.name]] = each
        seen[each.name] += 1
    return numbered


def _find_own_name(field: Field, parts: ColumnParts) -> tuple[str, int]:
    """Return the name of a column in the file, and its index among the columns of that name.

    A list in a struct has only the name of its field.
    """
    part = parts.parts[field.name]
    return (part.column, part.nth) if part.child is None else (field.name, 0)


def _merge_metadata(field: Field, described: Field) -> Field:
    """Return the described field with the type of the data, refined by an xtype or a shape."""
    type_ = field.type
    is_same = type_.scalar.arrow == described.type.scalar.arrow and type_.is_array == described.type.is_array
    if is_same and not type_.is_timestamp:
        type_ = described.type
    own = {key: getattr(described, key) or getattr(field, key) for key in _FIELD_KEYS}
    return replace(described, name=field.name, type=type_, nullable=field.nullable, **own)
