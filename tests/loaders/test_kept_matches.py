"""Kept matches follow all changes of their tables, compared with a match by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from astropy import units as u
from astropy.coordinates import SkyCoord
from astropy.time import Time

from adql.rewrite.matches import kept_matches
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_topology import read_topology
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.visible_tables import select_visible
from loaders.load_error import LoadError
from loaders.pipeline import kept_match, match_rows
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.match_request import MatchRequest
from loaders.tables import schema_apply, verify_match
from loaders.tables.drop_table import drop_table
from loaders.tables.match_admin import drop_match, follow_matches, make_match, print_matches
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.memory_settings import choose_memory_settings
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
    for change in random.permutation(["append", "append", "move", "delete", "magnitude"]):
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
    chosen = [rows[i] for i in tables.random.choice(len(rows), 20, replace=False)]
    key = "source_id" if is_left else "designation"
    if change == "delete":
        return "delete", [{key: row[key]} for row in chosen]
    if change == "magnitude":
        return "update", [{key: row[key], "mag" if is_left else "k": float(tables.random.normal())} for row in chosen]
    fresh = tables.make_left(20) if is_left else tables.make_right(20)
    names = ("ra", "dec") if is_left else ("raj2000", "dej2000")
    return "update", [{key: row[key]} | {n: new[n] for n in names} for row, new in zip(chosen, fresh, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_across_the_borders_of_pieces_are_kept(
    engine: EmbeddedEngine,
    tables: MatchedTables,
    monkeypatch: pytest.MonkeyPatch,
    kind: Literal["all", "best", "mutual"],
) -> None:
    monkeypatch.setattr(kept_match, "PIECE_ROWS", 1)  # the rows are on corners of base cells
    monkeypatch.setattr(kept_match, "_BORDER_CELLS", 500)
    keep(engine, kind)
    compare(fetch_pairs(engine, f"{kind}_pairs"), tables.find_pairs(kind))


def test_a_dense_field_is_matched_within_the_memory_of_matches(
    engine: EmbeddedEngine, tables: MatchedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1.44 million pairs at one position: each sort for ranks and mates would take 100 MB."""
    side = 1200
    [star], [source] = tables.make_left(1), tables.make_right(1)
    tables.load([{**star, "source_id": n, "ra": 12.0, "dec": 34.0} for n in range(10**6, 10**6 + side)])
    tables.load([{**source, "designation": f"dense {n}", "raj2000": 12.0, "dej2000": 34.0} for n in range(side)])
    monkeypatch.setattr(match_rows, "_SETTINGS", choose_memory_settings(80_000_000))
    keep(engine)
    [found] = engine.fetch_table(
        "SELECT count() AS pairs, uniqExact(source_id) AS n, min(number_of_neighbours) AS near,"
        " max(number_of_mates) AS mates FROM kept.all_pairs WHERE source_id >= 1000000"
    ).to_pylist()
    assert found == {"pairs": side**2, "n": side, "near": side, "mates": side - 1}
    keep(engine, "best")


@pytest.mark.parametrize("kind", KINDS)
def test_verify_compares_a_match_with_a_new_match(
    engine: EmbeddedEngine,
    tables: MatchedTables,
    monkeypatch: pytest.MonkeyPatch,
    kind: Literal["all", "best", "mutual"],
) -> None:
    # pairs with equal separations, and a position with several right ascensions
    twins = [{**row, "designation": f"A{i}"} for i, row in enumerate(tables.right.values())]
    tables.load(twins)
    tables.load([{**row, "raj2000": 3.7 * i, "dej2000": 90.0} for i, row in enumerate(tables.make_right(90))])
    monkeypatch.setattr(verify_match, "_SAMPLE_ROWS", 1000)
    keep(engine, kind)
    reporter = Recorder()
    verify_table(engine, f"kept.{kind}_pairs", reporter)
    assert any(line.endswith("rows of kept.optical compared with all of kept.infrared") for line in reporter.lines)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("DELETE WHERE rank = 1 AND number_of_neighbours > 1", "wrong number of neighbours"),
        ("DELETE WHERE number_of_mates > 0 AND cityHash64(source_id) % 2 = 1", "wrong number of mates"),
        ("UPDATE separation = separation + 0.001 WHERE 1", "differ from a recomputed match"),
        ("UPDATE designation = 'J0' WHERE rank = 1", "other partners by brute force"),
    ],
)
def test_verify_finds_what_is_wrong_with_a_match(
    engine: EmbeddedEngine, tables: MatchedTables, change: str, error: str
) -> None:
    keep(engine)
    engine.execute(f"ALTER TABLE kept.all_pairs {change}", {"mutations_sync": 2})
    with pytest.raises(LoadError, match=error):
        verify_table(engine, "kept.all_pairs", Recorder())


#: Queries of pairs of ``kept.optical`` and ``kept.infrared`` within ``{r}``, and the match that has their pairs
QUERIES = [
    ("SELECT a.source_id, b.designation FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= {r}", "all"),
    ("SELECT a.source_id, b.designation FROM {b} JOIN {a} ON DISTANCE({q}, {p}) < {r} * 0.999 WHERE a.mag < 3", "all"),
    ("SELECT a.source_id, b.designation FROM {a}, {b} WHERE 1 = CONTAINS({p}, CIRCLE({q}, {r})) AND b.k > 0", "all"),
    ("SELECT a.source_id, b.designation FROM {a} LEFT JOIN {b} ON DISTANCE({p}, {q}) <= {r} AND b.k > 1.5", "all"),
    ("SELECT a.source_id, b.designation FROM {b} LEFT JOIN {a} ON DISTANCE({p}, {q}) <= {r}", "all"),
    ("SELECT a.source_id, b.designation FROM {a} RIGHT JOIN {b} ON DISTANCE({p}, {q}) <= {r}", "all"),
    ("SELECT a.source_id FROM {a} WHERE EXISTS (SELECT 1 FROM {b} WHERE DISTANCE({p}, {q}) <= {r})", "all"),
    ("SELECT b.designation FROM {b} WHERE NOT EXISTS (SELECT 1 FROM {a} WHERE DISTANCE({p}, {q}) <= {r})", "all"),
    ("SELECT a.source_id, b.designation FROM {a} JOIN {b} ON 1 = skyhouse_nearest(2, {p}, {q}, {r})", "all"),
    ("SELECT a.source_id, b.designation FROM {b} JOIN {a} ON 1 = skyhouse_nearest(1, {p}, {q}, {r})", "best"),
    ("SELECT a.source_id, b.k FROM {a} LEFT JOIN {b} ON 1 = skyhouse_nearest(1, {p}, {q}, {r})", "best"),
    ("SELECT a.source_id, b.designation FROM {a} JOIN {b} ON 1 = skyhouse_mutual({p}, {q}, {r})", "mutual"),
    # of which the match has all pairs, or all pairs of one table
    ("SELECT COUNT(*) FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= {r}", "all"),
    ("SELECT a.ra, a.dec, DISTANCE({p}, {q}) FROM {b} JOIN {a} ON DISTANCE({p}, {q}) <= {r} AND a.dec > -30", ""),
    ("SELECT b.designation, DISTANCE({q}, {p}), a.dec FROM {b} JOIN {a} ON DISTANCE({p}, {q}) <= {r}", "all"),
    ("SELECT b.raj2000, DISTANCE({p}, {q}) FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= {r} AND a.ra < b.raj2000", "all"),
    ("SELECT a.mag, COUNT(*), MAX(DISTANCE({p}, {q})) FROM {a} LEFT JOIN {b} ON DISTANCE({p}, {q}) <= {r} GROUP BY a.mag", "all"),
    ("SELECT a.ra, a.dec, DISTANCE({p}, {q}) FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= {r}"
     " GROUP BY a.ra, a.dec, b.raj2000, b.dej2000", "all"),
    ("SELECT c.mag, b.designation FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= {r} JOIN kept.optical AS c ON c.source_id = a.source_id", "all"),
    ("SELECT a.source_id, b.name FROM {a} LEFT JOIN (SELECT designation AS name, raj2000, dej2000 FROM kept.infrared) AS b"
     " ON DISTANCE({p}, {q}) <= {r}", "all"),
    ("SELECT a.source_id, b.designation FROM {b} LEFT JOIN {a} ON 1 = skyhouse_nearest(1, {p}, {q}, {r})", ""),
    ("SELECT a.source_id, b.designation FROM {b} LEFT JOIN {a} ON 1 = skyhouse_nearest(1, {q}, {p}, {r})", ""),
    ("SELECT a.source_id, b.designation FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= 6 * {r}", ""),
    ("SELECT a.source_id, b.designation FROM {a} JOIN {b} ON DISTANCE({p}, {q}) <= {r} WHERE a.source_id = 5", ""),
]  # fmt: skip


def write_query(text: str, radius: float) -> str:
    names = {"a": "kept.optical AS a", "b": "kept.infrared AS b", "p": "POINT(a.ra, a.dec)"}
    return text.format(q="POINT(b.raj2000, b.dej2000)", r=repr(radius / 3600), **names)


def fetch_rows(engine: EmbeddedEngine, catalogue: Catalogue, query: str) -> tuple[list[str], str]:
    """Return the sorted rows of a query, and its plan."""
    translation = translate(query, catalogue)
    rows = engine.fetch_table(translation.sql, translation.settings).to_pylist()
    rounded = (tuple(round(v, 12) if isinstance(v, float) else v for v in row.values()) for row in rows)
    return sorted(map(str, rounded)), "\n".join(translation.plan)


def test_queries_read_kept_pairs_and_answer_the_same(
    engine: EmbeddedEngine, tables: MatchedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_matches, "MIN_ROWS", 0)
    grid = [{"ra": 40.0 + i / 60, "dec": 0.0} for i in range(5)]  # pairs on the border of a radius
    tables.load([row | position for row, position in zip(tables.make_left(5), grid, strict=True)])
    tables.load([
        row | {"raj2000": position["ra"], "dej2000": (i + 1) / 3600}
        for i, (row, position) in enumerate(zip(tables.make_right(5), grid, strict=True))
    ])  # fmt: skip
    tables.load([row | {"ra": None, "dec": None} for row in tables.make_left(3)])
    catalogues = {"": catalogue_log.read_catalogue(engine)}
    for kind in KINDS:
        keep(engine, kind)
    everything = catalogue_log.read_catalogue(engine)
    assert everything.current_matches == {f"kept.{kind}_pairs" for kind in KINDS}
    for kind in KINDS:
        catalogues[kind] = replace(everything, current_matches=frozenset({f"kept.{kind}_pairs"}))
    for text, kind in QUERIES:
        for radius in (RADIUS, 3.0, 1.0):
            query = write_query(text, radius)
            wanted, plan = fetch_rows(engine, catalogues[""], query)
            assert "kept match" not in plan
            found, plan = fetch_rows(engine, everything if not kind else catalogues[kind], query)
            assert ("the kept match" in plan) == bool(kind), query
            assert found == wanted, query
    monkeypatch.setattr(kept_matches, "_MAX_ROWS_OF_BOTH", 100)  # then a merge finds rows of both tables sooner
    joined = (
        "FROM kept.optical AS a {} JOIN kept.infrared AS b ON DISTANCE(a.ra, a.dec, b.raj2000, b.dej2000) <= 1 / 3600."
    )
    for columns, kind, is_read in (("a.mag, b.k", "", False), ("a.mag, b.k", "LEFT", True), ("a.mag", "", True)):
        _, plan = fetch_rows(engine, everything, f"SELECT {columns} {joined.format(kind)}")
        assert ("the kept match" in plan) == is_read


def test_no_query_reads_an_outdated_match(
    engine: EmbeddedEngine, tables: MatchedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_matches, "MIN_ROWS", 0)
    keep(engine)
    query = write_query(QUERIES[0][0], RADIUS)
    change = tables.prepare_load(tables.make_right(40), "append")
    with killed_at(engine, Failpoint.MATCH_PIECE, 1) as dying:
        change(dying)
    rows, plan = fetch_rows(engine, catalogue_log.read_catalogue(engine), query)
    assert "kept match" not in plan
    assert len(rows) == len(tables.find_pairs())
    follow_matches(engine, "kept.all_pairs", Recorder())
    found, plan = fetch_rows(engine, catalogue_log.read_catalogue(engine), query)
    assert "the kept match kept.all_pairs" in plan
    assert found == rows
    change(engine)


@pytest.mark.filterwarnings("ignore:ERFA function")
def test_proper_motions_are_applied_between_the_epochs(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    tables.load([row | {"pmra": 10_000.0, "pmdec": -3_000.0} for row in tables.make_left(20)])  # like Barnard's star
    keep(engine, epochs="2016.0,2000.0")
    moved = MatchedTables(engine, tables.folder, tables.random, dict(tables.left), tables.right)
    for key, row in moved.left.items():
        star = SkyCoord(
            row["ra"] * u.deg, row["dec"] * u.deg, pm_ra_cosdec=row["pmra"] * u.mas / u.yr,
            pm_dec=row["pmdec"] * u.mas / u.yr, obstime=Time(2016.0, format="jyear"),
        )  # fmt: skip
        there = star.apply_space_motion(Time(2000.0, format="jyear"))
        moved.left[key] = row | {"ra": there.ra.deg, "dec": there.dec.deg}
    wanted = moved.find_pairs()
    assert wanted.keys() != tables.find_pairs().keys()
    found = fetch_pairs(engine, "all_pairs")
    assert found.keys() == wanted.keys()
    for pair, (separation, *numbers) in found.items():
        assert abs(separation - wanted[pair][0]) < 1e-3
        assert tuple(numbers) == wanted[pair][1:]
    verify_table(engine, "kept.all_pairs", Recorder())
    assert not translate(write_query(QUERIES[0][0], RADIUS), catalogue_log.read_catalogue(engine)).plan[0].count("kept")
    tables.correct("delete", [{"source_id": key} for key in [*tables.left][-20:-10]])
    verify_table(engine, "kept.all_pairs", Recorder())


def test_keys_are_declared_in_tap_schema(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    keep(engine)
    sql = "SELECT from_table, target_table FROM TAP_SCHEMA.keys WHERE from_table = 'kept.all_pairs' ORDER BY key_id"
    targets = [row["target_table"] for row in engine.fetch_table(sql).to_pylist()]
    assert targets == ["kept.optical", "kept.infrared"]
    columns = "SELECT column_name, unit, ucd FROM TAP_SCHEMA.columns WHERE table_name = 'kept.all_pairs'"
    assert ("separation", "arcsec", "pos.angDistance") in {
        tuple(row.values()) for row in engine.fetch_table(columns).to_pylist()
    }


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"radius": 324_001.0}, "at most 324,000 .90 degrees."),
        ({"radius": 0.0}, "more than 0"),
        ({"radius": float("nan")}, "more than 0"),
        ({"right": "kept.optical"}, "cannot be matched with itself"),
        ({"right": "kept.nothing"}, "there is no table kept.nothing"),
        ({"table": "pairs"}, "needs schema.table"),
        ({"table": "kept.infrared"}, "not a kept match: choose another"),
        ({"table": "tap_schema.pairs"}, "the schema name tap_schema is reserved"),
        ({"epochs": "2016"}, "epochs of both tables"),
        ({"epochs": "2016,when"}, "not a numeric column of kept.infrared"),
        ({"epochs": "2016,20000"}, "a Julian year"),
    ],
)
def test_matches_that_cannot_be_kept_are_rejected(
    engine: EmbeddedEngine, tables: MatchedTables, request_: dict[str, Any], message: str
) -> None:
    with pytest.raises(LoadError, match=message):
        keep(engine, **request_)
    assert not catalogue_log.read_catalogue(engine).current_matches


def test_tables_without_ids_or_with_equal_ids_are_rejected(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    schema = SCHEMA.replace(", id: [designation]", "")
    (tables.folder / "kept.yaml").write_text(schema)
    tables.load(tables.make_right(20), "replace")
    with pytest.raises(LoadError, match=r"kept\.infrared has no id"):
        keep(engine)
    (tables.folder / "kept.yaml").write_text(SCHEMA)
    rows = tables.make_right(20)
    tables.load([*rows, rows[3]], "replace")
    with pytest.raises(LoadError, match=rf"several rows of kept\.infrared have the id {rows[3]['designation']}"):
        keep(engine)


def test_a_match_keeps_its_tables_as_it_needs_them(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    keep(engine)
    with pytest.raises(LoadError, match=r"skyhouse match drop kept\.all_pairs"):
        drop_table(engine, "kept.infrared", Recorder())
    (tables.folder / "kept.yaml").write_text(SCHEMA.replace(", id: [designation]", ", id: [k]"))
    with pytest.raises(LoadError, match=r"the kept match kept\.all_pairs needs id of kept\.infrared unchanged"):
        tables.load(tables.make_right(20), "replace")
    request = CorrectionRequest(
        command="delete",
        files=(tables.write([{"source_id": 1}]),),
        table="kept.all_pairs",
        rejects=tables.folder / "r.csv",
    )
    with pytest.raises(LoadError, match="is a kept match, whose rows follow"):
        correct_rows(engine, request, Recorder())
    reporter = Recorder()
    print_matches(engine, reporter)
    assert "all of kept.optical and kept.infrared within 5 arcsec, up to date" in reporter.lines[0]
    drop_match(engine, "kept.all_pairs", Recorder())
    drop_table(engine, "kept.infrared", Recorder())


def test_a_match_is_visible_only_to_users_who_see_both_tables(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    keep(engine)
    catalogue = replace(catalogue_log.read_catalogue(engine), grants={"kept.infrared": frozenset({"team"})})
    seen = {entry.qualified_name: entry for entry in select_visible(catalogue, frozenset()).entries}
    assert "kept.optical" in seen
    assert not seen.keys() & {"kept.infrared", "kept.all_pairs"}
    assert not seen["kept.optical"].matches
    assert select_visible(catalogue, frozenset({"team"})).find_entry("kept", "all_pairs") is not None


def test_a_schema_file_does_not_change_what_a_match_keeps(engine: EmbeddedEngine, tables: MatchedTables) -> None:
    keep(engine)
    entry = catalogue_log.read_catalogue(engine).find_entry("kept", "all_pairs")
    assert entry is not None
    assert entry.table.match is not None
    other = entry.table.model_copy(update={"match": entry.table.match.model_copy(update={"radius": 9.0})})
    found = schema_apply._find_layout_obstacle(read_topology(engine), "kept.all_pairs", other, entry)
    assert found.startswith("skyhouse:match of kept.all_pairs determines which pairs it has")
