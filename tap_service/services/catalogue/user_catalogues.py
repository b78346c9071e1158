"""Catalogues with the tables of one user."""

from __future__ import annotations

import datetime
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables import user_table_record
from clickhouse_schema.engine_tables.user_table_record import UserTable
from tap_service.service_errors import ServiceUnavailable
from tap_service.storage.engine.engine import Engine, EngineError

_log = logging.getLogger("skyhouse")

#: catalogues in the cache, and columns of their user tables altogether
_MAX_CATALOGUES, _MAX_CACHED_COLUMNS = 50, 200_000


@dataclass(frozen=True, slots=True)
class _CachedCatalogue:
    """``changes``: the change counter of this process; ``version``: that of the owner's tables in the engine."""

    changes: int
    version: int
    base: Catalogue
    catalogue: Catalogue
    records: tuple[UserTable, ...]


class UserCatalogues:
    """Thread-safe. A change of tables by any process shows in the next query.

    Each call reads the version of the user's tables from the engine, unless this is the only process.
    """

    def __init__(self, engine: Engine, *, is_only_process: bool) -> None:
        self._engine = engine
        self._is_only_process = is_only_process
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _CachedCatalogue] = OrderedDict()
        self._noted: set[str] = set()
        self._noted_day: datetime.date | None = None

    def get_catalogue(self, base: Catalogue, owner: str) -> tuple[Catalogue, tuple[UserTable, ...]]:
        """Return ``base`` with the tables of ``owner``, and their records. Raises ServiceUnavailable."""
        try:
            return self._read_catalogue(base, owner)
        except EngineError as error:
            raise ServiceUnavailable(f"your own tables cannot be read now: {error}. Try again later") from error

    def _read_catalogue(self, base: Catalogue, owner: str) -> tuple[Catalogue, tuple[UserTable, ...]]:
        changes = user_table_record.count_changes()
        with self._lock:
            known = self._cached.get(owner)
        is_same = known is not None and known.base is base
        if known is not None and is_same and self._is_only_process and known.changes == changes:
            return known.catalogue, known.records
        version = user_table_record.read_user_version(self._engine, owner)
        if known is None or not is_same or known.version != version:
            records = user_table_record.read_user_tables(self._engine, owner) if version else ()
            known = _CachedCatalogue(changes, version, base, user_table_record.add_user_tables(base, records), records)
        else:
            known = replace(known, changes=changes)
        self._cache_catalogue(owner, known)
        return known.catalogue, known.records

    def _cache_catalogue(self, owner: str, known: _CachedCatalogue) -> None:
        with self._lock:
            self._cached[owner] = known
            self._cached.move_to_end(owner)
            while len(self._cached) > 1 and self._is_cache_full():
                self._cached.popitem(last=False)

    def _is_cache_full(self) -> bool:
        columns = sum(len(record.table.columns) for known in self._cached.values() for record in known.records)
        return len(self._cached) > _MAX_CATALOGUES or columns > _MAX_CACHED_COLUMNS

    def note_use(self, owner: str, tables: Iterable[TableEntry]) -> None:
        """Note the use of the owner's tables among these, once a day each; it delays their expiry."""
        names = {entry.table.name for entry in tables if entry.schema is user_table_record.SCHEMA}
        if not names:
            return
        today = datetime.datetime.now(datetime.UTC).date()
        with self._lock:
            if self._noted_day != today:
                self._noted, self._noted_day = set(), today
            records = self._cached[owner].records if owner in self._cached else ()
            new = {record.described for record in records if record.table.name in names} - self._noted
            self._noted |= new
        if new:
            try:
                user_table_record.write_uses(self._engine, new)
            except EngineError as error:
                _log.warning("the use of a user table cannot be noted: %s", error.detail)
