"""Usage statistics in an SQLite file."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script
from tap_service.storage.usage.usage_store import (
    MEASURES,
    UsageAddition,
    UsageCounts,
    UsageEntry,
    UsageKey,
    UsageUnavailable,
)

#: ``_STEPS[n]`` brings the file from version n to n + 1
_STEPS = (
    execute_script("""
CREATE TABLE usage (
    month TEXT, grouping TEXT, name TEXT, users TEXT,
    queries INTEGER, failed INTEGER, jobs INTEGER, rows INTEGER, bytes INTEGER, seconds REAL,
    PRIMARY KEY (month, grouping, name, users)
) WITHOUT ROWID;
CREATE TABLE client (
    month TEXT, grouping TEXT, name TEXT, users TEXT, hash BLOB,
    PRIMARY KEY (month, grouping, name, users, hash)
) WITHOUT ROWID;
CREATE TABLE secret (name TEXT PRIMARY KEY, value BLOB NOT NULL, until REAL NOT NULL)
"""),
)

_ADD = (
    f"INSERT INTO usage VALUES (?, ?, ?, ?{', ?' * len(MEASURES)}) ON CONFLICT DO UPDATE SET "
    f"{', '.join(f'{measure} = {measure} + excluded.{measure}' for measure in MEASURES)}"
)
_READ = f"""
SELECT month, grouping, name, users, {", ".join(MEASURES)},
    (SELECT COUNT(*) FROM client c
     WHERE (c.month, c.grouping, c.name, c.users) = (u.month, u.grouping, u.name, u.users))
FROM usage u
"""


class SqliteUsageStore:
    """Usage in the file ``path``, which is created if it is missing.

    Raises
    ------
    UsageUnavailable
        The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        problem = f"the file of usage statistics {path} cannot be used"
        # no trace of expired keys stays in the file
        self._file = SqliteFile(path, _STEPS, UsageUnavailable, problem, pragma="secure_delete = ON")

    def add_usage(self, month: str, additions: Mapping[UsageKey, UsageAddition]) -> None:
        with self._file.begin_transaction() as connection:
            for key, addition in additions.items():
                connection.execute(_ADD, (month, *key, *(getattr(addition.counts, measure) for measure in MEASURES)))
                clients = ((month, *key, client) for client in addition.clients)
                connection.executemany("INSERT OR IGNORE INTO client VALUES (?, ?, ?, ?, ?)", clients)

    def read_usage(self) -> list[UsageEntry]:
        with self._file.borrow_connection() as connection:
            rows = connection.execute(_READ).fetchall()
        return [
            UsageEntry(month, UsageKey(*key), UsageCounts(*counts), clients)
            for month, *rest, clients in rows
            for key, counts in [(rest[:3], rest[3:])]
        ]

    def find_key(self, name: str, seconds: float) -> bytes:
        now = time.time()
        with self._file.begin_transaction() as connection:
            connection.execute("DELETE FROM secret WHERE until < ?", (now,))
            new = (name, secrets.token_bytes(32), now + seconds)
            connection.execute("INSERT OR IGNORE INTO secret VALUES (?, ?, ?)", new)
            found = connection.execute("SELECT value FROM secret WHERE name = ?", (name,)).fetchone()
        return bytes(found[0])

    def close(self) -> None:
        self._file.close()
