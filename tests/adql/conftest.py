"""Small tables with NULLs, duplicates and awkward values in the engine and in DuckDB, and ways to query them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import duckdb
import pytest

from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.call_check import _check_calls  # noqa: F401  a fixture
from tests.adql.crossmatch_sky import MATCHES, Sky
from tests.adql.independent_engine import independent_engine
from tests.adql.sky import Positions, positions
from tests.adql.storing import catalogue_of, store
from tests.servers.server_cluster import prepared_engine, running_cluster, running_server
from tests.support.adql_rows import Ask, query_rows
from tests.support.sky_tables import SKY, SKY_COUNT, move_positions, sky_rows
from tests.support.small_tables import CONTENT, SMALL


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The tests' embedded engine, or the engine of one server (``--remote``) or of a cluster (``--shards``)."""
    shards, is_remote = (request.config.getoption(name) for name in ("--shards", "--remote"))
    if not (shards or is_remote):
        yield request.getfixturevalue("engine")
        return
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        if shards:
            servers = stack.enter_context(running_cluster(folder, shards))
        else:
            servers = [stack.enter_context(running_server(folder))]
        yield stack.enter_context(prepared_engine(servers))


@pytest.fixture(scope="session")
def small(engine: Engine) -> Catalogue:
    """The catalogue of the small tables, which are in the engine."""
    engine.execute("CREATE DATABASE IF NOT EXISTS small")
    for table, batch in CONTENT:
        store(engine, "small", table, [batch])
    return catalogue_of(engine, SMALL)


@pytest.fixture(scope="session")
def other() -> Iterator[duckdb.DuckDBPyConnection]:
    """The same tables in an independent engine."""
    with independent_engine() as connection:
        yield connection


@pytest.fixture
def ask(engine: Engine, small: Catalogue) -> Ask:
    """Return the rows of a query on the small tables."""
    return lambda query: query_rows(engine, small, query)


# --- difficult positions -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def points() -> Positions:
    return positions(SKY_COUNT, seed=1)


@pytest.fixture(scope="session")
def others(points: Positions) -> Positions:
    return move_positions(points)


@pytest.fixture(scope="session")
def sky(engine: Engine) -> Catalogue:
    """The catalogue of both tables, which are in the engine."""
    engine.execute("CREATE DATABASE IF NOT EXISTS sky")
    for table, batch in sky_rows():
        store(engine, "sky", table, [batch])
    return catalogue_of(engine, SKY)


# --- two tables to match ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def matches() -> Sky:
    return Sky()


@pytest.fixture(scope="session")
def match_catalogue(engine: Engine, matches: Sky) -> Catalogue:
    matches.store(engine)
    return catalogue_of(engine, MATCHES)


@pytest.fixture(scope="session")
def ask_matches(engine: Engine, match_catalogue: Catalogue) -> Ask:
    return lambda query: query_rows(engine, match_catalogue, query)
