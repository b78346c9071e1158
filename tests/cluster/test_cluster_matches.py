"""Kept matches on two shards with overlaps: they are stored with their first table, and follow changes of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adql.rewrite.matches import kept_matches
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.failpoints import Failpoint
from loaders.cluster import cluster_publication
from loaders.pipeline import kept_match, stoppable_query
from loaders.tables.drop_table import drop_table
from loaders.tables.match_admin import drop_match, follow_matches
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.loaders.match_sky import RADIUS, SCHEMA, MatchedTables, compare, fetch_pairs
from tests.loaders.recorder import Recorder
from tests.loaders.test_kept_matches import QUERIES, fetch_rows, keep, write_query


@pytest.fixture
def tables(
    cluster_of: Callable[[int], Engine], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[MatchedTables]:
    engine = cluster_of(2)
    monkeypatch.setattr(cluster_publication, "LINGER_SECONDS", 0)
    (tmp_path / "kept.yaml").write_text(SCHEMA.replace("position: [", "overlap_radius: 0.1, position: ["))
    found = MatchedTables(engine, tmp_path, np.random.default_rng(3))
    found.load(found.make_left(200), "create")
    found.load(found.make_right(200), "create")
    yield found
    drop_match(engine, "kept.all_pairs", Recorder())
    for name in ("optical", "infrared"):
        drop_table(engine, f"kept.{name}", Recorder())


def test_a_match_is_with_its_first_table_follows_and_is_read(
    tables: MatchedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tables.engine
    keep(engine)
    compare(fetch_pairs(engine, "all_pairs"), tables.find_pairs())
    tables.load(tables.make_right(20))
    tables.correct("delete", [{"source_id": key} for key in [*tables.left][:10]])
    compare(fetch_pairs(engine, "all_pairs"), tables.find_pairs())
    verify_table(
        engine, "kept.all_pairs", Recorder()
    )  # verify also checks that each pair is on the shard of its first row
    monkeypatch.setattr(kept_matches, "MIN_ROWS", 0)
    catalogue = read_catalogue(engine)
    without = replace(catalogue, current_matches=frozenset())
    for text in (text for text, kind in QUERIES if kind == "all"):
        query = write_query(text, RADIUS)
        answers = []
        for each in (without, catalogue):
            rows, plan = fetch_rows(engine, each, query)
            answers.append(rows)
            assert ("the kept match" in plan) == (each is catalogue)
        assert answers[0] == answers[1], query


@pytest.mark.parametrize("point", [Failpoint.MATCH_ANNOUNCE, Failpoint.MATCH_PIECE, Failpoint.MATCH_PUBLISH])
def test_a_match_follows_after_a_kill(tables: MatchedTables, point: Failpoint) -> None:
    keep(tables.engine)
    change = tables.prepare_load(tables.make_left(20), "append")
    with killed_at(tables.engine, point, 1) as dying:
        change(dying)
    assert not read_catalogue(tables.engine).current_matches
    change(tables.engine)
    follow_matches(tables.engine, "", Recorder())
    compare(fetch_pairs(tables.engine, "all_pairs"), tables.find_pairs())


def test_a_match_that_was_killed_within_a_piece_goes_on(tables: MatchedTables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_match, "PIECE_ROWS", 120)
    monkeypatch.setattr(kept_match, "_BLOCK_ROWS", 16)
    monkeypatch.setattr(stoppable_query, "_BATCH_ROWS", 8)
    with killed_at(tables.engine, Failpoint.STAGING_INSERT, 4) as dying:
        keep(dying)
    assert any("resuming kept.all_pairs" in message for message in keep(tables.engine).messages)
    compare(fetch_pairs(tables.engine, "all_pairs"), tables.find_pairs())
