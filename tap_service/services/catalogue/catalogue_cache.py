"""The current catalogue and its /tables documents, which a thread reads again when the version changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from functools import cached_property

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_catalogue_version
from clickhouse_schema.tap_schema import table_name_to_adql
from clickhouse_schema.visible_tables import list_relevant_groups, select_visible
from tap_service.constants import CATALOGUE_POLL_SECONDS
from tap_service.documents.service_description import Example
from tap_service.documents.tableset_document import append_tables, tableset_document
from tap_service.documents.tableset_json import append_schemas, tableset_json
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.services.catalogue.example_queries import build_examples
from tap_service.services.catalogue.links_descriptor import add_links_service
from tap_service.services.catalogue.user_catalogues import UserCatalogues, VisibleTables
from tap_service.services.catalogue.user_groups import UserGroups
from tap_service.services.periodic_thread import PeriodicThread
from tap_service.storage.engine.engine import Engine

#: maximum number of columns of a user's tables that /tables?detail=min lists
_MAX_LISTED_COLUMNS = 5000
#: maximum number of sets of groups whose catalogues are cached
_MAX_SELECTED = 50


class CatalogueSnapshot:
    """One version of the catalogue, with documents that are built on first use. Thread-safe.

    Parameters
    ----------
    version : int
        The version of the catalogue.
    catalogue : Catalogue
        The catalogue.
    engine : Engine
        The engine, from which examples take positions.
    """

    def __init__(self, version: int, catalogue: Catalogue, engine: Engine) -> None:
        self.version = version
        self.catalogue = catalogue
        self._engine = engine
        self._selecting = threading.Lock()
        self._selected: OrderedDict[frozenset[str], CatalogueSnapshot] = OrderedDict()

    def select_visible(self, groups: frozenset[str]) -> CatalogueSnapshot:
        """Return the part of the catalogue that members of these groups see."""
        grants = self.catalogue.grants
        if not grants:
            return self
        relevant = list_relevant_groups(grants, groups)
        with self._selecting:
            found = self._selected.get(relevant)
            if found is None:
                found = CatalogueSnapshot(self.version, select_visible(self.catalogue, relevant), self._engine)
                self._selected[relevant] = found
            self._selected.move_to_end(relevant)
            if len(self._selected) > _MAX_SELECTED:
                self._selected.popitem(last=False)
        return found

    @cached_property
    def tables_document(self) -> bytes:
        """The document of /tables, in XML."""
        return tableset_document(self.catalogue.entries)

    @cached_property
    def tables_document_without_columns(self) -> bytes:
        """The document of /tables?detail=min, in XML."""
        return tableset_document(self.catalogue.entries, detail=False)

    @cached_property
    def tables_json(self) -> bytes:
        """The document of /tables, in JSON."""
        return tableset_json(self.catalogue.entries)

    @cached_property
    def tables_json_without_columns(self) -> bytes:
        """The document of /tables?detail=min, in JSON."""
        return tableset_json(self.catalogue.entries, detail=False)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The queries of /examples. Raises EngineError."""
        return build_examples(self._engine, self.catalogue)

    def find_table(self, name: str) -> TableEntry | None:
        """Find a table by its qualified name.

        Parameters
        ----------
        name : str
            The name as stored or as queries write it, in any case if that is unambiguous.

        Returns
        -------
        TableEntry or None
            The table; None if there is none, or several.
        """
        entries = self.catalogue.entries
        exact = [entry for entry in entries if name in (entry.qualified_name, table_name_to_adql(entry))]
        found = exact or [entry for entry in entries if entry.qualified_name.lower() == name.lower()]
        return found[0] if len(found) == 1 else None


class UserCatalogueSnapshot(CatalogueSnapshot):
    """One version of the catalogue with the user tables that one user sees."""

    def __init__(self, base: CatalogueSnapshot, catalogue: Catalogue) -> None:
        self.version = base.version
        self.catalogue = catalogue
        self._base = base

    @property
    def _user_tables(self) -> tuple[TableEntry, ...]:
        return self.catalogue.entries[len(self._base.catalogue.entries) :]

    @cached_property
    def tables_document(self) -> bytes:
        return append_tables(self._base.tables_document, self._user_tables)

    @cached_property
    def tables_document_without_columns(self) -> bytes:
        """The document of /tables?detail=min, in XML, with the columns of the user's tables unless these are many.

        pyvo reads the document of a single table without credentials, and so cannot see the columns of user tables.
        """
        columns = sum(len(entry.table.columns) for entry in self._user_tables)
        return append_tables(
            self._base.tables_document_without_columns, self._user_tables, detail=columns <= _MAX_LISTED_COLUMNS
        )

    @cached_property
    def tables_json(self) -> bytes:
        return append_schemas(self._base.tables_json, self._user_tables)

    @cached_property
    def tables_json_without_columns(self) -> bytes:
        return append_schemas(self._base.tables_json_without_columns, self._user_tables, detail=False)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        return self._base.examples


class CatalogueCache:
    """Holds the current snapshot of the catalogue; a thread checks the version every second.

    ``snapshot`` contains all tables. Everything that is shown to a client comes from ``catalogue_for`` or
    ``snapshot_for``, which select the tables that the client may see.

    Parameters
    ----------
    engine : Engine
        The engine.
    groups : UserGroups
        The groups of users.
    gateway : FileGateway
        The gateway through which the engine reads the files of attached tables.
    is_only_process : bool
        Whether no other process changes the engine's tables.
    public_url : str
        The URL of the service. If it is unknown, '', results with identifiers of ObsCore have no descriptor of links.
    """

    def __init__(
        self,
        engine: Engine,
        groups: UserGroups,
        gateway: FileGateway,
        *,
        is_only_process: bool = False,
        public_url: str = "",
    ) -> None:
        self._engine = engine
        self._gateway = gateway
        self._public_url = public_url
        self._groups = groups
        self._user_tables = UserCatalogues(engine, is_only_process=is_only_process)
        self._refreshing = threading.Lock()
        self.snapshot = self._read_snapshot()
        self._poller = PeriodicThread("catalogue", CATALOGUE_POLL_SECONDS, self.refresh, "the catalogue cannot be read")

    def catalogue_for(self, owner: str | None) -> Catalogue:
        """Return the tables that a user sees, including user tables; None for anonymous clients.

        Raises
        ------
        ServiceUnavailable
            The tables or groups of the user cannot be read.
        """
        return self._visible_snapshot(None).catalogue if owner is None else self.visible_tables(owner).catalogue

    def visible_tables(self, owner: str) -> VisibleTables:
        """Return the tables that a user sees, with the records of user tables.

        Parameters
        ----------
        owner : str
            The user.

        Raises
        ------
        ServiceUnavailable
            The tables or groups of the user cannot be read.
        """
        return self._read_user_tables(self._visible_snapshot(owner), owner)

    def snapshot_for(self, owner: str | None) -> CatalogueSnapshot:
        """Return a snapshot of the tables that a client sees, with the /tables documents.

        Parameters
        ----------
        owner : str | None
            The user; None for an anonymous client.

        Raises
        ------
        ServiceUnavailable
            The tables or groups of the user cannot be read.
        """
        snapshot = self._visible_snapshot(owner)
        if owner is None:
            return snapshot
        tables = self._read_user_tables(snapshot, owner)
        return UserCatalogueSnapshot(snapshot, tables.catalogue) if tables.own or tables.shared else snapshot

    def _read_user_tables(self, snapshot: CatalogueSnapshot, owner: str) -> VisibleTables:
        return self._user_tables.get_tables(snapshot.catalogue, owner, self._groups.find_groups(owner))

    def find_groups(self, owner: str) -> frozenset[str]:
        """Return the groups of a user. Raises ServiceUnavailable."""
        return self._groups.find_groups(owner)

    def _visible_snapshot(self, owner: str | None) -> CatalogueSnapshot:
        snapshot = self.snapshot
        if not snapshot.catalogue.grants:
            return snapshot
        return snapshot.select_visible(self._groups.find_groups(owner))

    def note_use(self, owner: str | None, tables: Iterable[TableEntry]) -> None:
        """Record that a query reads tables, which delays the expiry of user tables.

        Parameters
        ----------
        owner : str | None
            The user who reads the tables; nothing is recorded for an anonymous client.
        tables : Iterable[TableEntry]
            Tables of any kind.
        """
        if owner is not None:
            self._user_tables.note_use(owner, tables)

    def start(self) -> None:
        """Start the thread that checks the version."""
        self._poller.start()

    def refresh(self) -> None:
        """Read the catalogue again if its version has changed."""
        with self._refreshing:
            if read_catalogue_version(self._engine) != self.snapshot.version:
                self.snapshot = self._read_snapshot()

    def close(self) -> None:
        """End the thread."""
        self._poller.close()

    def _read_snapshot(self) -> CatalogueSnapshot:
        """Read the catalogue, and before it its version, so that a change in between is read again and never missed."""
        version = read_catalogue_version(self._engine)
        catalogue = self._gateway.publish(read_catalogue(self._engine))
        return CatalogueSnapshot(version, add_links_service(catalogue, self._public_url), self._engine)
