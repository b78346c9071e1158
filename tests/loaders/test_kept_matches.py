"""Kept matches follow whatever happens to their tables, as a match made anew by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from loaders.load_error import LoadError
from loaders.pipeline import kept_match
from loaders.pipeline.match_request import MatchRequest
from loaders.tables.match_admin import drop_match, follow_matches, make_match, print_matches
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
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
