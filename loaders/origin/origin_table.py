"""Reads the description of a table of a TAP service, from its VOSI tables and its TAP_SCHEMA."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loaders.origin.origin_client import OriginClient
from loaders.origin.origin_error import AmbiguousTable, OriginError, OriginMissing
from loaders.origin.sync_query import SyncQueries
from loaders.origin.table_choice import TableName, Wanted
from loaders.origin.tap_schema_tables import list_tables, read_from_tap_schema
from loaders.origin.vosi_tables import TableSearch, definition_name, read_one
from tap_service.readers.table_definition import DefinedColumn, DefinedSchema, Definition


@dataclass(frozen=True, slots=True)
class OriginTable:
    """A table of a TAP service, as the service describes it.

    Attributes
    ----------
    address
        The TAP service.
    name
        The name, without quotes.
    definition
        The service's description of the table.
    sources
        The sources of the description: 'tables', 'TAP_SCHEMA'.
    notes
        Messages about resources that could not be read.
    """

    address: str
    name: TableName
    definition: Definition
    sources: tuple[str, ...]
    notes: tuple[str, ...]


def read_origin_table(client: OriginClient, address: str, table: str) -> OriginTable:
    """Read a TAP service's description of a table.

    ``/tables/NAME`` and TAP_SCHEMA complete each other. The document of all tables is read only if both lack the table,
    because it may have 100 MB.

    Parameters
    ----------
    client : OriginClient
        Sends the requests.
    address : str
        Address of the TAP service, without a slash at its end.
    table : str
        Name of the table as in queries, with or without schema and quotes.

    Returns
    -------
    OriginTable
        The description, with notes about resources that could not be read.

    Raises
    ------
    OriginError
        The service has no such table (the message suggests similar names), has several that match, or cannot be read.
    """
    return _TableReading(client, address, Wanted(table)).read()


class _TableReading:
    def __init__(self, client: OriginClient, address: str, wanted: Wanted) -> None:
        self._client = client
        self._address = address
        self._wanted = wanted
        self._queries = SyncQueries(client, address)
        self._notes: list[str] = []
        self._has_answered = False

    def read(self) -> OriginTable:
        listed = self._read_tap_schema()
        published = self._read_one()
        if listed and published:
            return self._build(merge_definitions(published, listed), ("tables", "TAP_SCHEMA"))
        if listed:
            return self._build(listed, ("TAP_SCHEMA",))
        return self._build(published or self._search_all(), ("tables",))

    def _build(self, definition: Definition, sources: tuple[str, ...]) -> OriginTable:
        return OriginTable(self._address, definition_name(definition), definition, sources, tuple(self._notes))

    def _read_tap_schema(self) -> Definition | None:
        try:
            found = read_from_tap_schema(self._queries, self._wanted)
        except AmbiguousTable:
            raise
        except OriginError as error:
            self._notes.append(f"TAP_SCHEMA cannot be used: {error}")
            return None
        self._has_answered = True
        return found if found and found.columns else None

    def _read_one(self) -> Definition | None:
        try:
            return read_one(self._client, self._address, self._wanted)
        except OriginMissing:  # VOSI 1.0 has no such resource
            return None
        except AmbiguousTable:
            raise
        except OriginError as error:
            self._notes.append(f"the VOSI table cannot be used: {error}")
            return None

    def _search_all(self) -> Definition:
        """Search the table in the document of all tables. Raises OriginError if it is not there."""
        search = TableSearch(self._wanted)
        try:
            self._client.get(f"{self._address}/tables", search.read)
        except OriginError as error:
            self._notes.append(f"the VOSI tables cannot be used: {error}")
        else:
            self._has_answered = True
        if found := search.found:
            return found
        if not self._has_answered:
            reasons = "; ".join(self._notes)
            raise OriginError(f"{self._address} describes no tables: {reasons}. Is this the address of a TAP service?")
        raise OriginMissing(self._wanted.describe_missing(self._address, search.names or self._list_names()))

    def _list_names(self) -> list[TableName]:
        try:
            return list_tables(self._queries)
        except OriginError:
            return []


def merge_definitions(published: Definition, listed: Definition) -> Definition:
    """Return the table of a VOSI document, completed by TAP_SCHEMA: flags, names of keys, order of columns."""
    others = {column.field.name: column for column in listed.columns}
    columns = [_merge_columns(column, others.pop(column.field.name, None)) for column in published.columns]
    columns += others.values()
    if all(column.index is not None for column in columns):
        columns.sort(key=lambda column: column.index or 0)
    return replace(
        published,
        columns=columns,
        description=published.description or listed.description,
        utype=published.utype or listed.utype,
        keys=listed.keys or published.keys,
        schema=DefinedSchema(*(ours or theirs for ours, theirs in zip(published.schema, listed.schema, strict=True))),
    )


def _merge_columns(column: DefinedColumn, other: DefinedColumn | None) -> DefinedColumn:
    if other is None:
        return column
    ours, theirs = column.field, other.field
    about = {key: getattr(ours, key) or getattr(theirs, key) for key in ("unit", "ucd", "utype", "description")}
    is_better = bool(column.unusable and not other.unusable) or (not ours.type.xtype and bool(theirs.type.xtype))
    kept = other if is_better else column
    return replace(
        kept,
        field=replace(kept.field, **about),
        flags=column.flags | other.flags,
        is_standard=column.is_standard or other.is_standard,
        index=other.index,
    )
