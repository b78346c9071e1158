"""Catalogues that include the tables of one user, and the tables that others share with this user."""

from __future__ import annotations

import datetime
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables import user_table_record, visible_user_tables
from clickhouse_schema.engine_tables.user_table_record import Reader, UserTable, quote_storage
from tap_service.service_errors import ServiceUnavailable
from tap_service.storage.engine.engine import Engine, EngineError

_log = logging.getLogger("skyhouse")

#: maximum number of catalogues in the cache, and of columns of all their user tables
_MAX_CATALOGUES, _MAX_CACHED_COLUMNS = 50, 200_000


@dataclass(frozen=True, slots=True)
class VisibleTables:
    """The tables that a user sees.

    Attributes
    ----------
    catalogue : Catalogue
        The catalogue, including user tables.
    own, shared : tuple of UserTable
        The user's own tables, and the tables that others share with the user.
    """

    catalogue: Catalogue
    own: tuple[UserTable, ...] = ()
    shared: tuple[UserTable, ...] = ()


@dataclass(frozen=True, slots=True)
class _CachedCatalogue:
    """An entry of the cache.

    ``changes`` is the value of this process's counter of changes, ``version`` the version of the tables in the engine.
    """

    changes: int
    version: tuple[int, int]
    roles: frozenset[Reader]
    base: Catalogue
    tables: VisibleTables

    @property
    def column_count(self) -> int:
        return sum(len(record.table.columns) for record in (*self.tables.own, *self.tables.shared))


class UserCatalogues:
    """Reads and caches the catalogues of users. Thread-safe. The next query sees a change by any process.

    Parameters
    ----------
    engine : Engine
        The engine.
    is_only_process : bool
        Whether no other process changes user tables; otherwise each call reads their version from the engine.
    """

    def __init__(self, engine: Engine, *, is_only_process: bool) -> None:
        self._engine = engine
        self._is_only_process = is_only_process
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _CachedCatalogue] = OrderedDict()
        self._noted: set[str] = set()
        self._noted_day: datetime.date | None = None

    def get_tables(self, base: Catalogue, owner: str, groups: frozenset[str]) -> VisibleTables:
        """Return the tables that a user sees.

        Parameters
        ----------
        base : Catalogue
            The tables of the service that the user sees.
        owner : str
            The user.
        groups : frozenset of str
            The groups of the user.

        Raises
        ------
        ServiceUnavailable
            The engine does not answer.
        """
        try:
            return self._read_tables(base, owner, visible_user_tables.list_roles(owner, groups))
        except EngineError as error:
            raise ServiceUnavailable(f"your own tables cannot be read now: {error}. Try again later") from error

    def _read_tables(self, base: Catalogue, owner: str, roles: frozenset[Reader]) -> VisibleTables:
        changes = user_table_record.count_changes()
        with self._lock:
            known = self._cached.get(owner)
        is_same = known is not None and known.base is base and known.roles == roles
        if known is not None and is_same and self._is_only_process and known.changes == changes:
            return known.tables
        version = visible_user_tables.read_visible_version(self._engine, owner, roles)
        if known is None or not is_same or known.version != version:
            own = user_table_record.read_user_tables(self._engine, owner) if any(version) else ()
            shared = visible_user_tables.read_shared_tables(self._engine, owner, roles) if any(version) else ()
            catalogue = visible_user_tables.add_user_tables(base, own, shared)
            known = _CachedCatalogue(changes, version, roles, base, VisibleTables(catalogue, own, shared))
        else:
            known = replace(known, changes=changes)
        self._cache_catalogue(owner, known)
        return known.tables

    def _cache_catalogue(self, owner: str, known: _CachedCatalogue) -> None:
        with self._lock:
            self._cached[owner] = known
            self._cached.move_to_end(owner)
            while len(self._cached) > 1 and self._is_cache_full():
                self._cached.popitem(last=False)

    def _is_cache_full(self) -> bool:
        columns = sum(known.column_count for known in self._cached.values())
        return len(self._cached) > _MAX_CATALOGUES or columns > _MAX_CACHED_COLUMNS

    def note_use(self, owner: str, tables: Iterable[TableEntry]) -> None:
        """Record the use of the user tables among these, at most once a day for each table.

        Parameters
        ----------
        owner : str
            The user who reads the tables.
        tables : Iterable[TableEntry]
            Tables of any kind. Their use delays the expiry of user tables, including shared ones.
        """
        stored = {entry.stored_sql for entry in tables if entry.schema.name.startswith(user_table_record.SCHEMA_NAME)}
        if not stored:
            return
        today = datetime.datetime.now(datetime.UTC).date()
        with self._lock:
            if self._noted_day != today:
                self._noted, self._noted_day = set(), today
            visible = self._cached[owner].tables if owner in self._cached else None
            records = (*visible.own, *visible.shared) if visible else ()
            new = {each.described for each in records if quote_storage(each.storage) in stored} - self._noted
            self._noted |= new
        if new:
            try:
                user_table_record.write_uses(self._engine, new)
            except EngineError as error:
                _log.warning("the use of a user table cannot be recorded: %s", error.detail)
