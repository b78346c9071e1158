"""Random queries over three small tables give the same rows as an independent engine.

FUZZ_EXAMPLES=20000 runs longer, with other queries each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import HealthCheck, given, note, reject, settings

from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.independent_engine import independent_engine
from tests.adql.twin_queries import queries
from tests.adql.twins import Twin
from tests.support.adql_rows import Rows, make_comparable, query_rows

_EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "")


class Reference:
    """DuckDB, restarted when it crashes."""

    def __init__(self) -> None:
        self.connection = independent_engine()

    def rows(self, sql: str) -> Rows:
        """Return the answer; a query that DuckDB cannot run, about one in a thousand, is not counted."""
        try:
            return self.connection.execute(sql).fetchall()
        except (duckdb.InternalException, duckdb.FatalException):
            self.connection.close()
            self.connection = independent_engine()
            reject()


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    reference = Reference()
    yield reference
    reference.connection.close()


@settings(
    max_examples=int(_EXAMPLES or 100),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(query=queries())
def test_random_queries_equal_duckdbs(query: Twin, engine: Engine, small: Catalogue, reference: Reference) -> None:
    note(query.adql)
    note(query.sql)
    expected = make_comparable(reference.rows(query.sql))
    assert sorted(make_comparable(query_rows(engine, small, query.adql)), key=repr) == sorted(expected, key=repr)
