"""Rows that the embedded engine could not write, but believes it has written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_service.storage.engine import embedded_engine
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import StorageFull

FILES = ["data.bin", "data.cmrk4", "count.txt", "columns.txt", "checksums.txt", "by_a.proj/data.bin"]


@pytest.fixture
def table(engine: EmbeddedEngine) -> Iterator[str]:
    engine.execute("CREATE DATABASE IF NOT EXISTS cut")
    engine.execute(
        "CREATE TABLE cut.rows__loading (a Int64, b String, PROJECTION by_a (SELECT _part_offset ORDER BY a))"
        " ENGINE = MergeTree ORDER BY b"
    )
    yield "cut.rows__loading"
    engine.execute("DROP DATABASE cut SYNC")


def insert(engine: EmbeddedEngine, table: str) -> None:
    engine.execute(f"INSERT INTO {table} SELECT number, toString(number) FROM numbers(5000)")


def cut_part(engine: EmbeddedEngine, file: str) -> None:
    [part] = engine.fetch_table("SELECT path FROM system.parts WHERE active AND database = 'cut'").to_pylist()
    path = Path(part["path"]) / file
    path.write_bytes(path.read_bytes()[: 0 if path.suffix == ".txt" else path.stat().st_size // 2])


@pytest.mark.parametrize("file", FILES)
def test_a_table_with_a_cut_part_is_not_published(engine: EmbeddedEngine, table: str, file: str) -> None:
    insert(engine, table)
    cut_part(engine, file)
    with pytest.raises(StorageFull, match="rows could not be written completely"):
        engine.execute(f"RENAME TABLE {table} TO cut.published")
    assert not engine.fetch_table("SELECT name FROM system.tables WHERE database = 'cut'").num_rows


def test_whole_parts_are_published(engine: EmbeddedEngine, table: str) -> None:
    insert(engine, table)
    engine.execute(f"RENAME TABLE {table} TO cut.published")
    assert engine.fetch_table("SELECT count() AS n FROM cut.published").to_pylist() == [{"n": 5000}]


def test_truncated_rows_on_an_almost_full_disk_are_removed(
    engine: EmbeddedEngine, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(engine, table)
    cut_part(engine, "data.bin")
    monkeypatch.setattr(embedded_engine, "choose_spare", lambda _: 1 << 62)
    with pytest.raises(StorageFull, match="rows could not be written completely"):
        insert(engine, table)
    assert engine.fetch_table(f"SELECT count() AS n, max(a) AS m FROM {table}").to_pylist() == [{"n": 5000, "m": 4999}]


def test_an_insert_whose_parts_another_insert_removed_fails_too(
    engine: EmbeddedEngine, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_engine, "choose_spare", lambda _: 1 << 62)

    def insert_concurrently() -> None:
        with engine._lend_handle() as handle, engine._undo_cut_insert(handle, table):
            handle.chdb.query(f"INSERT INTO {table} SELECT number, toString(number) FROM numbers(5000)", "Null")
            handle.ended = True
            cut_part(engine, "data.bin")
            with pytest.raises(StorageFull, match="rows could not be written completely"):
                insert(engine, table)

    with pytest.raises(StorageFull, match="rows could not be written completely"):
        insert_concurrently()
    insert(engine, table)
    assert engine.fetch_table(f"SELECT count() AS n FROM {table}").to_pylist() == [{"n": 10000}]
