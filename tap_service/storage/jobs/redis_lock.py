"""A lock of all processes of a cluster, in Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tap_service.storage.jobs.job_store import JobStoreUnavailable

#: how long a lock outlives a dead holder
_SECONDS = 60


@contextmanager
def hold_cluster_lock(redis_url: str, name: str) -> Iterator[None]:
    """Wait for a lock of all processes of a cluster, and hold it during the context.

    The lock of a dead process is free after a minute.

    Parameters
    ----------
    redis_url : str
        The Redis of the cluster.
    name : str
        The name of the lock.

    Raises
    ------
    JobStoreUnavailable
        Redis does not answer, or the lock is not free within a minute.
    """
    import redis  # commands without a cluster start faster

    try:
        with (
            redis.Redis.from_url(redis_url, socket_timeout=5, socket_connect_timeout=5) as client,
            client.lock(f"skyhouse:lock:{name}", timeout=_SECONDS, blocking_timeout=_SECONDS),
        ):
            yield
    except redis.RedisError as error:
        raise JobStoreUnavailable(f"Redis does not answer: {error}") from error
