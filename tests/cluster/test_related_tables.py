"""On a cluster, children are on the shards of their parents, and whole tables are on every server."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adql.translation import translate
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.shard_map import LOCAL, SHARD_COLUMN
from loaders.cluster.rebalance import prepare_servers
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.storage import stored_table
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import (
    STARS,
    all_rows,
    cluster,
    entry_of,
    folder,
    loaded,
    request,
    rows_table,
    stars,
    states,
)
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import fetch_everywhere
from tests.support.environment import ROOT

__all__ = ["cluster", "folder", "loaded", "states"]  # fixtures

DOCUMENTATION = ROOT / "docs" / "loading.md"


def check_latest(cluster: Engine, sources: dict[str, np.ndarray]) -> None:
    """The query of docs/loading.md finds the newest sources of each star in a circle and a time range."""
    (query,) = re.findall(r"```sql\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)
    translation = translate(query, catalogue_log.read_catalogue(cluster))
    found = cluster.fetch_table(translation.sql, translation.settings)
    latest: dict[int, float] = {}
    ra, dec = np.radians(sources["ra"]), np.radians(sources["dec"])
    cosine = np.sin(dec) * np.sin(np.radians(10)) + np.cos(dec) * np.cos(np.radians(10)) * np.cos(ra - np.pi)
    inside = (cosine > np.cos(np.radians(30))) & (sources["mjd"] > 60635) & (sources["dec"] <= 90)
    inside[[1234, 1345, 1456]] = False  # orphans
    for star, mjd in zip(sources["star"][inside].tolist(), sources["mjd"][inside].tolist(), strict=True):
        latest[star] = max(mjd, latest.get(star, 0))
    assert len(latest) > 20
    assert dict(zip(*(found.column(number).to_pylist() for number in (0, 1)), strict=True)) == latest


@pytest.mark.usefixtures("loaded")
def test_children_are_with_their_parents(cluster: Engine, folder: Path) -> None:
    """Rows without a parent, or too far or at an unknown distance from it, are rejected; rows without a position are
    kept.

    Some rows are in the cells of another shard.
    """
    random = np.random.default_rng(9)
    parents = stars(0, STARS).slice(2)
    of = random.integers(0, len(parents), 2000)
    columns = {name: parents.column(name).to_numpy()[of].copy() for name in ("id", "ra", "dec")}
    columns["dec"] = np.clip(columns["dec"] + random.uniform(-1.9, 1.9, 2000), -90, 90)
    columns["id"][1234], columns["dec"][1345] = 10**9, -columns["dec"][1345]
    columns["dec"][17] = 91
    columns["id"][[1456, 1457]] = 0  # which has no position
    columns["dec"][[1457, 1458]] = np.nan
    sources = {
        "number": np.arange(2000),
        "star": columns.pop("id"),
        **columns,
        "mjd": random.uniform(60000, 61000, 2000),
    }
    pq.write_table(pa.table(sources), folder / "sources.parquet", row_group_size=700)
    recorder = Recorder()
    load_files(cluster, request(folder, "sources", table="night.sources"), recorder)
    assert recorder.reports[-1].startswith("loaded 1,996 rows into night.sources; 4 bad rows are in ")
    with (folder / "rejects.csv").open() as file:
        rejected = {row["line_or_row"]: (row["column"], row["reason"]) for row in csv.DictReader(file)}
    assert rejected["1235"] == ("star", "no id of night.stars")
    assert rejected["1346"][1].endswith("degrees from its row of night.stars, beyond overlap_radius (2)")
    assert rejected["1457"] == ("star", "its row of night.stars has no position")
    assert rejected["18"][0] == "dec"
    verify_table(cluster, "night.sources", recorder)
    home, own = f"s.{SHARD_COLUMN} AS home", f"t.{SHARD_COLUMN} AS own"
    joined = (
        f"SELECT {home}, {own}, s.hpx29 AS place FROM {all_rows(cluster, LOCAL, 'sources')} AS s"
        f" GLOBAL INNER JOIN {all_rows(cluster, LOCAL)} AS t ON s.star = t.id"
    )
    found = cluster.fetch_table(joined).to_pylist()
    placement = catalogue_log.read_catalogue(cluster).sharding
    assert placement is not None
    assert len(found) == 1996
    assert all(row["home"] == row["own"] for row in found)
    assert any(row["home"] != placement.map.find_shard(row["place"]) for row in found)
    check_latest(cluster, sources)
    some = pa.table({name: values[:50] for name, values in sources.items()}).set_column(
        0, "number", pa.array(range(5000, 5050))
    )
    pq.write_table(some.filter(pa.array(np.arange(50) != 17)), folder / "night.parquet")
    load_files(cluster, request(folder, "night", "append", "night.sources"), recorder)
    verify_table(cluster, "night.sources", recorder)
    rows, everywhere = rows_table(cluster, LOCAL, "sources"), all_rows(cluster, LOCAL, "sources")
    home = cluster.fetch_table(f"SELECT {SHARD_COLUMN} FROM {everywhere} WHERE number = 7").column(0)[0].as_py()
    other, names = (home + 1) % 3, "number, star, ra, dec, mjd"
    taken = f"SELECT {names}, {other} FROM {everywhere} WHERE number = 7"
    cluster.require_servers()[other].execute(f"INSERT INTO {rows} ({names}, {SHARD_COLUMN}) {taken}")
    cluster.require_servers()[home].execute(f"ALTER TABLE {rows} DELETE WHERE number = 7", {"mutations_sync": 2})
    with pytest.raises(LoadError, match=r"shard . has 1 rows without their parent row of night\.stars"):
        verify_table(cluster, "night.sources", Recorder())
    drop_table(cluster, "night.stars", recorder)
    with pytest.raises(LoadError, match=r"rows of sources are stored with rows of night\.stars: load that table first"):
        load_files(cluster, request(folder, "night", "append", "night.sources"), recorder)
    drop_table(cluster, "night.sources", recorder)


def test_children_of_a_parent_at_two_positions(cluster: Engine, folder: Path) -> None:
    """Such a parent has no single shard for its children; a parent that occurs twice at the same position has one."""
    twice = pa.table({"id": [1, 1, 2, 2], "ra": [10.0] * 4, "dec": [80.0, -80.0, 50.0, 50.0], "name": ["a"] * 4})
    pq.write_table(twice, folder / "twice.parquet")
    load_files(cluster, request(folder, "twice"), Recorder())
    (folder / "of_twice.csv").write_text("number,star,ra,dec,mjd\n1,1,10,80,1\n2,2,10,50,1\n")
    files = (folder / "of_twice.csv",)
    load_files(
        cluster,
        LoadRequest(files=files, table="night.sources", rejects=folder / "r.csv", schema_file=folder / "night.yaml"),
        recorder := Recorder(),
    )
    assert recorder.reports[-1].startswith("loaded 1 rows into night.sources; 1 bad rows are in ")
    assert "several rows of night.stars have this id, on several shards" in (folder / "r.csv").read_text()
    verify_table(cluster, "night.sources", Recorder())


def test_a_change_that_always_fails_is_told(cluster: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_table, "_MAX_FAILING_SECONDS", 0)
    cluster.execute("CREATE DATABASE IF NOT EXISTS night")
    cluster.execute("CREATE TABLE night.stuck (a Int8) ENGINE = MergeTree ORDER BY () AS SELECT 1 AS a")
    cluster.execute("ALTER TABLE night.stuck UPDATE a = throwIf(a = 1, 'it is one') WHERE 1", {"mutations_sync": 0})
    with pytest.raises(LoadError, match=r"an earlier change of night\.stuck: .*it is one.* KILL MUTATION"):
        stored_table.wait_for_mutations(cluster, "system.mutations", "night", "stuck")
    cluster.execute("DROP TABLE night.stuck SYNC")
    stored_table.wait_for_mutations(cluster, "system.mutations", "night", "stuck")


@pytest.mark.usefixtures("loaded")
def test_children_are_not_left_behind(cluster: Engine, folder: Path) -> None:
    """Replacing or reloading the parents is refused until the children are dropped."""
    parents, recorder = stars(0, STARS), Recorder()
    names = ("id", "ra", "dec")
    children = {"number": range(2, 99), "star": parents["id"][2:99], "mjd": [60000.0] * 97}
    children |= {name: parents[name][2:99] for name in names[1:]}
    pq.write_table(pa.table(children), folder / "children.parquet")
    load_files(cluster, request(folder, "children", table="night.sources"), recorder)
    dec = pa.array(-parents["dec"].to_numpy())
    pq.write_table(parents.set_column(2, "dec", dec), folder / "mirrored.parquet")
    pq.write_table(parents.append_column("mag", dec), folder / "same.parquet")
    told = r"night\.sources: shard . has .* rows without their parent row of night\.stars: drop that table first.*Nothing was changed"
    with pytest.raises(LoadError, match=told):
        load_files(cluster, request(folder, "mirrored", "replace"), recorder)
    verify_table(cluster, "night.sources", recorder)
    load_files(cluster, request(folder, "same", "replace"), recorder)
    verify_table(cluster, "night.sources", recorder)
    drop_table(cluster, "night.stars", recorder)
    with pytest.raises(LoadError, match=told):
        load_files(cluster, request(folder, "mirrored"), recorder)
    drop_table(cluster, "night.sources", recorder)
    load_files(cluster, request(folder, "mirrored"), recorder)


def test_a_table_without_a_position_is_whole(cluster: Engine, folder: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "band": ["g", "r"]}), folder / "filters.parquet")
    pq.write_table(pa.table({"id": [3], "band": ["i"]}), folder / "more.parquet")
    load_files(cluster, request(folder, "filters", table="night.filters"), Recorder())
    load_files(cluster, request(folder, "more", "append", "night.filters"), Recorder())
    load_files(cluster, request(folder, "more", "append", "night.filters"), Recorder())
    verify_table(cluster, "night.filters", Recorder())
    found = cluster.fetch_table(f"SELECT band FROM {entry_of(cluster, 'filters').storage_sql} ORDER BY id").column(0)
    assert found.to_pylist() == ["g", "r", "i"]
    rows = fetch_everywhere(cluster, f"SELECT count() AS n FROM {entry_of(cluster, 'filters').storage_sql}")
    assert rows.column(0).to_pylist() == [3, 3, 3]
    load_files(cluster, request(folder, "more", "replace", "night.filters"), Recorder())
    assert entry_of(cluster, "filters").storage_sql == "`night`.`filters__0_1`"
    verify_table(cluster, "night.filters", Recorder())


WHOLE_POINTS = [
    (Failpoint.STAGING_CREATE, 2),
    (Failpoint.SHARDS_SEND, 2),
    (Failpoint.STAGING_VERIFY, 2),
    (Failpoint.PUBLISH_DROP_CHUNKS, 1),
]


def test_a_whole_table_is_on_each_server_once_whenever_its_load_is_killed(cluster: Engine, folder: Path) -> None:
    pq.write_table(pa.table({"id": range(4000), "band": ["g"] * 4000}), folder / "filters.parquet")
    pq.write_table(pa.table({"id": [5000], "band": ["i"]}), folder / "more.parquet")
    whole = request(folder, "filters", table="night.filters")
    for point, count in WHOLE_POINTS:
        with killed_at(cluster, point, count) as dying:
            load_files(dying, whole, Recorder())
    load_files(cluster, whole, Recorder())
    more = request(folder, "more", "append", "night.filters")
    with killed_at(cluster, Failpoint.SHARDS_SEND, 2) as dying:
        load_files(dying, more, Recorder())
    load_files(cluster, more, Recorder())
    verify_table(cluster, "night.filters", Recorder())
    storage = entry_of(cluster, "filters").storage_sql
    sums = fetch_everywhere(cluster, f"SELECT count() AS n, sum(id) AS s FROM {storage}").to_pylist()
    assert sums == 3 * [{"n": 4001, "s": 7_998_000 + 5000}]
    cluster.require_servers()[1].execute(f"DELETE FROM {storage} WHERE id = 7")
    with pytest.raises(
        LoadError, match=r"the server of shard 1 differs from the other servers \(4,000 rows, not 4,001\)"
    ):
        verify_table(cluster, "night.filters", Recorder())
    prepare_servers(cluster, recorder := Recorder())
    assert recorder.reports == ["copying night.filters", "all servers have all tables"]
    verify_table(cluster, "night.filters", Recorder())
