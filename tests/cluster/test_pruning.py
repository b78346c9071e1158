"""The number of shards and granules that each class of queries reads, from ClickHouse's plan.

All shards are on one server here, so its plan has a part for each shard that is read, with the granules.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_ddl import create_sharded_sql
from clickhouse_schema.cluster_topology import read_topology
from clickhouse_schema.engine_tables.catalogue_log import read_sharding
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN
from clickhouse_schema.whole_tables import create_database
from tap_service.storage.engine.engine import Engine

SHARDS = 7
ROWS = 1_000_000  # 122 granules and a few

STARS = Table(
    name="stars",
    columns=(
        Column(name="id", datatype="long", nullable=False),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
        Column(name="mag", datatype="float"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",), overlap_radius=0.1),
)
FEW = STARS.model_copy(update={"name": "few"})
SCHEMA = Schema(name="pruning", tables=(STARS, FEW))

_POSITION = "cityHash64(number) % 360000 / 1e3 AS ra, degrees(asin(cityHash64(number, 1) % 2000000 / 1e6 - 1)) AS dec"

#: ClickHouse would ignore the projections of small tables
_SMALL_TOO: dict[str, str | int] = {"min_table_rows_to_use_projection_index": 0}

#: name -> query, minimum and maximum number of shards read, maximum part of the granules of stars read
CLASSES = {
    "cone": ("SELECT id FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(200, 30, 0.5))", (1, 2), 0.1),
    "cone at a pole": ("SELECT id FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 90, 1))", (1, 4), 0.1),
    "ranges": ("SELECT id FROM stars WHERE ra BETWEEN 200 AND 203 AND dec BETWEEN 30 AND 33", (1, 2), 0.1),
    "polygon": ("SELECT id FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(9, 9, 12, 9, 10, 12))", (1, 2), 0.1),
    "two cones": (
        "SELECT id FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(200, 30, 0.5))"
        " OR 1 = CONTAINS(POINT(ra, dec), CIRCLE(20, -30, 0.5))",
        (2, 4),
        0.1,
    ),
    "set functions in a cone": (
        "SELECT COUNT(*), AVG(mag) FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(200, 30, 0.5))",
        (1, 2),
        0.1,
    ),
    "derived table": (
        "SELECT i FROM (SELECT id AS i, ra AS x, dec AS y FROM stars) AS s"
        " WHERE 1 = CONTAINS(POINT(x, y), CIRCLE(200, 30, 0.5))",
        (1, 2),
        0.1,
    ),
    "match in a cone": (
        "SELECT a.id, b.id FROM stars AS a JOIN stars AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.01"
        " WHERE 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(200, 30, 0.5)) AND a.id < b.id",
        (1, 2),
        0.2,
    ),
    "id": ("SELECT mag FROM stars WHERE id = 4711", (SHARDS, SHARDS), 0.1),
    "scan": ("SELECT COUNT(*) FROM stars WHERE mag > 3", (SHARDS, SHARDS), 1.0),
}


@pytest.fixture(scope="module")
def filled_cluster(cluster_of: Callable[[int], Engine]) -> Engine:
    engine = cluster_of(SHARDS)
    topology, placement = read_topology(engine), read_sharding(engine)
    assert placement is not None
    servers = Servers(engine)
    create_database(servers, "pruning")
    shard = placement.map.shard_sql("hpx29")
    for table, rows in ((STARS, ROWS), (FEW, 20)):
        servers.execute_everywhere(*create_sharded_sql(table, "pruning", table.name, topology))
        rows_sql = (
            f"SELECT number AS id, {_POSITION}, number % 20 AS mag, {index_sql('ra', 'dec')} AS hpx29"
            f" FROM numbers({rows})"
        )
        for part, where in (
            (LOCAL, shard),
            (OVERLAP, f"arrayJoin({Overlap(placement.map, 0.1).copy_shards_sql('hpx29', shard)})"),
        ):
            into = topology.insert_target_sql("pruning", table.name, part)
            engine.execute(
                f"INSERT INTO {into} (id, ra, dec, mag, {SHARD_COLUMN}) SELECT id, ra, dec, mag, {where} FROM ({rows_sql})"
            )
        servers.execute_everywhere(*(f"OPTIMIZE TABLE pruning.{table.name}{part} FINAL" for part in (LOCAL, OVERLAP)))
    return engine


def _make_catalogue(engine: Engine) -> Catalogue:
    counts = {("pruning", "stars"): 1_000_000_000, ("pruning", "few"): 20}
    return Catalogue((SCHEMA,), counts, sharding=read_sharding(engine))


def _count_granules(engine: Engine, query: str) -> list[tuple[int, int]]:
    """Return the granules read and the total of granules of each reading of the shards' own rows of stars."""
    translation = translate(query, _make_catalogue(engine))
    plan = engine.explain_query(translation.sql, translation.settings | _SMALL_TOO)
    counts = []
    for part in re.split(r"ReadFromMergeTree \(pruning\.", plan)[1:]:
        if part.startswith("stars__local"):
            granules = re.findall(r"Granules: (\d+)/(\d+)", part)
            by_projection = re.search(r"Marks: (\d+)", part)
            read = int(by_projection[1] if by_projection else granules[-1][0])
            counts.append((read, int(granules[0][1])))
    return counts


@pytest.mark.parametrize("name", CLASSES)
def test_shards_and_granules(name: str, filled_cluster: Engine) -> None:
    query, (min_shards, max_shards), share = CLASSES[name]
    read = _count_granules(filled_cluster, query)
    times = 2 if "match" in name else 1  # the overlap table includes the shard's own rows
    assert min_shards <= len(read) / times <= max_shards, read
    assert max(granules / whole for granules, whole in read) <= share, read


def test_a_small_side_gives_its_cells_to_all_shards(filled_cluster: Engine) -> None:
    query = (
        "SELECT f.id, s.id FROM few AS f JOIN stars AS s ON DISTANCE(POINT(f.ra, f.dec), POINT(s.ra, s.dec)) < 0.001"
    )
    read = _count_granules(filled_cluster, query)
    assert read
    assert max(granules / whole for granules, whole in read) <= 0.5, read
