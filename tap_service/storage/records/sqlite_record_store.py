"""Records in an SQLite file: the store of a single machine."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tap_service.storage.disk_reserve import use_reserve
from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordReader, RecordStore, T
from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script

_TABLES = """
CREATE TABLE record (store_table TEXT, key TEXT, text TEXT NOT NULL, PRIMARY KEY (store_table, key));
CREATE TABLE member (
    store_index TEXT, member TEXT, score INTEGER NOT NULL, PRIMARY KEY (store_index, member)
) WITHOUT ROWID;
CREATE TABLE expiry (store_index TEXT PRIMARY KEY, ends REAL NOT NULL);
"""


class SqliteRecordStore(RecordStore):
    """Records in one file of ``directory``, both of which are created if they are missing."""

    def __init__(self, directory: Path, record_format: RecordFormat) -> None:
        steps = (
            execute_script(record_format.former_tables),
            execute_script(_TABLES + record_format.conversion),
        )
        self._reserve = directory / record_format.reserve_name if record_format.reserve_name else None
        with self._use_reserve():
            self._file = SqliteFile(
                directory / record_format.file_name,
                steps,
                record_format.unavailable,
                f"{record_format.subject} cannot be used",
                pragma=record_format.pragma,
                makes_directory=True,
            )

    @contextmanager
    def read_records(self) -> Iterator[RecordReader]:
        with self._file.borrow_connection() as connection:
            yield _SqliteRecords(connection)

    def change_records(self, step: Callable[[RecordChange], T]) -> T:
        with self._file.begin_transaction() as connection:
            records = _SqliteRecords(connection)
            records.delete_expired()
            return step(records)

    def close(self) -> None:
        with self._use_reserve():
            self._file.close()

    def _use_reserve(self) -> AbstractContextManager[None]:
        return nullcontext() if self._reserve is None else use_reserve(self._reserve)


class _SqliteRecords(RecordChange):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get_record(self, table: str, key: str) -> str | None:
        found = self._select("text FROM record WHERE store_table = ? AND key = ?", table, key)
        return found[0][0] if found else None

    def get_records(self, table: str) -> dict[str, str]:
        return dict(self._select("key, text FROM record WHERE store_table = ?", table))

    def find_records(self, table: str, keys: Iterable[str]) -> list[str]:
        found = (self.get_record(table, key) for key in keys)
        return [text for text in found if text is not None]

    def list_members(
        self, index: str, *, descending: bool = False, skip: int = 0, limit: int | None = None
    ) -> list[str]:
        order = "score DESC, member DESC" if descending else "score, member"
        rest = f"WHERE store_index = ? ORDER BY {order} LIMIT ? OFFSET ?"
        return self._list(rest, index, -1 if limit is None else limit, skip)

    def list_up_to(self, index: str, score: int, limit: int) -> list[str]:
        return self._list("WHERE store_index = ? AND score <= ? ORDER BY score, member LIMIT ?", index, score, limit)

    def list_below(self, index: str, member: str, limit: int | None = None) -> list[str]:
        rest = "WHERE store_index = ? AND member < ? ORDER BY member DESC LIMIT ?"
        return self._list(rest, index, member, -1 if limit is None else limit)

    def read_scores(self, index: str) -> dict[str, int]:
        return dict(self._select("member, score FROM member WHERE store_index = ?", index))

    def put_record(self, table: str, key: str, text: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", (table, key, text))

    def delete_records(self, table: str, keys: Iterable[str]) -> None:
        sql = "DELETE FROM record WHERE store_table = ? AND key = ?"
        self._connection.executemany(sql, ((table, key) for key in keys))

    def add_members(self, index: str, scores: Mapping[str, int]) -> None:
        rows = ((index, member, score) for member, score in scores.items())
        self._connection.executemany("INSERT OR REPLACE INTO member VALUES (?, ?, ?)", rows)

    def remove_members(self, index: str, members: Iterable[str]) -> None:
        sql = "DELETE FROM member WHERE store_index = ? AND member = ?"
        self._connection.executemany(sql, ((index, member) for member in members))
        without_members = "store_index = ? AND NOT EXISTS (SELECT 1 FROM member WHERE store_index = ?)"
        self._connection.execute(f"DELETE FROM expiry WHERE {without_members}", (index, index))

    def expire_index(self, index: str, seconds: int) -> None:
        sql = "INSERT OR REPLACE INTO expiry SELECT ?, ? WHERE EXISTS (SELECT 1 FROM member WHERE store_index = ?)"
        self._connection.execute(sql, (index, time.time() + seconds, index))

    def delete_expired(self) -> None:
        ended = self._select("store_index FROM expiry WHERE ends <= ?", time.time())
        for table in ("member", "expiry"):
            self._connection.executemany(f"DELETE FROM {table} WHERE store_index = ?", ended)

    def _list(self, rest: str, *values: Any) -> list[str]:
        return [member for (member,) in self._select(f"member FROM member {rest}", *values)]

    def _select(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.execute(f"SELECT {sql}", values).fetchall()
