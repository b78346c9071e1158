"""The files of tables as HATS collections, for clients that see the table."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables.catalogue_log import read_content_stamps
from clickhouse_schema.hats.hats_error import HatsError
from tap_service.constants import VERSION
from tap_service.hats.writing.catalogue_files import Collection
from tap_service.hats.writing.catalogue_plan import plan_catalogue
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.hats.writing.index_files import FILE_ROWS
from tap_service.models.client import Client
from tap_service.models.engine_share import Lane
from tap_service.models.query_report import QueryReport
from tap_service.service_errors import NotFound
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.hats.selection_rates import SelectionRates
from tap_service.services.hats.served_collection import HatsFile, ServedCollection
from tap_service.services.queries.query_service import QueryService
from tap_service.services.queries.run_errors import translate_errors
from tap_service.services.usage_counter import UsageCounter
from tap_service.storage.engine.engine import Engine, Settings
from tap_service.storage.file_cache import FileCache

#: maximum number of files of the collections whose plans are in memory: a file takes 4 to 8 kB for its margin, and a
#: collection 6 MB
_MAX_FILES = 20_000
_MAX_COLLECTIONS = 20


@dataclass(slots=True)
class _Slot:
    """The collection of one version of a table; the lock ``planning`` lets a single thread plan it."""

    planning: threading.Lock = field(default_factory=threading.Lock)
    collection: ServedCollection | None = None

    @property
    def n_files(self) -> int:
        return self.collection.n_files if self.collection else 0


class HatsFiles:
    """Finds and makes files. Making a file takes turns in the lane of large downloads.

    Parameters
    ----------
    engine : Engine
        The engine.
    catalogue_cache : CatalogueCache
        The catalogues of users.
    queries : QueryService
        The lanes.
    usage : UsageCounter
        Counts downloads.
    cache : FileCache
        Keeps the files that were made.
    selections : SelectionRates
        Limits the selections of each client.
    settings : Settings
        The engine's settings of the queries that make files.
    """

    def __init__(
        self,
        engine: Engine,
        catalogue_cache: CatalogueCache,
        queries: QueryService,
        usage: UsageCounter,
        cache: FileCache,
        selections: SelectionRates,
        settings: Settings,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._catalogue_cache = catalogue_cache
        self._queries = queries
        self._usage = usage
        self._cache = cache
        self._selections = selections
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()

    def list_tables(self, owner: str | None) -> list[str]:
        """List the tables that are served as HATS collections.

        Parameters
        ----------
        owner : str or None
            The user; None for an anonymous client.

        Returns
        -------
        list of str
            The qualified names of the tables with a position that the client sees.
        """
        entries = self._catalogue_cache.catalogue_for(owner).entries
        return [entry.qualified_name for entry in entries if is_served(entry)]

    async def find_file(
        self, table: str, path: str, columns: str, filters: str, client: Client
    ) -> HatsFile | list[str]:
        """Return a file, or the names in a folder.

        Parameters
        ----------
        table, path : str
            The name of a table, and a path in its collection.
        columns, filters : str
            The columns and rows to select from a partition: see ``partition_selection``.
        client : Client
            The client.

        Returns
        -------
        HatsFile or list of str
            The file, or the names in a folder.

        Raises
        ------
        NotFound
            The client sees no such table, the table has no position, or there is no such file.
        TooManySelections, TooManyQueries, ServiceBusy, ServiceDraining, ServiceUnavailable
            The file cannot be made now.
        """
        collection = await self._open_collection(table, client)
        if (small := collection.find_small_file(path)) is not None:
            return small
        wanted = collection.find_wanted(path, columns, filters)
        if wanted is None:
            if names := collection.list_folder(path):
                return names
            raise NotFound(f"the HATS collection of {table} has no {path[:200]!r}; /hats/{table}/ lists its files")
        if (kept := await self._queries.run_reading(partial(collection.find_kept, wanted), client)) is not None:
            return kept
        if wanted.selection:
            self._selections.start_selection(client.key, wanted.selection)
        return await self._queries.run_in_lane(Lane.BULK, client, partial(collection.make_file, wanted))

    def count_download(self, file: HatsFile, sent: int, client: Client) -> None:
        """Count the download of a file that is made from rows.

        Parameters
        ----------
        file : HatsFile
            The file.
        sent : int
            The bytes that are sent; the rows of the file count only if all bytes are sent.
        client : Client
            The client.
        """
        if file.rows is None:
            return
        report = QueryReport("OK", file.rows if sent == file.content.size else 0, sent, tables=(file.entry,))
        self._usage.count_query(report, "hats", client)

    async def _open_collection(self, table: str, client: Client) -> ServedCollection:
        entry, version = await self._queries.run_reading(partial(self._find_version, table, client.name), client)
        slot = self._take_slot(version)
        if slot.collection is None:
            plan = partial(self._plan_collection, entry, version, slot)
            await self._queries.run_in_lane(Lane.BULK, client, plan)
        assert slot.collection is not None  # noqa: S101 (planned)
        return slot.collection

    def _take_slot(self, version: str) -> _Slot:
        """Return the slot of a collection in memory, and drop the slots that were used longest ago."""
        with self._lock:
            slot = self._slots.setdefault(version, _Slot())
            self._slots.move_to_end(version)
            while len(self._slots) > 1 and (
                len(self._slots) > _MAX_COLLECTIONS or sum(each.n_files for each in self._slots.values()) > _MAX_FILES
            ):
                self._slots.popitem(last=False)
            return slot

    def _find_version(self, table: str, owner: str | None) -> tuple[TableEntry, str]:
        """Return a table that the user sees, and the name of its present version."""
        entry = self._catalogue_cache.snapshot_for(owner).find_table(table)
        if entry is None:
            raise NotFound(f"there is no table {table[:200]!r}; /hats/ lists the tables with a position")
        if entry.attached is not None:
            raise NotFound(
                f"{entry.qualified_name} has no HATS files here: it is the table of a HATS catalogue whose files are"
                " elsewhere. Query its rows with /tap"
            )
        if not is_served(entry):
            raise NotFound(f"{entry.qualified_name} has no stored position, by which HATS files are divided")
        with translate_errors(f"hats-{table}"):
            stamps = read_content_stamps(self._engine, [entry.density_key])
        if not stamps:
            raise NotFound(f"{entry.qualified_name} was deleted just now")
        self._catalogue_cache.note_use(owner, (entry,))
        described = (VERSION, entry.qualified_name, entry.storage_sql, stamps, repr(entry.fields))
        return entry, hashlib.sha256(repr(described).encode()).hexdigest()[:32]

    def _plan_collection(self, entry: TableEntry, version: str, slot: _Slot) -> None:
        with slot.planning, translate_errors(f"hats-{version}"):
            if slot.collection is not None:
                return
            try:
                rows = HatsRows(entry)
                plan = plan_catalogue(self._engine, rows, settings=self._settings)
            except HatsError as error:
                raise NotFound(str(error)) from error
            collection = Collection(rows, plan, has_index=plan.rows <= FILE_ROWS)
            slot.collection = ServedCollection(self._engine, self._cache, collection, version, self._settings)


def is_served(entry: TableEntry) -> bool:
    """Return whether a table has a HATS collection: if it is stored with a position.

    Parameters
    ----------
    entry : TableEntry
        The table. Attached tables have none: their HATS files are elsewhere.
    """
    return entry.table.layout.position is not None and not entry.is_computed
