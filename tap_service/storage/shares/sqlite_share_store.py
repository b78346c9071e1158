"""The share store of a single process: an SQLite file beside that of the jobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tap_service.models.client import ANONYMOUS_PREFIX
from tap_service.models.share import Share
from tap_service.models.timestamps import instant_to_milliseconds
from tap_service.storage.shares.share_store import NoSuchShare, ShareStore, ShareStoreUnavailable, StoredShares
from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script

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
        problem = "the store of shares does not work"
        # acknowledged changes survive a power cut
        self._file = SqliteFile(
            directory / SHARES_FILE,
            _STEPS,
            ShareStoreUnavailable,
            problem,
            pragma="synchronous = FULL",
            makes_directory=True,
        )

    def create_share(self, share: Share, check: Callable[[StoredShares], None]) -> None:
        with self._file.begin_transaction() as connection:
            check(_count_rows(connection, share.user))
            _write_row(connection, share)

    def write_share(self, share: Share) -> None:
        with self._file.begin_transaction() as connection:
            _write_row(connection, share)

    def replace_share(self, share: Share) -> None:
        with self._file.begin_transaction() as connection:
            if connection.execute("SELECT 1 FROM shares WHERE share_id = ?", (share.share_id,)).fetchone() is None:
                raise NoSuchShare(share.share_id)
            _write_row(connection, share)

    def get_share(self, share_id: str) -> Share:
        return self._require_one(self._read("WHERE share_id = ?", share_id), share_id)

    def delete_share(self, share_id: str) -> Share:
        with self._file.begin_transaction() as connection:
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

    def count_shares(self, user: str) -> StoredShares:
        with self._file.borrow_connection() as connection:
            return _count_rows(connection, user)

    def close(self) -> None:
        self._file.close()

    @staticmethod
    def _require_one(found: list[Share], share_id: str) -> Share:
        if not found:
            raise NoSuchShare(share_id)
        return found[0]

    def _read(self, rest: str, *values: Any) -> list[Share]:
        with self._file.borrow_connection() as connection:
            found = connection.execute(f"SELECT record FROM shares {rest}", values).fetchall()
        return [_RECORD.validate_json(record) for (record,) in found]


def _count_rows(connection: sqlite3.Connection, user: str) -> StoredShares:
    sql = "SELECT count(*), ifNull(sum(bytes), 0) FROM shares WHERE "
    number, size = connection.execute(f"{sql} user = ?", (user,)).fetchone()
    # the names that begin so, from the index
    above = ANONYMOUS_PREFIX[:-1] + chr(ord(ANONYMOUS_PREFIX[-1]) + 1)
    _, anonymous = connection.execute(f"{sql} user >= ? AND user < ?", (ANONYMOUS_PREFIX, above)).fetchone()
    _, total = connection.execute(f"{sql} TRUE").fetchone()
    return StoredShares(number, size, anonymous, total)


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
