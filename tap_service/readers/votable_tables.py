"""The TABLEs of a VOTable, and the choice among them."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_ROW_BYTES

_READ = 1 << 20

#: limits of a document, and of a list in a message
_MAX_TABLES = 10_000
_MAX_SHOWN = 20
_MAX_SHOWN_NAME = 80

#: the tag of a TABLE without its start, with or without a prefix; searching for the rare word first is fast
_TABLE = re.compile(rb"TABLE[\s/>]")
_TAG_START = re.compile(rb"<([^\s<>/:]+:)?\Z")
_MAX_PREFIX = 64


@dataclass(slots=True)
class TableHeading:
    """A TABLE.

    Attributes
    ----------
    number : int
        Its number in the document, from 1.
    name, id : str
        Its attributes; '' if it lacks them.
    has_data : bool
        Whether it has a DATA element.
    """

    number: int
    name: str
    id: str
    has_data: bool = False

    def __str__(self) -> str:
        label = (self.name or self.id)[:_MAX_SHOWN_NAME]
        about = ", ".join(part for part in (label, "" if self.has_data else "without data") if part)
        return f"{self.number} ({about})" if about else str(self.number)


class _Enough(ReadError):
    """The rest of the document need not be parsed."""


def list_tables(path: Path) -> list[TableHeading]:
    """List the TABLEs of a document, up to its first error, which reading the rows reports.

    Parameters
    ----------
    path : Path
        The document. It is searched for the tags of TABLEs, and parsed completely only if it has several.

    Returns
    -------
    list of TableHeading
        The TABLEs in the order of the document.

    Raises
    ------
    ReadError
        There are more than 10,000 TABLEs.
    """
    tables: list[TableHeading] = []
    has_several = _has_several_tables(path)

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "TABLE":
            tables.append(TableHeading(len(tables) + 1, attributes.get("name", ""), attributes.get("ID", "")))
            if len(tables) > _MAX_TABLES:
                raise _Enough
        elif name == "DATA" and tables:
            tables[-1].has_data = True
            if not has_several:
                raise _Enough

    with suppress(ReadError):
        parse_outside_data(path, start, lambda _: None)
    if len(tables) > _MAX_TABLES:
        raise ReadError(f"{path} has more than {_MAX_TABLES} TABLEs")
    return tables


def _has_several_tables(path: Path) -> bool:
    """Return whether a document may have more than one TABLE; parsing gigabytes would take minutes."""
    found = 0
    rest = b""
    with suppress(ReadError), ByteStream(path) as stream:
        while data := stream.read(_READ):
            data = rest + data
            tags = (match for match in _TABLE.finditer(data) if match.end() > len(rest))
            found += sum(1 for tag in tags if _TAG_START.search(data, max(0, tag.start() - _MAX_PREFIX), tag.start()))
            if found > 1 or b"\0" in data[:_MAX_PREFIX]:  # UTF-16
                return True
            rest = data[-2 * _MAX_PREFIX :]
    return False


def parse_outside_data(
    path: Path,
    start: Callable[[str, dict[str, str]], object],
    end: Callable[[str], object],
    text: Callable[[str], object] | None = None,
) -> None:
    """Parse a VOTable without the content of its DATA elements, which expat skips quickly without handlers.

    Parameters
    ----------
    path : Path
        The document, optionally compressed.
    start, end, text : callable
        The handlers of elements, which get their local names, and of text.

    Raises
    ------
    ReadError
        The document is not well-formed, has a DOCTYPE, or exceeds a limit.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def set_handlers() -> None:
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start_element, finish, text

    def start_element(qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        start(name, attributes)
        if name == "DATA":
            parser.StartElementHandler = parser.CharacterDataHandler = None
            parser.EndElementHandler = finish_data

    def finish(qualified: str) -> None:
        end(qualified.rpartition(" ")[2])

    def finish_data(qualified: str) -> None:
        if qualified.rpartition(" ")[2] == "DATA":
            set_handlers()
            end("DATA")

    def refuse_doctype(*_: object) -> None:
        raise ValueError("a DOCTYPE, which is not allowed")

    set_handlers()
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        _feed_document(parser, path)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ReadError(f"{path}, line {error.lineno}: the VOTable is not well-formed XML: {reason}") from error
    except (LookupError, ValueError) as error:
        raise ReadError(f"{path}, line {parser.CurrentLineNumber}: the VOTable has {error}") from error


def _feed_document(parser: expat.XMLParserType, path: Path) -> None:
    length = 0
    with ByteStream(path) as stream:
        while data := stream.read(_READ):
            parser.Parse(data)
            length += len(data)
            if length - parser.CurrentByteIndex > MAX_ROW_BYTES:
                raise ValueError(f"a value or a comment of more than {MAX_ROW_BYTES} bytes")
        parser.Parse(b"", True)


def choose_table(tables: list[TableHeading], wanted: str, path: Path) -> TableHeading:
    """Return the TABLE to read.

    Parameters
    ----------
    tables : list of TableHeading
        The TABLEs of the document, at least one.
    wanted : str
        The number of a TABLE from 1, its name or its ID; '' for the first with data or, without any, the first.
    path : Path
        The document, for messages.

    Raises
    ------
    ReadError
        There is no such TABLE, or several have the name.
    """
    if not wanted:
        return next((table for table in tables if table.has_data), tables[0])
    if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(tables):
        return tables[int(wanted[:9]) - 1]
    found = [table for table in tables if wanted == table.name] or [table for table in tables if wanted == table.id]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} TABLEs named" if found else "no TABLE"
    raise ReadError(f"{path} has {problem} {wanted[:_MAX_SHOWN_NAME]!r}; its tables are {_join_headings(tables)}")


def list_other_tables(tables: list[TableHeading], chosen: TableHeading) -> tuple[str, ...]:
    """Return a note that names the tables that are not read; none if there are none."""
    others = [table for table in tables if table is not chosen]
    return (f"the file has other TABLEs: {_join_headings(others)}",) if others else ()


def _join_headings(tables: list[TableHeading]) -> str:
    """Return the numbers and names of tables, for messages."""
    shown = ", ".join(map(str, tables[:_MAX_SHOWN]))
    return f"{shown} and {len(tables) - _MAX_SHOWN} more" if len(tables) > _MAX_SHOWN else shown
