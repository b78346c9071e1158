"""Types of columns as TAP services declare them: TAP's own names, and VOTable's datatype, arraysize and xtype.

Source of TAP's names: VODataService 1.1, section 3.5.3, and TAP 1.0, section 2.5.
"""

from __future__ import annotations

import re

from clickhouse_schema.datatypes import REGION_XTYPE, SCALARS
from tap_service.readers.votable_xml_reader import VotableField, parse_votable_field

#: TAP type -> VOTable datatype, arraysize, xtype
_TAP_TYPES = {
    "BOOLEAN": ("boolean", "", ""),
    "SMALLINT": ("short", "", ""),
    "INTEGER": ("int", "", ""),
    "BIGINT": ("long", "", ""),
    "REAL": ("float", "", ""),
    "DOUBLE": ("double", "", ""),
    "TIMESTAMP": ("char", "*", "timestamp"),
    "CHAR": ("char", "*", ""),
    "VARCHAR": ("char", "*", ""),
    "CLOB": ("unicodeChar", "*", ""),
    "POINT": ("double", "2", "point"),
    "REGION": ("char", "*", REGION_XTYPE),
}
_SIZED = ("CHAR", "VARCHAR")
_SHAPES = ("POINT", "REGION", "TIMESTAMP")

#: VOTable's datatypes in lower case; some services write them in another case
_DATATYPES = {name.lower(): name for name in (*SCALARS, "bit")}

_WITH_SIZE = re.compile(r"([A-Z]+)\(([0-9]{1,9})\)")

#: arraysizes by which services mean that there is none
_NO_ARRAYSIZE = frozenset({"0", "-1"})


def parse_tap_column(column: dict[str, str]) -> VotableField:
    """Build a column from what a service declares.

    Parameters
    ----------
    column : dict[str, str]
        ``name``, ``datatype``, and if known ``type`` (the xsi:type of the datatype), ``arraysize``, ``size``,
        ``extendedType`` (the xtype), ``description``, ``unit``, ``ucd`` and ``utype``.
    """
    word, size = _split_size(column["datatype"])
    declared = column.get("arraysize", "").strip()
    arraysize = "" if declared in _NO_ARRAYSIZE else declared
    xtype = column.get("extendedType", "")
    if not column.get("type", "").endswith("VOTableType") and word in _TAP_TYPES:
        datatype, default, implied = _TAP_TYPES[word]
        size = size or column.get("size", "")
        if word in _SIZED and size.isdigit() and int(size):
            default = f"{size}*"
        arraysize = default if word in _SHAPES else arraysize or default
        xtype = implied or xtype
    else:
        datatype = _DATATYPES.get(column["datatype"].lower(), column["datatype"])
    return parse_votable_field(
        {
            **column,
            "name": undelimit_name(column["name"]),
            "datatype": datatype,
            "arraysize": arraysize,
            "xtype": xtype,
        }
    )


def _split_size(datatype: str) -> tuple[str, str]:
    """Return TAP's name of the type, and the size in parentheses: ('VARCHAR', '20') for ``adql:varchar(20)``."""
    word = datatype.upper().removeprefix("ADQL:").strip()
    sized = _WITH_SIZE.fullmatch(word)
    return (sized[1], sized[2]) if sized else (word, "")


def undelimit_name(name: str) -> str:
    """Return the name that a delimited identifier of ADQL stands for; other names unchanged."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name
