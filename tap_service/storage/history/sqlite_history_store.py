"""The history of a single process: an SQLite file beside that of the jobs."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tap_service.models.history_entry import HistoryEntry
from tap_service.storage.history.history_store import HistoryStore, HistoryUnavailable
from tap_service.storage.sqlite_versions import LaterVersion, begin_transaction, execute_script, open_file

#: name of the file in the directory for jobs
HISTORY_FILE = "history.sqlite"

#: ``_STEPS[n]`` brings the file from version n to n + 1. ``record`` is the whole entry
_STEPS = (
    execute_script("""
CREATE TABLE queries (
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (user, id)
) WITHOUT ROWID;
CREATE INDEX queries_by_id ON queries (id);
"""),
)


class SqliteHistoryStore(HistoryStore):
    """The history in ``directory``, which is created if it is missing. Raises HistoryUnavailable."""

    def __init__(self, directory: Path) -> None:
        path = directory / HISTORY_FILE
        self._lock = threading.Lock()
        with _translate_errors():
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection = open_file(path, _STEPS, "journal_mode = WAL")

    def add_entries(self, entries: Sequence[tuple[str, HistoryEntry]]) -> None:
        rows = [(user, entry.id, entry.model_dump_json()) for user, entry in entries]
        with self._begin_transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO queries VALUES (?, ?, ?)", rows)

    def list_entries(self, user: str, before: str, limit: int) -> list[HistoryEntry]:
        sql = "SELECT record FROM queries WHERE user = ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?"
        with self._lock, _translate_errors():
            found = self._connection.execute(sql, (user, before, before, limit)).fetchall()
        return [HistoryEntry.model_validate_json(record) for (record,) in found]

    def delete_entries(self, user: str) -> None:
        with self._begin_transaction() as connection:
            connection.execute("DELETE FROM queries WHERE user = ?", (user,))

    def trim_entries(self, users: Collection[str], keep: int, oldest: str) -> None:
        first_kept = "SELECT id FROM queries WHERE user = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
        with self._begin_transaction() as connection:
            for user in users:
                connection.execute(f"DELETE FROM queries WHERE user = ? AND id <= ({first_kept})", (user, user, keep))
            connection.execute("DELETE FROM queries WHERE id < ?", (oldest,))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _begin_transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _translate_errors(), begin_transaction(self._connection):
            yield self._connection


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except LaterVersion as error:
        raise HistoryUnavailable(str(error)) from error
    except (OSError, sqlite3.Error) as error:
        raise HistoryUnavailable(f"the history of queries cannot be used: {error}") from error
