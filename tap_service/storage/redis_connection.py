"""The connection to the Redis of a cluster, for the stores of jobs and of records."""

from __future__ import annotations

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

#: time limit of an answer of Redis
_SECONDS = 5


def open_redis(url: str) -> redis.Redis:
    """Return a client of the Redis at ``url``, which need not answer yet. Unanswered commands are sent again."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 3),
    )
