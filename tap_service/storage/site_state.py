"""What the operator tells all processes of a deployment, and what they tell one another: small JSON documents.

They are in Redis if the settings name one, else in ``site.sqlite`` in the folder of jobs. Documents have a kind and,
within it, a key; one may end by itself. Commands write them while the service runs, which reads them every second.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script

SITE_FILE = "site.sqlite"

#: ``_STEPS[n]`` brings the file from version n to n + 1
_STEPS = (
    execute_script("""
CREATE TABLE IF NOT EXISTS document (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires REAL,
    PRIMARY KEY (kind, key)
)
"""),
)

_PREFIX = "skyhouse:site:"
_REDIS_SECONDS = 5


class StateKind(StrEnum):
    """``CLAIMS``: groups that issuers' tokens name, by user. ``WORK``: what runs, by process. ``STOPS``: what is to
    be stopped, by id."""

    DRAIN = "drain"
    DOWNTIMES = "downtimes"
    NOTES = "notes"
    CLAIMS = "claims"
    WORK = "work"
    STOPS = "stops"


class SiteStateUnavailable(Exception):
    """The documents cannot be read or written now; the message has the reason."""


class SiteState(ABC):
    """Safe for threads and processes. Methods raise SiteStateUnavailable."""

    @abstractmethod
    def read_all(self, kind: StateKind) -> dict[str, Any]:
        """Return the documents of a kind by key, in the order of their keys."""

    @abstractmethod
    def get(self, kind: StateKind, key: str) -> Any:
        """Return one document, None if there is none."""

    @abstractmethod
    def put(self, kind: StateKind, key: str, value: Any, seconds: float | None = None) -> None:
        """Write a document, which ends after ``seconds`` unless they are None."""

    @abstractmethod
    def remove(self, kind: StateKind, key: str) -> bool:
        """Remove a document; return whether there was one."""

    @abstractmethod
    def close(self) -> None: ...


def open_site_state(redis_url: str, folder: Path | None) -> SiteState:
    """Open the documents of a deployment: in Redis, else in ``folder``, which is made if it is missing.

    Raises
    ------
    SiteStateUnavailable
        The file cannot be used. Redis need not answer yet.
    ValueError
        There is neither.
    """
    if redis_url:
        return RedisSiteState(redis_url)
    if folder is None:
        raise ValueError("no directory for jobs is set: give SKYHOUSE_JOBS_PATH")
    return SqliteSiteState(folder / SITE_FILE)


class SqliteSiteState(SiteState):
    def __init__(self, path: Path) -> None:
        problem = f"the file {path} cannot be used"
        self._file = SqliteFile(path, _STEPS, SiteStateUnavailable, problem, makes_directory=True)

    def read_all(self, kind: StateKind) -> dict[str, Any]:
        sql = "SELECT key, value FROM document WHERE kind = ? AND (expires IS NULL OR expires > ?) ORDER BY key"
        with self._file.borrow_connection() as connection:
            found = connection.execute(sql, (kind, time.time())).fetchall()
        return {key: json.loads(value) for key, value in found}

    def get(self, kind: StateKind, key: str) -> Any:
        sql = "SELECT value FROM document WHERE kind = ? AND key = ? AND (expires IS NULL OR expires > ?)"
        with self._file.borrow_connection() as connection:
            found = connection.execute(sql, (kind, key, time.time())).fetchone()
        return None if found is None else json.loads(found[0])

    def put(self, kind: StateKind, key: str, value: Any, seconds: float | None = None) -> None:
        now = time.time()
        expires = None if seconds is None else now + seconds
        with self._file.borrow_connection() as connection:
            connection.execute("DELETE FROM document WHERE expires <= ?", (now,))
            connection.execute(
                "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?)", (kind, key, json.dumps(value), expires)
            )

    def remove(self, kind: StateKind, key: str) -> bool:
        with self._file.borrow_connection() as connection:
            removed = connection.execute("DELETE FROM document WHERE kind = ? AND key = ?", (kind, key))
            return bool(removed.rowcount)

    def close(self) -> None:
        self._file.close()


class RedisSiteState(SiteState):
    """Each kind is a hash; a value is JSON with its end."""

    def __init__(self, url: str) -> None:
        import redis  # commands without a cluster start faster

        self._redis = redis.Redis.from_url(
            url, decode_responses=True, socket_timeout=_REDIS_SECONDS, socket_connect_timeout=_REDIS_SECONDS
        )

    def read_all(self, kind: StateKind) -> dict[str, Any]:
        now = time.time()
        with _translate_redis_errors():
            found = cast(Mapping[str, str], self._redis.hgetall(_PREFIX + kind))
            documents = {key: json.loads(text) for key, text in sorted(found.items())}
            ended = [key for key, each in documents.items() if each["expires"] is not None and each["expires"] <= now]
            if ended:
                self._redis.hdel(_PREFIX + kind, *ended)
        return {key: each["value"] for key, each in documents.items() if key not in ended}

    def get(self, kind: StateKind, key: str) -> Any:
        with _translate_redis_errors():
            text = cast("str | None", self._redis.hget(_PREFIX + kind, key))
        found = None if text is None else json.loads(text)
        if found is None or (found["expires"] is not None and found["expires"] <= time.time()):
            return None
        return found["value"]

    def put(self, kind: StateKind, key: str, value: Any, seconds: float | None = None) -> None:
        document = {"value": value, "expires": None if seconds is None else time.time() + seconds}
        with _translate_redis_errors():
            self._redis.hset(_PREFIX + kind, key, json.dumps(document))

    def remove(self, kind: StateKind, key: str) -> bool:
        with _translate_redis_errors():
            return bool(self._redis.hdel(_PREFIX + kind, key))

    def close(self) -> None:
        self._redis.close()


@contextmanager
def _translate_redis_errors() -> Iterator[None]:
    import redis

    try:
        yield
    except redis.RedisError as error:
        raise SiteStateUnavailable(f"Redis does not answer: {error}") from error
