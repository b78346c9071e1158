"""The same queries on one server and on clusters of 1, 3 and 7 shards give the same answers.

These are queries of the tests of ADQL, and random ones: most of them on three shards here, and some on seven.
``make equality`` runs all of them, and all tests of ADQL, on 1, 3 and 7 servers, and ``make cluster-test`` on any cluster.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_topology import Statement, read_topology
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import OVERLAP
from clickhouse_schema.whole_tables import create_database
from tap_service.storage.engine.engine import Engine
from tests.adql import (
    test_correlated,
    test_extensions,
    test_groups_of_pieces,
    test_pieces,
    test_semantics,
    test_set_operations,
)
from tests.adql.crossmatch_sky import MATCHES, Sky
from tests.adql.storing import catalogue_of, store
from tests.adql.test_counted_matches import crowd
from tests.cluster import real
from tests.support.adql_rows import fetch_translated, make_comparable, query_rows
from tests.support.sky_tables import SKY, sky_rows
from tests.support.small_tables import CONTENT, SMALL

#: rows without an order, and the rows of a sample, are not determined by ADQL
_OPEN = ("TABLESAMPLE", "ROW_NUMBER() OVER ()")

_NEAR = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {}"

MATCHED = [
    # within the overlap of a degree, and beyond it
    *(
        f"SELECT a.id, b.id, DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) FROM matches.ones AS a {kind}"
        f" matches.others AS b ON {_NEAR.format(radius)}"
        for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN")
        for radius in (0.01, 1.0, 2.5)
    ),
    *(
        f"SELECT COUNT(*), SUM(a.id * b.id), MIN(b.id - a.id) FROM sky.points AS a JOIN sky.others AS b ON"
        f" {_NEAR.format(radius)}"
        for radius in (0.001, 0.1, 1.0)
    ),
    f"SELECT a.id FROM sky.points AS a WHERE EXISTS (SELECT 1 FROM sky.others AS b WHERE {_NEAR.format(0.3)})",
    f"SELECT a.id FROM sky.points AS a WHERE NOT EXISTS (SELECT 1 FROM sky.others AS b WHERE {_NEAR.format(0.3)})",
    f"SELECT a.mag, COUNT(*), AVG(b.mag) FROM sky.points AS a JOIN sky.others AS b ON {_NEAR.format(0.5)} GROUP BY a.mag",
    f"SELECT COUNT(*) FROM matches.others AS a JOIN matches.others AS b ON {_NEAR.format(0.9)} WHERE a.id < b.id",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR.format(0.4)}"
    " JOIN matches.ones AS c ON DISTANCE(POINT(b.ra, b.dec), POINT(c.ra, c.dec)) < 0.5",
    f"SELECT a.id, b.id, c.id FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR.format(0.6)}"
    " LEFT JOIN matches.ones AS c ON DISTANCE(POINT(b.ra, b.dec), POINT(c.ra, c.dec)) < 0.6",
    f"SELECT a.id, b.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON {_NEAR.format('a.err')}",
    # the nearest neighbours of each row of the left table, of the right table, and of both; within and beyond the
    # overlap
    *(
        f"SELECT a.id, b.id FROM matches.ones AS a {kind} matches.others AS b ON 1 = skyhouse_{choice}, {radius})"
        for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN")
        for choice in (
            "nearest(2, POINT(a.ra, a.dec), POINT(b.ra, b.dec)",
            "nearest(1, POINT(b.ra, b.dec), POINT(a.ra, a.dec)",
            "mutual(POINT(a.ra, a.dec), POINT(b.ra, b.dec)",
        )
        for radius in (0.5, 2.5)
    ),
    *(
        f"SELECT a.ra, a.dec, b.{column} FROM matches.{one} AS a {kind} matches.twins AS b"
        " ON 1 = skyhouse_mutual(POINT(a.ra, a.dec), POINT(b.ra, b.dec), 0.5)"
        for one, column in (("ones", "ra"), ("ones", "mag"), ("twins", "ra"))
        for kind in ("JOIN", "LEFT JOIN")
    ),
    f"SELECT a.id, b.id FROM sky.points AS a JOIN sky.others AS b ON {_NEAR.format(0.2)}"
    " WHERE 1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(45, 42, 9))",
    "SELECT id FROM sky.points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 90, 12))",
    "SELECT id FROM sky.points WHERE ra BETWEEN 350 AND 360 AND dec BETWEEN -45 AND 45",
    "SELECT a.id, b.id FROM sky.points AS a, sky.others AS b WHERE a.id = b.id AND a.mag < b.mag + 1",
    "SELECT id FROM sky.points WHERE id IN (SELECT id FROM sky.others WHERE mag < 3 AND dec > 60)",
    "SELECT a.id, s.name FROM sky.points AS a JOIN small.stars AS s ON a.id = s.id",
    "SELECT s.id, a.dec FROM small.stars AS s LEFT JOIN sky.points AS a ON a.id = s.id",
    "SELECT TOP 7 id, mag FROM sky.points ORDER BY mag DESC, id OFFSET 3",
    # partners of the first rows: their cells, or their ids, determine the rows that are sent
    *(
        f"SELECT a.id, b.id FROM (SELECT TOP 40 * FROM sky.points ORDER BY mag DESC, id OFFSET {skipped}) AS a {kind}"
        f" sky.others AS b ON {condition}"
        for kind in ("JOIN", "LEFT JOIN")
        for skipped, condition in (
            (0, _NEAR.format(0.3)),
            (9, "a.id = b.id"),
            (0, f"{_NEAR.format(2)} AND b.mag > a.mag"),
        )
    ),
    "SELECT DISTINCT mag FROM sky.points EXCEPT SELECT mag FROM sky.others WHERE mag > 4",
    "SELECT id, SUM(mag) OVER (PARTITION BY MOD(id, 5) ORDER BY id ROWS 3 PRECEDING) FROM sky.points",
]


#: cones on one shard, cones on three shards, and a cone across a border
_IN_CONE = "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE({}, {}, {}))"
CONFINED = [
    query + _IN_CONE.format(lon, lat, radius)
    for query in (
        "SELECT * FROM sky.points AS a WHERE ",
        "SELECT COUNT(*), MAX(a.mag) FROM sky.points AS a WHERE ",
        "SELECT i, m FROM (SELECT id AS i, mag + 1 AS m, ra, dec FROM sky.points) AS a WHERE ",
        f"SELECT a.id, b.id FROM sky.points AS a LEFT JOIN sky.others AS b ON {_NEAR.format(0.9)} WHERE ",
        f"SELECT a.id, b.id FROM sky.others AS b RIGHT JOIN sky.points AS a ON {_NEAR.format(0.9)} WHERE ",
        f"SELECT a.id FROM sky.points AS a WHERE NOT EXISTS (SELECT 1 FROM sky.others AS b WHERE {_NEAR.format(0.9)})"
        " AND ",
        "SELECT a.id, RANK() OVER (ORDER BY a.mag) FROM sky.points AS a WHERE ",
        # these need rows of other shards
        "SELECT a.id, b.id FROM sky.points AS a JOIN sky.others AS b ON a.id = b.id WHERE ",
        f"SELECT a.id, b.id FROM sky.points AS a JOIN sky.others AS b ON {_NEAR.format(1.2)} WHERE ",
        "SELECT a.id FROM sky.points AS a WHERE a.mag > (SELECT AVG(mag) FROM sky.others) AND ",
    )
    for lon, lat, radius in ((78.75, 41.81, 4), (11.25, 19.47, 4), (45, -30, 4), (45, 42, 12))
]


def _random() -> list[str]:
    dice = random.Random(6)
    return [test_correlated.Generator(random.Random(dice.getrandbits(32))).make_query() for _ in range(25)]


GROUPS: dict[str, list[str]] = {
    "semantics": [query for query, _ in test_semantics.PAIRS],
    "order": [query for query, _ in test_semantics.ORDERED],
    "correlated": [*test_correlated.QUERIES.values()],
    "random": _random(),
    "extensions": [query for query, _ in test_extensions.EXAMPLES.values()],
    "scans": test_pieces.DIVIDED,
    "groups": test_groups_of_pieces.GROUPED,
    "nans": [*test_set_operations.NANS],
    "matches": MATCHED,
    # rows without a position must be filtered before their motion is computed, which would be an error
    "confined": CONFINED,
    "conditions": [
        "SELECT id FROM (SELECT * FROM matches.ones WHERE id < 300) AS a"
        " WHERE COORD1(ivo_epoch_prop_pos(ra, dec, 0, 1000 * mag, 0, 0, 2000, 2016)) > 3"
    ],
}


#: the groups that run each time
SOME = ("semantics", "order", "correlated", "extensions", "groups", "nans", "matches", "confined")


@dataclass(frozen=True)
class Tables:
    engine: Engine
    catalogue: Catalogue

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return sorted(make_comparable(query_rows(self.engine, self.catalogue, query)), key=repr)


SCHEMAS = (SMALL, SKY, MATCHES)


def filled(engine: Engine, schemas: Sequence[Schema] = SCHEMAS) -> Tables:
    """The tables of the ADQL tests."""
    contents = {"small": CONTENT, "sky": sky_rows(), "matches": Sky().make_batches()}
    for schema in schemas:
        create_database(Servers(engine), schema.name)
        for table, batch in contents[schema.name]:
            store(engine, schema.name, table, [batch])
    return Tables(engine, catalogue_of(engine, *schemas))


@pytest.fixture(scope="module")
def one_server(engine: Engine) -> Tables:
    return filled(engine)


@pytest.fixture(scope="module")
def tables_of(cluster_of: Callable[[int], Engine], request: pytest.FixtureRequest) -> Iterator[Callable[[int], Tables]]:
    """Return the tables on a cluster of ``shards`` shards, on seven only those needed, or on the real cluster."""
    if not real.IS_GIVEN:
        all_on = request.config.getoption("--shards") or 3
        yield cache(lambda shards: filled(cluster_of(shards), SCHEMAS if shards == all_on else [MATCHES]))
        return
    engine = real.engine()
    names = [schema.name for schema in SCHEMAS]
    there = engine.fetch_table(f"SELECT name FROM system.databases WHERE name IN {tuple(names)}").column(0).to_pylist()
    assert there == [], "these databases of the cluster are not the tests' own"
    try:
        tables = filled(engine)
        yield lambda shards: tables
    finally:
        for name in names:
            Servers(engine).execute_everywhere(f"DROP DATABASE IF EXISTS {name} SYNC")
        engine.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "group" in metafunc.fixturenames:
        shards = metafunc.config.getoption("--shards")
        pairs = (
            [(shards, group) for group in GROUPS]
            if shards or real.IS_GIVEN
            else [*((3, group) for group in SOME), (7, "conditions")]
        )
        metafunc.parametrize(("shards", "group"), pairs)


def test_the_answers_are_equal(shards: int, group: str, tables_of: Callable[[int], Tables], one_server: Tables) -> None:
    queries = [query for query in GROUPS[group] if not any(word in query for word in _OPEN)]
    different = [query for query in queries if tables_of(shards).rows(query) != one_server.rows(query)]
    assert different == []


@pytest.fixture(scope="module")
def cluster(tables_of: Callable[[int], Tables]) -> Tables:
    return tables_of(3)


def test_all_tables_are_cut_up(cluster: Tables) -> None:
    """Including tables without a position, which only tests have."""
    shards = read_topology(cluster.engine).shards
    for table in ("small.stars", "sky.points", "matches.others"):
        counted = cluster.engine.fetch_table(f"SELECT uniqExact(_shard_num) AS n FROM {table}").column(0).to_pylist()
        assert counted == [shards]


def test_a_shard_answers_alone_what_is_confined_to_its_cells(cluster: Tables, one_server: Tables) -> None:
    """The shard reads its own tables; beyond the overlap, or with a subquery, it does not."""
    servers = Servers(cluster.engine)
    alone = 0
    for query in CONFINED:
        translation = translate(query, cluster.catalogue)
        if translation.on_shard is None:
            continue
        alone += 1
        shard, sql = translation.on_shard
        rows = make_comparable(fetch_translated(servers.get_shard_engine(shard), translation, sql))
        assert sorted(rows, key=repr) == one_server.rows(query), query
    assert alone == 3 * 7


def test_without_the_overlap_pairs_are_missing(cluster: Tables, one_server: Tables) -> None:
    """The answers are equal because of the overlap: without it, these tests fail."""
    near = f"SELECT a.id, b.id FROM matches.ones AS a JOIN matches.others AS b ON {_NEAR.format(0.9)}"
    wanted = one_server.rows(near)
    assert cluster.rows(near) == wanted
    count = f"SELECT COUNT(*) FROM {_PAIRS}"
    crowded = Tables(cluster.engine, crowd(cluster.catalogue, 0.9, 3000))
    assert crowded.rows(count) == one_server.rows(count)
    copies = f"ALTER TABLE matches.others{OVERLAP}"
    servers, target = Servers(cluster.engine), read_topology(cluster.engine).choose_rows_target(is_sharded=True)
    servers.execute_statement(Statement(f"{copies} DETACH PARTITION tuple()", target))
    try:
        assert {*cluster.rows(near)} < {*wanted}
        assert crowded.rows(count) < one_server.rows(count)
    finally:
        servers.execute_statement(Statement(f"{copies} ATTACH PARTITION tuple()", target))


_PAIRS = "matches.ones AS a JOIN matches.others AS b ON " + _NEAR.format("0.9")

#: each with whether the shards count the pairs
COUNTED = [
    (f"SELECT COUNT(*) FROM {_PAIRS}", True),
    (f"SELECT a.id, COUNT(*) FROM {_PAIRS} GROUP BY a.id", True),
    (f"SELECT b.id, 2 * COUNT(*) AS n FROM {_PAIRS} GROUP BY b.id ORDER BY n DESC, b.id", True),
    (f"SELECT b.mag + 1, COUNT(*) FROM {_PAIRS} WHERE a.id > 20 GROUP BY b.mag HAVING COUNT(*) > 2", True),
    (f"SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM {_PAIRS} GROUP BY b.id) AS c", True),
    (f"SELECT COUNT(*) FROM {_PAIRS} WHERE {_IN_CONE.format(78.75, 41.81, 4)}", True),
    (f"SELECT COUNT(*) FROM {_PAIRS} WHERE a.id < 0", True),
    (f"SELECT COUNT(*) FROM (SELECT ra, dec FROM matches.ones WHERE id > 9) AS a JOIN {_PAIRS.partition('JOIN ')[2]}", True),
    (f"SELECT COUNT(*) FROM matches.others AS a JOIN matches.others AS b ON {_NEAR.format(0.9)}", True),
    (f"SELECT COUNT(*) FROM {_PAIRS} UNION ALL SELECT COUNT(*) FROM {_PAIRS} WHERE b.mag > 3", True),
    (f"SELECT COUNT(*) FROM {_PAIRS.replace('0.9', '2.5')}", False),
    (f"SELECT COUNT(*) FROM {_PAIRS} WHERE b.id IN (SELECT id FROM matches.ones WHERE mag > 3)", False),
    (f"SELECT COUNT(*) FROM {_PAIRS.replace('others', 'nothing')}", True),
]  # fmt: skip


@pytest.mark.parametrize(("query", "is_counted"), COUNTED)
def test_shards_count_their_pairs(query: str, is_counted: bool, cluster: Tables, one_server: Tables) -> None:
    crowded = Tables(cluster.engine, crowd(cluster.catalogue, 0.9, 3000))
    translation = translate(query, crowded.catalogue)
    assert any("in cells of the sky" in line for line in translation.plan) == is_counted
    assert not is_counted or not any(" sent to " in line for line in translation.plan)
    assert crowded.rows(query) == one_server.rows(query)


@pytest.mark.parametrize(
    ("query", "is_sent"),
    [
        (f"SELECT a.id FROM sky.points AS a JOIN sky.others AS b ON {_NEAR.format(1.0)}", False),
        (f"SELECT a.id FROM sky.points AS a JOIN sky.others AS b ON {_NEAR.format(1.1)}", True),
        ("SELECT a.id FROM sky.points AS a JOIN sky.others AS b ON a.id = b.id", True),
    ],
)
def test_matches_within_the_overlap_send_nothing(query: str, is_sent: bool, cluster: Tables) -> None:
    sql = translate(query, cluster.catalogue).sql
    assert ("GLOBAL" in sql) == is_sent
    assert ("others__margin" in sql) != is_sent
