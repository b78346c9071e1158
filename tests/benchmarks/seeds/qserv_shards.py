"""Qserv's figures 8 to 13: the same rows per shard on more and more shards, on real servers that share this machine."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from typing import Any

from tests.benchmarks.bench_shards import compare_clusters, open_cluster, wait_for_merges
from tests.benchmarks.seeds.seed_service import SeedService
from tests.benchmarks.seeds.seed_workload import Size
from tests.loaders.recorder import Recorder

_SHARDS = {"S": (1, 2), "M": (1, 2, 4, 8), "F": (1, 2, 4, 8)}
_ROWS = {"S": 2_000, "M": 1_000_000, "F": 2_000_000}
_QUERIES = {"S": ("id",), "M": ("id", "cone of 0.1 degrees", "set functions", "near neighbours")}


def run_shards(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Compare the processor time of one server with a cluster of one shard; the aim is no growth."""
    folder = service.folder / "shards"
    found = []
    with ExitStack() as stack:
        clusters = [
            stack.enter_context(open_cluster(folder / str(shards), shards, _ROWS[size], Recorder()))
            for shards in _SHARDS[size]
        ]
        wait_for_merges(clusters)
        for name in _QUERIES.get(size, _QUERIES["M"]):
            figures = compare_clusters(clusters, name)
            base = figures["1"].processor_ms
            for cluster in clusters:
                each, servers = figures[cluster.name], len(cluster.servers)
                found.append(
                    {
                        "measure": f"Figs 8 to 13: {name}, {servers} shards",
                        "figure": each.processor_ms / servers / base,
                        "is_ratio": True,
                        "aim": 1.1 if name == "near neighbours" else 1.2,
                        "median": each.wall_ms / 1000,
                        "engine": each.processor_ms / 1000,
                    }
                )
    shutil.rmtree(folder)
    return found
