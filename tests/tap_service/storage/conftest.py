"""Servers for the tests of stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tap_service.storage.redis_server import RedisServer, redis_server


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server for all tests, each of which empties it first."""
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server
