"""Keeps published records up to date with the operator's file, the tables and the service."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.schema_model import Schema
from tap_service.config import Config
from tap_service.constants import REGISTRY_PAGE_RECORDS, REGISTRY_REFRESH_SECONDS
from tap_service.documents.registry_records import RegistryRecords
from tap_service.documents.service_description import ServiceDescription
from tap_service.models.registry_metadata import Collection, RegistryMetadata
from tap_service.models.registry_record import RecordDraft
from tap_service.service_errors import ServiceUnavailable
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.cone_search.cone_description import describe_cone_search
from tap_service.services.registry.registry_file import RegistryFileError, read_registry_file
from tap_service.services.registry.table_coverage import join_coverages, read_moc, read_times
from tap_service.services.site.authenticator import Authenticator
from tap_service.services.site.service_capabilities import describe_service
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.registry_store import RegistryStore

_log = logging.getLogger("skyhouse")


@dataclass(frozen=True, slots=True)
class DescribedCollection:
    """A collection of the operator's file with its tables.

    Attributes
    ----------
    collection : Collection
        The collection.
    entries : tuple of TableEntry
        Its tables that are visible to everybody.
    missing : tuple of str
        The other names in the collection.
    """

    collection: Collection
    entries: tuple[TableEntry, ...]
    missing: tuple[str, ...]


def find_collections(metadata: RegistryMetadata, entries: tuple[TableEntry, ...]) -> list[DescribedCollection]:
    """Find the tables of each collection.

    Parameters
    ----------
    metadata : RegistryMetadata
        The operator's file.
    entries : tuple of TableEntry
        The tables that everybody sees.

    Returns
    -------
    list of DescribedCollection
        The collections in the order of the file, also collections without existing tables.
    """
    found = []
    for collection in metadata.collections:
        of_schema = {entry.table.name: entry for entry in entries if entry.schema.name == collection.table_schema}
        names = collection.tables or tuple(of_schema)
        missing = tuple(f"{collection.table_schema}.{name}" for name in names if name not in of_schema)
        if not names:
            missing = (f"{collection.table_schema}.*",)
        present = tuple(of_schema[name] for name in names if name in of_schema)
        found.append(DescribedCollection(collection, present, missing))
    return found


def draft_records(
    engine: Engine, metadata: RegistryMetadata, service: ServiceDescription, catalogue: Catalogue, base_url: str
) -> Iterator[RecordDraft]:
    """Draft all records.

    A collection has a record if at least one of its tables exists; missing tables are left out. If only users may use
    the service, records do not describe tables and schemas, because /tables does not show them to everybody either.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    metadata : RegistryMetadata
        The contents of the operator's file.
    service : ServiceDescription
        The service as /capabilities describes it.
    catalogue : Catalogue
        The tables that everybody sees.
    base_url : str
        The URL of the service's root.

    Yields
    ------
    RecordDraft
        The registry, the authority, the service, each collection, and the cone search of each table with a position.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    writer = RegistryRecords(metadata, service, f"{base_url}/oai", REGISTRY_PAGE_RECORDS)
    collections = [described for described in find_collections(metadata, catalogue.entries) if described.entries]
    shown = catalogue.entries if service.anonymous else ()
    measured = {entry.qualified_name: (read_moc(engine, entry), read_times(engine, entry)) for entry in shown}
    yield writer.draft_registry()
    yield writer.draft_authority()
    names = [described.collection for described in collections]
    yield writer.draft_service(shown, join_coverages(measured.values()), names)
    for described in collections:
        collection = described.collection
        schema = described.entries[0].schema if service.anonymous else Schema(name=collection.table_schema)
        tables = [entry for entry in described.entries if entry.qualified_name in measured]
        coverage = join_coverages(measured[entry.qualified_name] for entry in tables)
        if collection.temporal:
            coverage = replace(coverage, temporal=collection.temporal)
        yield writer.draft_collection(collection, schema, tables, coverage)
    collection_of = {entry.qualified_name: found.collection for found in collections for entry in found.entries}
    for entry in shown:
        if entry.table.layout.position is None:
            continue
        cone = describe_cone_search(engine, catalogue, entry, base_url)
        coverage = join_coverages([measured[entry.qualified_name]])
        yield writer.draft_cone_search(entry, cone, coverage, collection_of.get(entry.qualified_name))


class PublishedRecords:
    """The store of records, which ``refresh`` updates. Thread-safe.

    Parameters
    ----------
    config : Config
        The settings.
    path : Path
        The operator's file.
    metadata : RegistryMetadata
        The contents of the file.
    store : RegistryStore
        The store.
    engine : Engine
        The engine.
    catalogue_cache : CatalogueCache
        The catalogue.
    authenticator : Authenticator
        The login methods.
    """

    def __init__(
        self,
        config: Config,
        path: Path,
        metadata: RegistryMetadata,
        store: RegistryStore,
        engine: Engine,
        catalogue_cache: CatalogueCache,
        authenticator: Authenticator,
    ) -> None:
        self._config = config
        self._path = path
        self.store = store
        self._engine = engine
        self._catalogue_cache = catalogue_cache
        self._authenticator = authenticator
        self._refreshing = threading.Lock()
        self._file_time = self._read_file_time()
        self._seen: tuple[object, ...] = ()
        self._refreshed = 0.0
        self.metadata = metadata
        self.url = f"{config.public_url}/oai"

    def refresh(self) -> None:
        """Publish changed records. Changes of rows are looked for at intervals of some minutes.

        Records do not change while the engine is unavailable.

        Raises
        ------
        ServiceUnavailable
            There are no records yet, and the engine is unavailable.
        RegistryStoreError
            The file of records cannot be used.
        """
        try:
            self._publish_changes()
        except EngineError as error:
            _log.error("the registry's records are not updated: %s", error)
            if self.store.read_start() is None:
                raise ServiceUnavailable("the registry has no records yet; try again later") from error

    def _publish_changes(self) -> None:
        """Publish changed records, unless another thread is doing that; wait for that thread if there are none yet."""
        if not self._refreshing.acquire(blocking=not self._seen):
            return
        try:
            self._read_file_again()
            snapshot = self._catalogue_cache.snapshot_for(None)
            seen = (self._file_time, snapshot.version, self._authenticator.login_methods)
            if seen == self._seen and time.monotonic() - self._refreshed < REGISTRY_REFRESH_SECONDS:
                return
            base_url, catalogue = self._config.public_url, snapshot.catalogue
            service = describe_service(self._config, self._authenticator, catalogue, f"{base_url}/tap")
            drafts = list(draft_records(self._engine, self.metadata, service, catalogue, base_url))
            self.store.publish(drafts, int(time.time()))
            self._seen, self._refreshed = seen, time.monotonic()
        finally:
            self._refreshing.release()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _read_file_again(self) -> None:
        """Read the operator's file if it has changed. A file that cannot be used is logged once and ignored."""
        file_time = self._read_file_time()
        if file_time == self._file_time:
            return
        try:
            self.metadata = read_registry_file(self._path)
        except RegistryFileError as error:
            _log.error("the registry's records are not updated: %s", error)
        self._file_time = file_time

    def _read_file_time(self) -> int:
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return 0
