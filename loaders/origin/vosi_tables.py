"""Reads a table of an origin from its VOSI ``tables``, by its name or from the document of all tables."""

from __future__ import annotations

from urllib.parse import quote

from loaders.origin.origin_client import OriginAnswer, OriginClient
from loaders.origin.origin_error import OriginError
from loaders.origin.table_choice import MAX_NAMES, TableName, Wanted, read_table_name
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_definition import Definition
from tap_service.readers.vosi_table_reader import TABLESET_ROOTS, VosiParser

#: VizieR's document of all tables has more than 100 MB
_MAX_DOCUMENT_BYTES = 1 << 30


def definition_name(definition: Definition) -> TableName:
    """Return the names of a table and its schema, without quotes."""
    return read_table_name(definition.schema.name, definition.name)


def read_one(client: OriginClient, address: str, wanted: Wanted) -> Definition | None:
    """Return the table from ``/tables/NAME`` (VOSI 1.1); None if the answer is not the table with its columns.

    Raises OriginError.
    """
    search = TableSearch(wanted)
    client.get(f"{address}/tables/{quote(wanted.text, safe='')}", search.read)
    return search.found


class TableSearch:
    """Reads documents of tables until the wanted one is found.

    Attributes
    ----------
    names
        The tables that were read.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.names: list[TableName] = []
        self._tables: list[Definition] = []

    @property
    def found(self) -> Definition | None:
        """The table with its columns; None until it is found. Raises OriginError if several tables match."""
        by_name = {definition_name(table): table for table in self._tables if table.columns}
        name = self._wanted.choose(by_name)
        return by_name[name] if name else None

    def read(self, answer: OriginAnswer) -> None:
        """Read a document, or its beginning with a table of exactly the wanted name. Raises OriginError."""
        self.names.clear()
        parser = VosiParser({*TABLESET_ROOTS, "table"}, self._note_name)
        self._tables = parser.tables
        try:
            for piece in answer.read_pieces(_MAX_DOCUMENT_BYTES):
                parser.feed(piece)
                if any(str(definition_name(table)) == self._wanted.text and table.columns for table in self._tables):
                    return
            parser.feed(b"", last=True)
        except ReadError as error:
            if isinstance(error, OriginError):
                raise
            raise OriginError(f"{answer.address}, {error}") from None

    def _note_name(self, schema: str, table: str) -> bool:
        name = read_table_name(schema, table)
        if len(self.names) < MAX_NAMES:
            self.names.append(name)
        return self._wanted.is_like(name)
