"""The connection to the Redis of a cluster, for the stores of jobs and of records."""

from __future__ import annotations

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

#: time limit of an answer of Redis
_SECONDS = 5


def open_redis(url: str) -> redis.Redis:
    """Return a client of a Redis server, which need not answer yet. Thread-safe.

    Parameters
    ----------
    url : str
        The address, such as ``redis://host:6379/0``.

    Returns
    -------
    redis.Redis
        A client that returns texts. A command without an answer within 5 s is sent again, up to three times; then it
        raises ``redis.RedisError``.
    """
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 3),
    )
