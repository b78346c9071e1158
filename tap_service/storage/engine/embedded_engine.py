"""ClickHouse in this process, through chDB: the engine of a single machine.

Measured with chDB 4.4 (ClickHouse 26.9):

* a handle is isolated and executes one statement at a time; ``handle_pool`` keeps handles open;
* chDB assigns query ids itself, so queries are identified by ``log_comment``: as a setting in the statement it costs
  0.05 ms of processor time, as a SET before it 0.3 ms;
* ArrowStream read without threads takes 0.12 ms for a few rows, the file format 0.3 ms;
* a stream is pulled: the engine works a few blocks ahead of its reader, and cancelling the stream stops it at once;
* one process holds one data directory, and after a fork the engine must not be touched.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from clickhouse_schema import quoting
from clickhouse_schema.shard_map import ShardStatement
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME
from tap_service.storage.engine.copied_links import restore_links
from tap_service.storage.engine.cut_parts import find_cut_parts
from tap_service.storage.engine.data_path import lock_data_path
from tap_service.storage.engine.definition_files import NAME, DefinitionFiles, is_remade, split_table_name
from tap_service.storage.engine.disk_room import (
    choose_part_spare,
    choose_spare,
    require_room_for_rows,
)
from tap_service.storage.engine.engine import (
    DEFAULT_SETTINGS,
    SINGLE_BLOCK_SETTINGS,
    EngineUnavailable,
    Progress,
    Settings,
    StorageFull,
    check_settings,
)
from tap_service.storage.engine.engine_errors import shorten_message
from tap_service.storage.engine.handle_pool import Handle, HandlePool, connect_handle, setting_literal, translate_errors
from tap_service.storage.engine.memory_settings import choose_memory_settings
from tap_service.storage.engine.merge_priority import lower_merge_priority
from tap_service.storage.engine.query_tables import DATABASE
from tap_service.storage.engine.running_queries import list_running_ids, read_progress
from tap_service.storage.engine.thread_priority import NICE_SETTING, can_restore_priority

ARROW_FORMAT = "ArrowStream"
_READ_OPTIONS = pa.ipc.IpcReadOptions(use_threads=False)

#: Backups are written where the operator wants them. No text of users becomes a statement.
_ENGINE_SETTINGS = "?backups.allowed_path=/"

#: Refuses an INSERT, also between its parts. ``keep_free_space_bytes`` of the disk would also refuse the INSERTs by
#: which tables are dropped.
_SPARE_SETTING = "min_free_disk_bytes_to_perform_insert"

#: the first table is a staging table, whose rows become visible
_PUBLISHES = re.compile(rf"(?:EXCHANGE TABLES|RENAME TABLE) ((?:{NAME})\.(?:{NAME})) ")

_INSERTS = re.compile(rf"INSERT INTO ((?:{NAME})\.(?:{NAME}))")

#: the name of a part that was neither merged nor mutated
_IS_INSERTED = re.compile(r"_(\d+)_\1_0$")

#: Tables whose few rows may use the last space: without these rows nothing can be dropped.
_OWN_DATABASES = frozenset({DATABASE, TAP_SCHEMA_NAME})

#: seconds that ``close`` waits for running queries, whose reader may have paused
_CLOSING_SECONDS = 10


class EmbeddedEngine:
    """The embedded engine. It locks its data directory until ``close``.

    Parameters
    ----------
    data_path : Path
        The directory of the data, which is created if it is missing.
    max_memory : int
        The memory limit of one query in bytes; 0 means the engine's default, 90 % of the machine's memory.
    lock : TextIO | None
        What ``lock_data_path`` returned, if this process holds the path already.

    Raises
    ------
    EngineUnavailable
        Another process holds the path (``DataPathHeldError``), or the path is not writable.
    """

    def __init__(self, data_path: Path, *, max_memory: int = 0, lock: TextIO | None = None) -> None:
        self.data_path = Path(data_path).absolute()
        self._defaults = {**DEFAULT_SETTINGS, **choose_memory_settings(max_memory)}
        self._path = self.data_path / "clickhouse"  # or a link to a folder on another disk
        self._lock_file = lock or lock_data_path(self.data_path)
        self._definitions = DefinitionFiles(self._path)
        self._undone: Counter[str] = Counter()
        self._undoing = threading.Lock()
        self._pid = os.getpid()
        self._handles = HandlePool(str(self._path))
        try:
            self._root = self._open_root()
        except BaseException:
            self._lock_file.close()
            raise
        self._are_merges_low = lower_merge_priority()

    def _open_root(self) -> Any:
        if self._path.is_symlink() and not self._path.exists():
            raise EngineUnavailable(f"{self._path} is a link to {self._path.readlink()}, which does not exist")
        self._path.mkdir(exist_ok=True)
        self._definitions.repair_files()
        restore_links(self._path)
        try:
            return connect_handle(f"{self._path}{_ENGINE_SETTINGS}")
        except RuntimeError as error:
            raise EngineUnavailable(
                f"cannot open the engine's data in {self._path}: {shorten_message(str(error))}"
            ) from error

    def execute(self, sql: str, settings: Settings | None = None, *, query_id: str = "") -> None:
        if (inserts := _INSERTS.match(sql)) is not None:
            wanted = self._leave_spare(inserts[1], settings)
            with self._lend_handle(wanted, query_id) as handle, self._undo_cut_insert(handle, inserts[1]):
                _run_statement(handle, sql)
            return
        with self._lend_handle(settings, query_id) as handle:
            if (publishes := _PUBLISHES.match(sql)) is not None:
                self._require_whole_parts(handle, publishes[1])
            self._definitions.write_definition(sql, lambda statement: _run_statement(handle, statement))

    def fetch_table(self, sql: str, settings: Settings | None = None) -> pa.Table:
        with self._lend_handle(settings) as handle:
            return _read_table(_run_statement(handle, sql, ARROW_FORMAT))

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
        # after FORMAT, the setting applies to the entire statement, whatever its last SELECT is
        named = f"{sql} FORMAT {ARROW_FORMAT} SETTINGS log_comment = {setting_literal(query_id)}"
        with self._lend_handle(settings) as handle:
            with translate_errors():
                result = handle.chdb.send_query(named, ARROW_FORMAT)
            batches = _fetch_batches(handle, result, batch_rows)
            try:
                yield batches
            finally:
                batches.close()
                with translate_errors():
                    result.cancel()
                del batches, result  # before the handle is used again

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], settings: Settings | None = None) -> None:
        """Insert all batches as one block, one part for each partition.

        chDB's streaming ``send_insert`` is not used: it loses rows silently, for example if a MATERIALIZED expression
        fails.
        """
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts)
        names = ", ".join(quoting.quote_identifier(name) for name in rows.schema.names)
        if _split_name(table)[0] not in _OWN_DATABASES:
            require_room_for_rows(self._path, rows.nbytes)
        wanted = self._leave_spare(table, SINGLE_BLOCK_SETTINGS | dict(settings or {}))
        with self._lend_handle(wanted) as handle, self._undo_cut_insert(handle, table), translate_errors():
            self._are_merges_low = self._are_merges_low or lower_merge_priority()
            # chDB finds the variable ``rows`` in the calling function
            handle.chdb.query(f"INSERT INTO {table} ({names}) SELECT {names} FROM Python(rows)", "Null")
            handle.ended = True

    def cancel_query(self, query_id: str) -> None:
        # a SYNC kill of a stream waits for its reader, which may have paused
        self.execute(f"KILL QUERY WHERE Settings['log_comment'] = {setting_literal(query_id)} ASYNC")

    def read_progress(self, query_ids: Sequence[str]) -> dict[str, Progress]:
        return read_progress(self.fetch_table, query_ids)

    def list_running_ids(self, prefix: str) -> list[str]:
        return list_running_ids(self.fetch_table, prefix)

    def list_servers(self) -> tuple[EmbeddedEngine]:
        return (self,)

    def require_servers(self) -> tuple[EmbeddedEngine]:
        return (self,)

    def pin_server(self) -> EmbeddedEngine:
        return self

    def explain_query(self, sql: str, settings: Settings | None = None) -> str:
        lines = self.fetch_table(f"EXPLAIN PLAN indexes = 1, actions = 0, projections = 1 {sql}", settings)
        return "\n".join(lines.column(0).to_pylist()) if lines.num_columns else ""

    def ping(self) -> None:
        if self.fetch_table("SELECT 1 AS one").column(0).to_pylist() != [1]:
            raise EngineUnavailable("the engine returns wrong answers")

    def close(self) -> None:
        """Cancel running queries, wait for them, and release the data directory. May be called twice."""
        if not self._handles.stop_lending():
            return
        self._root.query("KILL QUERY WHERE query NOT LIKE 'KILL QUERY%' ASYNC", "Null")
        self._handles.close(_CLOSING_SECONDS)
        self._root.close()
        self._lock_file.close()

    def _require_whole_parts(self, handle: Handle, table: str) -> None:
        """Drop a staging table and raise StorageFull if the engine could not write it completely."""
        if any(self._find_cut_parts(handle, table)):
            if is_remade(*_split_name(table)):
                _run_statement(handle, f"DROP TABLE {table} SYNC")
            raise StorageFull("rows could not be written completely")

    def _leave_spare(self, table: str, settings: Settings | None) -> dict[str, str | int | float]:
        """Return the settings of an INSERT, which may use the last space only to note what is dropped."""
        database, name = _split_name(table)
        is_free = database in _OWN_DATABASES and (database != DATABASE or not is_remade(database, name))
        return {**(settings or {}), **({} if is_free else {_SPARE_SETTING: choose_part_spare(self._path)})}

    @contextmanager
    def _undo_cut_insert(self, handle: Handle, table: str) -> Iterator[None]:
        """Drop the parts of an INSERT and raise StorageFull if the disk became full while they were written.

        The parts do not show which INSERT wrote them: if one INSERT finds truncated parts, all concurrent INSERTs into
        the table fail.
        """
        undone = self._undone[table]
        yield
        if shutil.disk_usage(self._path).free >= choose_spare(self._path):
            return
        with self._undoing:
            for name in self._find_cut_parts(handle, table):
                if _IS_INSERTED.search(name):
                    _run_statement(handle, f"ALTER TABLE {table} DROP PART {quoting.quote_string(name)}")
                    self._undone[table] += 1
            if self._undone[table] != undone:
                raise StorageFull("rows could not be written completely")

    def _find_cut_parts(self, handle: Handle, table: str) -> Iterator[str]:
        return find_cut_parts(lambda sql: _read_table(_run_statement(handle, sql, ARROW_FORMAT)), *_split_name(table))

    @contextmanager
    def _lend_handle(self, settings: Settings | None = None, query_id: str = "") -> Iterator[Handle]:
        wanted = check_settings(self._defaults | dict(settings or {}))
        if not can_restore_priority():
            wanted.pop(NICE_SETTING, None)
        if os.getpid() != self._pid:
            raise EngineUnavailable("the embedded engine cannot be used in a forked process")
        with self._handles.lend_handle(wanted, query_id) as handle:
            yield handle


def _run_statement(handle: Handle, sql: str, form: str = "Null") -> bytes:
    with translate_errors():
        answer: bytes = handle.chdb.query(sql, form).bytes()
    handle.ended = True
    return answer


def _read_table(answer: bytes) -> pa.Table:
    return pa.ipc.open_stream(answer, options=_READ_OPTIONS).read_all() if answer else pa.table({})


def _fetch_batches(handle: Handle, result: Any, batch_rows: int) -> Generator[pa.RecordBatch]:
    while True:
        with translate_errors():
            chunk = result.fetch()
        if chunk is None:
            handle.ended = True
            return
        for batch in pa.ipc.open_stream(chunk.bytes(), options=_READ_OPTIONS):
            for start in range(0, batch.num_rows, batch_rows):
                yield batch.slice(start, batch_rows)


def _split_name(table: str) -> tuple[str, str]:
    """Return the database and the name of a table in a statement."""
    *database, name = split_table_name(table)
    return database[0] if database else "default", name
