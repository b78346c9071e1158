"""A kept match that is killed at any step is correct or unused, and correct when the change is started again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline import chunk_reader, kept_match, startup_cleanup, stoppable_query
from loaders.tables.match_admin import drop_match, follow_matches
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.match_sky import SCHEMA, MatchedTables, compare, fetch_pairs
from tests.loaders.recorder import Recorder
from tests.loaders.test_kept_matches import choose_correction, drop_tables, is_current, keep

#: A change of the tables of a match, and the failpoint at which it is killed when it reaches it for the n-th time
KILLS: list[tuple[str, Failpoint, int]] = [
    ("make", Failpoint.STAGING_CREATE, 1),
    ("make", Failpoint.MATCH_PIECE, 1),
    ("make", Failpoint.MATCH_PIECE, 4),
    ("make", Failpoint.STAGING_INSERT, 2),
    ("make", Failpoint.STAGING_INSERT, 6),
    ("make", Failpoint.STAGING_VERIFY, 1),
    ("make", Failpoint.PUBLISH_RENAME, 1),
    ("make", Failpoint.MATCH_PUBLISH, 1),
    ("append", Failpoint.MATCH_ANNOUNCE, 1),
    ("append", Failpoint.APPEND_INSERT, 1),
    ("append", Failpoint.STAGING_CREATE, 1),
    ("append", Failpoint.STAGING_CHANGE, 1),
    ("append", Failpoint.MATCH_PIECE, 1),
    ("append", Failpoint.STAGING_INSERT_GATEWAY, 1),
    ("append", Failpoint.STAGING_INSERT_GATEWAY, 2),
    ("append", Failpoint.STAGING_VERIFY, 1),
    ("append", Failpoint.PUBLISH_EXCHANGE, 1),
    ("append", Failpoint.MATCH_PUBLISH, 1),
    ("large", Failpoint.MATCH_ANNOUNCE, 1),
    ("large", Failpoint.PUBLISH_EXCHANGE, 1),
    ("large", Failpoint.MATCH_PIECE, 1),
    ("move", Failpoint.MATCH_ANNOUNCE, 1),
    ("move", Failpoint.STAGING_VERIFY, 1),
    ("move", Failpoint.PUBLISH_EXCHANGE, 1),
    ("move", Failpoint.PUBLISH_EXCHANGE, 2),
    ("delete", Failpoint.MATCH_ANNOUNCE, 1),
    ("delete", Failpoint.PUBLISH_EXCHANGE, 1),
    ("delete", Failpoint.MATCH_PIECE, 1),
    ("replace", Failpoint.MATCH_ANNOUNCE, 1),
    ("replace", Failpoint.PUBLISH_EXCHANGE, 1),
    ("replace", Failpoint.MATCH_PIECE, 2),
    ("replace", Failpoint.PUBLISH_EXCHANGE, 2),
]


@pytest.fixture(scope="module")
def killed_tables(engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MatchedTables]:
    engine_setup.prepare_engine(engine)
    folder = tmp_path_factory.mktemp("killed_matches")
    (folder / "kept.yaml").write_text(SCHEMA)
    found = MatchedTables(engine, folder, np.random.default_rng(11))
    found.load(found.make_left(150), "create")
    found.load(found.make_right(150), "create")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_match, "PIECE_ROWS", 60)
        patch.setattr(kept_match, "_BLOCK_ROWS", 16)
        patch.setattr(kept_match, "_BORDER_CELLS", 500)
        patch.setattr(stoppable_query, "_BATCH_ROWS", 8)
        patch.setattr(chunk_reader, "CHUNK_ROWS", 30)
        yield found
    drop_tables(engine)


def prepare_change(tables: MatchedTables, kind: str) -> Any:
    """Return a change of the tables or the match; calling it again continues the change."""
    if kind == "make":
        if "kept.all_pairs" in {e.qualified_name for e in catalogue_log.read_catalogue(tables.engine).entries}:
            drop_match(tables.engine, "kept.all_pairs", Recorder())
        return keep
    if kind in ("append", "large"):
        rows = tables.make_right(10 if kind == "append" else 50)
        return tables.prepare_load(rows, "append")
    if kind == "replace":
        return tables.prepare_load(tables.make_right(150), "replace")
    return tables.prepare_correction(*choose_correction(tables, kind, is_left=kind == "move"))


@pytest.mark.parametrize(("kind", "point", "count"), KILLS)
def test_a_match_is_right_or_unused_after_a_kill_and_right_when_that_is_started_again(
    engine: EmbeddedEngine, killed_tables: MatchedTables, kind: str, point: Failpoint, count: int
) -> None:
    if kind != "make":
        keep(engine)
        follow_matches(engine, "", Recorder())
    change = prepare_change(killed_tables, kind)
    before = killed_tables.find_visible_pairs(engine)
    with killed_at(engine, point, count) as dying:
        reporter = change(dying)
        pytest.fail(f"the {kind} was not killed: {reporter.reports}")
    if is_current(engine, "all"):
        compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_visible_pairs(engine))
    startup_cleanup.finish_killed_loads(engine)  # like each command
    if is_current(engine, "all"):
        compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_visible_pairs(engine))
    change(engine)
    assert is_current(engine, "all")
    assert killed_tables.find_visible_pairs(engine) != before or kind == "make"
    compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_visible_pairs(engine))
    compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_pairs())
