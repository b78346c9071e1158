"""Loads into a cluster of three shards: each row is stored once, even if a load is killed; verify finds damage."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adql.translation import translate
from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN
from loaders.load_error import LoadError
from loaders.pipeline.load_table import load_files
from loaders.pipeline.storage_choice import find_known_storage
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.verify_table import verify_table
from tap_service.services.estimates.estimator import Estimator
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import (
    RADIUS,
    STARS,
    all_rows,
    cluster,
    content,
    entry_of,
    folder,
    loaded,
    request,
    rows_table,
    stars,
    states,
)
from tests.loaders.recorder import Recorder
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import execute_everywhere, fetch_everywhere, urls_of
from tests.support.environment import make_environment

__all__ = ["cluster", "folder", "loaded", "states"]  # fixtures

#: Loads in a separate process, which kills itself a moment after it has reached a failpoint.
CHILD = """
import sys
from pathlib import Path
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.config import Config
from tap_service.storage.open_storage import open_remote_engine
from tests.cluster.dying import die_at

urls, folder, point, count = sys.argv[1:]
chunk_reader.CHUNK_ROWS = 1500
die_at(point, int(count), 0.002)
folder = Path(folder)
with ConsoleReporter() as reporter:
    request = LoadRequest(
        files=(folder / "stars.parquet",),
        table="night.stars",
        rejects=folder / "rejects.csv",
        schema_file=folder / "night.yaml",
    )
    load_files(open_remote_engine(Config(clickhouse_url=urls)), request, reporter)
"""


def test_rows_and_copies(cluster: Engine, folder: Path) -> None:
    """Computed without the loader: each shard has the copies that the geometry requires, or a few more."""
    recorder = Recorder()
    load_files(cluster, request(folder), recorder)
    assert recorder.lines == [f"loaded {STARS:,} rows into night.stars"]
    entry = entry_of(cluster)
    placement = catalogue_log.read_catalogue(cluster).sharding
    assert placement is not None
    found = cluster.fetch_table(
        f"SELECT id, {SHARD_COLUMN} AS shard, hpx29 FROM {entry.storage_sql} ORDER BY id"
    ).to_pydict()
    assert found["id"] == list(range(STARS))
    assert found["shard"] == [placement.map.find_shard(index) for index in found["hpx29"]]
    copies = cluster.fetch_table(f"SELECT id, {SHARD_COLUMN} AS shard FROM {all_rows(cluster, OVERLAP)}").to_pylist()
    has = {(row["id"], row["shard"]) for row in copies}
    assert len(has) == len(copies)
    assert not any(found["shard"][star] == shard for star, shard in has)
    table = stars(0, STARS)
    ra, dec = (np.radians(table.column(name).to_numpy()) for name in ("ra", "dec"))
    vectors = np.stack((np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)), axis=1)
    near = np.linalg.norm(vectors[:, None] - vectors[None], axis=2) <= 2 * np.sin(np.radians(RADIUS) / 2)
    shards = np.array(found["shard"])
    must = {(int(a), int(shards[b])) for a, b in zip(*np.nonzero(near), strict=True) if shards[a] != shards[b]}
    assert len(must) > 30
    assert must <= has
    verify_table(cluster, "night.stars", recorder)
    list_tables(cluster, recorder)
    assert any(line.startswith("night.stars ") and f"{STARS:,} rows" in line for line in recorder.reports)
    drop_table(cluster, "night.stars", recorder)
    assert fetch_everywhere(cluster, "SELECT name FROM system.tables WHERE database = 'night'").num_rows == 0


#: in the order in which a load reaches them
POINTS = [
    (Failpoint.STAGING_CREATE, 1),
    (Failpoint.STAGING_ADD_CHUNKS, 2),
    (Failpoint.SHARDS_SEND_COPIES, 1),  # copies are inserted, rows are not
    (Failpoint.SHARDS_SEND, 1),
    (Failpoint.STAGING_VERIFY, 1),  # on one server
    (Failpoint.PUBLISH_DROP_CHUNKS, 2),
    (Failpoint.DENSITY_WRITE, 1),
    (Failpoint.DENSITY_WRITE, 3),
    (Failpoint.CATALOGUE_WRITE, 1),
]


@pytest.mark.usefixtures("loaded")
def test_killed_at_each_step_of_one_load(cluster: Engine, folder: Path) -> None:
    undisturbed = content(cluster)
    drop_table(cluster, "night.stars", Recorder())
    for point, count in POINTS:
        with killed_at(cluster, point, count) as dying:
            load_files(dying, request(folder), Recorder())
    prepare_engine(cluster)  # as every command does
    recorder = Recorder()
    load_files(cluster, request(folder), recorder)
    assert recorder.reports[-1].startswith("already loaded")  # nothing is left to do when the catalogue is written
    assert content(cluster) == undisturbed
    assert_same_logs(cluster)


@pytest.mark.parametrize(
    ("point", "count"),
    [
        (Failpoint.CATALOGUE_WRITE, 2),
        (Failpoint.CATALOGUE_WRITE, 3),
        (Failpoint.TAP_SCHEMA_FILL, 1),
        (Failpoint.TAP_SCHEMA_FILL, 2),
    ],
)
def test_a_catalogue_that_only_some_servers_know(cluster: Engine, folder: Path, point: Failpoint, count: int) -> None:
    """The next command updates the other servers after a kill between two servers, and while TAP_SCHEMA was written."""
    with killed_at(cluster, point, count) as dying:
        load_files(dying, request(folder), Recorder())
    prepare_engine(cluster)
    assert_same_logs(cluster)
    names = "SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name = 'night'"
    assert fetch_everywhere(cluster, names).column(0).to_pylist() == 3 * ["night.stars"]
    verify_table(cluster, "night.stars", Recorder())


@pytest.mark.usefixtures("loaded")
def test_rows_that_one_server_has_still_to_delete_do_not_come_back(cluster: Engine, folder: Path) -> None:
    slow = cluster.require_servers()[1]
    slow.execute("SYSTEM STOP MERGES skyhouse.density")
    density_table.update_density(cluster, "night", entry_of(cluster).table)
    prepare_engine(cluster)
    slow.execute("SYSTEM START MERGES skyhouse.density")
    versions = "SELECT uniqExact(version) FROM skyhouse.density WHERE schema_name = 'night'"
    while fetch_everywhere(cluster, "SELECT 1 FROM system.mutations WHERE NOT is_done").num_rows:
        time.sleep(0.05)
    assert fetch_everywhere(cluster, versions).column(0).to_pylist() == [1, 1, 1]
    assert_same_logs(cluster)


def assert_same_logs(cluster: Engine) -> None:
    for table in ("catalogue", "appends", "density"):
        sums = fetch_everywhere(cluster, f"SELECT count() AS n, sum(cityHash64(tuple(*))) AS s FROM skyhouse.{table}")
        assert len({*sums.column(1).to_pylist()}) == 1, table


def test_killed_between_two_shards_of_a_chunk(
    cluster: Engine, folder: Path, servers_of: Callable[[int], list[ClickHouseServer]]
) -> None:
    """A process is killed while the engine works for it, and one block of a shard is deleted in each table."""
    command = [sys.executable, "-c", CHILD, urls_of(servers_of(3)), str(folder), Failpoint.SHARDS_SEND_COPIES, "2"]
    killed = subprocess.run(command, check=False, capture_output=True, env=make_environment(folder / "data"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    while cluster.list_running_ids("load "):
        time.sleep(0.05)
    for part in (LOCAL, OVERLAP):
        taken = f"ALTER TABLE night.stars{part} DELETE WHERE __chunk = 1 AND {SHARD_COLUMN} = 1"
        execute_everywhere(cluster, taken, {"mutations_sync": 2})
    recorder = Recorder()
    load_files(cluster, request(folder), recorder)
    assert "resuming the stopped load of night.stars" in recorder.reports
    verify_table(cluster, "night.stars", recorder)


@pytest.mark.usefixtures("loaded")
def test_what_replaces_a_table_is_seen_at_once(cluster: Engine, folder: Path) -> None:
    before = content(cluster)
    with killed_at(cluster, Failpoint.DENSITY_WRITE) as dying:
        load_files(dying, request(folder, "many", "replace"), Recorder())
    assert content(cluster) == before
    assert entry_of(cluster).storage_sql == "`night`.`stars`"
    load_files(cluster, request(folder, "many", "replace"), Recorder())
    assert entry_of(cluster).storage_sql == "`night`.`stars__0_1`"
    assert sum(int(str(row[1])) for row in content(cluster) if row[0] == LOCAL) == 2200
    left = "SELECT name FROM system.tables WHERE database = 'night' AND name = 'stars'"
    assert fetch_everywhere(cluster, left).num_rows == 0
    verify_table(cluster, "night.stars", Recorder())


class _Rates:
    def read_rates(self) -> dict[str, float]:
        return {}

    def set_rate(self, kind: str, seconds_per_gigabyte: float) -> None:
        pass


@pytest.mark.usefixtures("loaded")
def test_what_replaces_a_table_is_estimated(cluster: Engine, folder: Path) -> None:
    """Determined by its rows and the size of its columns, which ClickHouse reports for wide parts."""
    load_files(cluster, request(folder, "many", "replace"), Recorder())
    rows = rows_table(cluster, LOCAL)
    wide = "min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0"
    execute_everywhere(cluster, f"ALTER TABLE {rows} MODIFY SETTING {wide}")
    execute_everywhere(cluster, f"OPTIMIZE TABLE {rows} FINAL")
    catalogue = catalogue_log.read_catalogue(cluster)
    estimate = Estimator(cluster, _Rates()).estimate_cost(translate("SELECT name FROM night.stars", catalogue), 1)
    assert estimate.rows == 2200
    assert estimate.bytes > 2200 * 12


#: A change of the copies of three stars, or of their rows, and the message of verify
DAMAGE = [
    (OVERLAP, "ALTER TABLE {rows} DELETE WHERE id = {one}", "the overlap of shard . lacks 1 copies"),
    (OVERLAP, "INSERT INTO {rows} ({names}) SELECT {names} FROM {rows} WHERE id = {two}", "has 1 copies more than once"),
    (OVERLAP, "INSERT INTO {rows} ({names}) VALUES (-1, 10, 10, '', 2)", "shard 2 has 1 rows that do not belong there"),
    (OVERLAP, "ALTER TABLE {rows} UPDATE name = 'other' WHERE id = {three}", "lacks [12] copies; .* rows that do not"),
    (LOCAL, "ALTER TABLE {rows} DELETE WHERE id = {one}", "1 rows are missing; shard . has .* rows where .* were loaded"),
    (LOCAL, "ALTER TABLE {rows} UPDATE __shard = (__shard + 1) % 3 WHERE id = {two}", "has 1 rows that belong to other shards"),
]  # fmt: skip


@pytest.mark.usefixtures("loaded")
def test_verify_names_what_is_wrong(cluster: Engine, folder: Path) -> None:
    copies = all_rows(cluster, OVERLAP)
    sql = f"SELECT id FROM {copies} WHERE id > 10 GROUP BY id HAVING count() = 1 ORDER BY id LIMIT 3"
    one, two, three = cluster.fetch_table(sql).column(0).to_pylist()
    names = f"id, ra, dec, name, {SHARD_COLUMN}"
    for part, damage, named in DAMAGE:
        sql = damage.format(rows=rows_table(cluster, part), names=names, one=one, two=two, three=three)
        for server in cluster.require_servers()[2 if "VALUES" in sql else 0 :]:
            server.execute(sql, {"mutations_sync": 2})
        with pytest.raises(LoadError, match=named):
            verify_table(cluster, "night.stars", Recorder())


def test_a_load_of_another_map_is_begun_again(cluster: Engine, folder: Path) -> None:
    """Its rows were assigned to shards by the old map: the names of its tables contain that map's number."""
    with killed_at(cluster, Failpoint.SHARDS_SEND) as dying:
        load_files(dying, request(folder), Recorder())
    storage = find_known_storage(cluster, "night.stars", catalogue_log.read_catalogue(cluster))
    assert storage is None
    recorder = Recorder()
    drop_table(cluster, "night.stars", recorder)
    assert recorder.reports == ["dropped night.stars"]
    assert fetch_everywhere(cluster, "SELECT name FROM system.tables WHERE database = 'night'").num_rows == 0
