"""What each user sees besides what everybody sees: their own tables, as they are at this moment."""

from __future__ import annotations

import datetime
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable

from clickhouse_schema import user_tables
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.user_tables import UserTable
from tap_service.exceptions import ServiceUnavailable
from tap_service.storage.engine import Engine, EngineError

_log = logging.getLogger("skyhouse")

#: users whose catalogues are kept
_KEPT = 50


class OwnCatalogues:
    """Safe to use from several threads. The engine is asked each time whether a user's tables are still the same.

    So whoever has changed them, in whichever process, sees the change in the next query.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[int, Catalogue, Catalogue, tuple[UserTable, ...]]] = OrderedDict()
        self._noted: set[str] = set()
        self._noted_on: datetime.date | None = None

    def of(self, base: Catalogue, owner: str) -> tuple[Catalogue, tuple[UserTable, ...]]:
        """Raises ServiceUnavailable."""
        try:
            return self._of(base, owner)
        except EngineError as error:
            raise ServiceUnavailable(f"your own tables cannot be seen now: {error}. Ask again later") from error

    def _of(self, base: Catalogue, owner: str) -> tuple[Catalogue, tuple[UserTable, ...]]:
        version = user_tables.version_of(self._engine, owner)
        if not version:
            return base, ()
        with self._lock:
            known = self._kept.get(owner)
            if known is not None and known[0] == version and known[1] is base:
                self._kept.move_to_end(owner)
                return known[2:]
        records = user_tables.tables_of(self._engine, owner)
        found = user_tables.catalogue_with(base, records), records
        with self._lock:
            self._kept[owner] = (version, base, *found)
            self._kept.move_to_end(owner)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def note_use(self, owner: str, tables: Iterable[TableEntry]) -> None:
        """These tables are used; those of the owner's own among them live longer for that. Once a day each."""
        names = {entry.table.name for entry in tables if entry.schema is user_tables.SCHEMA}
        if not names:
            return
        today = datetime.datetime.now(datetime.UTC).date()
        with self._lock:
            if self._noted_on != today:
                self._noted, self._noted_on = set(), today
            records = self._kept[owner][3] if owner in self._kept else ()
            new = {record.described for record in records if record.table.name in names} - self._noted
            self._noted |= new
        if new:
            try:
                user_tables.note_use(self._engine, new)
            except EngineError as error:
                _log.warning("the use of a user's table cannot be noted: %s", error)
