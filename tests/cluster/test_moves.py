"""Rows move to other shards, also to a new shard, while queries read them; a killed move loses no row and no answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_ddl import create_sharded_sql, drop_sharded_sql
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import LOCAL
from loaders.cluster import rebalance
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import interrupted_at, killed_at
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import fetch_everywhere, prepared_engine, running_cluster
from tests.support.ports import free_port

SCHEMA = """
name: sky
tables:
- name: objects
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 1.5}
- name: sources
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: object, datatype: long}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#sources.object"], referencedColumns: ["#objects.id"]}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 1.5, parent: of}
- name: notes
  columns: [{name: source, datatype: long}, {name: note, datatype: string}]
  constraints:
  - {name: of_source, "@type": ForeignKey, columns: ["#notes.source"], referencedColumns: ["#sources.id"]}
  skyhouse:layout: {parent: of_source}
- name: bands
  columns: [{name: band, datatype: string}]
"""
COUNTS = {"objects": 3000, "sources": 6000, "notes": 6000}
NAMES = (*COUNTS, "bands")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write files of objects in a dense field, with two sources for each object, and a note for each source."""
    folder = tmp_path_factory.mktemp("sky")
    chance = np.random.default_rng(3)
    count = COUNTS["objects"]
    ra = np.where(np.arange(count) % 3, chance.normal(80, 15, count), chance.uniform(0, 360, count)) % 360
    dec = np.clip(np.where(np.arange(count) % 3, chance.normal(-60, 9, count), chance.uniform(-90, 90, count)), -90, 90)
    ids = np.arange(count)
    near = np.clip(np.repeat(dec, 2) + chance.uniform(-1, 1, 2 * count), -90, 90)
    sources = {"id": np.arange(2 * count), "object": np.repeat(ids, 2), "ra": np.repeat(ra, 2), "dec": near}
    pq.write_table(pa.table({"id": ids, "ra": ra, "dec": dec}), folder / "objects.parquet")
    pq.write_table(pa.table(sources), folder / "sources.parquet")
    pq.write_table(pa.table({"source": sources["id"], "note": [f"n{i}" for i in ids] * 2}), folder / "notes.parquet")
    pq.write_table(pa.table({"band": ["g", "r"]}), folder / "bands.parquet")
    (folder / "sky.yaml").write_text(SCHEMA)
    return folder


@pytest.fixture(scope="module")
def grown(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A cluster that had two shards when its tables were loaded, with a third shard, which is the connected server."""
    folder_of_servers = tmp_path_factory.mktemp("moved")
    ports = [free_port() for _ in range(3)]
    with running_cluster(folder_of_servers, 2, ports=ports) as servers, prepared_engine(servers) as engine:
        for name in NAMES:
            request = LoadRequest(
                files=(folder / f"{name}.parquet",),
                table=f"sky.{name}",
                rejects=folder / "r",
                schema_file=folder / "sky.yaml",
            )
            load_files(engine, request, Recorder())
    with running_cluster(folder_of_servers, 3, ports=ports) as servers, prepared_engine(servers[::-1]) as engine:
        yield engine


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebalance, "LINGER_SECONDS", 0.2)


def _counts(engine: Engine, catalogue: Catalogue) -> dict[str, int]:
    """Return the rows of the tables that a query reads which was translated with this catalogue."""
    counted = {}
    for entry in catalogue.entries:
        if entry.is_sharded:
            rows = f"cluster('skyhouse', view(SELECT count() AS n FROM {entry.part_sql(LOCAL)}))"
            counted[entry.table.name] = engine.fetch_table(f"SELECT sum(n) FROM {rows}").column(0)[0].as_py()
    return counted


def _verified(engine: Engine) -> None:
    for name in COUNTS:
        verify_table(engine, f"sky.{name}", Recorder())


def _tables(engine: Engine) -> list[str]:
    sql = "SELECT name FROM system.tables WHERE database = 'sky' AND match(name, '__(local|overlap)$') ORDER BY name"
    return [*dict.fromkeys(fetch_everywhere(engine, sql).column(0).to_pylist())]


def test_a_new_server_gets_the_tables(grown: Engine) -> None:
    """Whole tables have their rows; the catalogue already has them when the first command runs."""
    new, *_ = grown.require_servers()
    versions = fetch_everywhere(
        grown, "SELECT max(version) AS version, count() AS n FROM skyhouse.catalogue"
    ).to_pylist()
    assert versions == 3 * versions[:1]
    recorder = Recorder()
    rebalance.prepare_servers(grown, recorder)
    rebalance.prepare_servers(grown, recorder)
    created = [f"creating sky.{name}" for name in sorted(NAMES)]
    assert recorder.reports == [*created, "copying sky.bands", *2 * ["all servers have all tables"]]
    assert new.fetch_table("SELECT band FROM sky.bands ORDER BY band").column(0).to_pylist() == ["g", "r"]
    assert _counts(grown, catalogue_log.read_catalogue(grown)) == COUNTS


# in this order: each moves the rows of the previous one


@pytest.mark.parametrize(
    ("point", "count", "is_done"),
    [
        (Failpoint.MOVE_CREATE, 1, False),
        (Failpoint.MOVE_CREATE, 5, False),
        (Failpoint.MOVE_FETCH, 1, False),  # one of three shards has fetched its rows
        (Failpoint.MOVE_FETCH_COPIES, 2, False),
        (Failpoint.CATALOGUE_WRITE, 1, False),  # announced to one server
        (Failpoint.CATALOGUE_WRITE, 3, False),
        (Failpoint.CATALOGUE_WRITE, 4, True),  # published on one server
    ],
)
def test_a_move_that_is_killed(point: Failpoint, count: int, is_done: bool, grown: Engine) -> None:
    before = catalogue_log.read_catalogue(grown)
    with killed_at(grown, point, count) as dying:
        rebalance.move_shards(dying, 0, Recorder())
    engine_setup.prepare_engine(grown)  # as every command does
    after = catalogue_log.read_catalogue(grown)
    assert (before.sharding != after.sharding) == is_done
    assert _counts(grown, before) == _counts(grown, after) == COUNTS


def test_what_was_left_is_dropped_by_the_next_move(grown: Engine) -> None:
    placement = catalogue_log.read_sharding(grown)
    assert placement is not None
    assert (placement.generation, placement.map.shard_count) == (1, 3)
    assert "objects__local" in _tables(grown)
    recorder = Recorder()
    rebalance.move_shards(grown, 0, recorder)
    assert recorder.reports == ["the shards are balanced"]
    assert _tables(grown) == sorted(f"{t}__1__{part}" for t in COUNTS for part in ("local", "overlap"))
    rebalance.report_shards(grown, 0, recorder)
    rows = [int(line.split()[2].replace(",", "")) for line in recorder.reports if line.startswith("shard ")]
    assert sum(rows) == sum(COUNTS.values())
    assert max(rows) < 1.25 * min(rows)
    _verified(grown)


def test_who_reads_meanwhile_sees_each_row_once(grown: Engine) -> None:
    """The query reads the newest catalogue each time; the service's catalogue is updated a little later."""
    wrong: list[dict[str, int]] = []
    asked = [0]
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            found = _counts(grown, catalogue_log.read_catalogue(grown))
            asked[0] += 1
            if found != COUNTS:
                wrong.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        rebalance.move_shards(grown, 2, Recorder())
    finally:
        ended.set()
        reader.join()
    assert asked[0] > 2
    assert wrong == []
    placement = catalogue_log.read_sharding(grown)
    assert placement is not None
    assert (placement.generation, placement.map.shard_count) == (2, 2)
    _verified(grown)


def test_while_something_is_loaded_nothing_moves(grown: Engine, folder: Path) -> None:
    catalogue = catalogue_log.read_catalogue(grown)
    [entry] = [entry for entry in catalogue.entries if entry.qualified_name == "sky.objects"]
    for base, name in (("fresh", "fresh"), (entry.engine_table[1] + "_1", "objects")):
        servers = Servers(grown)
        servers.execute_everywhere(*create_sharded_sql(entry.table, "sky", base, servers.topology))
        with pytest.raises(LoadError, match=f"a load into sky.{name} has not ended, so nothing was moved"):
            rebalance.move_shards(grown, 3, Recorder())
        servers.execute_everywhere(*drop_sharded_sql("sky", base, servers.topology))

    def register() -> None:
        # without the lock of this process, because it is another process that loads
        catalogue_log._write_document(grown, "sky", "dropped", "")

    points = ((Failpoint.MOVE_CREATE, 1), (Failpoint.MOVE_FETCH, 1), (Failpoint.CATALOGUE_WRITE, 3))
    for point, count in points:  # before rows move, during the move, and at the end
        with (
            interrupted_at(point, count, register),
            pytest.raises(LoadError, match="something was loaded during the move, so nothing was moved"),
        ):
            rebalance.move_shards(grown, 3, Recorder())
        assert not catalogue_log.is_move_announced(grown)
    assert {table.partition("__")[2][0] for table in _tables(grown)} == {"2"}
    with pytest.raises(LoadError, match="the cluster has 3 shards in remote_servers, not 4"):
        rebalance.move_shards(grown, 4, Recorder())
    assert catalogue_log.read_sharding(grown) == catalogue.sharding
    assert _counts(grown, catalogue) == COUNTS


def test_a_load_that_ends_while_a_move_is_published_changes_nothing(grown: Engine, folder: Path) -> None:
    """An append, and a load next to the table: both report the move, leave nothing behind, and can be started again."""
    pq.write_table(pa.table({"id": [9000], "ra": [10.0], "dec": [10.0]}), folder / "late.parquet")
    late = LoadRequest(files=(folder / "late.parquet",), table="sky.objects", rejects=folder / "r", mode="append")
    catalogue_log.announce_move(grown, True)
    with pytest.raises(LoadError, match="the shards are being moved, so objects was not changed: start the load again"):
        load_files(grown, late, Recorder())
    assert not [name for name in _tables(grown) if "append" in name]
    assert _counts(grown, catalogue_log.read_catalogue(grown)) == COUNTS
    rebalance.move_shards(grown, 3, Recorder())
    load_files(grown, late, Recorder())
    verify_table(grown, "sky.objects", Recorder())


def test_children_whose_parents_are_gone_are_told(grown: Engine) -> None:
    drop_table(grown, "sky.objects", Recorder())
    with pytest.raises(LoadError, match="which does not exist: load it, or drop sky"):
        rebalance.report_shards(grown, 0, Recorder())
