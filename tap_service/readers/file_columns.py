"""Columns of a table file as columns of a schema file (Felis YAML)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clickhouse_schema.datatypes import FELIS, CoordinateSystem, Field, PhotometricSystem, TimeSystem

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
    """Describe a column of a file for a schema file (Felis YAML).

    Parameters
    ----------
    field : Field
        The column with its metadata in the file.

    Returns
    -------
    dict of str to Any
        The description under the keys of a schema file, without empty values.
    """
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
    metadata: dict[str, Any] = {
        "description": field.description,
        "ivoa:ucd": field.ucd,
        "ivoa:unit": field.unit,
        "votable:utype": field.utype,
    }
    systems = {
        "skyhouse:coosys": field.coordinate_system,
        "skyhouse:timesys": field.time_system,
        "skyhouse:photometry": field.photometry,
    }
    metadata |= {key: _write_system(system) for key, system in systems.items() if system}
    return column | {key: value for key, value in metadata.items() if value}


def _write_system(system: CoordinateSystem | TimeSystem | PhotometricSystem) -> dict[str, Any]:
    """Return the keys of a coordinate, time or photometric system in a schema file."""
    keys = {key: value for key, value in asdict(system).items() if value not in ("", None)}
    if keys.get("timeorigin", "MJD-origin") not in ("MJD-origin", "JD-origin"):
        keys["timeorigin"] = float(keys["timeorigin"])
    return keys


def _is_unbounded(field: Field) -> bool:
    """Return whether the column drops the declared length of its texts.

    A ``unicodeChar`` always does: some files count characters, others UTF-16 units, and a value that is longer than
    declared could be loaded but not sent. Arrays keep the length of their strings, which separates them.
    """
    if field.type.string_length:
        return False
    return field.type.is_text and (field.type.arraysize == "*" or field.type.datatype == "unicodeChar")
