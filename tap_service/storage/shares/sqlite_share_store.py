"""The share store of a single process: an SQLite file beside that of the jobs."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tap_service.models.share import Share
from tap_service.models.timestamps import instant_to_milliseconds
from tap_service.storage.shares.share_store import NoSuchShare, ShareStore, ShareStoreUnavailable
from tap_service.storage.sqlite_versions import LaterVersion, begin_transaction, execute_script, open_file

#: name of the file in the directory for jobs
SHARES_FILE = "shares.sqlite"

#: ``_STEPS[n]`` brings the file from version n to n + 1. ``record`` is the whole share; the rest is for lists and sums
_STEPS = (
    execute_script("""
CREATE TABLE shares (
    share_id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    created INTEGER NOT NULL,
    due INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX shares_of_user ON shares (user, created, bytes);
CREATE INDEX shares_by_creation ON shares (created, bytes);
CREATE INDEX shares_by_due ON shares (due);
"""),
)

_RECORD: TypeAdapter[Share] = TypeAdapter(Share)


class SqliteShareStore(ShareStore):
    """Shares in ``directory``, which is created if it is missing. Raises ShareStoreUnavailable."""

    def __init__(self, directory: Path) -> None:
        path = directory / SHARES_FILE
        self._lock = threading.Lock()
        with _translate_errors():
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            # acknowledged changes survive a power cut
            self._connection = open_file(path, _STEPS, "synchronous = FULL")

    def write_share(self, share: Share) -> None:
        with self._begin_transaction() as connection:
            _write_row(connection, share)

    def replace_share(self, share: Share) -> None:
        with self._begin_transaction() as connection:
            if connection.execute("SELECT 1 FROM shares WHERE share_id = ?", (share.share_id,)).fetchone() is None:
                raise NoSuchShare(share.share_id)
            _write_row(connection, share)

    def get_share(self, share_id: str) -> Share:
        return self._require_one(self._read("WHERE share_id = ?", share_id), share_id)

    def delete_share(self, share_id: str) -> Share:
        with self._begin_transaction() as connection:
            sql = "DELETE FROM shares WHERE share_id = ? RETURNING record"
            found = [_RECORD.validate_json(record) for (record,) in connection.execute(sql, (share_id,)).fetchall()]
        return self._require_one(found, share_id)

    def list_shares(self, user: str = "", last: int | None = None) -> list[Share]:
        limit = -1 if last is None else last
        if user:
            return self._read("WHERE user = ? ORDER BY created DESC, share_id LIMIT ?", user, limit)
        return self._read("ORDER BY created DESC, share_id LIMIT ?", limit)

    def list_due(self, at: datetime, limit: int) -> list[Share]:
        return self._read("WHERE due <= ? ORDER BY due LIMIT ?", instant_to_milliseconds(at), limit)

    def count_shares(self, user: str = "") -> tuple[int, int]:
        sql = "SELECT count(*), ifNull(sum(bytes), 0) FROM shares"
        with _translate_errors(), self._lock:
            asked = (
                self._connection.execute(f"{sql} WHERE user = ?", (user,)) if user else self._connection.execute(sql)
            )
            number, size = asked.fetchone()
        return int(number), int(size)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @staticmethod
    def _require_one(found: list[Share], share_id: str) -> Share:
        if not found:
            raise NoSuchShare(share_id)
        return found[0]

    def _read(self, rest: str, *values: Any) -> list[Share]:
        with _translate_errors(), self._lock:
            found = self._connection.execute(f"SELECT record FROM shares {rest}", values).fetchall()
        return [_RECORD.validate_json(record) for (record,) in found]

    @contextmanager
    def _begin_transaction(self) -> Iterator[sqlite3.Connection]:
        with _translate_errors(), self._lock, begin_transaction(self._connection):
            yield self._connection


def _write_row(connection: sqlite3.Connection, share: Share) -> None:
    row = (
        share.share_id,
        share.user,
        instant_to_milliseconds(share.creation_time),
        instant_to_milliseconds(share.due),
        share.stored_bytes,
        _RECORD.dump_json(share).decode(),
    )
    connection.execute("INSERT OR REPLACE INTO shares VALUES (?, ?, ?, ?, ?, ?)", row)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except LaterVersion as error:
        raise ShareStoreUnavailable(str(error)) from error
    except (OSError, sqlite3.Error) as error:
        raise ShareStoreUnavailable(f"the store of shares does not work: {error}") from error
