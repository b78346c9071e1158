"""A ClickHouse server over HTTP, through clickhouse-connect.

Measured with ClickHouse 26.9 and clickhouse-connect 1.12:

* the driver's sessions serialise queries, so this engine uses none: one client serves all threads;
* the HTTP status is 200 from the first byte on; ``clickhouse_http_body`` finds later errors;
* closing the connection stops a query only when it next reads rows, so leaving a stream early kills the query by its
id; * a query may be silent for hours, so only TCP keepalive detects a vanished server.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import clickhouse_connect
import pyarrow as pa
from clickhouse_connect.common import set_setting
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import Error as DriverError
from clickhouse_connect.driver.httputil import get_pool_manager
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ReadTimeoutError
from urllib3.response import BaseHTTPResponse

from clickhouse_schema import quoting
from clickhouse_schema.shard_map import ShardStatement
from tap_service.storage.engine.clickhouse_http_body import (
    CONNECTION_ERRORS,
    ResponseBody,
    connection_error,
    write_arrow_stream,
)
from tap_service.storage.engine.engine import (
    DEFAULT_SETTINGS,
    SINGLE_BLOCK_SETTINGS,
    EngineError,
    EngineSilent,
    EngineUnavailable,
    EngineUnreachable,
    Progress,
    Settings,
    check_settings,
)
from tap_service.storage.engine.engine_errors import translate_error
from tap_service.storage.engine.memory_settings import choose_memory_settings
from tap_service.storage.engine.running_queries import list_running_ids, read_progress

_log = logging.getLogger("skyhouse")

#: maximum number of idle connections that stay open
_POOL_CONNECTIONS = 64

_CONNECT_SECONDS = 5

#: time limit in seconds of the server's silence during quick statements, such as KILL QUERY
_SHORT_SECONDS = 10

#: With these settings the server stops a read-only query when its client is gone, such as a killed service. (The server
#: checks the connection when it has read rows: a join that computes for hours without reading continues.)
_ATTENDED: dict[str, str | int | float] = {"readonly": 2, "cancel_http_readonly_queries_on_client_close": 1}

# By default the driver truncates messages to 240 characters, and logs the errors that it raises.
set_setting("max_error_size", 0)
logging.getLogger("clickhouse_connect").setLevel(logging.CRITICAL)
# Its warnings about broken connections repeat the raised errors, with all settings.
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


class ClickHouseEngine:
    """One ClickHouse server; ``ClickHouseServers`` combines several.

    Parameters
    ----------
    url : str
        Such as ``http://ch1:8123``. Not a load balancer: a query is killed on the server where it runs.
    user, password : str
        The rights of this user decide what queries can read.
    max_memory : int
        The memory limit of one query in bytes; 0 leaves it to the server.
    silence_seconds : int
        How long the server may send nothing during a query.
    ca : Path | None
        A PEM file of the authority that signs the server's certificate; by default the system's authorities.

    Raises
    ------
    EngineUnavailable
        The server does not answer, or refuses the user.
    """

    def __init__(
        self,
        url: str,
        user: str = "default",
        password: str = "",
        *,
        max_memory: int = 0,
        silence_seconds: int = 3600,
        ca: Path | None = None,
    ) -> None:
        self._defaults = {**DEFAULT_SETTINGS, **choose_memory_settings(max_memory)}
        # keepalive detects a vanished server after 15 + 3 * 5 seconds
        signers = None if ca is None else str(ca)
        self._pool = get_pool_manager(
            keep_idle=15, keep_interval=5, keep_count=3, maxsize=_POOL_CONNECTIONS, ca_cert=signers
        )
        self._streams: dict[str, ResponseBody] = {}
        self._closed = False
        try:
            with _translate_errors():
                self._client = self._open_client(url, user, password, silence_seconds)
                self._short = self._open_client(url, user, password, _SHORT_SECONDS)
        except EngineError as error:
            detail = f"cannot use the engine at {url}: {error.detail}"
            kind = type(error) if isinstance(error, EngineUnavailable) else EngineUnavailable
            raise kind(str(error), error.code, detail) from error

    def execute(self, sql: str, settings: Settings | None = None, *, query_id: str = "") -> None:
        self._send_statement(
            self._client, sql, (_query_id_settings(query_id) if query_id else {}) | dict(settings or {})
        )

    def fetch_table(self, sql: str, settings: Settings | None = None) -> pa.Table:
        with self._open_body(self._client, sql, settings) as body:
            return body.read_table()

    @contextmanager
    def stream_batches(
        self,
        sql: str,
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,  # noqa: ARG002  for several servers
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        query_id = query_id or uuid.uuid4().hex
        ended = False
        try:
            with self._open_body(
                self._client, sql, _ATTENDED | _query_id_settings(query_id) | dict(settings or {})
            ) as body:
                self._streams[query_id] = body
                try:
                    yield body.read_batches(batch_rows)
                finally:
                    del self._streams[query_id]
                    ended = body.ended
        except EngineError as error:
            ended = ended or error.code > 0
            raise
        finally:
            if not ended:
                self._cancel_abandoned(query_id)

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], settings: Settings | None = None) -> None:
        """Insert all batches as one block, one part for each partition. Nothing is sent until all batches exist."""
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        names = ", ".join(quoting.quote_identifier(name) for name in parts[0].schema.names)
        wanted = self._merge_settings(SINGLE_BLOCK_SETTINGS | dict(settings or {}))
        with _translate_errors():
            self._client.raw_insert(f"{table} ({names})", None, write_arrow_stream(parts), wanted, "ArrowStream")

    def cancel_query(self, query_id: str) -> None:
        """Cancel a query. If the server is unreachable, the query's reader gets ``EngineUnavailable`` at once."""
        try:
            self._send_statement(
                self._short, f"KILL QUERY WHERE query_id = {quoting.quote_string(query_id)} ASYNC", None
            )
        except EngineUnavailable:
            if body := self._streams.get(query_id):
                body.interrupt_reader()
            raise

    def read_progress(self, query_ids: Sequence[str]) -> dict[str, Progress]:
        return read_progress(self._fetch_quickly, query_ids)

    def list_running_ids(self, prefix: str) -> list[str]:
        return list_running_ids(self._fetch_quickly, prefix)

    def list_servers(self) -> tuple[ClickHouseEngine]:
        return (self,)

    def require_servers(self) -> tuple[ClickHouseEngine]:
        return (self,)

    def pin_server(self) -> ClickHouseEngine:
        return self

    def explain_query(self, sql: str, settings: Settings | None = None) -> str:
        lines = self.fetch_table(
            f"EXPLAIN PLAN indexes = 1, actions = 0, projections = 1, distributed = 1 {sql}", settings
        )
        return "\n".join(lines.column(0).to_pylist()) if lines.num_columns else ""

    def ping(self) -> None:
        if self._fetch_quickly("SELECT 1 AS one").column(0).to_pylist() != [1]:
            raise EngineUnavailable("the engine returns wrong answers")

    def close(self) -> None:
        """Close the connections. Callers cancel queries that still run in the server. May be called twice."""
        self._closed = True
        self._pool.clear()

    def _fetch_quickly(self, sql: str) -> pa.Table:
        """Run a query that the server answers at once."""
        with self._open_body(self._short, sql, None) as body:
            return body.read_table()

    def _send_statement(self, client: Client, sql: str, settings: Settings | None) -> None:
        with self._open_body(client, sql, settings, result=False) as body:
            body.check_empty()

    @contextmanager
    def _open_body(
        self, client: Client, sql: str, settings: Settings | None, *, result: bool = True
    ) -> Iterator[ResponseBody]:
        """Send a statement and yield the response, which is an Arrow stream if there is a ``result``."""
        wanted = self._merge_settings(settings)
        form = "ArrowStream" if result else "Null"
        with _translate_errors():
            # some statements take no FORMAT clause, so a header names the format
            response = client.raw_stream(sql, settings=wanted, transport_settings={"X-ClickHouse-Format": form})
        body = ResponseBody(cast(BaseHTTPResponse, response))
        try:
            yield body
        finally:
            body.close()

    def _merge_settings(self, settings: Settings | None) -> dict[str, Any]:
        if self._closed:
            raise EngineUnavailable("the engine is shut down")
        wanted = check_settings(self._defaults | dict(settings or {}))
        return {name: int(value) if isinstance(value, bool) else value for name, value in wanted.items()}

    def _cancel_abandoned(self, query_id: str) -> None:
        try:
            self.cancel_query(query_id)
        except EngineError as error:
            _log.warning("query %s may still run in the engine: %s", query_id, error.detail)

    def _open_client(self, url: str, user: str, password: str, silence_seconds: int) -> Client:
        parts = urlsplit(url)
        return clickhouse_connect.get_client(
            interface=parts.scheme,
            host=parts.hostname or "",
            port=parts.port or (8443 if parts.scheme == "https" else 8123),
            proxy_path=parts.path,
            username=user,
            password=password,
            pool_mgr=self._pool,
            connect_timeout=_CONNECT_SECONDS,
            send_receive_timeout=silence_seconds,
            autogenerate_session_id=False,
            autogenerate_query_id=False,
            show_clickhouse_errors="scrub",
        )


def _query_id_settings(query_id: str) -> dict[str, str | int | float]:
    """Return the settings that name a query. A retry replaces the query of a killed worker that has the same id."""
    return {"query_id": query_id, "log_comment": query_id, "replace_running_query": 1}


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise the driver's errors as ``EngineError``, with the server's message if it sent one."""
    try:
        yield
    except DriverError as error:
        if error.code:
            text = str(error)
            raise translate_error(text if "Code: " in text else f"Code: {error.code}. {text}") from error
        reason = _find_cause(error)
        raise _choose_error_class(reason)("the engine does not answer", detail=str(reason)) from error
    except CONNECTION_ERRORS as error:
        raise connection_error(error) from error


def _find_cause(error: DriverError) -> BaseException:
    """Return the cause of a driver's error, which itself has no details."""
    cause = error.__cause__
    return error if cause is None else getattr(cause, "reason", cause)


def _choose_error_class(reason: BaseException) -> type[EngineUnavailable]:
    if isinstance(reason, NewConnectionError | ConnectTimeoutError):
        return EngineUnreachable
    return EngineSilent if isinstance(reason, ReadTimeoutError) else EngineUnavailable
