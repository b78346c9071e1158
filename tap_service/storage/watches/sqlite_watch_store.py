"""The watch store of a single process: an SQLite file beside that of the jobs. Commands may open it too."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter

from tap_service.models.watch import Watch
from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script
from tap_service.storage.watches.watch_store import (
    NameTaken,
    NoSuchWatch,
    TooManyWatches,
    WatchStore,
    WatchStoreUnavailable,
)

#: name of the file in the directory for jobs
WATCHES_FILE = "watches.sqlite"

#: ``_STEPS[n]`` brings the file from version n to n + 1. ``record`` is the whole watch
_STEPS = (
    execute_script("""
CREATE TABLE watches (
    watch_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (owner, name)
);
"""),
)

_RECORD: TypeAdapter[Watch] = TypeAdapter(Watch)


class SqliteWatchStore(WatchStore):
    """Watches in ``directory``, which is created if it is missing. Raises WatchStoreUnavailable."""

    def __init__(self, directory: Path) -> None:
        problem = "the store of watches does not work"
        # acknowledged changes survive a power cut
        self._file = SqliteFile(
            directory / WATCHES_FILE,
            _STEPS,
            WatchStoreUnavailable,
            problem,
            pragma="synchronous = FULL",
            makes_directory=True,
        )

    def add_watch(self, watch: Watch, limit: int | None = None) -> None:
        row = (watch.watch_id, watch.owner, watch.name, _RECORD.dump_json(watch).decode())
        with self._file.begin_transaction() as connection:
            sql = "SELECT count() FROM watches WHERE owner = ?"
            (present,) = connection.execute(sql, (watch.owner,)).fetchone()
            if limit is not None and present >= limit:
                raise TooManyWatches(present)
            try:
                connection.execute("INSERT INTO watches VALUES (?, ?, ?, ?)", row)
            except sqlite3.IntegrityError as error:
                raise NameTaken(watch.name) from error

    def get_watch(self, watch_id: str) -> Watch:
        return self._require_one(self._read("WHERE watch_id = ?", watch_id), watch_id)

    def change_watch(self, watch_id: str, change: Callable[[Watch], Watch]) -> Watch:
        with self._file.begin_transaction() as connection:
            sql = "SELECT record FROM watches WHERE watch_id = ?"
            found = [_RECORD.validate_json(record) for (record,) in connection.execute(sql, (watch_id,)).fetchall()]
            changed = change(self._require_one(found, watch_id))
            record = _RECORD.dump_json(changed).decode()
            connection.execute("UPDATE watches SET record = ? WHERE watch_id = ?", (record, watch_id))
        return changed

    def delete_watch(self, watch_id: str) -> Watch:
        with self._file.begin_transaction() as connection:
            sql = "DELETE FROM watches WHERE watch_id = ? RETURNING record"
            found = [_RECORD.validate_json(record) for (record,) in connection.execute(sql, (watch_id,)).fetchall()]
        return self._require_one(found, watch_id)

    def list_watches(self, owner: str | None = None) -> list[Watch]:
        if owner is None:
            return self._read("ORDER BY owner, name")
        return self._read("WHERE owner = ? ORDER BY name", owner)

    def close(self) -> None:
        self._file.close()

    @staticmethod
    def _require_one(found: list[Watch], watch_id: str) -> Watch:
        if not found:
            raise NoSuchWatch(watch_id)
        return found[0]

    def _read(self, rest: str, *values: str) -> list[Watch]:
        with self._file.borrow_connection() as connection:
            found = connection.execute(f"SELECT record FROM watches {rest}", values).fetchall()
        return [_RECORD.validate_json(record) for (record,) in found]
