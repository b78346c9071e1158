"""The history of a single process: an SQLite file beside that of the jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from tap_service.models.history_entry import HistoryEntry
from tap_service.storage.disk_reserve import use_reserve
from tap_service.storage.history.history_store import HistoryStore, HistoryUnavailable
from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script

#: name of the file in the directory for jobs
HISTORY_FILE = "history.sqlite"

_RESERVE_FILE = "history.reserve"

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
        problem = "the history of queries cannot be used"
        self._reserve = directory / _RESERVE_FILE
        with use_reserve(self._reserve):
            self._file = SqliteFile(
                directory / HISTORY_FILE,
                _STEPS,
                HistoryUnavailable,
                problem,
                pragma="journal_mode = WAL",
                makes_directory=True,
            )

    def add_entries(self, entries: Sequence[tuple[str, HistoryEntry]]) -> None:
        rows = [(user, entry.id, entry.model_dump_json()) for user, entry in entries]
        with self._file.begin_transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO queries VALUES (?, ?, ?)", rows)

    def list_entries(self, user: str, before: str, limit: int) -> list[HistoryEntry]:
        sql = "SELECT record FROM queries WHERE user = ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?"
        with self._file.borrow_connection() as connection:
            found = connection.execute(sql, (user, before, before, limit)).fetchall()
        return [HistoryEntry.model_validate_json(record) for (record,) in found]

    def delete_entries(self, user: str) -> None:
        with self._file.begin_transaction() as connection:
            connection.execute("DELETE FROM queries WHERE user = ?", (user,))

    def trim_entries(self, users: Collection[str], keep: int, oldest: str) -> None:
        first_kept = "SELECT id FROM queries WHERE user = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
        with self._file.begin_transaction() as connection:
            for user in users:
                connection.execute(f"DELETE FROM queries WHERE user = ? AND id <= ({first_kept})", (user, user, keep))
            connection.execute("DELETE FROM queries WHERE id < ?", (oldest,))

    def close(self) -> None:
        with use_reserve(self._reserve):
            self._file.close()
