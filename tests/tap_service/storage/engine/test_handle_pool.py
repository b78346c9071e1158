"""Reuse of chDB handles: which handles are reused, and that they carry nothing into the next statement."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from tap_service.storage.engine import handle_pool
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import EngineError, EngineUnavailable, EngineValueError, QueryCancelled
from tap_service.storage.engine.handle_pool import HandlePool

ENDLESS = "SELECT number, sipHash64(number) AS hash FROM numbers(1000000000000)"
FAILS_LATE = "SELECT throwIf(number = 300000) FROM numbers(10000000)"
ROWS = 300_000


@pytest.fixture
def opened(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """An engine without idle handles; each newly opened handle adds an entry."""
    paths: list[str] = []
    connect = handle_pool.connect_handle
    pool = HandlePool(engine._handles._path)
    monkeypatch.setattr(engine, "_handles", pool)
    monkeypatch.setattr(handle_pool, "connect_handle", lambda path: paths.append(path) or connect(path))
    yield paths
    pool.close(0)


def count_rows(engine: EmbeddedEngine, query_id: str = "") -> int:
    with engine.stream_batches(f"SELECT number FROM numbers({ROWS})", query_id=query_id) as batches:
        return sum(batch.num_rows for batch in batches)


def test_a_handle_serves_one_statement_after_the_other(engine: EmbeddedEngine, opened: list[str]) -> None:
    for number in range(5):
        engine.ping()
        assert count_rows(engine, f"q{number}") == ROWS
        engine.execute("SELECT 1")
    assert len(opened) == 1


def test_a_handle_serves_one_statement_at_a_time(engine: EmbeddedEngine, opened: list[str]) -> None:
    with engine.stream_batches(ENDLESS) as batches:
        next(batches)
        engine.ping()
        assert next(batches).num_rows > 0
    assert len(opened) == 2


def test_other_settings_have_other_handles(engine: EmbeddedEngine, opened: list[str]) -> None:
    for _ in range(3):
        for threads in (1, 2):
            asked = engine.fetch_table("SELECT getSetting('max_threads') AS n", {"max_threads": threads})
            assert asked.to_pylist() == [{"n": threads}]
    assert len(opened) == 2


def test_settings_in_a_query_end_with_it(engine: EmbeddedEngine, opened: list[str]) -> None:
    asked = "SELECT getSetting('max_block_size') AS n"
    before = engine.fetch_table(asked)
    assert engine.fetch_table(f"{asked} SETTINGS max_block_size = 17").to_pylist() == [{"n": 17}]
    assert engine.fetch_table(asked) == before
    assert len(opened) == 1


def test_the_name_of_a_query_ends_with_it(engine: EmbeddedEngine, opened: list[str]) -> None:
    asked = "SELECT getSetting('log_comment') AS id"
    with engine.stream_batches(asked, query_id="first") as batches:
        assert pa.Table.from_batches(batches).to_pylist() == [{"id": "first"}]
    assert engine.fetch_table(asked).to_pylist() == [{"id": ""}]
    assert len(opened) == 1


def leave_early(engine: EmbeddedEngine) -> None:
    with engine.stream_batches(ENDLESS, query_id="leaves") as batches:
        next(batches)


def fail_late(engine: EmbeddedEngine) -> None:
    with pytest.raises(EngineValueError), engine.stream_batches(FAILS_LATE, query_id="fails") as batches:
        sum(batch.num_rows for batch in batches)


def fail_at_once(engine: EmbeddedEngine) -> None:
    with pytest.raises(EngineError):
        engine.execute("SELECT no_such_column")


def kill_in_the_middle(engine: EmbeddedEngine) -> None:
    with pytest.raises(QueryCancelled), engine.stream_batches(ENDLESS, query_id="killed") as batches:  # noqa: PT012
        next(batches)
        engine.cancel_query("killed")
        sum(batch.num_rows for batch in batches)


def fail_in_the_reader(engine: EmbeddedEngine) -> None:
    with pytest.raises(KeyError), engine.stream_batches(ENDLESS, query_id="reader") as batches:  # noqa: PT012
        next(batches)
        raise KeyError


@pytest.mark.parametrize("spoil", [leave_early, fail_late, fail_at_once, kill_in_the_middle, fail_in_the_reader])
def test_a_statement_that_did_not_end_normally_closes_its_handle(
    engine: EmbeddedEngine, opened: list[str], spoil: object
) -> None:
    assert count_rows(engine) == ROWS
    spoil(engine)  # type: ignore[operator]
    assert len(engine._handles._idle) == (1 if spoil is kill_in_the_middle else 0)  # the handle of KILL
    assert count_rows(engine) == ROWS
    assert engine.fetch_table("SELECT count() AS n FROM system.processes").to_pylist() == [{"n": 1}]


def test_idle_handles_are_bounded(engine: EmbeddedEngine, opened: list[str]) -> None:
    limit = handle_pool._MAX_IDLE
    for block_size in range(limit + 5):
        engine.fetch_table("SELECT 1", {"max_block_size": 1000 + block_size})
    assert len(opened) == limit + 5
    assert len(engine._handles._idle) == limit


def test_a_dropped_table_is_not_held_by_an_idle_handle(engine: EmbeddedEngine, opened: list[str]) -> None:
    engine.execute("CREATE DATABASE handles")
    engine.execute("CREATE TABLE handles.t (a Int64) ENGINE = MergeTree ORDER BY a")
    engine.execute("INSERT INTO handles.t SELECT number FROM numbers(10)")
    assert engine.fetch_table("SELECT count() AS n FROM handles.t", {"max_threads": 1}).to_pylist() == [{"n": 10}]
    engine.execute("DROP DATABASE handles SYNC", {"lock_acquire_timeout": 5})
    assert engine.fetch_table("SELECT 1 FROM system.databases WHERE name = 'handles'").num_rows == 0


def test_a_closed_pool_lends_nothing(engine: EmbeddedEngine) -> None:
    pool = HandlePool(engine._handles._path)
    with pool.lend_handle({"max_threads": 1}, "") as handle:
        handle.chdb.query("SELECT 1", "Null")
        handle.ended = True
    pool.close(0)
    with pytest.raises(EngineUnavailable), pool.lend_handle({"max_threads": 1}, ""):
        pass
