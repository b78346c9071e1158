"""Origins that interrupt answers, are busy, change files or send wrong files: the rows are right or the error is clear."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from loaders.load_error import LoadError
from loaders.mirror.disk_room import require_room
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.mirror.gaia_mirror import RECIPE, TABLE, GaiaMirror, read_rows, sort_rows
from tests.loaders.mirror.origin_files import Row, write_gaia_file, write_sums
from tests.servers.origin_server import Failure, serving_origin

Files = list[list[Row]]

SECOND = "GaiaSource_003112-005232.csv.gz"


def list_files_recipe(url: str) -> str:
    """A mirror of the same files as a list, without sums."""
    names = ["000000-003111", "003112-005232", "005233-006529", "006530-786431"]
    files = "\n".join(f"    - {url}/GaiaSource_{name}.csv.gz" for name in names)
    return RECIPE.replace("  checksums: {url}/_MD5SUM.txt\n  match: GaiaSource_*.csv.gz\n", "  files:\n" + files + "\n")


def without_sums(gaia: GaiaMirror) -> GaiaMirror:
    return GaiaMirror(gaia.server, gaia.folder, list_files_recipe(gaia.server.url))


@pytest.mark.parametrize("errors", [["half"], ["half", "half", "half"], [503], [429, 503, "half"], [500, 408]])
def test_requests_with_temporary_errors_are_repeated(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine, errors: list[Failure]
) -> None:
    gaia.server.fail_first(GaiaSource_003112=errors, _MD5SUM=errors)
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_an_interrupted_file_is_continued_at_its_byte(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.server.fail_first(GaiaSource_003112=["half", "half"])
    gaia.run(mirror_engine)
    size = (gaia.server.folder / SECOND).stat().st_size
    asked = [asked for path, asked in gaia.server.requests if path == SECOND]
    assert asked == ["", f"bytes={size // 2}-", f"bytes={size // 2 + (size - size // 2) // 2}-"]


def test_a_complete_file_of_unknown_size_is_fetched_again(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    """As after a kill, if the origin sent the file without its length."""
    gaia.server.fail_first(GaiaSource_003112=[404])
    gaia.fail(mirror_engine)
    data = (gaia.server.folder / SECOND).read_bytes()
    part = gaia.folder / "work" / "mirror_files" / f"000001_{SECOND}.part"
    part.write_bytes(data)
    tag = f'"{(gaia.server.folder / SECOND).stat().st_mtime_ns}"'
    part.with_name(f"{part.name}.json").write_text(json.dumps({"version": tag, "size": None}))
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)
    assert [asked for path, asked in gaia.server.requests if path == SECOND] == ["", f"bytes={len(data)}-", ""]


def test_interruptions_do_not_end_a_mirror_as_long_as_bytes_arrive(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.server.fail_first(GaiaSource_003112=["half"] * 9)
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_an_origin_that_stays_busy_ends_the_mirror_which_can_continue_later(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia.server.fail_first(GaiaSource_003112=[503] * 5)
    assert gaia.fail(mirror_engine).endswith(f"{SECOND} answers 503 Service Unavailable")
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_file_that_changes_while_it_is_fetched_is_fetched_again(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    gaia_rows[1] = gaia_rows[1][::-1][:60]

    def change(path: str, count: int) -> Failure:
        if path == SECOND and count == 2:
            write_gaia_file(gaia.server.folder / SECOND, gaia_rows[1])
        return "half" if path == SECOND and count == 1 else ""

    gaia.server.choose_failure = change
    without_sums(gaia).run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_file_that_changes_when_half_of_it_is_loaded_is_loaded_again(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    mirror = without_sums(gaia)
    broken = [*gaia_rows[1][:80], gaia_rows[1][80] | {"dec": 99.0}, *gaia_rows[1][81:]]
    write_gaia_file(gaia.server.folder / SECOND, broken)
    assert "more than 0 bad rows" in mirror.fail(mirror_engine, max_errors=0)
    gaia_rows[1] = gaia_rows[1][::-1]
    write_gaia_file(gaia.server.folder / SECOND, gaia_rows[1])
    for path in (gaia.folder / "work" / "mirror_files").iterdir():
        path.unlink()
    mirror.run(mirror_engine, max_errors=0)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_wrong_sum_is_fetched_again(gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine) -> None:
    right = (gaia.server.folder / SECOND).read_bytes()
    (gaia.server.folder / SECOND).write_bytes(right[:-20] + bytes(20))

    def mend(path: str, count: int) -> Failure:
        if path == SECOND and count == 2:
            (gaia.server.folder / SECOND).write_bytes(right)
        return ""

    gaia.server.choose_failure = mend
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_sum_that_stays_wrong_is_an_error_that_names_the_file(
    gaia: GaiaMirror, mirror_engine: EmbeddedEngine
) -> None:
    write_gaia_file(gaia.server.folder / SECOND, [])
    error = gaia.fail(mirror_engine)
    assert error.startswith(f"{gaia.server.url}/{SECOND} has the MD5 sum ")
    assert gaia.server.counts[SECOND] == 3
    assert mirror_engine.fetch_table("SELECT name FROM system.tables WHERE database = 'mirrored'").to_pylist() == [
        {"name": "gaia__loading"}
    ]


def test_a_corrupt_file_without_a_sum_is_fetched_twice_and_named(
    gaia: GaiaMirror, mirror_engine: EmbeddedEngine
) -> None:
    data = (gaia.server.folder / SECOND).read_bytes()
    (gaia.server.folder / SECOND).write_bytes(data[: len(data) // 2])
    error = without_sums(gaia).fail(mirror_engine)
    assert error.startswith(f"{gaia.server.url}/{SECOND} cannot be read, even when it is fetched again")
    assert gaia.server.counts[SECOND] == 2


def test_a_corrupt_file_that_the_origin_repairs_is_loaded(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine
) -> None:
    right = (gaia.server.folder / SECOND).read_bytes()
    (gaia.server.folder / SECOND).write_bytes(right[: len(right) // 2])

    def mend(path: str, count: int) -> Failure:
        if path == SECOND and count == 2:
            (gaia.server.folder / SECOND).write_bytes(right)
        return ""

    gaia.server.choose_failure = mend
    without_sums(gaia).run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_file_with_other_columns_is_named(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    text = gzip.decompress((gaia.server.folder / SECOND).read_bytes()).decode().replace("parallax", "plx")
    (gaia.server.folder / SECOND).write_bytes(gzip.compress(text.encode()))
    write_sums(gaia.server.folder)
    error = gaia.fail(mirror_engine)
    assert error.startswith(f"{gaia.server.url}/{SECOND}")
    assert "has no column parallax: leave it out with --columns, or give the names that the files have" in error


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("../secret", "which is outside its folder"),
        ("no sum", "_MD5SUM.txt:1: 'no sum' has no MD5 or SHA sum and the name of a file"),
    ],
)
def test_a_list_of_sums_on_another_server_is_rejected(
    gaia: GaiaMirror, mirror_engine: EmbeddedEngine, line: str, said: str
) -> None:
    name = line if line == "no sum" else f"{'0' * 32}  {line}"
    (gaia.server.folder / "_MD5SUM.txt").write_text(name + "\n")
    mirror = GaiaMirror(gaia.server, gaia.folder, RECIPE.replace("  match: GaiaSource_*.csv.gz\n", ""))
    assert said in mirror.fail(mirror_engine)


@pytest.mark.parametrize("publishes_early", [False, True])
def test_columns_that_only_later_files_have_are_reported_once(
    tmp_path: Path, mirror_engine: EmbeddedEngine, publishes_early: bool
) -> None:
    folder = tmp_path / "origin"
    folder.mkdir()
    (folder / "a.csv").write_text("source_id,ra\n1,30.5\n")
    (folder / "b.csv").write_text("source_id,ra,extra\n2,40.5,7\n")
    (folder / "c.csv").write_text("source_id,ra,extra\n3,50.5,8\n")
    files = ", ".join(f"'{{url}}/{name}.csv'" for name in "abc")
    recipe = f"name: few\ntable: mirrored.gaia\norigin: {{{{files: [{files}]}}}}\n"
    with serving_origin(folder) as server:
        reporter = GaiaMirror(server, tmp_path, recipe).run(mirror_engine, publishes_early=publishes_early)
    warnings = [message for message in reporter.messages if "no column" in message]
    assert warnings == [f"warning: {server.url}/b.csv: the table has no column extra: not loaded"]
    assert len(read_rows(mirror_engine)) == 3


def test_a_missing_list_is_an_error_that_names_it(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    (gaia.server.folder / "_MD5SUM.txt").unlink()
    assert gaia.fail(mirror_engine) == f"{gaia.server.url}/_MD5SUM.txt does not exist: the server answers 404 Not Found"


def test_a_file_without_a_sum_in_the_list_is_rejected(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    recipe = list_files_recipe(gaia.server.url).replace("  form:", "  checksums: {url}/_MD5SUM.txt\n  form:")
    lines = (gaia.server.folder / "_MD5SUM.txt").read_text().splitlines(keepends=True)
    (gaia.server.folder / "_MD5SUM.txt").write_text("".join(lines[1:]))
    error = GaiaMirror(gaia.server, gaia.folder, recipe).fail(mirror_engine)
    assert error.endswith(
        "has no checksum of GaiaSource_000000-003111.csv.gz: correct files or checksums in the recipe"
    )


def test_a_file_larger_than_the_free_space_is_rejected_before_it_is_fetched(tmp_path: Path) -> None:
    room = os.statvfs(tmp_path)
    with pytest.raises(LoadError, match=r"no space left for big\.gz .* MB are free: free space"):
        require_room(tmp_path, "big.gz", room.f_bavail * room.f_frsize)


def test_nothing_is_visible_before_the_end(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    gaia.server.fail_first(GaiaSource_006530=[404])
    gaia.fail(mirror_engine)
    assert mirror_engine.fetch_table(f"EXISTS TABLE {TABLE}").column(0).to_pylist() == [0]


def test_a_token_for_null_applies_to_all_files_after_the_first_that_has_it(
    tmp_path: Path, mirror_engine: EmbeddedEngine
) -> None:
    (tmp_path / "origin").mkdir()
    first = "".join(f"{n},{'null' if n % 2 else n / 4},{'null' if n % 2 else 'a'}\n" for n in range(20))
    second = "".join(f"{n},0.5,{'null' if n == 27 else 'b'}\n" for n in range(20, 40))
    third = "".join(f"{n},0.5,{'null' if n == 47 else 'b'}\n" for n in range(40, 60))
    for number, rows in enumerate((first, second, third)):
        (tmp_path / "origin" / f"{number}.csv").write_text("source_id,x,word\n" + rows)
    columns = "[{name: source_id, datatype: long}, {name: x, datatype: double}, {name: word, datatype: unicode}]"
    (tmp_path / "x.yaml").write_text(f"name: mirrored\ntables: [{{name: gaia, columns: {columns}}}]\n")
    recipe = "name: x\ntable: mirrored.gaia\norigin: {{files: '{url}/{{0..2}}.csv'}}\nmetadata: {{felis: x.yaml}}\n"
    with serving_origin(tmp_path / "origin") as server:
        mirror = GaiaMirror(server, tmp_path, recipe)
        server.choose_failure = lambda path, count: 404 if path == "2.csv" else ""
        mirror.fail(mirror_engine)
        server.choose_failure = lambda path, count: ""
        mirror.run(mirror_engine)
    words = [row["word"] for row in read_rows(mirror_engine)]
    assert [number for number, word in enumerate(words) if word is None] == [*range(1, 20, 2), 27, 47]
