"""Checks whether a Redis server is configured to keep its data."""

from __future__ import annotations

import redis


def find_loss_risks(client: redis.Redis) -> list[str]:
    """Check whether a Redis server can lose jobs.

    Parameters
    ----------
    client : redis.Redis
        A client of the server.

    Returns
    -------
    list[str]
        A phrase for each risk, with the setting that prevents it: persistence that is off, eviction that is on.

    Raises
    ------
    redis.RedisError
        The server does not answer, or refuses INFO.
    """
    persistence, memory = client.info("persistence"), client.info("memory")
    found = []
    if not persistence.get("aof_enabled"):
        found.append("it writes no append-only file and loses the jobs when it stops: appendonly yes")
    policy = memory.get("maxmemory_policy", "noeviction")
    if memory.get("maxmemory") and policy != "noeviction":
        found.append(f"it evicts records when its memory is full ({policy}): maxmemory-policy noeviction")
    return found
