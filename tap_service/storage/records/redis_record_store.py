"""Records in Redis: the store of a cluster.

A table is a hash, an index is a sorted set; their keys begin with ``skyhouse:``. A change watches what its step reads
(WATCH), and sends its commands together (MULTI, EXEC).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import redis

from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordReader, RecordStore, T
from tap_service.storage.redis_connection import open_redis

_log = logging.getLogger("skyhouse")

_PREFIX = "skyhouse:"


class RedisRecordStore(RecordStore):
    """Records in the Redis at ``url``, such as ``redis://host:6379/0``, which need not answer yet."""

    def __init__(self, url: str, record_format: RecordFormat) -> None:
        self._redis = open_redis(url)
        self._unavailable = record_format.unavailable
        self._subject = record_format.subject
        self._is_unreachable = False

    @contextmanager
    def read_records(self) -> Iterator[RecordReader]:
        with self._translate_errors():
            yield _RedisRecords(self._redis)

    def change_records(self, step: Callable[[RecordChange], T]) -> T:
        def run_step(pipeline: Any) -> Any:
            records = _RedisRecords(pipeline, is_watching=True)
            result = step(records)
            pipeline.multi()
            for command in records.commands:
                pipeline.execute_command(*command)
            return result

        with self._translate_errors():
            # calls the function again if what it watches has changed
            return cast(T, self._redis.transaction(run_step, value_from_callable=True))

    def close(self) -> None:
        self._redis.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
            self._is_unreachable = False
        except redis.RedisError as error:
            if not self._is_unreachable:  # the first error of an outage
                _log.warning("%s does not answer: %s", self._subject, error)  # users read only that it does not
            self._is_unreachable = True
            raise self._unavailable(f"{self._subject} does not answer") from error


class _RedisRecords(RecordChange):
    """Reads at once, and watches what it reads if ``client`` is a pipeline; collects the ``commands`` of changes."""

    def __init__(self, client: Any, *, is_watching: bool = False) -> None:
        self._redis = client
        self._is_watching = is_watching
        self.commands: list[tuple[Any, ...]] = []

    def get_record(self, table: str, key: str) -> str | None:
        return cast("str | None", self._redis.hget(self._watch(table), key))

    def get_records(self, table: str) -> dict[str, str]:
        return cast(dict[str, str], self._redis.hgetall(self._watch(table)))

    def find_records(self, table: str, keys: Iterable[str]) -> list[str]:
        wanted = list(keys)
        found = self._redis.hmget(self._watch(table), wanted) if wanted else []
        return [text for text in found if text is not None]

    def list_members(
        self, index: str, *, descending: bool = False, skip: int = 0, limit: int | None = None
    ) -> list[str]:
        key, last = self._watch(index), -1 if limit is None else skip + limit - 1
        return [] if limit == 0 else cast(list[str], self._redis.zrange(key, skip, last, desc=descending))

    def list_up_to(self, index: str, score: int, limit: int) -> list[str]:
        found = self._redis.zrange(self._watch(index), "-inf", score, byscore=True, offset=0, num=limit)
        return cast(list[str], found)

    def list_below(self, index: str, member: str, limit: int | None = None) -> list[str]:
        number = -1 if limit is None else limit
        found = self._redis.zrange(self._watch(index), f"({member}", "-", desc=True, bylex=True, offset=0, num=number)
        return cast(list[str], found)

    def read_scores(self, index: str) -> dict[str, int]:
        found = self._redis.zrange(self._watch(index), 0, -1, withscores=True)
        return {member: int(score) for member, score in found}

    def put_record(self, table: str, key: str, text: str) -> None:
        self._change("HSET", table, key, text)

    def delete_records(self, table: str, keys: Iterable[str]) -> None:
        self._change("HDEL", table, *keys)

    def add_members(self, index: str, scores: Mapping[str, int]) -> None:
        self._change("ZADD", index, *(each for member, score in scores.items() for each in (score, member)))

    def remove_members(self, index: str, members: Iterable[str]) -> None:
        self._change("ZREM", index, *members)

    def expire_index(self, index: str, seconds: int) -> None:
        self._change("EXPIRE", index, seconds)

    def _change(self, command: str, name: str, *values: object) -> None:
        if values:
            self.commands.append((command, _PREFIX + name, *values))

    def _watch(self, name: str) -> str:
        key = _PREFIX + name
        if self._is_watching:
            self._redis.watch(key)
        return key
