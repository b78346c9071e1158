"""The servers of the settings: which servers answer, and which server holds a local table.

Each server can answer a query of the catalogue. Uploads, user tables and merge tables are local: they exist only on the
server that created them. They are recognised by their names, which are unique in the cluster.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from clickhouse_schema.cluster_topology import find_replica_ids
from clickhouse_schema.engine_tables.user_table_record import DATABASE as USERS_DATABASE
from clickhouse_schema.quoting import quote_string
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable, ShardUnavailable, TablesApart
from tap_service.storage.engine.query_tables import DATABASE

_log = logging.getLogger("skyhouse")

#: seconds before an unreachable server is tried again: at first, and at most
_MIN_RETRY_SECONDS, _MAX_RETRY_SECONDS = 0.5, 30.0

#: databases and names of tables of single servers: see ``query_tables.upload_table_name``,
#: ``merge_tables.merge_table_name`` and ``user_table_record``
_DATABASES = f"{quote_string(DATABASE)}, {quote_string(USERS_DATABASE)}"
_OWN_TABLE = re.compile(r"`skyhouse`\.`((?:upload|groups)_\w+)`|\b([tl]_[0-9a-f]{24})\b")

_CREATES, _DROPS, _RENAMES = (re.compile(rf"\s*{word}\b") for word in ("CREATE", "DROP", "RENAME"))

#: the error code that ClickHouse would return
_UNKNOWN_TABLE = 60
_APART = (
    "the query needs local tables of different servers, because one was unreachable when your table was created: "
    "create that table again from a query that selects all of it"
)

_NO_SHARD = -1

#: maximum number of cached tables with their servers
_MAX_HOLDERS = 10_000

T = TypeVar("T")


class Endpoint:
    """One server. ``connect`` opens its engine at the first use."""

    def __init__(self, url: str, connect: Callable[[str], Engine]) -> None:
        self.url = url
        #: the last known state
        self.answers = True
        self._connect = connect
        self._engine: Engine | None = None
        self._shard: int | None = None
        self._opening = threading.Lock()
        self._changing = threading.Lock()
        self._abandoned: set[str] = set()
        self._closed = threading.Event()

    def use_engine(self, work: Callable[[Engine], T]) -> T:
        """Call ``work`` with the engine. A server that does not answer gets no queries until it answers again."""
        try:
            return work(self.open_engine())
        except EngineUnavailable as error:
            self.note_failure(error)
            raise

    def open_engine(self) -> Engine:
        """Return the engine, connected at the first call. Raise EngineUnavailable."""
        with self._opening:
            if self._engine is None and not self._closed.is_set():
                try:
                    self._engine = self._connect(self.url)
                except EngineUnavailable as error:
                    self._mark_unreachable(error)
                    raise
            if self._engine is None or self._closed.is_set():
                self.close()
                raise EngineUnavailable("the engine is shut down")
            return self._engine

    def find_shard(self) -> int | None:
        """Return the shard of the server, counted from 0; None without a cluster, or while it does not answer."""
        if self._shard is None:
            try:
                found = self.use_engine(find_replica_ids)
            except EngineError:
                return None
            self._shard = found[0].shard - 1 if len(found) == 1 else _NO_SHARD
        return None if self._shard == _NO_SHARD else self._shard

    def note_failure(self, error: EngineUnavailable, query_id: str = "") -> None:
        """Note that a query failed. If the connection broke, the query may still run in the server."""
        if error.code:  # the server answered
            return
        if query_id:
            with self._changing:
                self._abandoned.add(query_id)
        self._mark_unreachable(error)

    def close(self) -> None:
        self._closed.set()
        if self._engine is not None:
            self._engine.close()

    def _mark_unreachable(self, error: EngineUnavailable) -> None:
        with self._changing:
            if not self.answers or self._closed.is_set():
                return
            self.answers = False
        threading.Thread(target=self._wait_until_reachable, args=(error,), name="endpoint", daemon=True).start()

    def _wait_until_reachable(self, error: EngineUnavailable) -> None:
        pause, is_logged = _MIN_RETRY_SECONDS, False
        while not self._closed.wait(pause):
            if not is_logged:  # a service that cannot start logs that itself
                _log.warning("the server %s does not answer: %s", self.url, error.detail)
                is_logged = True
            try:
                engine = self.open_engine()
                engine.ping()
                while query_id := self._next_abandoned():
                    engine.cancel_query(query_id)
                    self._abandoned.discard(query_id)
            except EngineError:
                pause = min(2 * pause, _MAX_RETRY_SECONDS)
                continue
            self.answers = True
            _log.warning("the server %s answers again", self.url)
            return

    def _next_abandoned(self) -> str:
        """Return the id of a query that may still run in this server, or ''."""
        with self._changing:
            return next(iter(self._abandoned), "")


class Endpoints:
    """All servers of a cluster. Thread-safe."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._all = tuple(endpoints)
        self._pinned: Endpoint | None = None
        self._holders: dict[str, Endpoint] = {}

    def list_all(self) -> Sequence[Endpoint]:
        """Return the servers in the order of the settings."""
        return self._all

    def pin_first(self) -> Endpoints:
        """Return the same servers, with one that answers chosen for all statements."""
        pinned = Endpoints(self._all)
        pinned._pinned = self.list_ready()[0]
        return pinned

    def list_ready(self) -> Sequence[Endpoint]:
        """Return the servers that answer, in the order of the settings.

        Return all if none does, since that may have changed.
        """
        return [endpoint for endpoint in self._all if endpoint.answers] or self._all

    def list_in_order(self, first: int = 0) -> Sequence[Endpoint]:
        """Return the servers that answer, rotated to start with number ``first``, and then the others."""
        ready = self.list_ready()
        first %= len(ready)
        others = [endpoint for endpoint in self._all if endpoint not in ready]
        return [*ready[first:], *ready[:first], *others]

    def choose_for_statement(self, sql: str, first: int = 0) -> Sequence[Endpoint]:
        """Return the servers that can execute a statement, the best first.

        Parameters
        ----------
        sql : str
            The statement.
        first : int
            As for ``list_in_order``.

        Raises
        ------
        TablesApart
            The statement needs local tables of different servers.
        ShardUnavailable
            The statement needs local tables of a server that does not answer.
        """
        if len(self._all) == 1:
            return self._all
        if self._pinned is not None:
            return [self._pinned]
        holders = {name: self._find_holder(name) for name in _find_own_tables(sql)}
        found = {holder for holder in holders.values() if holder is not None}
        if len(found) > 1:
            located = "; ".join(f"{name} on {holder.url}" for name, holder in holders.items() if holder)
            raise TablesApart(_APART, _UNKNOWN_TABLE, f"{located}: {sql[:200]}")
        missing = _find_required_tables(sql) & {name for name, holder in holders.items() if holder is None}
        if missing and not all(each.answers for each in self._all):
            raise ShardUnavailable("the server that holds one of your tables does not answer", detail=str(missing))
        return [*found] or self.list_in_order(first)

    def put_shard_first(self, endpoints: Sequence[Endpoint], shard: int) -> Sequence[Endpoint]:
        """Return the endpoints with the reachable servers of a shard first; that shard has all rows of the query."""
        return sorted(endpoints, key=lambda endpoint: not (endpoint.answers and endpoint.find_shard() == shard))

    def note_statement(self, sql: str, endpoint: Endpoint) -> None:
        """Note which local tables a statement created or dropped on a server."""
        for name in _find_own_tables(sql):
            if _DROPS.match(sql):
                self._holders.pop(name, None)
            else:
                self._remember_holder(name, endpoint)

    def close(self) -> None:
        for endpoint in self._all:
            endpoint.close()

    def _find_holder(self, name: str) -> Endpoint | None:
        if name in self._holders:
            return self._holders[name]
        sql = f"SELECT 1 AS one FROM system.tables WHERE database IN ({_DATABASES}) AND name = {quote_string(name)}"
        for endpoint in self.list_ready():
            try:
                has_table = endpoint.use_engine(lambda engine: engine.fetch_table(sql).num_rows > 0)
            except EngineUnavailable:
                continue  # the endpoint is now marked as unreachable
            if has_table:
                self._remember_holder(name, endpoint)
                return endpoint
        return None

    def _remember_holder(self, name: str, endpoint: Endpoint) -> None:
        if len(self._holders) >= _MAX_HOLDERS:
            self._holders.clear()
        self._holders[name] = endpoint


def _find_own_tables(sql: str) -> list[str]:
    """Return the local tables in a statement, each once."""
    return list(dict.fromkeys(one or other for one, other in _OWN_TABLE.findall(sql)))


def _find_required_tables(sql: str) -> set[str]:
    """Return the local tables that must exist for the statement: without the table that it creates or drops."""
    names = _find_own_tables(sql)
    if _CREATES.match(sql) or _DROPS.match(sql):
        return set(names[1:])
    return set(names[:1] if _RENAMES.match(sql) else names)
