"""Detect Redis servers that may lose jobs."""

from __future__ import annotations

from pathlib import Path

import redis

from tap_service.storage.jobs.redis_persistence import find_loss_risks
from tests.tap_service.storage.redis_server import redis_server


def test_loss_risks(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        assert find_loss_risks(client) == []
        client.config_set("appendonly", "no")
        assert [why.partition(" and ")[0] for why in find_loss_risks(client)] == ["it writes no append-only file"]
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert len(find_loss_risks(client)) == 1, "evicts nothing while its memory has no limit"
        client.config_set("maxmemory", "100mb")
        assert "(allkeys-lru)" in find_loss_risks(client)[1]
