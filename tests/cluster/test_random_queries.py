"""Random queries of loaded tables give the same answers on one server and on shards whose cells have moved.

``pytest tests/cluster/test_random_queries.py --shards N`` runs more of them, on a cluster of N shards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from adql import Division, divide_query
from adql.errors import AdqlError
from adql.ir import (
    Derived,
    InSubquery,
    Join,
    Query,
    Relation,
    Scan,
    SetOperation,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
)
from adql.rewrite.trees.collocation import find_sharded_scan
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables import catalogue_log
from loaders.cluster import cluster_publication, rebalance
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.night_tables import catalogue_of, fill, write_files
from tests.cluster.random_queries import Generator
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import prepared_engine, running_cluster, running_server
from tests.support.adql_rows import Rows, make_comparable, query_rows

# its servers, tables and a move are set up once
pytestmark = pytest.mark.timeout(600)

SHARDS, QUERIES, MORE = 3, 15, 500

#: where the pieces of a query meet
_BORDERS = tuple(cell * 4**25 for cell in (300, 1024, 1500, 2600))


@pytest.fixture(scope="module")
def shards(request: pytest.FixtureRequest) -> int:
    return request.config.getoption("--shards") or SHARDS


@pytest.fixture(scope="module")
def engines(
    shards: int, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Engine, Engine]]:
    """One server, and a cluster whose rows have moved since they were loaded.

    Half a minute: four servers start, the tables are loaded into both, and the rows of the cluster are moved. Queries
    change nothing.
    """
    is_thorough = bool(request.config.getoption("--shards"))
    folder = tmp_path_factory.mktemp("night")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_publication, "LINGER_SECONDS", 0)
        patch.setattr(rebalance, "LINGER_SECONDS", 0.1)
        with (
            running_server(folder / "one") as one,
            prepared_engine([one]) as alone,
            running_cluster(folder / "cluster", shards) as many,
            prepared_engine(many) as cluster,
        ):
            found = alone, cluster
            for engine in found:
                fill(engine, folder, Recorder())
            if shards > 2:
                rebalance.move_shards(found[1], shards - 1, Recorder())
            if is_thorough:
                rebalance.move_shards(found[1], 0, Recorder())
            for entry in catalogue_log.read_catalogue(found[1]).entries if is_thorough else ():
                if entry.schema.name == "night":
                    verify_table(found[1], entry.qualified_name, Recorder())
            yield found


def _rows(engine: Engine, catalogue: Catalogue, query: str) -> Rows | str:
    try:
        return sorted(make_comparable(query_rows(engine, catalogue, query)), key=repr)
    except AdqlError as error:
        return str(error)


def _in_pieces(engine: Engine, catalogue: Catalogue, query: str) -> Rows | None:
    """Return the rows in pieces; None if the query is not divided, or not into rows."""
    translation = translate(query, catalogue)
    assert translation.bound is not None
    division = divide_query(translation.bound)
    if not isinstance(division, Division) or division.groups is not None or division.limit is not None:
        return None
    found: Rows = []
    for piece in division.make_pieces(_BORDERS):
        made = division.make_statement(piece)
        answer = engine.fetch_table(made.sql, made.settings)
        columns = [c.cast(f.type.arrow).to_pylist() for c, f in zip(answer.columns, translation.fields, strict=False)]
        found += zip(*columns, strict=True)
    return sorted(make_comparable(found), key=repr)


def _counted_otherwise(catalogue: Catalogue, dice: random.Random) -> Catalogue:
    """The numbers of rows differ, which changes how queries are translated."""
    counts = [30, 1000, 10**6, 10**9, None]
    entries = [entry for entry in catalogue.entries if entry.schema.name == "night"]
    return catalogue.replace_entries(tuple(replace(entry, rows=dice.choice(counts)) for entry in entries))


def _read_on_shards(query: Query, *, is_sent: bool = False) -> Iterator[str]:
    """The tables that only one server has and that a part of the query reads which is sent to the shards."""
    if isinstance(query, SetOperation):
        yield from _read_on_shards(query.left, is_sent=is_sent)
        yield from _read_on_shards(query.right, is_sent=is_sent)
        return
    first = next(walk_leaves(query.from_))
    sent = (
        is_sent
        or find_sharded_scan(first) is not None
        or (isinstance(first, Derived) and first.computed_on == "shards")
    )

    def tree(relation: Relation, *, is_sent: bool) -> Iterator[str]:
        if isinstance(relation, Join):
            yield from tree(relation.left, is_sent=is_sent)
            yield from tree(relation.right, is_sent=is_sent and not relation.is_global)
        elif isinstance(relation, Derived):
            yield from _read_on_shards(relation.query, is_sent=is_sent)
        elif isinstance(relation, Scan) and is_sent and relation.entry.stored_sql:
            yield relation.entry.qualified_name

    yield from tree(query.from_, is_sent=sent)
    for expr in walk_select_expressions(query):
        for part in walk_expr(expr):
            if isinstance(part, InSubquery):
                yield from _read_on_shards(part.query, is_sent=sent and not part.is_global)


#: queries with errors that random queries have found
FOUND = [
    "SELECT s.id, DISTANCE(POINT(s.ra, s.dec), POINT(t.ra, t.dec)) AS d, RANK() OVER (ORDER BY s.id) AS r"
    " FROM night.sources AS s JOIN night.sources AS t ON s.id = t.id",
]


@pytest.mark.parametrize("query", FOUND)
def test_found(query: str, engines: tuple[Engine, Engine]) -> None:
    wanted, rows = (_rows(engine, catalogue_of(engine), query) for engine in engines)
    assert rows == wanted != []


def test_random_queries(engines: tuple[Engine, Engine], request: pytest.FixtureRequest) -> None:
    """Complete and in pieces; no shard reads an upload, which only one server has."""
    one, cluster = engines
    alone, placed = (catalogue_of(engine) for engine in engines)
    count = MORE if request.config.getoption("--shards") else QUERIES
    found, cut, different = 0, 0, []
    for seed in range(count):
        query = Generator(random.Random(seed)).query()
        catalogue = _counted_otherwise(placed, random.Random(seed)) if seed % 2 else placed
        wanted, rows = _rows(one, alone, query), _rows(cluster, catalogue, query)
        if rows != wanted:
            different.append((seed, query))
            continue
        if isinstance(rows, str):
            continue
        found += bool(rows)
        made = translate(query, catalogue).query
        assert made is not None
        assert [*_read_on_shards(made)] == [], query
        pieces = _in_pieces(cluster, catalogue, query)
        cut += pieces is not None
        if pieces not in (None, rows):
            different.append((seed, query))
    assert different == []
    assert found > count / 2
    assert cut > count / 20
