"""Parser of table definitions in VOSI 1.1: a ``table`` of VODataService 1.1 or 1.2, or a ``tableset`` of them.

Documents are untrusted, so it refuses DOCTYPE (and with it entity declarations), elements nested deeper than 16 levels,
and unlimited texts, columns and keys. Only the wanted tables of a tableset are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from xml.parsers import expat

from clickhouse_schema.schema_model import MAX_COLUMNS
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_definition import DefinedColumn, DefinedKey, DefinedSchema, Definition, build_column

_MAX_DEPTH = 16

#: maximum number of bytes without the end of an element, and of characters of the texts of one table
_MAX_PENDING_BYTES = 1 << 20
_MAX_TABLE_CHARACTERS = 16 << 20

#: maximum number of foreign keys of a table, and of pairs of columns of a key
_MAX_KEYS = 1000
_MAX_PAIRS = 100

#: roots of tablesets: VOSI's, and one that some services write
TABLESET_ROOTS = frozenset({"tableset", "tables"})


class _RootFound(Exception):
    pass


def _stop_at_root(name: str, *_: object) -> None:
    raise _RootFound(name)


def find_root_name(document: bytes) -> str:
    """Find out whether a file is XML, and of which kind. Entities are not expanded.

    Parameters
    ----------
    document : bytes
        The document, or its start.

    Returns
    -------
    str
        The name, without prefix, of the first element or of the DOCTYPE; '' if there is none, or the file is not XML.
    """
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
        The XML document, a ``table``.

    Returns
    -------
    Definition
        The columns, metadata and foreign keys; at least one column.

    Raises
    ------
    ReadError
        The document is broken or refused, or has no columns; the message has the line.
    """
    parser = VosiParser()
    parser.feed(document, last=True)
    found = parser.tables[0]
    if not found.columns:
        raise ReadError("the definition has no columns: add a column element with a name and a dataType for each")
    return found


def _want_all(_schema: str, _table: str) -> bool:
    return True


class VosiParser:
    """An incremental parser.

    Parameters
    ----------
    roots : Collection[str]
        The names that the first element may have.
    is_wanted : Callable[[str, str], bool]
        Called with the names of each table and its schema, as they are written; only tables for which it is true are
        kept in ``tables``.
    """

    def __init__(self, roots: Collection[str] = ("table",), is_wanted: Callable[[str, str], bool] = _want_all) -> None:
        self.tables: list[Definition] = []
        self._roots = roots
        self._is_wanted = is_wanted
        self._schema = DefinedSchema()
        self._table = Definition()
        self._is_kept = True
        self._table_characters = 0
        self._pending_bytes = 0
        self._path: list[str] = []
        self._text: list[str] = []
        self._column: dict[str, str] = {}
        self._flags: set[str] = set()
        self._key: dict[str, str] = {}
        self._pairs: list[tuple[str, str]] = []
        self._from = ""
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._text.append

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
            raise self._build_error(f"has an unsupported encoding: {error}") from error
        self._pending_bytes += len(data)
        if self._pending_bytes > max(_MAX_PENDING_BYTES, 2 * len(data)):
            raise self._build_error(f"has a text or a comment of more than {_MAX_PENDING_BYTES:,} bytes")

    def _build_error(self, reason: str) -> ReadError:
        return ReadError(f"line {self._parser.CurrentLineNumber}: the definition {reason}")

    def _refuse_doctype(self, *_: object) -> None:
        raise self._build_error("has a DOCTYPE, which is not allowed")

    def _start_element(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise self._build_error(f"nests elements deeper than {_MAX_DEPTH} levels")
        if len(self._path) == 1 and name not in self._roots:
            raise self._build_error(f"starts with the element {name} instead of {' or '.join(sorted(self._roots))}")
        self._text.clear()
        if name == "schema":
            self._schema = DefinedSchema()
        elif name == "table":
            self._start_table(attributes)
        elif self._is_kept:
            self._start_part(name, attributes)

    def _start_table(self, attributes: dict[str, str]) -> None:
        size = next((value for key, value in attributes.items() if key.rpartition(" ")[2] == "size"), "")
        self._table = Definition(schema=self._schema, rows=size)  # the attribute is ESA's
        self._is_kept = True
        self._table_characters = 0

    def _start_part(self, name: str, attributes: dict[str, str]) -> None:
        if name == "column":
            self._column = {"std": attributes.get("std", "")}
            self._flags = set()
            if len(self._table.columns) >= MAX_COLUMNS:
                raise self._build_error(f"has more than {MAX_COLUMNS} columns")
        elif name == "foreignKey":
            self._key, self._pairs = {}, []
            if len(self._table.keys) >= _MAX_KEYS:
                raise self._build_error(f"has more than {_MAX_KEYS} foreign keys")
        elif name == "dataType":
            self._column |= {key.rpartition(" ")[2]: value for key, value in attributes.items()}

    def _end_element(self, _qualified: str) -> None:
        name = self._path.pop()
        self._pending_bytes = 0
        text = " ".join("".join(self._text).split())
        self._text.clear()
        parent = self._path[-1] if self._path else ""
        if name == "table":
            self._end_table()
        elif parent == "schema" and name in ("name", "description", "utype"):
            self._schema = self._schema._replace(**{name: text})
        elif self._is_kept:
            self._count_characters(text)
            self._end_part(name, parent, text)

    def _end_table(self) -> None:
        if self._is_kept and self._table.name == "" and "tableset" in self._roots:
            return  # a table without a name in a list cannot be found
        if self._is_kept:
            self.tables.append(self._table)
        self._table = Definition()

    def _count_characters(self, text: str) -> None:
        self._table_characters += len(text)
        if self._table_characters > _MAX_TABLE_CHARACTERS:
            raise self._build_error(f"has more than {_MAX_TABLE_CHARACTERS:,} characters of texts")

    def _end_part(self, name: str, parent: str, text: str) -> None:
        if name == "column":
            self._table.columns.append(self._build_column())
        elif name == "foreignKey":
            self._end_key()
        elif name == "flag":
            self._flags |= {text.lower()} & {"indexed", "primary", "nullable", "principal"}
        elif parent == "column":
            self._column["datatype" if name == "dataType" else name] = text
        elif parent == "foreignKey":
            self._key[name] = text
        elif name == "fromColumn":
            self._from = text
        elif name == "targetColumn":
            self._pairs.append((self._from, text))
            if len(self._pairs) > _MAX_PAIRS:
                raise self._build_error(f"has a foreign key of more than {_MAX_PAIRS} columns")
        elif parent == "table":
            self._describe_table(name, text)

    def _describe_table(self, name: str, text: str) -> None:
        if name in ("name", "title", "description", "utype"):
            setattr(self._table, name, text)
        elif name == "nrows":
            self._table.rows = text
        if name == "name":
            self._is_kept = self._is_wanted(self._schema.name, text)

    def _end_key(self) -> None:
        key = self._key
        self._table.keys.append(
            DefinedKey(key.get("targetTable", ""), self._pairs, key.get("description", ""), key.get("utype", ""))
        )

    def _build_column(self) -> DefinedColumn:
        column = self._column
        if not column.get("name"):
            raise self._build_error("has a column without a name")
        column.setdefault("datatype", "")  # the schema of VODataService allows a column without one
        return build_column(column, frozenset(self._flags))
