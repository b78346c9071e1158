"""The watch store of a cluster, in the Redis of the jobs.

Keys with the prefix ``skyhouse:watches:``

    records   the watches by id, in JSON
    names     ids by owner and name, a JSON list

Each change writes both in one transaction.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import redis
from pydantic import TypeAdapter
from redis.client import Pipeline

from tap_service.models.watch import Watch
from tap_service.storage.redis_connection import open_redis
from tap_service.storage.watches.watch_store import (
    NameTaken,
    NoSuchWatch,
    TooManyWatches,
    WatchStore,
    WatchStoreUnavailable,
)

_log = logging.getLogger("skyhouse")

_PREFIX = "skyhouse:watches:"
_RECORDS, _NAMES = (_PREFIX + name for name in ("records", "names"))

_RECORD: TypeAdapter[Watch] = TypeAdapter(Watch)


class RedisWatchStore(WatchStore):
    """Watches in the Redis at ``url``, which need not answer yet."""

    def __init__(self, url: str) -> None:
        self._redis = open_redis(url)

    def add_watch(self, watch: Watch, limit: int | None = None) -> None:
        def add_new(pipeline: Pipeline) -> None:
            owners = [json.loads(key)[0] for key in cast("list[str]", pipeline.hkeys(_NAMES))]
            present = owners.count(watch.owner)
            if limit is not None and present >= limit:
                raise TooManyWatches(present)
            if pipeline.hexists(_NAMES, _name_key(watch)):
                raise NameTaken(watch.name)
            pipeline.multi()
            pipeline.hset(_NAMES, _name_key(watch), watch.watch_id)
            pipeline.hset(_RECORDS, watch.watch_id, _RECORD.dump_json(watch).decode())

        with _translate_errors():
            self._redis.transaction(add_new, _NAMES)

    def get_watch(self, watch_id: str) -> Watch:
        with _translate_errors():
            return _parse_present(cast("str | None", self._redis.hget(_RECORDS, watch_id)), watch_id)

    def change_watch(self, watch_id: str, change: Callable[[Watch], Watch]) -> Watch:
        changed: list[Watch] = []

        def replace_present(pipeline: Pipeline) -> None:
            text = cast("str | None", pipeline.hget(_RECORDS, watch_id))
            changed[:] = [change(_parse_present(text, watch_id))]
            pipeline.multi()
            pipeline.hset(_RECORDS, watch_id, _RECORD.dump_json(changed[0]).decode())

        with _translate_errors():
            self._redis.transaction(replace_present, _RECORDS)  # tries again if a record changes meanwhile
        return changed[0]

    def delete_watch(self, watch_id: str) -> Watch:
        watch = self.get_watch(watch_id)
        with _translate_errors(), self._redis.pipeline(transaction=True) as pipeline:
            pipeline.hdel(_RECORDS, watch_id)
            pipeline.hdel(_NAMES, _name_key(watch))
            is_deleted = pipeline.execute()[0]
        if not is_deleted:
            raise NoSuchWatch(watch_id)
        return watch

    def list_watches(self, owner: str | None = None) -> list[Watch]:
        with _translate_errors():
            texts = cast("list[str]", self._redis.hvals(_RECORDS))
        found = [_RECORD.validate_json(text) for text in texts]
        wanted = (watch for watch in found if owner is None or watch.owner == owner)
        return sorted(wanted, key=lambda watch: (watch.owner, watch.name))

    def close(self) -> None:
        self._redis.close()


def _name_key(watch: Watch) -> str:
    return json.dumps([watch.owner, watch.name])


def _parse_present(text: str | None, watch_id: str) -> Watch:
    if text is None:
        raise NoSuchWatch(watch_id)
    return _RECORD.validate_json(text)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        _log.warning("the store of watches does not answer: %s", error)  # users read only that it does not
        raise WatchStoreUnavailable("the store of watches does not answer") from error
