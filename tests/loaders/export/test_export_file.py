"""An export to one file has the rows of the query."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from s3fs import S3FileSystem

from loaders.export.export_file import export_file
from loaders.export.export_request import ExportRequest
from loaders.export.export_target import open_file_target
from loaders.load_error import LoadCancelled, LoadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.export.border_stars import ROWS, STARS, query_stored_rows
from tests.loaders.recorder import Recorder
from tests.servers.object_store import running_object_store


def test_a_table_becomes_a_file(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    recorder = Recorder()

    export_file(
        engine, ExportRequest(source=STARS, target=str(tmp_path / "new" / "stars.parquet"), format="parquet"), recorder
    )

    assert recorder.lines == [f"{tmp_path}/new/stars.parquet: {ROWS} rows"]
    found = pq.read_table(tmp_path / "new" / "stars.parquet").sort_by("id")
    assert list(zip(*found.to_pydict().values(), strict=True)) == query_stored_rows(
        engine, f"SELECT * FROM {STARS} ORDER BY id"
    )
    assert found.schema.field("mag").metadata[b"unit"] == b"mag"


def test_a_query_becomes_a_file(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    query = f"SELECT id, mag FROM {STARS} WHERE mag < 9 ORDER BY id"

    for form in ("csv", "fits"):
        export_file(engine, ExportRequest(source=query, target=str(tmp_path / form), format=form), Recorder())

    expected = [number for number, _ in query_stored_rows(engine, query)]
    assert pyarrow.csv.read_csv(tmp_path / "csv")["id"].to_pylist() == expected
    assert fits.getdata(tmp_path / "fits", 1)["id"].tolist() == expected


@pytest.mark.parametrize(
    "query",
    ["(SELECT id FROM {0} WHERE id < 3) UNION SELECT 9 FROM {0}", "-- few\n ( -- of them\nSELECT TOP 4 id FROM {0})"],
)
def test_a_query_may_start_with_brackets_and_comments(
    query: str, sky: Path, engine: EmbeddedEngine, tmp_path: Path
) -> None:
    recorder = Recorder()

    export_file(
        engine, ExportRequest(source=query.format(STARS), target=str(tmp_path / "rows.csv"), format="csv"), recorder
    )

    assert recorder.lines == [f"{tmp_path}/rows.csv: 4 rows"]


def test_an_existing_file_is_replaced_only_on_request(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.csv"
    with running_object_store("files") as url:
        store = S3FileSystem(use_listings_cache=False)
        store.pipe("files/thesis.csv", b"x")
        thesis.write_text("x")
        for target, read in (
            (str(thesis), thesis.read_bytes),
            (f"{url}/thesis.csv", lambda: store.cat("files/thesis.csv")),
        ):
            request = ExportRequest(source=f"SELECT id FROM {STARS} WHERE id = 7", target=target, format="csv")
            with pytest.raises(
                LoadError, match=f"^{target} exists: name another file, or replace it with --overwrite$"
            ):
                export_file(engine, request, Recorder())
            assert read() == b"x"

            export_file(engine, request.model_copy(update={"replaces_file": True}), Recorder())
            assert read().split() == [b"id", b"7"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (ExportRequest(source=STARS, target="/x", format="xls"), "there is no format 'xls'; there are hats, votable, "),
        (
            ExportRequest(source=STARS, target="/x", format="csv", columns=("id",)),
            "--columns is for --format hats; for csv write a query",
        ),
        (
            ExportRequest(source=STARS, target="/x", format="csv", is_verified_only=True),
            "--verify is for --format hats",
        ),
        (ExportRequest(source=f"SELECT id FRO {STARS}", target="/x", format="csv"), "line 1"),
    ],
)
def test_a_wrong_request_is_reported(request_: ExportRequest, message: str, sky: Path, engine: EmbeddedEngine) -> None:
    with pytest.raises(LoadError) as told:
        export_file(engine, request_, Recorder())

    assert message in str(told.value)


@pytest.mark.parametrize(
    ("address", "path"), [("/out.parquet", "/out.parquet"), ("/srv/out.parquet", "/srv/out.parquet")]
)
def test_a_file_is_written_to_its_address(address: str, path: str) -> None:
    target, name = open_file_target(address)

    assert target.build_path(name) == path


@pytest.mark.parametrize("address", ["s3://bucket", "/srv/"])
def test_an_address_that_names_no_file_is_reported(address: str) -> None:
    with pytest.raises(LoadError, match=f"{address} names no file"):
        open_file_target(address)


def test_a_stopped_export_leaves_no_file(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    with pytest.raises(LoadCancelled):
        export_file(
            engine,
            ExportRequest(source=STARS, target=str(tmp_path / "stars.parquet"), format="parquet"),
            Recorder(stop_after=0),
        )

    assert [*tmp_path.iterdir()] == []


def test_a_failed_query_leaves_no_file(sky: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(LoadError, match="cannot be used for an export"):
        export_file(
            engine, ExportRequest(source=STARS, target=str(tmp_path / "file" / "stars.csv"), format="csv"), Recorder()
        )

    assert [path.name for path in tmp_path.iterdir()] == ["file"]
