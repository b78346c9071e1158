"""Columns of a table file as columns of a schema file (Felis YAML)."""

from __future__ import annotations

from typing import Any

from clickhouse_schema.datatypes import FELIS, Field

#: VOTable datatype -> Felis datatype; if that loses information, the column keeps the VOTable datatype too
_FELIS_DATATYPES = {
    "boolean": "boolean",
    "unsignedByte": "byte",
    "short": "short",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "char": "string",
    "unicodeChar": "unicode",
    "floatComplex": "float",
    "doubleComplex": "double",
}


def field_to_felis(field: Field) -> dict[str, Any]:
    """Return the column with all metadata of the file, under the keys of a schema file."""
    column: dict[str, Any] = {"name": field.name}
    if field.type.is_timestamp:
        column["datatype"] = "timestamp"
    else:
        column["datatype"] = _FELIS_DATATYPES[field.type.datatype]
        if FELIS[column["datatype"]] != field.type.datatype:
            column["votable:datatype"] = field.type.datatype
        if field.type.arraysize and not _is_unbounded(field):
            column["votable:arraysize"] = field.type.arraysize
        if field.type.null is not None:
            column["skyhouse:null"] = field.type.null
        if field.type.xtype:
            column["votable:xtype"] = field.type.xtype
    metadata = {
        "description": field.description,
        "ivoa:ucd": field.ucd,
        "ivoa:unit": field.unit,
        "votable:utype": field.utype,
    }
    return column | {key: value for key, value in metadata.items() if value}


def _is_unbounded(field: Field) -> bool:
    """Whether the column drops the declared length of its texts.

    A ``unicodeChar`` always does: some files count characters, others UTF-16 units, and a value that is longer than
    declared could be loaded but not sent. Arrays keep the length of their strings, which separates them.
    """
    if field.type.string_length:
        return False
    return field.type.is_text and (field.type.arraysize == "*" or field.type.datatype == "unicodeChar")
