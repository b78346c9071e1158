"""What each user sees besides what everybody sees: their own tables, as they are at this moment."""

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

#: users whose catalogues are kept, and columns of their tables altogether
_KEPT, _KEPT_COLUMNS = 50, 200_000


@dataclass(frozen=True, slots=True)
class _CachedCatalogue:
    """``changes`` of this process and ``version`` of the owner's tables when they were read."""

    changes: int
    version: int
    base: Catalogue
    catalogue: Catalogue
    records: tuple[UserTable, ...]


class UserCatalogues:
    """Safe to use from several threads.

    Whoever has changed tables, in whichever process, sees the change in the next query: the engine is asked each time
    whether a user's tables are still the same, unless this process is its only one (``is_sole``).
    """

    def __init__(self, engine: Engine, *, is_only_process: bool) -> None:
        self._engine = engine
        self._is_sole = is_only_process
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _CachedCatalogue] = OrderedDict()
        self._noted: set[str] = set()
        self._noted_on: datetime.date | None = None

    def get_catalogue(self, base: Catalogue, owner: str) -> tuple[Catalogue, tuple[UserTable, ...]]:
        """Raises ServiceUnavailable."""
        try:
            return self._read_catalogue(base, owner)
        except EngineError as error:
            raise ServiceUnavailable(f"your own tables cannot be seen now: {error}. Ask again later") from error

    def _read_catalogue(self, base: Catalogue, owner: str) -> tuple[Catalogue, tuple[UserTable, ...]]:
        changes = user_table_record.count_changes()
        with self._lock:
            known = self._kept.get(owner)
        is_same = known is not None and known.base is base
        if known is not None and is_same and self._is_sole and known.changes == changes:
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
            self._kept[owner] = known
            self._kept.move_to_end(owner)
            while len(self._kept) > _KEPT or (len(self._kept) > 1 and self._count_columns > _KEPT_COLUMNS):
                self._kept.popitem(last=False)

    @property
    def _count_columns(self) -> int:
        return sum(len(record.table.columns) for known in self._kept.values() for record in known.records)

    def note_use(self, owner: str, tables: Iterable[TableEntry]) -> None:
        """These tables are used; those of the owner's own among them live longer for that. Once a day each."""
        names = {entry.table.name for entry in tables if entry.schema is user_table_record.SCHEMA}
        if not names:
            return
        today = datetime.datetime.now(datetime.UTC).date()
        with self._lock:
            if self._noted_on != today:
                self._noted, self._noted_on = set(), today
            records = self._kept[owner].records if owner in self._kept else ()
            new = {record.described for record in records if record.table.name in names} - self._noted
            self._noted |= new
        if new:
            try:
                user_table_record.write_uses(self._engine, new)
            except EngineError as error:
                _log.warning("the use of a user's table cannot be noted: %s", error)
