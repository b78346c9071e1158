"""Random queries over two small tables give the rows that an independent engine gives.

SKYHOUSE_EXAMPLES=20000 runs longer, and other queries each time.
"""

from __future__ import annotations

import os

import duckdb
from hypothesis import HealthCheck, given, note, settings

from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine import Engine
from tests.adql.conftest import asked, comparable
from tests.adql.twins import Twin, queries

_EXAMPLES = os.environ.get("SKYHOUSE_EXAMPLES", "")


@settings(
    max_examples=int(_EXAMPLES or 400),
    derandomize=not _EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(query=queries())
def test_random_queries_give_the_other_engines_rows(
    query: Twin, engine: Engine, small: Catalogue, other: duckdb.DuckDBPyConnection
) -> None:
    note(query.adql)
    note(query.sql)
    expected = comparable(other.execute(query.sql).fetchall())
    assert sorted(comparable(asked(engine, small, query.adql)), key=repr) == sorted(expected, key=repr)
