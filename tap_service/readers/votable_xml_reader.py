"""Streaming parser of VOTable XML of any version: the metadata of one TABLE, then its data as events.

Documents are untrusted, so the parser refuses DOCTYPE (and with it entity declarations), references to other files
(``href``), elements nested deeper than 64 levels, and unlimited columns and values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from xml.parsers import expat

from clickhouse_schema.datatypes import (
    CHAR,
    REGION_XTYPE,
    SCALARS,
    TEXT,
    TIMESTAMP,
    XTYPES,
    ColumnType,
    CoordinateSystem,
    Field,
    TimeSystem,
    is_integer_in_range,
)
from clickhouse_schema.system_keys import find_time_problem, read_coosys, read_timesys
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS, MAX_ROW_BYTES
from tap_service.readers.votable_nulls import parse_null

_MAX_DEPTH = 64
_SERIALIZATIONS = ("TABLEDATA", "BINARY", "BINARY2", "FITS")

#: the elements to which a FIELD may refer, before the TABLE
_SYSTEMS: dict[str, Callable[[dict[str, str]], CoordinateSystem | TimeSystem | None]] = {
    "COOSYS": read_coosys,
    "TIMESYS": read_timesys,
}


@dataclass(frozen=True)
class VotableField:
    """A FIELD: the column, the declared datatype and arraysize, and the null of VALUES."""

    field: Field
    datatype: str
    arraysize: str
    null: str = ""
    unusable: str = ""


@dataclass
class VotableTable:
    """A TABLE. ``serialization`` is '' before the data and in a table without data; ``extnum``: the HDU of FITS."""

    columns: list[VotableField] = field(default_factory=list)
    description: str = ""
    rows: int | None = None
    serialization: str = ""
    encoding: str = ""
    extnum: str = ""

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(column.field for column in self.columns if not column.unusable)

    @property
    def unusable(self) -> dict[str, str]:
        return {column.field.name: column.unusable for column in self.columns if column.unusable}


class VotableParser:
    """An incremental parser.

    Parameters
    ----------
    name : str
        The document in messages.
    row : Callable[[list[str | None]], None] | None
        Called with the cells of each TR.
    stream : Callable[[str], None] | None
        Called with each part of a STREAM.
    number : int
        The number of the TABLE in the document, from 1. The others are skipped.
    """

    def __init__(
        self,
        name: str,
        row: Callable[[list[str | None]], None] | None = None,
        stream: Callable[[str], None] | None = None,
        *,
        number: int = 1,
    ) -> None:
        self.table = VotableTable()
        self.data_ended = False
        self._name = name
        self._row = row
        self._stream = stream
        self._tables_before = number - 1
        self._path: list[str] = []
        self._text: list[str] = []
        self._cells: list[str | None] = []
        self._attributes: dict[str, str] = {}
        self._column: dict[str, str] = {}
        #: the null of each VALUES with an ID
        self._nulls: dict[str, str] = {}
        #: elements around the TABLE, by their depth
        self._outer_descriptions: dict[int, str] = {}
        self._systems: dict[str, CoordinateSystem | TimeSystem | None] = {}
        self._in_table = self.in_other_table = False
        #: bytes since the last end of an element
        self._pending_bytes = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.buffer_size = 1 << 18
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element

    def feed(self, data: bytes, *, last: bool = False) -> None:
        """Parse more of the document.

        Parameters
        ----------
        data : bytes
            The next bytes.
        last : bool
            Whether they are the last ones.

        Raises
        ------
        ReadError
            The document is broken or refused; the message has the line.
        """
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            raise self._build_error(f"is not well-formed XML: {expat.ErrorString(error.code)}") from error
        except (LookupError, ValueError) as error:  # from Python's codecs, which expat uses
            raise self._build_error(f"has an unsupported encoding: {error}; write it in UTF-8") from error
        self._pending_bytes += len(data)
        if self._pending_bytes > MAX_ROW_BYTES:
            raise self._build_error(f"has a value or a comment of more than {MAX_ROW_BYTES} bytes")

    def _build_error(self, reason: str) -> ReadError:
        return ReadError(f"{self._name}, line {self._parser.CurrentLineNumber}: the VOTable {reason}")

    def _refuse_doctype(self, *_: object) -> None:
        raise self._build_error("has a DOCTYPE, which is not allowed")

    def _start_element(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise self._build_error(f"nests elements deeper than {_MAX_DEPTH} levels")
        if len(self._path) == 1 and name != "VOTABLE":
            raise self._build_error(f"starts with the element {name}")
        if self.data_ended or self.in_other_table:
            if name == "STREAM":
                self._parser.CharacterDataHandler = self._skip_text
            return
        if name == "TD":
            if attributes.get("encoding"):
                raise self._build_error("has encoded cells (TD encoding), which are not supported")
            self._collect_text()
        elif name == "TR":
            self._cells = []
        else:
            self._start_metadata(name, attributes)

    def _start_metadata(self, name: str, attributes: dict[str, str]) -> None:
        if "href" in attributes and name in ("STREAM", "FITS"):
            raise self._build_error(
                f"keeps its data in another file ({attributes['href']!r}): include it in the document"
            )
        if name == "TABLE" and not self._in_table:
            self._tables_before -= 1
            self._in_table = self._tables_before < 0
            self.in_other_table = not self._in_table
            self.table.rows = _parse_row_count(attributes.get("nrows", ""))
        elif name in _SYSTEMS:
            self._systems[attributes.get("ID", "")] = _SYSTEMS[name](attributes)
        elif not self._in_table:
            if name == "DESCRIPTION":
                self._collect_text()
        elif name == "FIELD":
            self._column = dict(attributes)
        elif name == "VALUES" and self._column:
            self._read_null(attributes)
        elif name == "DESCRIPTION":
            self._collect_text()
        elif name in _SERIALIZATIONS:
            self.table.serialization = name
            self.table.extnum = attributes.get("extnum", "")
        elif name == "STREAM":
            self.table.encoding = attributes.get("encoding", "")
            self._parser.CharacterDataHandler = None if self._stream is None else self._keep_stream_text

    def _read_null(self, attributes: dict[str, str]) -> None:
        """Keep the null of a VALUES, or of the VALUES to which it refers; a FIELD may have two, one without null."""
        null = attributes.get("null", "")
        if not null and "ref" in attributes:
            null = self._nulls.get(attributes["ref"], "")
        if null:
            self._column.setdefault("null", null)
            if "ID" in attributes:
                self._nulls[attributes["ID"]] = null

    def _skip_text(self, _: str) -> None:
        self._pending_bytes = 0

    def _keep_stream_text(self, text: str) -> None:
        self._pending_bytes = 0
        if self._stream is not None:
            self._stream(text)

    def _collect_text(self) -> None:
        self._text = []
        self._parser.CharacterDataHandler = self._text.append

    def _end_element(self, _qualified: str) -> None:
        name = self._path.pop()
        self._pending_bytes = 0
        if self.data_ended or self.in_other_table:
            if name == "STREAM":
                self._parser.CharacterDataHandler = None
            self.in_other_table = self.in_other_table and name != "TABLE"
            return
        if name == "TD":
            self._parser.CharacterDataHandler = None
            self._cells.append("".join(self._text))
            if len(self._cells) > MAX_FILE_COLUMNS:
                raise self._build_error(f"has a row of more than {MAX_FILE_COLUMNS} cells")
        elif name == "TR":
            if self._row is not None:
                self._row(self._cells)
        elif name == "STREAM":
            self._parser.CharacterDataHandler = None
        elif name == "DESCRIPTION":
            self._parser.CharacterDataHandler = None
            self._set_description(" ".join("".join(self._text).split()))
        elif name == "FIELD" and self._in_table:
            column = parse_votable_field(self._column)
            system = self._systems.get(self._column.get("ref", ""))
            self.table.columns.append(replace(column, field=_set_system(column.field, system)))
            if len(self.table.columns) > MAX_FILE_COLUMNS:
                raise self._build_error(f"has more than {MAX_FILE_COLUMNS} columns")
            self._column = {}
        elif name == "TABLE" and self._in_table:
            outer = [*self._outer_descriptions.values()]
            self.table.description = self.table.description or (outer[-1] if outer else "")
            self.data_ended = True
        elif name == "RESOURCE":
            self._outer_descriptions.pop(len(self._path) + 1, None)

    def _set_description(self, text: str) -> None:
        parent = self._path[-1] if self._path else ""
        if self._column:
            self._column["description"] = text
        elif parent == "TABLE":
            self.table.description = text
        elif parent in ("RESOURCE", "VOTABLE") and not self._in_table:
            self._outer_descriptions[len(self._path)] = text


def _set_system(field: Field, system: CoordinateSystem | TimeSystem | None) -> Field:
    """Return the field with the system to which it refers, if it can have it."""
    if isinstance(system, CoordinateSystem):
        return replace(field, coordinate_system=system)
    if isinstance(system, TimeSystem) and not find_time_problem(field.type, field.unit, system):
        return replace(field, time_system=system)
    return field


def parse_votable_field(attributes: dict[str, str]) -> VotableField:
    """Parse the attributes of a FIELD or PARAM, to which its description and the null of its VALUES are added."""
    datatype, arraysize = attributes.get("datatype", ""), attributes.get("arraysize", "").strip()
    type_, unusable = find_column_type(datatype, arraysize, attributes.get("xtype", ""))
    null = parse_null(attributes.get("null", ""))
    if isinstance(null, int) and type_.is_array and is_integer_in_range(null, type_.datatype):
        type_ = replace(type_, null=null)
    column = Field(
        attributes.get("name", "").strip() or attributes.get("ID", ""),
        type_,
        unit=attributes.get("unit", ""),
        ucd=attributes.get("ucd", ""),
        utype=attributes.get("utype", ""),
        description=attributes.get("description", ""),
    )
    return VotableField(column, datatype, arraysize, attributes.get("null", ""), unusable)


_ARRAYSIZE = re.compile(r"(([0-9]{1,9}x){0,4}([0-9]{1,9}\*?|\*))?")


def find_column_type(datatype: str, arraysize: str, xtype: str) -> tuple[ColumnType, str]:
    """Return the type, and the reason if the column cannot be loaded."""
    if not _ARRAYSIZE.fullmatch(arraysize):
        return CHAR, f"its arraysize {arraysize!r} is not valid in VOTable"
    if datatype == "bit":  # programs disagree on the bits of a column, but not on booleans
        datatype = "boolean"
    if not datatype:
        return CHAR, "it has no datatype"
    if datatype not in SCALARS:
        return CHAR, f"its datatype {datatype!r} is not valid in VOTable"
    if datatype in TEXT:
        if xtype.lower().removeprefix("adql:") == "timestamp" and "x" not in arraysize:
            return TIMESTAMP, ""
        return _drop_unfit_xtype(ColumnType(datatype, arraysize or "1", xtype)), ""
    arraysize = "" if arraysize == "1" else arraysize
    datatypes, size = XTYPES.get(xtype, ((), ""))
    if arraysize and "x" not in arraysize and datatype in datatypes and size == "*":
        arraysize = "*"  # a polygon or multiinterval of a declared size
    return _drop_unfit_xtype(ColumnType(datatype, arraysize, xtype)), ""


def _drop_unfit_xtype(kind: ColumnType) -> ColumnType:
    """Drop an xtype of other columns; among ADQL 2.0's xtypes, only the xtype of regions has kept its meaning."""
    if kind.xtype.lower() == REGION_XTYPE.lower():
        kind = replace(kind, xtype=REGION_XTYPE)
    elif kind.xtype.lower().startswith("adql:") or kind.is_timestamp:
        return replace(kind, xtype="")
    return kind if kind.has_fitting_xtype else replace(kind, xtype="")


def _parse_row_count(text: str) -> int | None:
    """Parse ``nrows``; None if it is not a plausible count."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None
