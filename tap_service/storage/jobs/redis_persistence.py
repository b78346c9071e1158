"""Checks whether a Redis server is configured to keep its data."""

from __future__ import annotations

import redis


def find_loss_risks(client: redis.Redis) -> list[str]:
    """Return how this server may lose jobs, each with the setting that prevents it. Raise redis.RedisError."""
    persistence, memory = client.info("persistence"), client.info("memory")
    found = []
    if not persistence.get("aof_enabled"):
        found.append("it writes no append-only file and loses the jobs when it stops: appendonly yes")
    policy = memory.get("maxmemory_policy", "noeviction")
    if memory.get("maxmemory") and policy != "noeviction":
        found.append(f"it evicts records when its memory is full ({policy}): maxmemory-policy noeviction")
    return found
