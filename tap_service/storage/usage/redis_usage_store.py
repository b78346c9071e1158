"""Usage statistics of several processes and machines, in Redis."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import redis

from tap_service.storage.usage.usage_store import (
    MEASURES,
    UsageAddition,
    UsageCounts,
    UsageEntry,
    UsageKey,
    UsageUnavailable,
)

_PREFIX = "skyhouse:usage:"
_MONTHS = f"{_PREFIX}months"
_SECONDS = 5


class RedisUsageStore:
    """Usage in the Redis at ``url``, which need not answer yet.

    Each month is a hash. The clients of each key are a HyperLogLog, whose count is accurate to about 1 %.
    """

    def __init__(self, url: str) -> None:
        self._redis: Any = redis.Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)

    def add_usage(self, month: str, additions: Mapping[UsageKey, UsageAddition]) -> None:
        with _translate_errors():
            pipeline = self._redis.pipeline(transaction=True)
            pipeline.sadd(_MONTHS, month)
            for key, addition in additions.items():
                for measure in MEASURES:
                    increment = pipeline.hincrbyfloat if measure == "seconds" else pipeline.hincrby
                    increment(f"{_PREFIX}{month}", json.dumps([*key, measure]), getattr(addition.counts, measure))
                if addition.clients:
                    pipeline.pfadd(_clients_key(month, key), *addition.clients)
            pipeline.execute()

    def read_usage(self) -> list[UsageEntry]:
        with _translate_errors():
            return [entry for month in self._redis.smembers(_MONTHS) for entry in self._read_month(month.decode())]

    def _read_month(self, month: str) -> Iterator[UsageEntry]:
        found: defaultdict[UsageKey, UsageCounts] = defaultdict(UsageCounts)
        for field, value in self._redis.hgetall(f"{_PREFIX}{month}").items():
            *key, measure = json.loads(field)
            setattr(found[UsageKey(*key)], measure, float(value) if measure == "seconds" else int(value))
        for each, counts in found.items():
            yield UsageEntry(month, each, counts, self._redis.pfcount(_clients_key(month, each)))

    def find_key(self, name: str, seconds: float) -> bytes:
        key = f"{_PREFIX}secret:{name}"
        for _ in range(2):  # a former key may expire between the two commands; a new one does not
            with _translate_errors():
                self._redis.set(key, secrets.token_bytes(32), nx=True, ex=int(seconds))
                found = self._redis.get(key)
            if found is not None:
                return bytes(found)
        raise UsageUnavailable(
            "Redis has dropped a new key at once: give it more memory, and maxmemory-policy noeviction"
        )

    def close(self) -> None:
        self._redis.close()


def _clients_key(month: str, key: UsageKey) -> str:
    return f"{_PREFIX}{month}:clients:{json.dumps(key)}"


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise UsageUnavailable(f"the Redis of usage statistics cannot be used: {error}") from error
