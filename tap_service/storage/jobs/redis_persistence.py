"""Whether a Redis server keeps what it is given."""

from __future__ import annotations

import redis


def find_loss_risks(client: redis.Redis) -> list[str]:
    """The ways in which this server may lose jobs, each with what to set; none if it keeps all. Raises RedisError."""
    persistence, memory = client.info("persistence"), client.info("memory")
    found = []
    if not persistence.get("aof_enabled"):
        found.append("it writes no append-only file, so jobs are lost when it ends: appendonly yes")
    policy = memory.get("maxmemory_policy", "noeviction")
    if memory.get("maxmemory") and policy != "noeviction":
        found.append(f"it evicts records when its memory is full ({policy}): maxmemory-policy noeviction")
    return found
