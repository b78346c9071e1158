"""Appends to tables of a cluster: each is stored once, wherever it is killed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import STARS, cluster, entry_of, folder, loaded, request, stars, states
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import fetch_everywhere

__all__ = ["cluster", "folder", "loaded", "states"]  # fixtures

APPEND_POINTS = [
    (Failpoint.GATEWAY_CREATE, 1),
    (Failpoint.APPENDS_WRITE, 1),
    (Failpoint.APPENDS_WRITE, 2),
    (Failpoint.SHARDS_SEND_COPIES, 1),
    (Failpoint.SHARDS_SEND, 1),
    (Failpoint.DENSITY_WRITE, 1),
    (Failpoint.DENSITY_WRITE, 3),
    (Failpoint.APPENDS_WRITE, 4),
    (Failpoint.APPENDS_WRITE, 6),
    (Failpoint.GATEWAY_DROP, 8),
]


@pytest.mark.usefixtures("loaded")
def test_an_addition_killed_anywhere_is_there_once(cluster: Engine, folder: Path) -> None:
    """Each append is finished by the next command: the same append again or another one.

    Each failpoint takes a load.
    """
    for number, (point, count) in enumerate(APPEND_POINTS):
        pq.write_table(stars(10_000 * (number + 1), 50), folder / f"killed{number}.parquet")
        with killed_at(cluster, point, count) as dying:
            load_files(dying, request(folder, f"killed{number}", "append"), Recorder())
        prepare_engine(cluster)  # as every command does
        if number % 2 == 0:
            load_files(cluster, request(folder, f"killed{number}", "append"), Recorder())
    for number in (0, 1, len(APPEND_POINTS) - 1):  # finished by the append itself, by the next append, and not yet
        load_files(cluster, request(folder, f"killed{number}", "append"), Recorder())
    recorder = Recorder()
    verify_table(cluster, "night.stars", recorder)
    rows = STARS + 50 * len(APPEND_POINTS)
    assert (
        recorder.reports[0] == f"night.stars: {rows:,} rows, {rows:,} were loaded from {1 + len(APPEND_POINTS)} inputs"
    )
    assert sum(density_table.read_density(cluster, "night", "stars")["rows"].to_pylist()) == rows


@pytest.mark.usefixtures("loaded")
def test_an_append_with_the_first_nulls(cluster: Engine, folder: Path) -> None:
    """They reach the tables of rows, the views of rows and overlap, and the table over all shards."""
    types = "SELECT DISTINCT type FROM system.columns WHERE database = 'night' AND name = 'name'"
    assert {*fetch_everywhere(cluster, types).column(0).to_pylist()} == {"String"}
    nameless = stars(STARS, 300).set_column(3, "name", pa.array([*[None] * 250, *["Ω"] * 50], pa.string()))
    pq.write_table(nameless, folder / "nameless.parquet")
    load_files(cluster, request(folder, "nameless", "append"), Recorder())
    assert {*fetch_everywhere(cluster, types).column(0).to_pylist()} == {"Nullable(String)"}
    missing = "SELECT count() - count(name) AS n FROM "
    assert cluster.fetch_table(missing + "night.stars").column(0).to_pylist() == [250]
    with_copies = cluster.fetch_table(missing + "cluster('skyhouse', 'night', 'stars__margin')").column(0)[0].as_py()
    assert with_copies > 250
    verify_table(cluster, "night.stars", Recorder())


@pytest.mark.usefixtures("loaded")
def test_additions_small_and_large(cluster: Engine, folder: Path) -> None:
    first = entry_of(cluster).storage_sql
    before = catalogue_log.read_content_stamps(cluster, [("night", "stars")])
    load_files(cluster, request(folder, "few", "append"), Recorder())
    assert entry_of(cluster).storage_sql == first
    assert catalogue_log.read_content_stamps(cluster, [("night", "stars")]) != before
    stamps = [catalogue_log.read_content_stamps(server, [("night", "stars")]) for server in cluster.list_servers()]
    assert len(set(stamps)) == 1  # a job that continues on another server is not a different job
    load_files(cluster, request(folder, "many", "append"), Recorder())  # two chunks: into a copy of the table
    assert entry_of(cluster).storage_sql != first
    recorder = Recorder()
    verify_table(cluster, "night.stars", recorder)
    assert recorder.reports[0] == "night.stars: 5,500 rows, 5,500 were loaded from 3 inputs"
    for name in ("few", "many", "stars"):
        load_files(cluster, request(folder, name, "append"), recorder)
        assert recorder.reports[-1] == "already loaded: night.stars holds these files (5,500 rows)"
