"""The columns of Arrow and Parquet files: the types of the data with the metadata of an embedded VOTable.

VOParquet (IVOA Note, "VOTable metadata in Parquet"): the key ``IVOA.VOTable-Parquet.content`` of the schema's metadata
holds a VOTable document without data, whose FIELDs describe the columns of the same names. Arrow files that Skyhouse
writes have it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from clickhouse_schema.datatypes import DOUBLE, UNICODE, ColumnType, Field, arrow_to_column_type
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS
from tap_service.readers.votable_reader import read_metadata

#: Metadata of a field; Astropy and HATS catalogues write them too
_FIELD_KEYS = ("description", "unit", "ucd", "utype")

_VOTABLE_KEY = b"IVOA.VOTable-Parquet.content"

#: Canonical extension types of Arrow, which are also the logical types UUID and JSON of Parquet
_EXTENSIONS = {
    "arrow.uuid": ColumnType("char", "*", "uuid"),
    "arrow.json": ColumnType("unicodeChar", "*", "json"),
}


@dataclass
class ArrowColumns:
    """The metadata of a schema. ``unusable``: the columns that cannot be stored, each with the reason."""

    fields: tuple[Field, ...]
    description: str = ""
    unusable: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_arrow_schema(schema: pa.Schema, name: str) -> ArrowColumns:
    """Return the columns of a schema. ``name``: the file in messages. Raises ``ReadError``."""
    if len(schema) > MAX_FILE_COLUMNS:
        raise ReadError(f"{name} has {len(schema)} columns; the limit is {MAX_FILE_COLUMNS}")
    unusable: dict[str, str] = {}
    try:
        found = ArrowColumns(tuple(_plain_fields(schema, unusable)), unusable=unusable)
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} has a column name that is not UTF-8") from error
    document = (schema.metadata or {}).get(_VOTABLE_KEY)
    if document is not None:
        table = read_metadata(document, f"{name} ({_VOTABLE_KEY.decode()})")
        found.description = table.description
        described = {field.name: field for field in table.fields}
        found.fields = tuple(
            _merge_metadata(field, described[field.name]) if field.name in described else field
            for field in found.fields
        )
    return found


def _plain_fields(schema: pa.Schema, unusable: dict[str, str]) -> Iterator[Field]:
    for column in schema:
        given = column.metadata or {}
        metadata = {key: given.get(key.encode(), b"").decode("utf-8", "replace") for key in _FIELD_KEYS}
        if pa.types.is_decimal(column.type):
            type_ = DOUBLE
        elif isinstance(column.type, pa.BaseExtensionType) and column.type.extension_name in _EXTENSIONS:
            type_ = _EXTENSIONS[column.type.extension_name]
        elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            type_ = UNICODE
        else:
            try:
                type_ = arrow_to_column_type(column.type)
            except KeyError:
                unusable[column.name] = f"the type {column.type} has no VOTable equivalent"
                continue
        yield Field(column.name, type_, nullable=column.nullable, **metadata)


def _merge_metadata(field: Field, described: Field) -> Field:
    """Return the described field with the type of the data, refined by an xtype."""
    type_ = field.type
    is_same = type_.scalar.arrow == described.type.scalar.arrow and type_.is_array == described.type.is_array
    if is_same and not type_.is_timestamp:
        type_ = described.type
    return replace(described, name=field.name, type=type_, nullable=field.nullable)
