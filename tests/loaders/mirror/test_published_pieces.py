"""--publish-as-you-go: each file is visible once it is loaded, and only once, however often the mirror is killed."""

from __future__ import annotations

import pytest

from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline import startup_cleanup
from loaders.tables.drop_table import drop_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.mirror.gaia_mirror import TABLE, GaiaMirror, read_rows, sort_rows
from tests.loaders.mirror.origin_files import Row, write_gaia_file, write_sums
from tests.loaders.recorder import Recorder

Files = list[list[Row]]


def test_each_file_is_visible_once_it_is_loaded(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.server.fail_first(GaiaSource_005233=[404])
    gaia.fail(mirror_engine, publishes_early=True)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows[:2])
    reporter = gaia.run(mirror_engine, publishes_early=True)
    assert reporter.lines == [f"loaded 100 rows into {TABLE}"] * 2
    assert "2 of 4 files are loaded already" in reporter.messages
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)
    assert not (gaia.folder / "work").exists()


def test_a_condition_and_columns_apply_to_each_file(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.run(mirror_engine, publishes_early=True, where="phot_g_mean_mag < 12", columns=("source_id",))
    wanted = [row["source_id"] for row in sort_rows(gaia_rows) if row["phot_g_mean_mag"] < 12]
    rows = read_rows(mirror_engine)
    assert [row["source_id"] for row in rows] == wanted
    assert {*rows[0]} == {"source_id", "ra", "dec", "phot_g_mean_mag"}


@pytest.mark.parametrize(
    ("point", "count"),
    [
        (Failpoint.MIRROR_FETCH, 3),
        (Failpoint.STAGING_INSERT, 2),
        (Failpoint.PUBLISH_RENAME, 1),
        (Failpoint.MIRROR_RECORD, 1),
        (Failpoint.STAGING_ATTACH, 1),
        (Failpoint.PUBLISH_EXCHANGE, 2),
        (Failpoint.MIRROR_DELETE, 3),
    ],
)
def test_killed_at_any_step_and_started_again(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine, point: Failpoint, count: int
) -> None:
    with killed_at(mirror_engine, point, count) as dying:
        gaia.run(dying, publishes_early=True)
    startup_cleanup.finish_killed_loads(mirror_engine)  # like each command
    messages = gaia.run(mirror_engine, publishes_early=True).messages
    rows = sort_rows(gaia_rows)
    assert read_rows(mirror_engine) == rows
    assert f"{len(gaia_rows)} of {len(gaia_rows)} files, {len(rows):,} rows, " in messages[-1]


def change_second_file(gaia: GaiaMirror, rows: list[Row]) -> None:
    [path] = gaia.server.folder.glob("GaiaSource_003112*")
    write_gaia_file(path, rows)
    write_sums(gaia.server.folder)


def test_a_file_that_changed_after_the_mirror_is_not_appended_to_its_earlier_rows(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.run(mirror_engine, publishes_early=True)
    gaia_rows[1] = gaia_rows[1][:50]
    change_second_file(gaia, gaia_rows[1])
    assert "Start again with --restart --replace" in gaia.fail(mirror_engine, publishes_early=True)
    assert len(read_rows(mirror_engine)) == 400
    gaia.run(mirror_engine, publishes_early=True, restarts=True, mode="replace")
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_table_that_is_dropped_in_between_is_not_completed(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.server.fail_first(GaiaSource_005233=[404])
    gaia.fail(mirror_engine, publishes_early=True)
    drop_table(mirror_engine, TABLE, Recorder())
    error = gaia.fail(mirror_engine, publishes_early=True)
    assert error == f"{TABLE}, which had the earlier files, does not exist any more: start again with --restart"
