"""A mirror has exactly the requested rows of its origin, and continues where it was stopped."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from loaders.mirror import mirror_rows
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.mirror.gaia_mirror import TABLE, GaiaMirror, read_rows, sort_rows
from tests.loaders.mirror.origin_files import Row, write_gaia, write_gaia_file, write_sums
from tests.loaders.mirror.test_unsteady_origins import list_files_recipe
from tests.loaders.recorder import Recorder

Files = list[list[Row]]


def test_all_files_become_one_table(gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine) -> None:
    reporter = gaia.run(mirror_engine)
    assert reporter.lines == ["loaded 400 rows into mirrored.gaia"]
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)
    assert not (gaia.folder / "work").exists()


def test_verify_finds_no_problem(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.run(mirror_engine)
    recorder = Recorder()
    verify_table(mirror_engine, TABLE, recorder)
    assert recorder.lines == [
        f"{TABLE}: 400 rows, 400 were loaded from 1 inputs",
        "positions: 400, 0 rows have none",
        "hpx29: 400 rows compared with their positions, order of 400 rows checked",
    ]


def test_files_are_fetched_once_in_their_order_on_the_sky(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.run(mirror_engine)
    names = [path for path, _ in gaia.server.requests]
    assert names == ["_MD5SUM.txt", *sorted(path.name for path in gaia.server.folder.glob("GaiaSource_*"))]


@pytest.mark.parametrize("max_files", [1, 2, 10])
def test_no_more_files_than_allowed_are_on_the_disk(
    gaia: GaiaMirror, mirror_engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch, max_files: int
) -> None:
    seen: list[int] = []
    read = mirror_rows.read_chunks

    def count_files(*arguments: object) -> object:
        names = [path.name for path in (gaia.folder / "work" / "mirror_files").iterdir()]
        seen.append(len([name for name in names if not name.endswith(".json")]))
        return read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(mirror_rows, "read_chunks", count_files)
    gaia.run(mirror_engine, max_files=max_files)
    assert len(seen) == 4
    assert max(seen) <= max_files


@pytest.mark.parametrize(
    ("condition", "is_kept"),
    [
        ("phot_g_mean_mag < 15", lambda row: row["phot_g_mean_mag"] < 15),
        ("parallax IS NULL OR has_rvs = TRUE", lambda row: row["parallax"] is None or row["has_rvs"]),
        ("gaia.dec > 0 -- the north", lambda row: row["dec"] > 0),
        ("1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 90, 60))", lambda row: row["dec"] > 30),
        ("dec > 100", lambda row: False),
    ],
)
def test_a_condition_keeps_rows(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine, condition: str, is_kept
) -> None:
    gaia.run(mirror_engine, where=condition)
    wanted = [row for row in sort_rows(gaia_rows) if is_kept(row)]
    assert [row["source_id"] for row in read_rows(mirror_engine)] == [row["source_id"] for row in wanted]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("magnitude < 15", "magnitude"),
        ("ra < 5) OR (1 = 1", "end of the condition"),
        ("ra < 5; DROP TABLE x", "end of the condition"),
        ("ra IN (SELECT ra FROM skyhouse.catalogue)", "catalogue"),
        ("ra", "condition"),
    ],
)
def test_an_invalid_condition_is_rejected_before_anything_is_fetched(
    gaia: GaiaMirror, mirror_engine: EmbeddedEngine, condition: str, said: str
) -> None:
    error = gaia.fail(mirror_engine, where=condition)
    assert error.startswith("--where: ")
    assert said in error
    assert error.splitlines()[1].strip() == condition
    assert len(gaia.server.requests) == 2  # the list of sums, and the first file, which describes the table
    assert gaia.run(mirror_engine).lines == ["loaded 400 rows into mirrored.gaia"]


def test_columns_for_the_layout_and_the_condition_are_kept_too(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    reporter = gaia.run(mirror_engine, columns=("PARALLAX",), where="phot_g_mean_mag > 10")
    names = ("source_id", "ra", "dec", "parallax", "phot_g_mean_mag")
    wanted = [{name: row[name] for name in names} for row in sort_rows(gaia_rows) if row["phot_g_mean_mag"] > 10]
    assert read_rows(mirror_engine) == wanted
    assert any(line.startswith("note: also keeping dec, phot_g_mean_mag, ra, source_id,") for line in reporter.messages)


def test_an_unknown_column_is_rejected(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    assert gaia.fail(mirror_engine, columns=("mag",)).startswith("--columns: gaia has no mag; it has solution_id,")


def test_files_cannot_be_divided_by_a_column(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    assert gaia.fail(mirror_engine, by="ra") == "--by is for TAP services: the rows of gaia_test are in files"


def test_a_stopped_mirror_continues_where_it_stopped(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.server.choose_failure = lambda path, count: 404 if "006530" in path else ""
    gaia.fail(mirror_engine)
    gaia.server.choose_failure = lambda path, count: ""
    gaia.server.requests.clear()
    reporter = gaia.run(mirror_engine)
    assert [path for path, _ in gaia.server.requests] == ["GaiaSource_006530-786431.csv.gz"]
    assert "3 of 4 files are loaded already" in reporter.messages
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


@pytest.mark.parametrize("checks", range(3, 31, 4))
def test_a_mirror_can_be_completed_wherever_it_is_stopped(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine, checks: int
) -> None:
    gaia.stop(mirror_engine, checks)
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_complete_mirror_is_not_loaded_again(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.run(mirror_engine)
    reporter = gaia.run(mirror_engine)
    assert reporter.lines == [f"already loaded: {TABLE} holds these files (400 rows)"]
    assert not (gaia.folder / "work").exists()


def test_a_mirror_replaces_the_table_when_the_origin_has_changed(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.run(mirror_engine)
    write_gaia(gaia.server.folder, gaia_rows[:2])
    for path in [*gaia.server.folder.glob("GaiaSource_*")][2:]:
        path.unlink()
    write_sums(gaia.server.folder)
    assert "exists: add to it" in gaia.fail(mirror_engine)
    gaia.run(mirror_engine, mode="replace", restarts=True)
    assert len(read_rows(mirror_engine)) == 100 * len([*gaia.server.folder.glob("GaiaSource_*")])


def test_files_without_sums_may_have_changed_and_replace_the_table(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia = GaiaMirror(gaia.server, gaia.folder, list_files_recipe(gaia.server.url))
    gaia.run(mirror_engine)
    gaia_rows[1] = gaia_rows[1][:50]
    write_gaia(gaia.server.folder, gaia_rows)
    gaia.stop(mirror_engine, 20, mode="replace")
    gaia.run(mirror_engine, mode="replace")
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)
    assert gaia.run(mirror_engine).lines[0].startswith("already loaded")


def test_other_options_do_not_continue_a_mirror(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.stop(mirror_engine, 20)
    assert "with another recipe or other options" in gaia.fail(mirror_engine, where="dec > 0")
    changed = replace(gaia, recipe=gaia.recipe + "title: another\n")
    assert "with another recipe or other options" in changed.fail(mirror_engine)
    assert gaia.run(mirror_engine, where="dec > 0", restarts=True).lines[0].startswith("loaded ")


def test_bad_rows_are_listed_once_however_often_the_mirror_is_stopped(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    for rows, path in zip(gaia_rows, sorted(gaia.server.folder.glob("GaiaSource_*")), strict=True):
        rows[50]["dec"] = 99.0
        write_gaia_file(path, rows)
    write_sums(gaia.server.folder)
    for cell in ("003112", "005233", "006530"):
        gaia.server.choose_failure = lambda path, count, cell=cell: 404 if cell in path else ""
        assert "does not exist" in gaia.fail(mirror_engine)
    gaia.server.choose_failure = lambda path, count: ""
    reporter = gaia.run(mirror_engine)
    assert reporter.lines == [f"loaded 396 rows into {TABLE}; 4 bad rows are in {gaia.folder / 'rejects.csv'}"]
    with (gaia.folder / "rejects.csv").open() as file:
        assert [row["column"] for row in csv.DictReader(file)] == ["dec"] * 4


def test_too_many_bad_rows_end_the_mirror(gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine) -> None:
    path = min(gaia.server.folder.glob("GaiaSource_*"))
    write_gaia_file(path, [row | {"dec": 99.0} for row in gaia_rows[0]])
    write_sums(gaia.server.folder)
    assert gaia.fail(mirror_engine, max_errors=10).startswith("more than 10 bad rows (--max-errors)")
    assert gaia.server.counts[path.name] == 1
