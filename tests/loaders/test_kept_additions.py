"""The rows that loads keep for watches: exactly the rows of each addition, wherever the load is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.engine_tables import addition_record, catalogue_log, engine_setup
from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline import chunk_reader, load_job, startup_cleanup
from loaders.pipeline.latest_rows import LatestRows
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.recorder import Recorder

TABLE = ("added", "stars")


@pytest.fixture
def watched(engine: EmbeddedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedEngine]:
    """The engine with the watched table added.stars of 300 rows; loads have chunks of 200 rows."""
    engine_setup.prepare_engine(engine)
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", 200)
    add(engine, tmp_path, 0, 300, "create")
    addition_record.mark_watched(engine, *TABLE, is_watched=True)
    yield engine
    addition_record.mark_watched(engine, *TABLE, is_watched=False)
    addition_record.drop_rows(engine, [each.addition_id for each in addition_record.read_kept_additions(engine)])
    catalogue_log.unregister_table(engine, *TABLE)
    engine.execute("DROP DATABASE IF EXISTS added SYNC")
    for record in ("additions", "watched_tables", "appends"):
        engine.execute(f"ALTER TABLE skyhouse.{record} DELETE WHERE schema_name = 'added'", {"mutations_sync": 2})


def add(engine: EmbeddedEngine, folder: Path, first: int, count: int, mode: Mode = "append") -> None:
    """Load a file with the ids from ``first``."""
    path = folder / f"{first}.parquet"
    ids = np.arange(first, first + count)
    pq.write_table(pa.table({"id": ids, "ra": ids % 360 + 0.5, "dec": ids % 90 + 0.25}), path, row_group_size=100)
    request = LoadRequest(files=(path,), table=".".join(TABLE), rejects=folder / "rejects.csv", max_errors=0, mode=mode)
    load_files(engine, request, Recorder())


def read_kept(engine: EmbeddedEngine) -> dict[int, tuple[int, int]]:
    """Return the lowest and highest id of each addition, by number."""
    found = {}
    for each in addition_record.read_kept_additions(engine):
        rows = addition_record.quote_rows(each.addition_id)
        [row] = engine.fetch_table(f"SELECT min(id) AS a, max(id) AS b, count() AS n FROM {rows}").to_pylist()
        assert row["n"] == each.rows == row["b"] - row["a"] + 1
        found[each.number] = (row["a"], row["b"])
    return found


def test_each_addition_has_its_rows(watched: EmbeddedEngine, tmp_path: Path) -> None:
    """Also if few rows are inserted into the table itself, many through a gateway, and it is corrected or replaced later."""
    add(watched, tmp_path, 1000, 50)
    add(watched, tmp_path, 2000, 700)
    add(watched, tmp_path, 2000, 700)  # the same file again adds nothing
    wanted = {1: (1000, 1049), 2: (2000, 2699)}
    assert read_kept(watched) == wanted
    [first, second] = addition_record.read_kept_additions(watched)
    assert (first.table_name, first.rows, second.rows) == ("added.stars", 50, 700)
    add(watched, tmp_path, 5000, 10, "replace")  # these are not additions
    assert read_kept(watched) == wanted
    addition_record.drop_rows(watched, [first.addition_id])
    assert read_kept(watched) == {2: (2000, 2699)}
    add(watched, tmp_path, 6000, 10)
    assert read_kept(watched) == {2: (2000, 2699), 3: (6000, 6009)}


def test_a_table_that_is_watched_only_when_its_rows_are_loaded(
    watched: EmbeddedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addition_record.mark_watched(watched, *TABLE, is_watched=False)
    original = load_job.open_latest_rows

    def open_and_mark(*arguments: Any) -> LatestRows | None:
        """Mark the table as watched, right before the publication."""
        addition_record.mark_watched(watched, *TABLE, is_watched=True)
        return original(*arguments)

    monkeypatch.setattr(load_job, "open_latest_rows", open_and_mark)
    add(watched, tmp_path, 2000, 700)
    assert read_kept(watched) == {1: (2000, 2699)}


def test_a_table_that_nobody_watches_keeps_nothing(watched: EmbeddedEngine, tmp_path: Path) -> None:
    addition_record.mark_watched(watched, *TABLE, is_watched=False)
    add(watched, tmp_path, 1000, 50)
    add(watched, tmp_path, 2000, 700)
    assert read_kept(watched) == {}
    assert addition_record.find_unrecorded(watched, 0) == []


#: Where a load is killed, and how many rows it has
DEATHS = (
    (Failpoint.APPENDS_WRITE, 50),
    (Failpoint.ADDITION_CREATE, 50),
    (Failpoint.ADDITION_INSERT, 50),
    (Failpoint.ADDITIONS_WRITE, 50),
    (Failpoint.ADDITION_INSERT, 700),
    (Failpoint.PUBLISH_DROP_CHUNKS, 700),
    (Failpoint.PUBLISH_EXCHANGE, 700),
    (Failpoint.CATALOGUE_WRITE, 700),
    (Failpoint.ADDITIONS_WRITE, 700),
)


def test_a_killed_load_is_one_addition(watched: EmbeddedEngine, tmp_path: Path) -> None:
    """The same load finishes it, every other time after a start of the process."""
    wanted = {}
    for number, (point, count) in enumerate(DEATHS, 1):
        with killed_at(watched, point) as dying:
            add(dying, tmp_path, 1000 * number, count)
        if number % 2:
            startup_cleanup.finish_killed_loads(watched)
        add(watched, tmp_path, 1000 * number, count)
        wanted[number] = (1000 * number, 1000 * number + count - 1)
        assert read_kept(watched) == wanted, point
    startup_cleanup.finish_killed_loads(watched)
    assert read_kept(watched) == wanted
    assert addition_record.find_unrecorded(watched, 0) == []


def test_a_start_records_a_load_that_was_visible(watched: EmbeddedEngine, tmp_path: Path) -> None:
    with killed_at(watched, Failpoint.PUBLISH_EXCHANGE) as dying:
        add(dying, tmp_path, 1000, 700)
    assert read_kept(watched) == {}
    startup_cleanup.finish_killed_loads(watched)
    assert read_kept(watched) == {1: (1000, 1699)}
