"""A change that is killed at any failpoint and started again is made once, with its latest versions and its additions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest

from clickhouse_schema.engine_tables import addition_record, catalogue_log, engine_setup
from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline import chunk_reader, startup_cleanup
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at, observed
from tests.loaders.recorder import Recorder
from tests.loaders.test_versions import SCHEMA, Row, check, make_rows, write

TABLE = "versioned.object"

#: ``append`` inserts into the table itself, ``large`` into a gateway table; ``move`` corrects positions
Kind = Literal["create", "append", "large", "replace", "update", "move", "delete", "drop"]

#: A change, and the failpoint at which it is killed when it reaches it for the n-th time
KILLS: list[tuple[Kind, Failpoint, int]] = [
    ("create", Failpoint.STAGING_INSERT_BEGIN, 1),
    ("create", Failpoint.STAGING_INSERT, 1),
    ("create", Failpoint.LATEST_INSERT, 1),
    ("create", Failpoint.PUBLISH_RENAME, 1),
    ("create", Failpoint.TAP_SCHEMA_FILL, 1),
    ("create", Failpoint.TAP_SCHEMA_REPLACE, 1),
    ("append", Failpoint.GATEWAY_DROP, 1),
    ("append", Failpoint.GATEWAY_CREATE, 1),
    ("append", Failpoint.GATEWAY_FILL, 1),
    ("append", Failpoint.APPENDS_WRITE, 1),
    ("append", Failpoint.APPEND_INSERT, 1),
    ("append", Failpoint.LATEST_FILL_KEYS, 1),
    ("append", Failpoint.STAGING_CREATE, 1),
    ("append", Failpoint.STAGING_ATTACH, 1),
    ("append", Failpoint.STAGING_CHANGE, 1),
    ("append", Failpoint.STAGING_INSERT_GATEWAY, 1),
    ("append", Failpoint.STAGING_VERIFY, 1),
    ("append", Failpoint.PUBLISH_EXCHANGE, 1),
    ("append", Failpoint.DENSITY_WRITE, 1),
    ("append", Failpoint.APPENDS_WRITE, 2),
    ("large", Failpoint.STAGING_DESCRIBE, 1),
    ("large", Failpoint.LATEST_INSERT, 1),
    ("large", Failpoint.ADDITION_CREATE, 1),
    ("large", Failpoint.ADDITION_INSERT, 1),
    ("large", Failpoint.PUBLISH_DROP_CHUNKS, 1),
    ("large", Failpoint.PUBLISH_EXCHANGE, 1),
    ("large", Failpoint.CATALOGUE_WRITE, 1),
    ("large", Failpoint.PUBLISH_EXCHANGE, 2),
    ("large", Failpoint.ADDITIONS_WRITE, 1),
    ("update", Failpoint.CORRECTION_DROP, 1),
    ("update", Failpoint.CORRECTION_CREATE, 1),
    ("update", Failpoint.CORRECTION_FILL, 1),
    ("update", Failpoint.STAGING_CHANGE_BEGIN, 1),
    ("update", Failpoint.STAGING_CHANGE, 1),
    ("update", Failpoint.STAGING_CHANGE, 2),
    ("update", Failpoint.STAGING_VERIFY, 2),
    ("update", Failpoint.PUBLISH_EXCHANGE, 1),
    ("update", Failpoint.CATALOGUE_WRITE, 1),
    ("delete", Failpoint.STAGING_CHANGE, 1),
    ("delete", Failpoint.PUBLISH_EXCHANGE, 1),
    ("delete", Failpoint.PUBLISH_EXCHANGE, 2),
    ("drop", Failpoint.TABLE_DROP, 1),
]


class WatchedTable:
    """A watched table with latest versions, which the tests change in turn."""

    def __init__(self, engine: EmbeddedEngine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._random = np.random.default_rng(1)
        self._rows: list[Row] = []
        self._added: list[int] = []
        self._changes = 0

    def prepare_change(self, kind: Kind) -> Callable[[Any], None]:
        """Return a change of the table; calling it again continues the change."""
        if kind == "create" and self._rows:
            self.prepare_change("drop")(self._engine)
        elif kind != "create" and not self._rows:
            self.prepare_change("create")(self._engine)
        self._changes += 1
        if kind == "drop":
            self._rows = []
            return lambda engine: drop_table(engine, TABLE, Recorder())
        if kind in ("create", "replace", "append", "large"):
            return self._prepare_load(kind)
        return self._prepare_correction(kind)

    def _prepare_load(self, kind: Kind) -> Callable[[Any], None]:
        rows = make_rows(self._random, {"append": 100, "large": 700}.get(kind, 300))
        is_addition = kind in ("append", "large")
        self._rows = [*self._rows, *rows] if is_addition else rows
        self._added += [len(rows)] if is_addition else []
        mode: Mode = "append" if is_addition else "replace" if kind == "replace" else "create"
        schema = None if is_addition else self._folder / "versioned.yaml"
        file, rejects = write(self._folder, rows), self._folder / "rejects.csv"
        request = LoadRequest(files=(file,), table=TABLE, rejects=rejects, schema_file=schema, mode=mode)
        return lambda engine: load_files(engine, request, Recorder())

    def _prepare_correction(self, kind: Kind) -> Callable[[Any], None]:
        changed, kept = self._rows[:50], self._rows[50:]
        values = {"update": {"end": float(self._changes)}, "move": {"dec": float(self._changes)}, "delete": {}}[kind]
        self._rows = kept if kind == "delete" else [row | values for row in changed] + kept
        file = write(self._folder, [{"id": row["id"], "start": row["start"]} | values for row in changed])
        command: Literal["update", "delete"] = "delete" if kind == "delete" else "update"
        request = CorrectionRequest(command=command, files=(file,), table=TABLE, rejects=self._folder / "rejects.csv")
        return lambda engine: correct_rows(engine, request, Recorder())

    def check(self) -> None:
        """Compare the tables and the additions with the expected result of the changes."""
        if self._rows:
            check(self._engine, self._rows)
        else:
            left = self._engine.fetch_table("SELECT name FROM system.tables WHERE database = 'versioned'")
            assert left.num_rows == 0
        kept = addition_record.read_kept_additions(self._engine)
        assert [each.rows for each in kept] == self._added


@pytest.fixture(scope="module")
def table(engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedTable]:
    engine_setup.prepare_engine(engine)
    folder = tmp_path_factory.mktemp("failpoints")
    (folder / "versioned.yaml").write_text(SCHEMA)
    addition_record.mark_watched(engine, *TABLE.split("."), is_watched=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_reader, "CHUNK_ROWS", 400)
        yield WatchedTable(engine, folder)
    addition_record.mark_watched(engine, *TABLE.split("."), is_watched=False)
    addition_record.drop_rows(engine, [each.addition_id for each in addition_record.read_kept_additions(engine)])
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "versioned":
            catalogue_log.unregister_table(engine, "versioned", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS versioned SYNC")
    for record in ("additions", "watched_tables", "appends"):
        engine.execute(f"ALTER TABLE skyhouse.{record} DELETE WHERE schema_name = 'versioned'", {"mutations_sync": 2})


@pytest.mark.parametrize(("kind", "point", "count"), KILLS)
def test_killed_at_any_step_and_started_again(
    engine: EmbeddedEngine, table: WatchedTable, kind: Kind, point: Failpoint, count: int
) -> None:
    change = table.prepare_change(kind)
    with killed_at(engine, point, count) as dying:
        change(dying)
    startup_cleanup.finish_killed_loads(engine)  # like each command
    change(engine)
    table.check()


def test_something_is_killed_at_each_failpoint_that_a_change_reaches(
    table: WatchedTable, engine: EmbeddedEngine
) -> None:
    reached: set[Failpoint] = set()
    for kind in get_args(Kind):
        change = table.prepare_change(kind)
        with observed(reached.add):
            change(engine)
        table.check()
    assert reached == {point for _, point, _ in KILLS}
