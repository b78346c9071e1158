"""The columns of a table file under the keys of a schema file (Felis' YAML)."""

from __future__ import annotations

from typing import Any

from clickhouse_schema.datatypes import FELIS, Field

#: VOTable datatype -> Felis' word; where that says less, the datatype itself is kept beside it
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
    """A column with every metadatum that the file has."""
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
    said = {
        "description": field.description,
        "ivoa:ucd": field.ucd,
        "ivoa:unit": field.unit,
        "votable:utype": field.utype,
    }
    return column | {key: value for key, value in said.items() if value}


def _is_unbounded(field: Field) -> bool:
    """Whether no bound of a text's length is to be kept. Of a ``unicodeChar`` none is: files count characters in it as
    often as units of UTF-16, and a value that is longer than declared could be loaded but never be sent. The length of
    the strings of an array says where each begins."""
    if field.type.string_length:
        return False
    return field.type.is_text and (field.type.arraysize == "*" or field.type.datatype == "unicodeChar")
