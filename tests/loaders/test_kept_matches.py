"""Kept matches follow whatever happens to their tables, as a match made anew by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.failpoints import Failpoint
from loaders.load_error import LoadError
from loaders.pipeline import chunk_reader, kept_match, startup_cleanup
from loaders.pipeline.match_request import MatchRequest
from loaders.tables.match_admin import drop_match, follow_matches, make_match, print_matches
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.match_sky import RADIUS, SCHEMA, MatchedTables, compare, fetch_pairs
from tests.loaders.recorder import Recorder

KINDS: tuple[Literal["all", "best", "mutual"], ...] = ("all", "best", "mutual")


@pytest.fixture
def tables(engine: EmbeddedEngine, tmp_path: Path) -> Iterator[MatchedTables]:
    engine_setup.prepare_engine(engine)
    (tmp_path / "kept.yaml").write_text(SCHEMA)
    found = MatchedTables(engine, tmp_path, np.random.default_rng(7))
    found.load(found.make_left(300), "create")
    found.load(found.make_right(300), "create")
    yield found
    drop_tables(engine)


def drop_tables(engine: EmbeddedEngine) -> None:
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "kept":
            kept_match.forget_match(engine, entry.qualified_name)
            catalogue_log.unregister_table(engine, "kept", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS kept SYNC")
    engine.execute("ALTER TABLE skyhouse.appends DELETE WHERE schema_name = 'kept'", {"mutations_sync": 2})


def keep(engine: Any, kind: Literal["all", "best", "mutual"] = "all", **more: Any) -> Recorder:
    request = {"left": "kept.optical", "right": "kept.infrared", "table": f"kept.{kind}_pairs", "radius": RADIUS}
    reporter = Recorder()
    make_match(engine, MatchRequest(**(request | {"kind": kind} | more)), reporter)
    return reporter


def is_current(engine: EmbeddedEngine, kind: str) -> bool:
    return f"kept.{kind}_pairs" in catalogue_log.read_catalogue(engine).current_matches


@pytest.mark.parametrize("kind", KINDS)
def test_a_match_that_is_made_has_the_pairs_of_brute_force(
    engine: EmbeddedEngine, tables: MatchedTables, kind: Literal["all", "best", "mutual"]
) -> None:
    lines = keep(engine, kind).lines
    wanted = tables.find_pairs(kind)
    assert len(wanted) > 50
    compare(fetch_pairs(engine, f"{kind}_pairs"), wanted)
    assert lines == [f"kept.{kind}_pairs keeps {len(wanted):,} pairs of kept.optical and kept.infrared"]
    assert is_current(engine, kind)


def test_matches_follow_random_changes_of_both_tables(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    for kind in KINDS:
        keep(engine, kind)
    random = tables.random
    for _ in range(12):
        change = random.choice(["append", "append", "move", "delete", "magnitude"])
        is_left = bool(random.integers(2))
        if change == "append":
            tables.load(tables.make_left(10) if is_left else tables.make_right(10))
        else:
            tables.correct(*choose_correction(tables, change, is_left=is_left))
        for kind in KINDS:
            assert is_current(engine, kind), change
            compare(fetch_pairs(engine, f"{kind}_pairs"), tables.find_pairs(kind))


def choose_correction(tables: MatchedTables, change: str, *, is_left: bool) -> tuple[str, list[dict[str, Any]]]:
    rows = [*(tables.left if is_left else tables.right).values()]
    chosen = [rows[i] for i in tables.random.choice(len(rows), 8, replace=False)]
    key = "source_id" if is_left else "designation"
    if change == "delete":
        return "delete", [{key: row[key]} for row in chosen]
    if change == "magnitude":
        return "update", [{key: row[key], "mag" if is_left else "k": float(tables.random.normal())} for row in chosen]
    fresh = tables.make_left(8) if is_left else tables.make_right(8)
    names = ("ra", "dec") if is_left else ("raj2000", "dej2000")
    return "update", [{key: row[key]} | {n: new[n] for n in names} for row, new in zip(chosen, fresh, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_across_the_borders_of_pieces_are_kept(
    engine: EmbeddedEngine, tables: MatchedTables, monkeypatch: pytest.MonkeyPatch, kind: Literal["all", "best", "mutual"]
) -> None:
    monkeypatch.setattr(kept_match, "PIECE_ROWS", 1)  # the rows are on corners of base cells
    keep(engine, kind)
    compare(fetch_pairs(engine, f"{kind}_pairs"), tables.find_pairs(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_verify_proves_a_match_against_one_made_anew(
    engine: EmbeddedEngine, tables: MatchedTables, kind: Literal["all", "best", "mutual"]
) -> None:
    keep(engine, kind)
    reporter = Recorder()
    verify_table(engine, f"kept.{kind}_pairs", reporter)
    assert any(line.endswith("rows of kept.optical compared with all of kept.infrared") for line in reporter.lines)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE WHERE rank = 1 AND number_of_neighbours > 1", "wrong number of neighbours"),
        ("DELETE WHERE number_of_mates > 0 AND cityHash64(source_id) % 2 = 1", "wrong number of mates"),
        ("UPDATE separation = separation + 0.001 WHERE 1", "not those of a match made anew"),
        ("UPDATE designation = 'J0' WHERE rank = 1", "other partners by brute force"),
    ],
)
def test_verify_finds_what_is_wrong_with_a_match(
    engine: EmbeddedEngine, tables: MatchedTables, change: str, fault: str
) -> None:
    keep(engine)
    engine.execute(f"ALTER TABLE kept.all_pairs {change}", {"mutations_sync": 2})
    with pytest.raises(LoadError, match=fault):
        verify_table(engine, "kept.all_pairs", Recorder())


#: What is done with the tables of a match, and at which failpoint it is killed when it reaches that for the n-th time.
KILLS: list[tuple[str, Failpoint, int]] = [
    ("make", Failpoint.STAGING_CREATE, 1),
    ("make", Failpoint.MATCH_PIECE, 1),
    ("make", Failpoint.MATCH_PIECE, 4),
    ("make", Failpoint.STAGING_INSERT, 2),
    ("make", Failpoint.STAGING_VERIFY, 1),
    ("make", Failpoint.PUBLISH_RENAME, 1),
    ("make", Failpoint.MATCH_PUBLISH, 1),
    ("append", Failpoint.MATCH_ANNOUNCE, 1),
    ("append", Failpoint.APPEND_INSERT, 1),
    ("append", Failpoint.STAGING_CREATE, 1),
    ("append", Failpoint.STAGING_CHANGE, 1),
    ("append", Failpoint.MATCH_PIECE, 1),
    ("append", Failpoint.STAGING_INSERT_GATEWAY, 1),
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
        patch.setattr(chunk_reader, "CHUNK_ROWS", 30)
        yield found
    drop_tables(engine)


def prepare_change(tables: MatchedTables, kind: str) -> Any:
    """Return a change of the tables or the match; calling that again goes on with it."""
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
        change(dying)
    if is_current(engine, "all"):
        compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_visible_pairs(engine))
    startup_cleanup.finish_killed_loads(engine)  # as each command does
    if is_current(engine, "all"):
        compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_visible_pairs(engine))
    change(engine)
    assert is_current(engine, "all")
    assert killed_tables.find_visible_pairs(engine) != before or kind == "make"
    compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_visible_pairs(engine))
    compare(fetch_pairs(engine, "all_pairs"), killed_tables.find_pairs())
