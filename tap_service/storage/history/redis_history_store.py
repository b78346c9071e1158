"""The history of a cluster, in the Redis of the jobs.

``skyhouse:history:USER`` is a sorted set, whose members are the id, a space, and the entry in JSON; all have the same
score, so that Redis orders them by id. It expires with the user's last query.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import redis

from tap_service.models.history_entry import HistoryEntry
from tap_service.storage.history.history_store import HistoryStore, HistoryUnavailable
from tap_service.storage.redis_connection import open_redis

_log = logging.getLogger("skyhouse")

_PREFIX = "skyhouse:history:"


class RedisHistoryStore(HistoryStore):
    """The history in the Redis at ``url``, which need not answer yet; ``seconds``: how long a query is kept."""

    def __init__(self, url: str, seconds: int) -> None:
        self._redis = open_redis(url)
        self._seconds = seconds

    def add_entries(self, entries: Sequence[tuple[str, HistoryEntry]]) -> None:
        members: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for user, entry in entries:
            members[_PREFIX + user][f"{entry.id} {entry.model_dump_json()}"] = 0.0
        with _translate_errors(), self._redis.pipeline(transaction=True) as pipeline:
            for key, added in members.items():
                pipeline.zadd(key, added)
                pipeline.expire(key, self._seconds)
            pipeline.execute()

    def list_entries(self, user: str, before: str, limit: int) -> list[HistoryEntry]:
        below = f"({before}" if before else "+"
        with _translate_errors():
            found = self._redis.zrange(_PREFIX + user, below, "-", desc=True, bylex=True, offset=0, num=limit)
        return [HistoryEntry.model_validate_json(member.partition(" ")[2]) for member in cast(list[str], found)]

    def delete_entries(self, user: str) -> None:
        with _translate_errors():
            self._redis.delete(_PREFIX + user)

    def trim_entries(self, users: Collection[str], keep: int, oldest: str) -> None:
        with _translate_errors(), self._redis.pipeline(transaction=True) as pipeline:
            for user in users:
                pipeline.zremrangebyrank(_PREFIX + user, 0, -keep - 1)
                pipeline.zremrangebylex(_PREFIX + user, "-", f"({oldest}")
            pipeline.execute()

    def close(self) -> None:
        self._redis.close()


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        _log.warning("the history of queries does not answer: %s", error)  # users read only that it does not
        raise HistoryUnavailable("the history of queries does not answer") from error
