"""Clusters of real servers, each started once for all tests with its number of shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tap_service.storage.engine.engine import Engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import prepared_engine, running_cluster


@pytest.fixture(scope="session")
def servers_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], list[ClickHouseServer]]]:
    """Return the servers of a cluster with a number of shards."""
    running: dict[int, list[ClickHouseServer]] = {}
    with ExitStack() as stack:

        def start(shards: int) -> list[ClickHouseServer]:
            if shards not in running:
                folder = tmp_path_factory.mktemp(f"cluster{shards}")
                running[shards] = stack.enter_context(running_cluster(folder, shards))
            return running[shards]

        yield start


@pytest.fixture(scope="session")
def cluster_of(servers_of: Callable[[int], list[ClickHouseServer]]) -> Iterator[Callable[[int], Engine]]:
    """Return the initialised engine of a cluster with a number of shards. Each test uses its own databases."""
    opened: dict[int, Engine] = {}
    with ExitStack() as stack:

        def connect(shards: int) -> Engine:
            if shards not in opened:
                opened[shards] = stack.enter_context(prepared_engine(servers_of(shards)))
            return opened[shards]

        yield connect
