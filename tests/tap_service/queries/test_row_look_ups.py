"""Look-ups of whole rows that arrive while one runs are combined, and each gets the same rows as alone."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.services.queries.row_look_ups import RowLookUps
from tap_service.services.queries.stored_row_source import StoredRowSource
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import EngineError, QueryCancelled

_VALUES = tuple(Column(name=f"v{number}", datatype="double") for number in range(9))
_TABLES = {
    "numbered": Table(
        name="numbered",
        columns=(Column(name="id", datatype="long", nullable=False), *_VALUES),
        layout=Layout(id=("id",), row_store=True),
    ),
    "named": Table(
        name="named",
        columns=(Column(name="id", datatype="unicode"), *_VALUES),
        layout=Layout(id=("id",), row_store=True),
    ),
}
_CATALOGUE = Catalogue((Schema(name="joined", tables=tuple(_TABLES.values())),), {})

Ask = Callable[..., "Future[list[tuple[Any, ...]]]"]


class _HeldEngine:
    """The engine, whose first statement begins when ``held`` is set."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.engine = engine
        self.held = threading.Event()
        self.statements: list[str] = []
        #: the error of the second statement
        self.error: EngineError | None = None

    @contextmanager
    def stream_batches(self, sql: str, **options: Any) -> Iterator[Iterator[pa.RecordBatch]]:
        self.statements.append(sql)
        number = len(self.statements)
        if number == 1:
            assert self.held.wait(60)
        if number == 2 and self.error is not None:
            raise self.error
        with self.engine.stream_batches(sql, **options) as batches:
            yield batches

    def cancel_query(self, query_id: str) -> None:
        self.engine.cancel_query(query_id)


@pytest.fixture(scope="module")
def stored(engine: EmbeddedEngine) -> EmbeddedEngine:
    """Ids 0 to 99, of which 7 occurs twice; as numbers and as texts."""
    engine.execute("CREATE DATABASE IF NOT EXISTS joined")
    for name, table in _TABLES.items():
        engine.execute(f"DROP TABLE IF EXISTS joined.{name} SYNC")
        engine.execute(create_table_sql(table, f"joined.{name}"))
        ids = [*range(100), 7]
        kind = table.columns[0].type.arrow
        values = {column.name: pa.array([row + 0.5 for row in range(101)]) for column in _VALUES}
        keys = pa.array([f"é {each}" if name == "named" else each for each in ids], kind)
        engine.insert_batches(f"joined.{name}", [pa.RecordBatch.from_pydict({"id": keys, **values})])
    return engine


@pytest.fixture
def held(stored: EmbeddedEngine) -> _HeldEngine:
    return _HeldEngine(stored)


@pytest.fixture
def ask(held: _HeldEngine) -> Iterator[Ask]:
    """Send a look-up on a thread; it waits in the engine or for others when this returns."""
    look_ups = RowLookUps(held)  # type: ignore[arg-type]
    pool = ThreadPoolExecutor(32)
    names = (f"q{number}" for number in itertools.count())

    def run(query: str, query_id: str, settings: dict[str, Any]) -> list[tuple[Any, ...]]:
        translation = translate(query, _CATALOGUE, limit=1000)
        assert translation.stored_rows is not None
        source = StoredRowSource(held, translation.stored_rows, look_ups)  # type: ignore[arg-type]
        with source.stream_batches(
            translation.sql, query_id=query_id, settings=translation.settings | settings
        ) as batches:
            return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    def start(query: str, query_id: str = "", **settings: Any) -> Future[list[tuple[Any, ...]]]:
        query_id = query_id or next(names)
        number = len(held.statements)
        found = pool.submit(run, query, query_id, settings)
        while not (found.done() or query_id in look_ups._asked or len(held.statements) > number):
            time.sleep(0.001)
        return found

    start.look_ups = look_ups  # type: ignore[attr-defined]
    yield start
    held.held.set()
    pool.shutdown()


def _select(*ids: int, table: str = "numbered", top: str = "") -> str:
    keys = ", ".join(f"'é {each}'" if table == "named" else str(each) for each in ids)
    return f"SELECT {top}* FROM joined.{table} WHERE id IN ({keys})"


def _wanted(*rows: int, table: str = "numbered") -> list[tuple[Any, ...]]:
    ids = [row if row < 100 else 7 for row in rows]
    return [(f"é {each}" if table == "named" else each, *[row + 0.5] * 9) for each, row in zip(ids, rows, strict=True)]


@pytest.mark.parametrize("table", ["numbered", "named"])
def test_those_that_wait_go_together(held: _HeldEngine, ask: Ask, table: str) -> None:
    first = ask(_select(1, table=table))
    asked = {
        (3,): ask(_select(3, table=table)),
        (4, 5): ask(_select(4, 5, 4, table=table)),
        (7, 100): ask(_select(7, table=table)),
        (3, 9): ask(_select(3, 9, table=table)),
        (): ask(_select(1234, table=table)),
    }
    cut = ask(_select(7, table=table, top="TOP 1 "))
    held.held.set()
    assert first.result(60) == _wanted(1, table=table)
    for rows, found in asked.items():
        assert sorted(found.result(60)) == _wanted(*rows, table=table)
    assert len(cut.result(60)) == 1
    assert len(held.statements) == 2


def test_other_columns_settings_and_tables_go_apart(held: _HeldEngine, ask: Ask) -> None:
    first = ask(_select(1))
    same, quick = ask(_select(2)), ask(_select(3), max_threads=1)
    fewer = ask("SELECT v1, v2, v3, v4, v5, v6, v7, v8 FROM joined.numbered WHERE id = 4")
    filtered, named = ask(_select(5) + " AND v1 > 0"), ask(_select(6, table="named"))
    assert quick.result(60) == _wanted(3)
    assert fewer.result(60) == [(4.5,) * 8]
    assert filtered.result(60) == _wanted(5)
    assert named.result(60) == _wanted(6, table="named")
    assert not first.done()
    assert not same.done()
    held.held.set()
    assert (first.result(60), same.result(60)) == (_wanted(1), _wanted(2))


def test_one_that_is_cancelled_leaves_the_others(held: _HeldEngine, ask: Any) -> None:
    first, gone, other = ask(_select(1)), ask(_select(2), "gone"), ask(_select(3))
    ask.look_ups.cancel_query("gone")
    with pytest.raises(QueryCancelled):
        gone.result(60)
    held.held.set()
    assert (first.result(60), other.result(60)) == (_wanted(1), _wanted(3))
    assert "IN (3)" in held.statements[1]


def test_a_joined_statement_that_fails_has_no_effect(held: _HeldEngine, ask: Ask) -> None:
    held.error = EngineError("it failed", 1)
    first, *others = (ask(_select(row)) for row in range(4))
    held.held.set()
    assert [found.result(60) for found in (first, *others)] == [_wanted(row) for row in range(4)]
    assert len(held.statements) == 2 + len(others)


def test_the_cancelled_first_of_a_statement_leaves_the_others(held: _HeldEngine, ask: Ask) -> None:
    held.error = QueryCancelled("the query was cancelled")
    first, second, *others = (ask(_select(row)) for row in range(4))
    held.held.set()
    with pytest.raises(QueryCancelled):
        second.result(60)
    assert [found.result(60) for found in (first, *others)] == [_wanted(row) for row in (0, 2, 3)]


def test_nothing_is_left_over(held: _HeldEngine, ask: Any) -> None:
    held.held.set()
    found = [ask(_select(row % 100)) for row in range(200)]
    assert [each.result(60) for each in found] == [
        sorted(_wanted(*([7, 100] if row % 100 == 7 else [row % 100]))) for row in range(200)
    ]
    assert not ask.look_ups._waiting
    assert not ask.look_ups._asked
