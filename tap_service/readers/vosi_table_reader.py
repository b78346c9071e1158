"""Parser of table definitions in VOSI 1.1 (a ``table`` of VODataService 1.1).

Documents are untrusted, so it refuses DOCTYPE (and with it entity declarations) and elements nested deeper than 16
levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from clickhouse_schema.datatypes import REGION_XTYPE
from clickhouse_schema.schema_model import MAX_COLUMNS
from tap_service.readers.read_error import ReadError
from tap_service.readers.votable_xml_reader import VotableField, parse_votable_field

_MAX_DEPTH = 16

#: TAP types of VODataService 1.1 (section 3.5.3) -> VOTable datatype, arraysize, xtype
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


@dataclass
class Definition:
    """A table to create. ``keys``: target table, (column, target column) pairs and description of each foreign key."""

    columns: list[VotableField] = field(default_factory=list)
    description: str = ""
    utype: str = ""
    keys: list[tuple[str, list[tuple[str, str]], str]] = field(default_factory=list)


class _RootFound(Exception):
    pass


def _stop_at_root(name: str, *_: object) -> None:
    raise _RootFound(name)


def find_root_name(document: bytes) -> str:
    """Return the name, without prefix, of the first element or of the DOCTYPE; '' if there is none."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = _stop_at_root
    parser.StartDoctypeDeclHandler = _stop_at_root  # stops before a DOCTYPE expands entities
    try:
        parser.Parse(document, False)
    except _RootFound as seen:
        return str(seen).rpartition(" ")[2]
    except expat.ExpatError:  # not XML
        return ""
    return ""


def read_definition(document: bytes) -> Definition:
    """Read a table definition.

    Parameters
    ----------
    document : bytes
        The XML document.

    Returns
    -------
    Definition
        The columns, metadata and foreign keys; at least one column.

    Raises
    ------
    ReadError
        The document is broken or refused, or has no columns; the message has the line.
    """
    reader = _Reader()
    reader.parse_document(document)
    if not reader.found.columns:
        raise ReadError("the definition has no columns: add a column element with a name and a dataType for each")
    return reader.found


class _Reader:
    """The event handlers of the parser, which collect the texts of elements."""

    def __init__(self) -> None:
        self.found = Definition()
        self._path: list[str] = []
        self._text: list[str] = []
        self._column: dict[str, str] = {}
        self._key: dict[str, str] = {}
        self._pairs: list[tuple[str, str]] = []
        self._from = ""
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._text.append

    def parse_document(self, document: bytes) -> None:
        try:
            self._parser.Parse(document, True)
        except expat.ExpatError as error:
            raise self._build_error(f"is not well-formed XML: {expat.ErrorString(error.code)}") from error

    def _build_error(self, reason: str) -> ReadError:
        return ReadError(f"line {self._parser.CurrentLineNumber}: the definition {reason}")

    def _refuse_doctype(self, *_: object) -> None:
        raise self._build_error("has a DOCTYPE, which is not allowed")

    def _start_element(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise self._build_error(f"nests elements deeper than {_MAX_DEPTH} levels")
        if len(self._path) == 1 and name != "table":
            raise self._build_error(f"starts with the element {name} instead of table")
        self._text.clear()
        if name == "column":
            self._column = {}
            if len(self.found.columns) >= MAX_COLUMNS:
                raise self._build_error(f"has more than {MAX_COLUMNS} columns")
        elif name == "foreignKey":
            self._key, self._pairs = {}, []
        elif name == "dataType":
            self._column |= {key.rpartition(" ")[2]: value for key, value in attributes.items()}

    def _end_element(self, _qualified: str) -> None:
        name = self._path.pop()
        text = " ".join("".join(self._text).split())
        self._text.clear()
        parent = self._path[-1] if self._path else ""
        if name == "column":
            self.found.columns.append(self._build_field())
        elif name == "foreignKey":
            self.found.keys.append((self._key.get("targetTable", ""), self._pairs, self._key.get("description", "")))
        elif parent == "column":
            self._column["datatype" if name == "dataType" else name] = text
        elif parent == "foreignKey":
            self._key[name] = text
        elif name == "fromColumn":
            self._from = text
        elif name == "targetColumn":
            self._pairs.append((self._from, text))
        elif len(self._path) == 1 and name in ("description", "utype"):
            setattr(self.found, name, text)

    def _build_field(self) -> VotableField:
        """Build the column from the attributes of the equivalent VOTable FIELD."""
        column = self._column
        if not column.get("name"):
            raise self._build_error("has a column without a name")
        if not column.get("datatype"):
            raise self._build_error(f"has a column without a dataType: {column['name']}")
        word = column["datatype"].upper().removeprefix("ADQL:")
        is_tap_type = not column.get("type", "").endswith("VOTableType") and word in _TAP_TYPES
        if is_tap_type:
            datatype, arraysize, xtype = _TAP_TYPES[word]
            size = column.get("size", "")
            arraysize = f"{size}*" if word in _SIZED and size.isdigit() and int(size) else arraysize
            column = {**column, "datatype": datatype, "arraysize": arraysize, "xtype": xtype}
        else:
            column = {**column, "xtype": column.get("extendedType", "")}
        name = column["name"]
        if len(name) > 1 and name[0] == name[-1] == '"':  # a delimited identifier of ADQL
            column["name"] = name[1:-1].replace('""', '"')
        return parse_votable_field(column)
