"""Loads to a cluster of three shards: each row once where it belongs, whenever the load is killed; what verify finds."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN
from loaders.cluster import cluster_publication
from loaders.cluster.rebalance import prepare_servers
from loaders.load_error import LoadError
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.pipeline.storage_choice import find_known_storage
from loaders.storage import stored_table
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.verify_table import verify_table
from tap_service.services.estimates.cost_estimate import Estimator
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import Dying, Killed
from tests.loaders.recorder import Recorder
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import execute_everywhere, fetch_everywhere, urls_of

STARS = 3000
CHUNK = 1500
RADIUS = 2.0
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "loading.md"

SCHEMA = f"""
name: night
tables:
- name: stars
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: name, datatype: unicode}}
  skyhouse:layout: {{position: [ra, dec], id: [id], overlap_radius: {RADIUS}}}
- name: sources
  columns:
  - {{name: number, datatype: long, nullable: false}}
  - {{name: star, datatype: long}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: mjd, datatype: double}}
  constraints:
  - {{name: of, "@type": ForeignKey, columns: ["#sources.star"], referencedColumns: ["#stars.id"]}}
  skyhouse:layout: {{position: [ra, dec], id: [number], time: mjd, years: true, overlap_radius: {RADIUS}, parent: of}}
- name: filters
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: band, datatype: string}}
"""

#: Loads in a process of its own, which kills itself while the n-th statement runs that has the text.
CHILD = """
import os, signal, sys, threading
from pathlib import Path
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.services.estimates.cost_estimate import Estimator
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.open_storage import open_remote_engine

urls, folder, text, count = sys.argv[1:]
chunk_reader.CHUNK_ROWS = 1500
left = [int(count)]
execute = ClickHouseEngine.execute

def watched(self, sql, *rest, **options):
    if text in sql:
        left[0] -= 1
        if left[0] == 0:
            threading.Timer(0.002, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    execute(self, sql, *rest, **options)

ClickHouseEngine.execute = watched
folder = Path(folder)
with ConsoleReporter() as reporter:
    request = LoadRequest((folder / "stars.parquet",), "night.stars", folder / "rejects.csv", folder / "night.yaml")
    load_files(open_remote_engine(Config(clickhouse_url=urls)), request, reporter)
"""


def stars(first: int, count: int) -> pa.Table:
    random = np.random.default_rng(first)
    dec = np.degrees(np.arcsin(random.uniform(-1, 1, count)))
    dec[:2] = np.nan  # two without a position
    ids = np.arange(first, first + count)
    return pa.table({"id": ids, "ra": random.uniform(0, 360, count), "dec": dec, "name": [f"Ω {n}" for n in ids]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("night")
    (folder / "night.yaml").write_text(SCHEMA)
    pq.write_table(stars(0, STARS), folder / "stars.parquet", row_group_size=700)
    pq.write_table(stars(STARS, 300), folder / "few.parquet")
    pq.write_table(stars(STARS + 300, 2200), folder / "many.parquet", row_group_size=700)
    pq.write_table(stars(STARS + 2500, 20), folder / "other.parquet")
    return folder


@pytest.fixture
def cluster(cluster_of: Callable[[int], Engine], monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Three shards, small chunks; tables of the schema night are gone afterwards."""
    engine = cluster_of(3)
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", CHUNK)
    monkeypatch.setattr(cluster_publication, "LINGER_SECONDS", 0)
    yield engine
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "night":
            drop_table(engine, entry.qualified_name, Recorder())
    execute_everywhere(engine, "DROP DATABASE IF EXISTS night SYNC")


def request(folder: Path, name: str = "stars", mode: Mode = "create", table: str = "night.stars") -> LoadRequest:
    schema = None if mode == "append" else folder / "night.yaml"
    return LoadRequest((folder / f"{name}.parquet",), table, folder / "rejects.csv", schema, mode=mode)


def entry_of(engine: Engine, name: str = "stars") -> TableEntry:
    (entry,) = catalogue_log.read_catalogue(engine).find_tables(name, True, "night", True)
    return entry


def content(engine: Engine) -> list[tuple[object, ...]]:
    """Rows and a checksum of all values by part and shard, as the shards themselves have them."""
    entry = entry_of(engine)
    found = []
    for part in (LOCAL, OVERLAP):
        counted = f"SELECT count() AS n, sum(cityHash64(tuple(*))) AS hash FROM {entry.part_sql(part)}"
        sql = f"SELECT n, hash FROM cluster('skyhouse', view({counted})) ORDER BY _shard_num"
        found += [(part, *row.values()) for row in engine.fetch_table(sql).to_pylist()]
    return found


def rows_table(engine: Engine, part: str, name: str = "stars") -> str:
    """What holds a shard's rows of a part, for damage to be done."""
    return entry_of(engine, name).part_sql(part)


def all_rows(engine: Engine, part: str, name: str = "stars") -> str:
    """The rows of a part on all shards."""
    database, base = entry_of(engine, name).engine_table
    return f"cluster('skyhouse', '{database}', '{base}{part}')"


def test_rows_and_copies(cluster: Engine, folder: Path) -> None:
    """Independent of the loader: every shard's copies are those that the geometry asks for, or a little more."""
    recorder = Recorder()
    load_files(cluster, request(folder), recorder)
    assert recorder.reports == [f"loaded {STARS:,} rows into night.stars"]
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


#: In the order in which a load comes to them
POINTS = [
    ("CREATE TABLE", 1),
    ("ADD COLUMN", 2),
    ("stars__overlap', __shard) ", 1),  # copies made, rows not
    ("stars__local', __shard) ", 1),
    ("MODIFY COMMENT", 1),  # verified on one server
    ("DROP COLUMN IF EXISTS __chunk", 2),
    ("INSERT INTO skyhouse.density", 1),
    ("INSERT INTO skyhouse.density", 3),
    ("INSERT INTO skyhouse.catalogue", 1),
]


def test_killed_at_each_step_of_one_load(cluster: Engine, folder: Path) -> None:
    load_files(cluster, request(folder), Recorder())
    undisturbed = content(cluster)
    drop_table(cluster, "night.stars", Recorder())
    for text, count in POINTS:
        with pytest.raises(Killed):
            load_files(Dying(cluster, text, count), request(folder), Recorder())
    prepare_engine(cluster)  # as each command does
    recorder = Recorder()
    load_files(cluster, request(folder), recorder)
    assert recorder.reports[-1].startswith("already loaded")  # nothing is left to do after the catalogue knows
    assert content(cluster) == undisturbed
    assert_same_logs(cluster)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_catalogue_that_only_some_servers_know(cluster: Engine, folder: Path, count: int) -> None:
    """The next command tells the others: killed between two servers, and while TAP_SCHEMA was written."""
    text = "INSERT INTO skyhouse.catalogue" if count < 4 else "TAP_SCHEMA"
    with pytest.raises(Killed):
        load_files(Dying(cluster, text, count), request(folder), Recorder())
    prepare_engine(cluster)
    assert_same_logs(cluster)
    names = "SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name = 'night'"
    assert fetch_everywhere(cluster, names).column(0).to_pylist() == 3 * ["night.stars"]
    verify_table(cluster, "night.stars", Recorder())


def test_rows_that_one_server_has_still_to_delete_do_not_come_back(cluster: Engine, folder: Path) -> None:
    load_files(cluster, request(folder), Recorder())
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
    """A process killed while the engine works for it, and one shard's block of each part taken away."""
    command = [sys.executable, "-c", CHILD, urls_of(servers_of(3)), str(folder), "stars__local', __shard) ", "2"]
    killed = subprocess.run(command, check=False, capture_output=True, env={**os.environ, "PYTHONPATH": os.getcwd()})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    while cluster.list_running_ids("load "):
        time.sleep(0.05)
    for part in (LOCAL, OVERLAP):
        taken = f"ALTER TABLE night.stars{part} DELETE WHERE __chunk = 1 AND {SHARD_COLUMN} = 1"
        execute_everywhere(cluster, taken, {"mutations_sync": 2})
    recorder = Recorder()
    load_files(cluster, request(folder), recorder)
    assert recorder.reports[0] == "resuming the stopped load of night.stars"
    verify_table(cluster, "night.stars", recorder)


def test_what_replaces_a_table_is_seen_at_once(cluster: Engine, folder: Path) -> None:
    load_files(cluster, request(folder), Recorder())
    before = content(cluster)
    with pytest.raises(Killed):
        load_files(Dying(cluster, "INSERT INTO skyhouse.density", 1), request(folder, "many", "replace"), Recorder())
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


def test_what_replaces_a_table_is_estimated(cluster: Engine, folder: Path) -> None:
    """By its rows and the size of its columns, which ClickHouse knows for wide parts."""
    load_files(cluster, request(folder), Recorder())
    load_files(cluster, request(folder, "many", "replace"), Recorder())
    rows = rows_table(cluster, LOCAL)
    wide = "min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0"
    execute_everywhere(cluster, f"ALTER TABLE {rows} MODIFY SETTING {wide}")
    execute_everywhere(cluster, f"OPTIMIZE TABLE {rows} FINAL")
    catalogue = catalogue_log.read_catalogue(cluster)
    estimate = Estimator(cluster, _Rates()).estimate_cost(translate("SELECT name FROM night.stars", catalogue), 1)
    assert estimate.rows == 2200
    assert estimate.bytes > 2200 * 12


#: What is done to the copies of three stars, or to their rows, and what verify says of it
DAMAGE = [
    (OVERLAP, "ALTER TABLE {rows} DELETE WHERE id = {one}", "the overlap of shard . lacks 1 copies"),
    (OVERLAP, "INSERT INTO {rows} ({names}) SELECT {names} FROM {rows} WHERE id = {two}", "has 1 copies more than once"),
    (OVERLAP, "INSERT INTO {rows} ({names}) VALUES (-1, 10, 10, '', 2)", "shard 2 has 1 rows that do not belong there"),
    (OVERLAP, "ALTER TABLE {rows} UPDATE name = 'other' WHERE id = {three}", "lacks [12] copies; .* rows that do not"),
    (LOCAL, "ALTER TABLE {rows} DELETE WHERE id = {one}", "1 rows are missing; shard . has .* rows where .* were loaded"),
    (LOCAL, "ALTER TABLE {rows} UPDATE __shard = (__shard + 1) % 3 WHERE id = {two}", "has 1 rows that belong to others"),
]  # fmt: skip


def test_verify_names_what_is_wrong(cluster: Engine, folder: Path) -> None:
    load_files(cluster, request(folder), Recorder())
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


APPEND_POINTS = [
    ("CREATE TABLE `night`.`stars__append`", 1),
    ("INSERT INTO skyhouse.appends", 1),
    ("INSERT INTO skyhouse.appends", 2),
    ("stars__overlap', __shard) ", 1),
    ("stars__local', __shard) ", 1),
    ("INSERT INTO skyhouse.density", 1),
    ("INSERT INTO skyhouse.density", 3),
    ("INSERT INTO skyhouse.appends", 4),
    ("INSERT INTO skyhouse.appends", 6),
    ("DROP TABLE IF EXISTS `night`.`stars__append`", 5),
]


def test_an_addition_killed_anywhere_is_there_once(cluster: Engine, folder: Path) -> None:
    """Each is finished by what comes next, the same addition again or another one."""
    load_files(cluster, request(folder), Recorder())
    for number, (text, count) in enumerate(APPEND_POINTS):
        pq.write_table(stars(10_000 * (number + 1), 50), folder / f"killed{number}.parquet")
        with pytest.raises(Killed):
            load_files(Dying(cluster, text, count), request(folder, f"killed{number}", "append"), Recorder())
        prepare_engine(cluster)  # as each command does
        if number % 2 == 0:
            load_files(cluster, request(folder, f"killed{number}", "append"), Recorder())
    for number in (0, 1, len(APPEND_POINTS) - 1):  # finished by itself, by the next one, and not yet
        load_files(cluster, request(folder, f"killed{number}", "append"), Recorder())
    recorder = Recorder()
    verify_table(cluster, "night.stars", recorder)
    rows = STARS + 50 * len(APPEND_POINTS)
    assert (
        recorder.reports[0] == f"night.stars: {rows:,} rows, {rows:,} were loaded from {1 + len(APPEND_POINTS)} inputs"
    )
    assert sum(density_table.read_density(cluster, "night", "stars")["rows"].to_pylist()) == rows


def test_an_append_with_the_first_nulls(cluster: Engine, folder: Path) -> None:
    """They reach the tables of rows, the views of both parts, and the table over all shards."""
    load_files(cluster, request(folder), Recorder())
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


def test_additions_small_and_large(cluster: Engine, folder: Path) -> None:
    load_files(cluster, request(folder), Recorder())
    first = entry_of(cluster).storage_sql
    before = catalogue_log.read_content_stamps(cluster, [("night", "stars")])
    load_files(cluster, request(folder, "few", "append"), Recorder())
    assert entry_of(cluster).storage_sql == first
    assert catalogue_log.read_content_stamps(cluster, [("night", "stars")]) != before
    stamps = [catalogue_log.read_content_stamps(server, [("night", "stars")]) for server in cluster.list_servers()]
    assert len(set(stamps)) == 1  # a job that goes on with another server is no other job
    load_files(cluster, request(folder, "many", "append"), Recorder())  # two chunks: beside the table
    assert entry_of(cluster).storage_sql != first
    recorder = Recorder()
    verify_table(cluster, "night.stars", recorder)
    assert recorder.reports[0] == "night.stars: 5,500 rows, 5,500 were loaded from 3 inputs"
    for name in ("few", "many", "stars"):
        load_files(cluster, request(folder, name, "append"), recorder)
        assert recorder.reports[-1] == "already loaded: night.stars holds these files (5,500 rows)"


def check_latest(cluster: Engine, sources: dict[str, np.ndarray]) -> None:
    """The query of docs/loading.md gives the newest of each star's sources in its circle and time."""
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


def test_children_are_with_their_parents(cluster: Engine, folder: Path) -> None:
    """One without a parent is put aside, as those whose distance from it is too large or unknown; one without a
    position stays. Some lie in the cells of another shard."""
    load_files(cluster, request(folder), Recorder())
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
    with pytest.raises(LoadError, match=r"shard . has 1 rows without their row of night\.stars"):
        verify_table(cluster, "night.sources", Recorder())
    drop_table(cluster, "night.stars", recorder)
    with pytest.raises(
        LoadError, match=r"rows of sources are stored with those of night\.stars: load that table first"
    ):
        load_files(cluster, request(folder, "night", "append", "night.sources"), recorder)
    drop_table(cluster, "night.sources", recorder)


def test_children_of_a_parent_in_two_places(cluster: Engine, folder: Path) -> None:
    """Which has no one shard for them; one that is twice in the same place has."""
    twice = pa.table({"id": [1, 1, 2, 2], "ra": [10.0] * 4, "dec": [80.0, -80.0, 50.0, 50.0], "name": ["a"] * 4})
    pq.write_table(twice, folder / "twice.parquet")
    load_files(cluster, request(folder, "twice"), Recorder())
    (folder / "of_twice.csv").write_text("number,star,ra,dec,mjd\n1,1,10,80,1\n2,2,10,50,1\n")
    files = (folder / "of_twice.csv",)
    load_files(
        cluster, LoadRequest(files, "night.sources", folder / "r.csv", folder / "night.yaml"), recorder := Recorder()
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


def test_children_are_not_left_behind(cluster: Engine, folder: Path) -> None:
    """Replacing the parents, or loading them again, is refused until the children are dropped."""
    load_files(cluster, request(folder), Recorder())
    parents, recorder = stars(0, STARS), Recorder()
    names = ("id", "ra", "dec")
    children = {"number": range(2, 99), "star": parents["id"][2:99], "mjd": [60000.0] * 97}
    children |= {name: parents[name][2:99] for name in names[1:]}
    pq.write_table(pa.table(children), folder / "children.parquet")
    load_files(cluster, request(folder, "children", table="night.sources"), recorder)
    dec = pa.array(-parents["dec"].to_numpy())
    pq.write_table(parents.set_column(2, "dec", dec), folder / "mirrored.parquet")
    pq.write_table(parents.append_column("mag", dec), folder / "same.parquet")
    told = r"night\.sources: shard . has .* rows without their row of night\.stars: drop that table first.*Nothing was changed"
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


def test_a_table_without_a_place_is_whole(cluster: Engine, folder: Path) -> None:
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
    ("CREATE TABLE", 2),
    ("night', 'filters', toUInt16(1)) ", 1),
    ("MODIFY COMMENT", 2),
    ("DROP COLUMN IF EXISTS __chunk", 1),
]


def test_a_whole_table_is_on_each_server_once_whenever_its_load_is_killed(cluster: Engine, folder: Path) -> None:
    pq.write_table(pa.table({"id": range(4000), "band": ["g"] * 4000}), folder / "filters.parquet")
    pq.write_table(pa.table({"id": [5000], "band": ["i"]}), folder / "more.parquet")
    whole = request(folder, "filters", table="night.filters")
    for text, count in WHOLE_POINTS:
        with pytest.raises(Killed):
            load_files(Dying(cluster, text, count), whole, Recorder())
    load_files(cluster, whole, Recorder())
    more = request(folder, "more", "append", "night.filters")
    with pytest.raises(Killed):
        load_files(Dying(cluster, "night', 'filters', toUInt16(1)) ", 1), more, Recorder())
    load_files(cluster, more, Recorder())
    verify_table(cluster, "night.filters", Recorder())
    storage = entry_of(cluster, "filters").storage_sql
    sums = fetch_everywhere(cluster, f"SELECT count() AS n, sum(id) AS s FROM {storage}").to_pylist()
    assert sums == 3 * [{"n": 4001, "s": 7_998_000 + 5000}]
    cluster.require_servers()[1].execute(f"DELETE FROM {storage} WHERE id = 7")
    with pytest.raises(LoadError, match=r"the server of shard 1 has other rows than the others \(4,000, not 4,001\)"):
        verify_table(cluster, "night.filters", Recorder())
    prepare_servers(cluster, recorder := Recorder())
    assert recorder.reports == ["copying night.filters", "all servers have all tables"]
    verify_table(cluster, "night.filters", Recorder())


def test_a_load_of_another_map_is_begun_again(cluster: Engine, folder: Path) -> None:
    """What waits was placed by the map of its time: its names have that map's number."""
    with pytest.raises(Killed):
        load_files(Dying(cluster, "stars__local', __shard) ", 1), request(folder), Recorder())
    storage = find_known_storage(cluster, "night.stars", catalogue_log.read_catalogue(cluster))
    assert storage is None
    recorder = Recorder()
    drop_table(cluster, "night.stars", recorder)
    assert recorder.reports == ["dropped night.stars"]
    assert fetch_everywhere(cluster, "SELECT name FROM system.tables WHERE database = 'night'").num_rows == 0
