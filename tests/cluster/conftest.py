"""Clusters in processes of their own, each started once for all tests that ask for its number of shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.cluster.in_process import in_process_cluster


@pytest.fixture(scope="session")
def cluster_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], ClickHouseEngine]]:
    """The engine of the cluster with so many shards. Tests use databases with names of their own."""
    running: dict[int, ClickHouseEngine] = {}
    with ExitStack() as stack:

        def engine(shards: int) -> ClickHouseEngine:
            if shards not in running:
                folder = tmp_path_factory.mktemp(f"cluster{shards}")
                running[shards] = stack.enter_context(in_process_cluster(folder, shards))
            return running[shards]

        yield engine
