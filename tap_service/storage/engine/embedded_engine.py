"""ClickHouse in this process, through chDB: the engine of a single machine.

Measured with chDB 4.4 (ClickHouse 26.9):

* a handle costs 0.15 ms and is isolated, so each call opens its own; ``SET`` applies the call's settings (0.2 ms);
* chDB assigns query ids itself, so queries are identified by ``log_comment``;
* a stream is pulled: the engine works a few blocks ahead of its reader, and cancelling the stream stops it at once;
* one process holds one data path, and after a fork the engine must not be touched.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import chdb
import pyarrow as pa

from clickhouse_schema import quoting
from tap_service.storage.directory_lock import DirectoryHeldError, lock_directory
from tap_service.storage.engine.engine import (
    DEFAULT_SETTINGS,
    SINGLE_BLOCK_SETTINGS,
    EngineUnavailable,
    Progress,
    Settings,
    check_settings,
)
from tap_service.storage.engine.engine_errors import shorten_message, translate_error
from tap_service.storage.engine.running_queries import list_running_ids, read_progress

#: how long ``close`` waits for running queries; a reader may have paused
_CLOSING_SECONDS = 10


class DataPathHeldError(EngineUnavailable):
    """Another process, ``pid``, holds the data path."""

    def __init__(self, data_path: Path, pid: str) -> None:
        super().__init__(
            f"another process (pid {pid}) holds the data path {data_path}: "
            "stop it, or give this one another path with --data"
        )
        self.pid = pid


class EmbeddedEngine:
    """The embedded engine. It locks its data path until ``close``.

    Parameters
    ----------
    data_path
        The directory of the data; created if missing.
    max_memory
        The memory limit of one query in bytes; 0 means the engine's default, 90 % of the machine's memory.

    Raises
    ------
    EngineUnavailable
        Another process holds the path (``DataPathHeldError``), or the path is not writable.
    """

    def __init__(self, data_path: Path, *, max_memory: int = 0) -> None:
        self.data_path = Path(data_path).absolute()
        self._defaults = DEFAULT_SETTINGS | ({"max_memory_usage": max_memory} if max_memory else {})
        self._lock_file = lock_data_path(self.data_path)
        self._path = str(self.data_path / "clickhouse")
        self._pid = os.getpid()
        self._open_handles = 0
        self._idle = threading.Condition()
        self._closed = False
        try:
            self._root = _connect(self._path)
        except RuntimeError as error:
            self._lock_file.close()
            raise EngineUnavailable(
                f"cannot open the engine's data in {self._path}: {shorten_message(str(error))}"
            ) from error

    def execute(self, sql: str, settings: Settings | None = None, *, query_id: str = "") -> None:
        with self._open_handle(settings, query_id) as handle, _translate_errors():
            handle.query(sql, "Null")

    def fetch_table(self, sql: str, settings: Settings | None = None) -> pa.Table:
        with self._open_handle(settings) as handle, _translate_errors():
            answer = handle.query(sql, "Arrow").bytes()
        return pa.ipc.open_file(answer).read_all() if answer else pa.table({})

    @contextmanager
    def stream_batches(
        self, sql: str, *, query_id: str = "", settings: Settings | None = None, batch_rows: int = 16384
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        with self._open_handle(settings, query_id) as handle:
            with _translate_errors():
                result = handle.send_query(sql, "Arrow")
            try:
                yield _fetch_batches(result, batch_rows)
            finally:
                with _translate_errors():
                    result.cancel()

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], settings: Settings | None = None) -> None:
        """Insert all batches as one block, one part per partition.

        chDB's streaming ``send_insert`` loses rows silently when, for example, a MATERIALIZED expression fails.
        """
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts)
        names = ", ".join(quoting.quote_identifier(name) for name in rows.schema.names)
        with self._open_handle(SINGLE_BLOCK_SETTINGS | dict(settings or {})) as handle, _translate_errors():
            handle.query(f"INSERT INTO {table} ({names}) SELECT {names} FROM Python(rows)", "Null")

    def cancel_query(self, query_id: str) -> None:
        # a SYNC kill of a stream waits for its reader, which may have paused
        self.execute(f"KILL QUERY WHERE Settings['log_comment'] = {_setting_literal(query_id)} ASYNC")

    def read_progress(self, query_ids: Sequence[str]) -> dict[str, Progress]:
        return read_progress(self.fetch_table, query_ids)

    def list_running_ids(self, prefix: str) -> list[str]:
        return list_running_ids(self.fetch_table, prefix)

    def list_servers(self) -> tuple[EmbeddedEngine]:
        return (self,)

    def explain_query(self, sql: str, settings: Settings | None = None) -> str:
        lines = self.fetch_table(f"EXPLAIN PLAN indexes = 1, actions = 0, projections = 1 {sql}", settings)
        return "\n".join(lines.column(0).to_pylist()) if lines.num_columns else ""

    def ping(self) -> None:
        if self.fetch_table("SELECT 1 AS one").column(0).to_pylist() != [1]:
            raise EngineUnavailable("the engine returns wrong answers")

    def close(self) -> None:
        """Cancel running queries, wait for them, and release the data path. May be called twice."""
        with self._idle:
            if self._closed:
                return
            self._closed = True
        self._root.query("KILL QUERY WHERE query NOT LIKE 'KILL QUERY%' ASYNC", "Null")
        with self._idle:
            self._idle.wait_for(lambda: not self._open_handles, timeout=_CLOSING_SECONDS)
        self._root.close()
        self._lock_file.close()

    @contextmanager
    def _open_handle(self, settings: Settings | None = None, query_id: str = "") -> Iterator[Any]:
        """Open a handle with these settings."""
        wanted = check_settings(self._defaults | dict(settings or {}))
        if query_id:
            wanted["log_comment"] = query_id
        assignments = ", ".join(f"{key} = {_setting_literal(value)}" for key, value in wanted.items())
        if os.getpid() != self._pid:
            raise EngineUnavailable("the embedded engine cannot be used in a forked process")
        with self._idle:
            if self._closed:
                raise EngineUnavailable("the engine is shut down")
            self._open_handles += 1
        try:
            with _translate_errors():
                handle = _connect(self._path)
            try:
                with _translate_errors():
                    handle.query(f"SET {assignments}")
                yield handle
            finally:
                handle.close()
        finally:
            with self._idle:
                self._open_handles -= 1
                self._idle.notify_all()


_connect: Callable[[str], Any] = chdb.connect


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise both kinds of chDB's errors as ``EngineError``."""
    try:
        yield
    except (chdb.ChdbError, RuntimeError) as error:
        raise translate_error(str(error)) from error


def lock_data_path(data_path: Path) -> TextIO:
    """Create ``data_path`` and lock it for this process; the lock lasts as long as the returned file is open."""
    try:
        return lock_directory(data_path, "lock")
    except DirectoryHeldError as error:
        raise DataPathHeldError(data_path, error.pid) from error
    except OSError as error:
        raise EngineUnavailable(
            f"cannot use {data_path} for data: {error.strerror} (give another path, or make it writable for this user)"
        ) from error


def _fetch_batches(result: Any, batch_rows: int) -> Iterator[pa.RecordBatch]:
    while True:
        with _translate_errors():
            chunk = result.fetch()
        if chunk is None:
            return
        for batch in pa.ipc.open_file(chunk.bytes()).read_all().to_batches():
            for start in range(0, batch.num_rows, batch_rows):
                yield batch.slice(start, batch_rows)


def _setting_literal(value: str | int | float) -> str:
    return (
        quoting.quote_string(value)
        if isinstance(value, str)
        else repr(int(value) if isinstance(value, bool) else value)
    )
