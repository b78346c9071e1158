"""The share store of a cluster, in the Redis of the jobs.

Keys with the prefix ``skyhouse:shares:``

    records                   the shares by id, in JSON
    created, created:<user>   ids by the instant of creation
    due                       ids by the instant at which something of the share is to be deleted
    bytes                     ids by the bytes that the share takes
    anonymous                 ids of anonymous clients' shares by the bytes that the share takes
    version                   the version of these keys; without it ``anonymous`` is to be filled from the records

Each change writes all of them in one transaction, and can be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import cast

import redis
from pydantic import TypeAdapter
from redis.client import Pipeline

from tap_service.models.share import Share
from tap_service.models.timestamps import instant_to_milliseconds
from tap_service.storage.redis_connection import open_redis
from tap_service.storage.shares.share_store import NoSuchShare, ShareStore, ShareStoreUnavailable, StoredShares

_log = logging.getLogger("skyhouse")

_PREFIX = "skyhouse:shares:"
_RECORDS, _DUE, _BYTES, _ANONYMOUS, _VERSION = (
    _PREFIX + name for name in ("records", "due", "bytes", "anonymous", "version")
)

_RECORD: TypeAdapter[Share] = TypeAdapter(Share)


class RedisShareStore(ShareStore):
    """Shares in the Redis at ``url``, which need not answer yet."""

    def __init__(self, url: str) -> None:
        self._redis = open_redis(url)
        self._is_upgraded = False

    def create_share(self, share: Share, check: Callable[[StoredShares], None]) -> None:
        def add_checked(pipeline: Pipeline) -> None:
            check(_count_stored(pipeline, share.user))
            pipeline.multi()
            _queue_record(pipeline, share)

        self._upgrade()
        with _translate_errors():
            self._redis.transaction(add_checked, _BYTES)  # which every change of a share changes

    def write_share(self, share: Share) -> None:
        with _translate_errors(), self._redis.pipeline(transaction=True) as pipeline:
            _queue_record(pipeline, share)
            pipeline.execute()

    def replace_share(self, share: Share) -> None:
        def replace_present(pipeline: Pipeline) -> None:
            if not pipeline.hexists(_RECORDS, share.share_id):
                raise NoSuchShare(share.share_id)
            pipeline.multi()
            _queue_record(pipeline, share)

        with _translate_errors():
            self._redis.transaction(replace_present, _RECORDS)  # tries again if a record changes meanwhile

    def get_share(self, share_id: str) -> Share:
        with _translate_errors():
            text = cast("str | None", self._redis.hget(_RECORDS, share_id))
        if text is None:
            raise NoSuchShare(share_id)
        return _RECORD.validate_json(text)

    def delete_share(self, share_id: str) -> Share:
        share = self.get_share(share_id)
        with _translate_errors(), self._redis.pipeline(transaction=True) as pipeline:
            pipeline.hdel(_RECORDS, share_id)
            for key in (_list_key(""), _list_key(share.user), _DUE, _BYTES, _ANONYMOUS):
                pipeline.zrem(key, share_id)
            is_deleted = pipeline.execute()[0]
        if not is_deleted:
            raise NoSuchShare(share_id)
        return share

    def list_shares(self, user: str = "", last: int | None = None) -> list[Share]:
        with _translate_errors():
            ids = self._redis.zrange(_list_key(user), 0, -1 if last is None else last - 1, desc=True)
        return self._read_shares(cast(list[str], ids))

    def list_due(self, at: datetime, limit: int) -> list[Share]:
        with _translate_errors():
            ids = self._redis.zrange(_DUE, "-inf", instant_to_milliseconds(at), byscore=True, offset=0, num=limit)
        return self._read_shares(cast(list[str], ids))

    def count_shares(self, user: str) -> StoredShares:
        self._upgrade()
        with _translate_errors():
            return _count_stored(self._redis, user)

    def close(self) -> None:
        self._redis.close()

    def _upgrade(self) -> None:
        """Note the anonymous shares of earlier versions, once."""
        if self._is_upgraded:
            return
        with _translate_errors():
            if not self._redis.exists(_VERSION):
                for _, text in self._redis.hscan_iter(_RECORDS):
                    share = _RECORD.validate_json(text)
                    # one that is deleted meanwhile gets no entry
                    if share.owner is None and self._redis.hexists(_RECORDS, share.share_id):
                        self._redis.zadd(_ANONYMOUS, {share.share_id: share.stored_bytes})
                self._redis.set(_VERSION, 1)
        self._is_upgraded = True

    def _read_shares(self, ids: list[str]) -> list[Share]:
        """Return the shares with these ids that still exist."""
        with _translate_errors():
            texts = cast("list[str | None]", self._redis.hmget(_RECORDS, ids)) if ids else []
        return [_RECORD.validate_json(text) for text in texts if text is not None]


def _queue_record(pipeline: Pipeline, share: Share) -> None:
    pipeline.hset(_RECORDS, share.share_id, _RECORD.dump_json(share).decode())
    for user in ("", share.user):
        pipeline.zadd(_list_key(user), {share.share_id: instant_to_milliseconds(share.creation_time)})
    pipeline.zadd(_DUE, {share.share_id: instant_to_milliseconds(share.due)})
    for key in (_BYTES, *((_ANONYMOUS,) if share.owner is None else ())):
        pipeline.zadd(key, {share.share_id: share.stored_bytes})


def _count_stored(connection: redis.Redis, user: str) -> StoredShares:
    ids = cast(list[str], connection.zrange(_list_key(user), 0, -1))
    sizes = connection.zmscore(_BYTES, ids) if ids else []
    return StoredShares(
        number=len(ids),
        size=int(sum(size or 0 for size in sizes)),
        anonymous_size=_sum_scores(connection, _ANONYMOUS),
        total_size=_sum_scores(connection, _BYTES),
    )


def _sum_scores(connection: redis.Redis, key: str) -> int:
    scores = cast(list[tuple[str, float]], connection.zrange(key, 0, -1, withscores=True))
    return int(sum(score for _, score in scores))


def _list_key(user: str) -> str:
    return f"{_PREFIX}created" + (f":{user}" if user else "")


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        _log.warning("the store of shares does not answer: %s", error)  # users read only that it does not
        raise ShareStoreUnavailable("the store of shares does not answer") from error
