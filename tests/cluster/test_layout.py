"""The tables of a cluster: rows are on the right shards, and each table has the right definition."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_ddl import create_sharded_sql, drop_sharded_sql
from clickhouse_schema.cluster_topology import ClusterError, ReplicatedTable, Target, Topology, read_topology
from clickhouse_schema.engine_tables import catalogue_log, density_table, engine_setup
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import LOCAL, MARGIN, OVERLAP, SHARD_COLUMN, Sharding, ShardMap
from clickhouse_schema.table_ddl import stored_columns
from clickhouse_schema.whole_tables import create_database
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import fetch_everywhere, remote_servers, running_server, urls_of

STARS = Table(
    name="stars",
    columns=(
        Column(name="id", datatype="long", nullable=False),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
        Column(name="field", datatype="double", arraysize="3", xtype="circle"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",), overlap_radius=0.5),
)
_ROWS = "SELECT number AS id, number * 0.0919 AS ra, number % 179 - 89. AS dec FROM numbers(4000)"


@pytest.fixture(scope="module")
def made(cluster_of: Callable[[int], Engine]) -> Engine:
    """Yield a table on three shards with 4,000 rows over the sky, two without a position, and three copies."""
    engine = cluster_of(3)
    topology = read_topology(engine)
    servers = Servers(engine)
    create_database(servers, "layout")
    servers.execute_everywhere(*2 * create_sharded_sql(STARS, "layout", "stars", topology))
    placement = catalogue_log.read_sharding(engine)
    assert placement is not None
    shard = placement.map.shard_sql(index_sql("ra", "dec"))
    rows = (
        f"SELECT id, ra, dec, {shard} AS shard FROM ({_ROWS} UNION ALL SELECT 4000 + number, NULL, 1 FROM numbers(2))"
    )
    engine.execute(
        f"INSERT INTO {topology.insert_target_sql('layout', 'stars', LOCAL)} (id, ra, dec, {SHARD_COLUMN}) {rows}"
    )
    copies = "SELECT 5000 + number, 1, 1, number FROM numbers(3)"
    engine.execute(
        f"INSERT INTO {topology.insert_target_sql('layout', 'stars', OVERLAP)} (id, ra, dec, {SHARD_COLUMN}) {copies}"
    )
    return engine


def _counts(engine: Engine, part: str) -> list[int]:
    counted = f"cluster('skyhouse', view(SELECT count() AS n FROM layout.stars{part}))"
    return engine.fetch_table(f"SELECT n FROM {counted} ORDER BY _shard_num").column(0).to_pylist()


def test_rows_are_on_their_shards(made: Engine) -> None:
    placement = catalogue_log.read_sharding(made)
    assert placement is not None
    found = made.fetch_table(
        f"SELECT hpx29, shardNum() - 1 AS here, {SHARD_COLUMN} AS shard FROM layout.stars"
    ).to_pydict()
    assert len(found["hpx29"]) == 4002
    assert found["here"] == found["shard"] == [placement.map.find_shard(index) for index in found["hpx29"]]
    assert set(found["shard"]) == {0, 1, 2}


def test_the_margin_has_the_shards_rows_and_its_copies(made: Engine) -> None:
    own = _counts(made, LOCAL)
    assert sum(own) == 4002
    assert min(own) > 500
    assert _counts(made, OVERLAP) == [1, 1, 1]
    assert _counts(made, MARGIN) == [rows + 1 for rows in own]


def test_a_part_has_the_columns_that_the_engine_computes(made: Engine) -> None:
    names = [*stored_columns(STARS, is_sharded=True)]
    assert names == ["id", "ra", "dec", "field", "__shard", "hpx29", "__cover_field"]
    for part in ("", LOCAL, MARGIN):
        for server in made.require_servers():
            found = server.fetch_table(f"SELECT {', '.join(names)} FROM layout.stars{part} WHERE id = 7")
            assert found.column_names == names


def test_a_condition_on_the_shard_prunes(made: Engine) -> None:
    sql = f"SELECT uniqExact(_shard_num) AS shards FROM layout.stars WHERE {SHARD_COLUMN} IN (0, 2)"
    settings = {"optimize_skip_unused_shards": 1, "force_optimize_skip_unused_shards": 1}
    assert made.fetch_table(sql, settings).column(0).to_pylist() == [2]


def test_rows_are_counted_over_all_shards(made: Engine) -> None:
    catalogue_log.register_table(made, Schema(name="layout", tables=(STARS,)), STARS)
    density_table.update_density(made, "layout", STARS)
    [entry] = [entry for entry in catalogue_log.read_catalogue(made).entries if entry.qualified_name == "layout.stars"]
    assert entry.rows == 4002
    assert entry.is_sharded
    assert entry.part_sql(MARGIN) == "`layout`.`stars__margin`"
    assert sum(density_table.read_density(made, "layout", "stars")["bytes"].to_pylist()) > 4002


def test_any_name_will_do_and_what_is_dropped_is_gone(cluster_of: Callable[[int], Engine]) -> None:
    engine = cluster_of(3)
    topology = read_topology(engine)
    key = STARS.columns[0].model_copy(update={"name": "`k\\'"})
    layout = STARS.layout.model_copy(update={"id": (key.name,)})
    update = {"name": "it's a `\\' ∅__x", "columns": (key, *STARS.columns[1:]), "layout": layout}
    table, schema = STARS.model_copy(update=update), "odd `'\\ schema"
    placement = Sharding("skyhouse", ShardMap.build_uniform(3), 4)
    catalogue = Catalogue(
        (Schema(name=schema, tables=(table,)),), sharding=placement, numbers={(schema, table.name): 2}
    )
    [entry] = catalogue.entries
    assert entry.engine_table == (schema, f"{table.name}__4_2")
    servers = Servers(engine)
    create_database(servers, schema)
    servers.execute_everywhere(*create_sharded_sql(table, *entry.engine_table, topology))
    into = topology.insert_target_sql(*entry.engine_table, LOCAL)
    engine.execute(f"INSERT INTO {into} ({quote_identifier(key.name)}, ra, dec, {SHARD_COLUMN}) VALUES (1, 2, 3, 1)")
    for name in (entry.storage_sql, f"cluster('skyhouse', view(SELECT * FROM {entry.part_sql(MARGIN)}))"):
        found = engine.fetch_table(f"SELECT {quote_identifier(key.name)} AS k, hpx29 FROM {name}")
        assert found["k"].to_pylist() == [1]
    servers.execute_everywhere(*drop_sharded_sql(*entry.engine_table, topology))
    left = fetch_everywhere(engine, f"SELECT name FROM system.tables WHERE database = {quote_string(schema)}")
    assert left.num_rows == 0


def test_tables_of_other_servers_are_refused(tmp_path: Path) -> None:
    said = "were created before the cluster skyhouse", "has no cluster skyhouse"
    alone = ClickHouseServer(tmp_path / "alone")
    shard = remote_servers([[("127.0.0.1", alone.tcp_port)]])
    for folder, first, then, message in (("one", "", shard, said[0]), ("cluster", shard, "", said[1])):
        alone.kill()
        for more in (first, then):
            server = ClickHouseServer(tmp_path / folder, more, tcp_port=alone.tcp_port)
            engine = ClickHouseEngine(server.url)
            if more == first:
                engine_setup.prepare_engine(engine)
                catalogue_log.register_table(engine, Schema(name="layout", tables=(STARS,)), STARS)
            with pytest.raises(ClusterError, match=message) if more == then else nullcontext():
                engine_setup.prepare_engine(engine)
            engine.close()
            server.kill()


def _refusal(folder: Path, more: str, urls: Callable[[str], str] = lambda url: url) -> str:
    """Return the error of ``prepare_engine`` for a server with this configuration.

    ``urls`` makes the setting of its address.
    """
    with running_server(folder, more) as server:
        engine = open_remote_engine(Config(clickhouse_url=urls(server.url)))
        with pytest.raises(ClusterError) as raised:
            engine_setup.prepare_engine(engine)
        engine.close()
    return str(raised.value)


def test_servers_that_cannot_be_used_as_they_are_configured(tmp_path: Path) -> None:
    elsewhere = ("192.0.2.1", 9000)
    two_replicas, one_macro = remote_servers([[elsewhere, elsewhere]]), "<macros><shard>1</shard></macros>"
    assert "several replicas: these need a Keeper, and the macros" in _refusal(tmp_path / "replicas", two_replicas)
    said = _refusal(tmp_path / "macro", remote_servers([[elsewhere]]) + one_macro)
    assert said.startswith("the macro replica is missing in the configuration")
    said = _refusal(tmp_path / "away", remote_servers([[elsewhere]]))
    assert "is 0 times in the cluster skyhouse" in said
    assert "its own configuration" in said


def test_every_server_must_be_named_once(servers_of: Callable[[int], list[ClickHouseServer]]) -> None:
    servers = servers_of(3)
    again = servers[1].url.replace("127.0.0.1", "localhost")
    for urls, said in (
        (urls_of(servers[:2]), f"lacks servers of the cluster skyhouse: 127.0.0.1:{servers[2].tcp_port} "),
        (f"{urls_of(servers)},{again}", "names the server of shard 2, replica 1 twice"),
    ):
        engine = open_remote_engine(Config(clickhouse_url=urls))
        with pytest.raises(ClusterError, match=said):
            engine_setup.prepare_engine(engine)
        engine.close()


def test_on_several_servers_the_parts_are_replicated_tables() -> None:
    topology = Topology(2, is_replicated=True)
    others = {f"stars{part}": ReplicatedTable("u-1") for part in (LOCAL, OVERLAP)}
    local, overlap, margin, all_ = create_sharded_sql(STARS, "s", "stars", topology, others)
    assert local.startswith("CREATE TABLE IF NOT EXISTS `s`.`stars__local` UUID 'u-1' (")
    assert "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') ORDER BY hpx29" in local
    assert " SETTINGS index_granularity = 2048, allow_nullable_key = 1, " in local
    assert local.endswith(", replicated_deduplication_window = 0")
    assert overlap == local.replace("__local", "__overlap")
    assert margin.startswith("CREATE OR REPLACE VIEW `s`.`stars__margin` AS SELECT ")
    assert all_.endswith("ENGINE = Distributed('skyhouse', 's', 'stars__local', __shard)")
    assert topology.choose_rows_target(is_sharded=True) == Target.EVERY_SHARD
    assert topology.choose_rows_target(is_sharded=False) == Target.ONE_SERVER
    assert topology.engine_clause("ReplacingMergeTree", "version") == (
        "ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/whole', '{shard}-{replica}', version)"
    )


def test_a_replica_that_joins_others_has_their_granules() -> None:
    """ZooKeeper refuses a replica with another size of granules."""
    topology = Topology(2, is_replicated=True)
    local, *_ = create_sharded_sql(STARS, "s", "stars", topology, {"stars__local": ReplicatedTable("u-1", 8192)})
    assert "`stars__local` UUID 'u-1' (" in local
    assert "SETTINGS index_granularity = 8192, " in local
