"""One process of a cluster at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis

from tap_service.storage.jobs.job_store import JobStoreUnavailable

#: nobody who lives holds a lock for longer, in seconds
_SECONDS = 60


@contextmanager
def hold_cluster_lock(redis_url: str, name: str) -> Iterator[None]:
    """Wait until no other process is in a block of this name. Raises JobStoreUnavailable."""
    try:
        with (
            redis.Redis.from_url(redis_url, socket_timeout=5, socket_connect_timeout=5) as client,
            client.lock(f"skyhouse:lock:{name}", timeout=_SECONDS, blocking_timeout=_SECONDS),
        ):
            yield
    except redis.RedisError as error:
        raise JobStoreUnavailable(f"Redis does not answer: {error}") from error
