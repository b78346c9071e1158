"""The ClickHouse servers of the settings as one engine with failover.

* A read that fails before it returns rows is retried once: on another server, or on the same server if that could not
  reach another replica of a shard, since ClickHouse then avoids the failed replica. It is not retried a second time,
  because the query itself may crash the servers.
* A write is retried only if nothing was sent.
* Users' queries are spread over the servers. A query whose rows are all on one shard goes to a server of that shard, as
  a query of its local tables. Skyhouse's own tables are read and written at the first reachable server, because
  replicas lag behind.
* A query is cancelled and observed on the server where it runs.
"""

from __future__ import annotations

import copy
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from clickhouse_schema.shard_map import ShardStatement
from tap_service.storage.engine.engine import (
    Engine,
    EngineSilent,
    EngineUnavailable,
    EngineUnreachable,
    Progress,
    QueryCancelled,
    Settings,
    ShardUnavailable,
)
from tap_service.storage.engine.server_endpoints import Endpoint, Endpoints

#: maximum number of servers to which a read is sent
_MAX_TRIES = 2

#: prefixes of the names of Skyhouse's tables in generated SQL
_OWN_TABLES = ("`TAP_SCHEMA`.", "skyhouse.", "`skyhouse`.")

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _RunningQuery:
    """A query of this process: its server, and whether it was cancelled."""

    endpoint: Endpoint | None = None
    stopped: bool = False

    def choose_sql(self, sql: str, on_shard: ShardStatement) -> str:
        is_local = self.endpoint is not None and self.endpoint.find_shard() == on_shard.shard
        return on_shard.sql if is_local else sql


class ClickHouseServers:
    """The engine that consists of several servers.

    Parameters
    ----------
    urls : Sequence[str]
        The servers.
    connect : Callable[[str], Engine]
        Opens the engine of one server.
    is_required : bool
        Whether a server must answer now.

    Raises
    ------
    EngineUnavailable
        A server is required, and none answers.
    """

    def __init__(self, urls: Sequence[str], connect: Callable[[str], Engine], *, is_required: bool = True) -> None:
        self._endpoints = Endpoints(Endpoint(url, connect) for url in urls)
        self._running: dict[str, _RunningQuery] = {}
        self._turn = itertools.count()
        try:
            if is_required:
                self.ping()
        except BaseException:
            self.close()
            raise

    def execute(self, sql: str, settings: Settings | None = None, *, query_id: str = "") -> None:
        with self._track_query(query_id) as running:
            self._try_write(sql, lambda engine: engine.execute(sql, settings, query_id=query_id), running)

    def fetch_table(self, sql: str, settings: Settings | None = None) -> pa.Table:
        endpoints = self._endpoints.choose_for_statement(sql)
        return self._try_read(endpoints, lambda engine: engine.fetch_table(sql, settings), _RunningQuery())

    @contextmanager
    def stream_batches(
        self,
        sql: str,
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        query_id = query_id or uuid.uuid4().hex

        def open_stream(engine: Engine) -> tuple[ExitStack, list[pa.RecordBatch], Iterator[pa.RecordBatch]]:
            text = sql if on_shard is None else running.choose_sql(sql, on_shard)
            with ExitStack() as stack:
                found = engine.stream_batches(text, query_id=query_id, settings=settings, batch_rows=batch_rows)
                batches = stack.enter_context(found)
                first = list(itertools.islice(batches, 1))
                return stack.pop_all(), first, batches

        with self._track_query(query_id) as running:
            endpoints = self._choose_endpoints(sql)
            if on_shard is not None:
                endpoints = self._endpoints.put_shard_first(endpoints, on_shard.shard)
            stack, first, batches = self._try_read(endpoints, open_stream, running, query_id)
            with stack:
                yield itertools.chain(first, self._watch_batches(batches, running, query_id))

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], settings: Settings | None = None) -> None:
        block = list(batches)
        self._try_write(table, lambda engine: engine.insert_batches(table, block, settings), _RunningQuery())

    def cancel_query(self, query_id: str) -> None:
        """Cancel a query on its server, or on every server if another process started it."""
        if running := self._running.get(query_id):
            running.stopped = True
            if running.endpoint is not None:
                running.endpoint.use_engine(lambda engine: engine.cancel_query(query_id))
            return
        self._ask_each(lambda engine: engine.cancel_query(query_id))

    def read_progress(self, query_ids: Sequence[str]) -> dict[str, Progress]:
        queries = [self._running.get(query_id) for query_id in query_ids]
        known = {query.endpoint for query in queries if query is not None and query.endpoint is not None}
        asked = None if None in queries else tuple(known)  # other processes' queries may run on any server
        found: dict[str, Progress] = {}
        for part in self._ask_each(lambda engine: engine.read_progress(query_ids), asked):
            found |= part
        return found

    def list_running_ids(self, prefix: str) -> list[str]:
        parts = self._ask_each(lambda engine: engine.list_running_ids(prefix))
        return list(dict.fromkeys(itertools.chain.from_iterable(parts)))

    def list_servers(self) -> Sequence[Engine]:
        return self._ask_each(lambda engine: engine)

    def require_servers(self) -> Sequence[Engine]:
        return [endpoint.use_engine(_ping_engine) for endpoint in self._endpoints.list_all()]

    def pin_server(self) -> ClickHouseServers:
        pinned = copy.copy(self)
        pinned._endpoints = self._endpoints.pin_first()
        return pinned

    def explain_query(self, sql: str, settings: Settings | None = None) -> str:
        endpoints = self._endpoints.choose_for_statement(sql)
        return self._try_read(endpoints, lambda engine: engine.explain_query(sql, settings), _RunningQuery())

    def ping(self) -> None:
        failed: list[str] = []
        for endpoint in self._endpoints.list_in_order():
            try:
                return endpoint.use_engine(lambda engine: engine.ping())
            except EngineUnavailable as error:
                failed.append(error.detail)
        raise EngineUnavailable("the engine does not answer", detail="; ".join(failed))

    def close(self) -> None:
        self._endpoints.close()

    # --- failover -----------------------------------------------------------------------------------------------------

    def _choose_endpoints(self, sql: str) -> Sequence[Endpoint]:
        """Return the endpoints for a user's query, with the first one rotated."""
        is_own = any(name in sql for name in _OWN_TABLES)
        return self._endpoints.choose_for_statement(sql, 0 if is_own else next(self._turn))

    def _try_read(
        self, endpoints: Sequence[Endpoint], work: Callable[[Engine], T], running: _RunningQuery, query_id: str = ""
    ) -> T:
        left, sent = list(endpoints), 0
        while left and not running.stopped:
            running.endpoint = left.pop(0)
            try:
                return running.endpoint.use_engine(work)
            except EngineUnavailable as error:
                running.endpoint.note_failure(error, query_id)
                sent += not isinstance(error, EngineUnreachable)
                if isinstance(error, ShardUnavailable) and not left:
                    left.append(running.endpoint)
                if not left or sent == _MAX_TRIES or running.stopped or isinstance(error, EngineSilent):
                    raise
        raise QueryCancelled("the query was cancelled")

    def _try_write(self, sql: str, work: Callable[[Engine], None], running: _RunningQuery) -> None:
        for last, running.endpoint in _mark_last(self._endpoints.choose_for_statement(sql)):
            try:
                running.endpoint.use_engine(work)
                return self._endpoints.note_statement(sql, running.endpoint)
            except EngineUnreachable:
                if last:
                    raise

    def _ask_each(self, work: Callable[[Engine], T], endpoints: Sequence[Endpoint] | None = None) -> list[T]:
        """Return the results of all servers that answer. Raise EngineUnavailable if none does."""
        found: list[T] = []
        failed = None
        for endpoint in self._endpoints.list_ready() if endpoints is None else endpoints:
            try:
                found.append(endpoint.use_engine(work))
            except EngineUnavailable as error:
                failed = error
        if failed is not None and not found:
            raise failed
        return found

    def _watch_batches(
        self, batches: Iterator[pa.RecordBatch], running: _RunningQuery, query_id: str
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches; after the first rows, a failure is final."""
        try:
            yield from batches
        except EngineUnavailable as error:
            if running.endpoint is not None:
                running.endpoint.note_failure(error, query_id)
            raise

    @contextmanager
    def _track_query(self, query_id: str) -> Iterator[_RunningQuery]:
        running = _RunningQuery()
        if query_id:
            self._running[query_id] = running
        try:
            yield running
        finally:
            if self._running.get(query_id) is running:
                del self._running[query_id]


def _ping_engine(engine: Engine) -> Engine:
    engine.ping()
    return engine


def _mark_last(endpoints: Sequence[Endpoint]) -> Iterator[tuple[bool, Endpoint]]:
    return ((number == len(endpoints), endpoint) for number, endpoint in enumerate(endpoints, 1))
