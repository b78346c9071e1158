"""Exports that are stopped, repeated, damaged or wrong; exports of queries, and exports to an object store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hats import read_hats
from hats.io.validation import is_valid_catalog
from s3fs import S3FileSystem

from clickhouse_schema.hats.hats_pixel import parse_path
from loaders.export.export_hats import export_hats
from loaders.export.export_request import ExportRequest
from loaders.export.export_source import open_export_source
from loaders.export.export_state import STATE_FILE
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline.startup_cleanup import finish_killed_loads
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.export.border_stars import OTHERS, ROWS, STARS, WITHOUT_POSITION, load_stars, query_stored_rows
from tests.loaders.recorder import Recorder
from tests.servers.object_store import running_object_store

LOCATED = ROWS - WITHOUT_POSITION


def run(engine: EmbeddedEngine, request: ExportRequest, recorder: Recorder | None = None) -> Recorder:
    recorder = recorder or Recorder()
    export_hats(engine, request, recorder)
    return recorder


def ask(target: Path, source: str = STARS, **options: object) -> ExportRequest:
    return ExportRequest(source=source, target=str(target), max_rows=150, threads=1).model_copy(update=options)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name not in (".lock", STATE_FILE))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def partitions(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.parquet") if parse_path(str(path)))


def write_foreign(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def queried_tables(engine: EmbeddedEngine) -> list[object]:
    sql = "SELECT name FROM system.tables WHERE database = 'skyhouse' AND startsWith(name, 'export_')"
    found = engine.fetch_table(sql)
    return found.column(0).to_pylist() if found.num_columns else []


def test_an_export_reports_what_was_written(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    recorder = run(engine, ask(tmp_path, max_rows=1000))

    assert recorder.messages == [
        f"warning: {WITHOUT_POSITION} rows have no position and are left out: HATS files are divided by the sky"
    ]
    assert recorder.lines[0].startswith(f"stars: {LOCATED} rows in ")
    assert recorder.lines[1].startswith("stars_10arcs: ")
    assert recorder.lines[2] == f"stars_id: {LOCATED} ids"
    assert recorder.fractions[-1] == 1
    assert recorder.fractions == sorted(recorder.fractions)


def test_a_stopped_export_continues_to_the_same_files(exported: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    with pytest.raises(LoadCancelled):
        run(engine, ask(tmp_path), Recorder(stop_after=5))
    kept = {path: path.stat().st_mtime_ns for path in partitions(tmp_path)}
    assert 0 < len(kept) < len(partitions(exported / "stars"))
    left = [
        write_foreign(tmp_path / name)
        for name in ("stars/dataset/Norder=0/Dir=0/Npix=0.parquet.part", f"{STATE_FILE}.part")
    ]
    other = write_foreign(tmp_path / "videos" / "film.part")

    recorder = run(engine, ask(tmp_path, threads=3))

    assert recorder.messages[-1] == "continuing the stopped export"
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not any(path.exists() for path in left)
    other.unlink()
    assert contents(tmp_path) == contents(exported / "stars")


def test_a_complete_export_is_kept(exported: Path, engine: EmbeddedEngine) -> None:
    before = {path: path.stat().st_mtime_ns for path in partitions(exported / "stars")}

    recorder = run(engine, ask(exported / "stars"))

    assert "the export is complete" in recorder.messages
    assert {path: path.stat().st_mtime_ns for path in partitions(exported / "stars")} == before


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Path:
    """An export of the stars whose files may be damaged."""
    return Path(shutil.copytree(exported / "stars", tmp_path / "copy"))


def test_verify_finds_all_damage(copied: Path, engine: EmbeddedEngine) -> None:
    before = contents(copied)
    verify = ask(copied, is_verified_only=True)
    assert run(engine, verify).lines[2] == f"stars_id: {LOCATED} ids"
    first, second, third, fourth = partitions(copied / "stars")[:4]
    content = bytearray(first.read_bytes())
    content[pq.read_metadata(first).row_group(0).column(2).data_page_offset + 60] ^= 0xFF
    first.write_bytes(content)
    second.unlink()
    third.write_bytes(fourth.read_bytes())
    (copied / "stars" / "dataset" / "Norder=9" / "Dir=0").mkdir(parents=True)
    foreign = copied / "stars" / "dataset" / "Norder=9" / "Dir=0" / "Npix=7.parquet"
    foreign.write_bytes(fourth.read_bytes())
    (copied / "stars" / "partition_info.csv").unlink()

    recorder = Recorder()
    with pytest.raises(LoadError, match="Delete these files, and export again") as told:
        run(engine, verify, recorder)

    assert recorder.lines == []
    first_name, second_name, third_name = (str(path.relative_to(copied)) for path in (first, second, third))
    assert f"{first_name} is damaged: " in str(told.value)
    assert f"{second_name} is missing" in str(told.value)
    assert f"{third_name} has {pq.read_metadata(third).num_rows} rows of other pixels" in str(told.value)
    assert "Norder=9/Dir=0/Npix=7.parquet does not belong there" in str(told.value)
    assert "stars/partition_info.csv is missing" in str(told.value)
    for damaged in (first, third, foreign):
        damaged.unlink()
    run(engine, ask(copied))
    assert contents(copied) == before


def test_a_file_with_other_rows_is_written_again(copied: Path, engine: EmbeddedEngine) -> None:
    before = contents(copied)
    first, second = partitions(copied / "stars")[:2]
    rows = pq.read_table(first)
    pq.write_table(rows.slice(1), first)
    second.write_bytes(b"PAR1")

    run(engine, ask(copied))

    assert contents(copied) == before


def test_other_options_start_the_export_again(copied: Path, engine: EmbeddedEngine) -> None:
    recorder = run(engine, ask(copied, margin=0.0, has_index=False, columns=("id", "mag")))

    assert f"{STARS} or the options have changed since the last export: exporting everything again" in recorder.messages
    assert {path.name for path in copied.iterdir() if path.is_dir()} == {"stars"}
    assert pq.read_schema(partitions(copied)[0]).names == ["_healpix_29", "id", "ra", "dec", "mag"]


def test_a_changed_table_is_exported_again(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    request = ask(tmp_path, OTHERS, margin=0.0, has_index=False)
    run(engine, request)
    load_stars(engine, sky, OTHERS, sky / "more.parquet", "append")

    with pytest.raises(LoadError, match=f"{tmp_path} is an export of {OTHERS} with other options, or of rows that"):
        run(engine, request.model_copy(update={"is_verified_only": True}))
    recorder = run(engine, request)

    assert (
        f"{OTHERS} or the options have changed since the last export: exporting everything again" in recorder.messages
    )
    assert recorder.lines[0].startswith(f"others: {ROWS + 10} rows in ")


def test_starting_again_deletes_only_the_collection(copied: Path, engine: EmbeddedEngine) -> None:
    own = write_foreign(copied / "stars" / "skymap.fits.part")
    before = contents(copied)

    for name in ("papers/thesis.tex", "stars/README.txt", "stars/film.part", "stars/dataset/Norder=0/Dir=0/stars.png"):
        other = write_foreign(copied / name)
        with pytest.raises(
            LoadError, match=rf"has files that this export has not written, such as {name.removesuffix('.part')}"
        ):
            run(engine, ask(copied, margin=0.0))
        other.unlink()
        assert contents(copied) == before

    run(engine, ask(copied, margin=0.0))
    assert {path.name for path in copied.iterdir() if any(path.glob("*"))} == {"stars", "stars_id"}
    assert not own.exists()


class _Appender(Recorder):
    """Append rows when the first rows have been written."""

    def __init__(self, engine: EmbeddedEngine, folder: Path) -> None:
        super().__init__()
        self._append = lambda: load_stars(engine, folder, STARS, folder / "more.parquet", "append")

    def progress(self, rows: int, fraction: float) -> None:
        if not self.fractions:
            self._append()
        super().progress(rows, fraction)


def test_a_query_is_exported_from_a_table_that_is_dropped(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    query = f"SELECT id, ra, dec, mag - 1 AS brighter, POINT(ra, dec) AS place FROM {STARS} WHERE mag < 10"

    target = tmp_path / "bright.v2"

    recorder = run(engine, ask(target, query))

    expected = query_stored_rows(
        engine, f"SELECT id, mag - 1 FROM {STARS} WHERE mag < 10 AND ra IS NOT NULL ORDER BY id"
    )
    found = pq.read_table(target / "bright_v2" / "dataset").sort_by("id")
    assert list(zip(found["id"].to_pylist(), found["brighter"].to_pylist(), strict=True)) == expected
    assert found.schema.field("place").metadata[b"xtype"] == b"point"
    assert read_hats(target).main_catalog.catalog_name == "query.bright_v2"
    assert recorder.messages[-1] == "no single column identifies rows: the collection has no index"
    assert queried_tables(engine) == []


def test_a_crowded_pixel_is_reported_and_written_in_order(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    query = f"SELECT id, 77.0 AS ra, 11.0 AS dec FROM {STARS} WHERE id < 50 ORDER BY id DESC"

    recorder = run(engine, ask(tmp_path, query, max_rows=30))

    told = "with 50 rows exceeds 30 rows: pixels of order 12 are not divided further"
    assert [message for message in recorder.messages if told in message]
    (file,) = (path for path in partitions(tmp_path) if "10arcs" not in str(path))
    assert sorted(pq.read_table(file)["id"].to_pylist()) == [*range(50)]


def test_a_query_without_rows_is_an_empty_collection(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    request = ask(tmp_path / "none", f"SELECT id, ra, dec FROM {STARS} WHERE id < 0")

    assert run(engine, request).lines == ["none: 0 rows in 0 pixels", "none_10arcs: 0 rows in 0 pixels"]
    run(engine, request.model_copy(update={"is_verified_only": True}))
    assert is_valid_catalog(tmp_path / "none", strict=True)
    assert pq.read_table(tmp_path / "none" / "none" / "dataset" / "_metadata").num_rows == 0


def test_the_collection_of_a_query_is_written_again_under_another_name(
    sky: Path, engine: EmbeddedEngine, tmp_path: Path
) -> None:
    query = f"SELECT id, ra, dec FROM {STARS} WHERE id < 20"
    run(engine, ask(tmp_path / "few", query))
    (tmp_path / "few").rename(tmp_path / "twenty")

    run(engine, ask(tmp_path / "twenty", query))

    assert sorted(path.name for path in (tmp_path / "twenty").iterdir() if path.is_dir()) == ["twenty", "twenty_10arcs"]


@pytest.mark.parametrize(
    "query", [f"SELECT TOP 800 id, ra, dec FROM {STARS}", f"SELECT * FROM {STARS} WHERE RAND() < 2"]
)
def test_no_file_is_kept_if_rows_may_have_changed(
    query: str, sky: Path, engine: EmbeddedEngine, tmp_path: Path
) -> None:
    with pytest.raises(LoadCancelled):
        run(engine, ask(tmp_path, query), Recorder(stop_after=5))
    left = {path: path.stat().st_mtime_ns for path in partitions(tmp_path)}
    assert left

    recorder = run(engine, ask(tmp_path, query))

    assert "the query may return other rows each time it runs: exporting everything again" in recorder.messages
    assert all(path.stat().st_mtime_ns != before for path, before in left.items() if path.exists())
    with pytest.raises(LoadError, match=r"cannot be compared with it: skyhouse verify .* --rows reads the files alone"):
        run(engine, ask(tmp_path, query, is_verified_only=True))


def test_tables_of_a_killed_export_are_dropped_from_the_engine(sky: Path, engine: EmbeddedEngine) -> None:
    with open_export_source(engine, f"SELECT id, ra, dec FROM {STARS}", "/target"):
        finish_killed_loads(engine, is_only_user=False)
        assert len(queried_tables(engine)) == 1
        finish_killed_loads(engine)
        assert queried_tables(engine) == []


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("hats_out.nothing", {}, "there is no table hats_out.nothing; see skyhouse tables"),
        (f"SELECT x FROM {STARS}", {}, "x"),
        (f"SELECT id, mag FROM {STARS}", {}, "the result has no position: HATS files are divided by the sky. Select"),
        (f"SELECT id, ra, dec FROM {STARS} WHERE ra IS NULL", {}, "WHERE ra IS NULL has a position: there is nothing"),
        (STARS, {"columns": ("id", "nothing")}, f"{STARS} has no column 'nothing'; it has dec, id"),
        (STARS, {"margin": 5000.0}, "a margin of 5000 arcseconds is not possible: give up to 3600"),
        (STARS, {"replaces_file": True}, "--overwrite is for one file"),
        (STARS, {"is_verified_only": True}, "has no export: leave out --verify to write one"),
    ],
)
def test_what_cannot_be_exported_is_reported(
    source: str, options: dict[str, object], message: str, sky: Path, engine: EmbeddedEngine, tmp_path: Path
) -> None:
    with pytest.raises(LoadError) as told:
        run(engine, ask(tmp_path, source, **options))

    assert message in str(told.value)
    assert queried_tables(engine) == []
    assert contents(tmp_path) == {}


def test_other_files_are_left_alone(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    write_foreign(tmp_path / "thesis.tex")
    part = write_foreign(tmp_path / "videos" / "film.part")

    with pytest.raises(LoadError, match=r"has files that were not exported by Skyhouse, such as thesis\.tex"):
        run(engine, ask(tmp_path))
    assert part.exists()


def test_verify_deletes_nothing(copied: Path, engine: EmbeddedEngine) -> None:
    left = write_foreign(copied / "stars" / "dataset" / "left.part")

    run(engine, ask(copied, is_verified_only=True))

    assert left.exists()


def test_the_export_of_another_table_is_left_alone(exported: Path, engine: EmbeddedEngine) -> None:
    with pytest.raises(LoadError, match=f"is an export of {OTHERS}: name another target"):
        run(engine, ask(exported / "others"))


def test_an_object_store_has_the_same_files(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    request = ask(tmp_path, max_rows=1000, margin=0.0)
    run(engine, request)
    with running_object_store("hats") as url:
        run(engine, request.model_copy(update={"target": f"{url}/stars"}))
        recorder = run(engine, request.model_copy(update={"target": f"{url}/stars", "is_verified_only": True}))

        assert recorder.lines[1] == f"stars_id: {LOCATED} ids"
        store = S3FileSystem(use_listings_cache=False)
        found = {path.removeprefix("hats/stars/"): store.cat_file(path) for path in store.find("hats/stars")}
        del found[STATE_FILE]
        assert found == contents(tmp_path)


def test_an_object_store_without_credentials_is_reported(sky: Path, engine: EmbeddedEngine) -> None:
    with running_object_store("closed") as url, pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.delenv(name)
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        S3FileSystem.clear_instance_cache()

        with pytest.raises(LoadError, match=f"{url}/stars cannot be used for an export: there are no credentials: giv"):
            run(engine, ExportRequest(source=STARS, target=f"{url}/stars"))


def test_rows_that_change_during_the_export_are_reported(
    exported: Path, engine: EmbeddedEngine, tmp_path: Path
) -> None:
    request = ask(tmp_path, margin=0.0, has_index=False)
    with pytest.raises(LoadError, match=f"{STARS} has changed during the export|differs from the table"):
        run(engine, request, _Appender(engine, exported))
    recorder = run(engine, request)

    assert recorder.lines[0].startswith(f"stars: {LOCATED + 10} rows in ")
