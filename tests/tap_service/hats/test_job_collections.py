"""Jobs with RESPONSEFORMAT=hats: a collection that pyarrow, hats and LSDB read from the job's address."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from hats import read_hats
from hats.io.validation import is_valid_catalog

from tests.support.running_service import RunningService
from tests.tap_service.async_client import HREF, UWS, Job, create_job

QUERY = """SELECT id, ra, dec, mag, name, 'x' AS text, CAST('2020-01-01T00:00:00' AS TIMESTAMP) AS seen
FROM svc.stars WHERE dec > 0"""


SOME_RA = "CASE WHEN id < 10 THEN NULL ELSE ra END AS ra"


def _name(job: Job) -> str:
    return f"job_{job.url.rpartition('/')[2][:8]}"


def _unpack(job: Job, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(job.get("/results/result").content)) as archive:
        archive.extractall(folder)
    return folder / _name(job)


@pytest.fixture(scope="module")
def service(serve: Callable[..., RunningService]) -> RunningService:
    return serve(default_maxrec=1000, hard_maxrec=1000, async_hard_maxrec=1000)


@pytest.fixture(scope="module")
def job(service: RunningService) -> Job:
    made = create_job(service.tap, QUERY, RESPONSEFORMAT="hats").run()
    assert made.wait_for_end() == "COMPLETED", made.message
    return made


@pytest.fixture(scope="module")
def folder(job: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, unpacked."""
    return _unpack(job, tmp_path_factory.mktemp("unpacked"))


def test_the_archive_is_a_valid_collection_with_all_rows(folder, service):
    rows = ds.parquet_dataset(folder / folder.name / "dataset" / "_metadata").to_table().sort_by("id")
    asked = service.ask("SELECT id, mag, name FROM svc.stars WHERE dec > 0 ORDER BY id", FORMAT="csv", MAXREC=9)
    expected = [(int(row["id"]), float(row["mag"]), row["name"]) for row in csv.DictReader(asked.text.splitlines())]

    assert is_valid_catalog(folder, strict=True)
    assert rows.num_rows == 360 * 89
    assert [(row["id"], row["mag"], row["name"]) for row in rows.slice(0, 9).to_pylist()] == expected
    assert rows["seen"][0].as_py() == datetime(2020, 1, 1, tzinfo=UTC)
    assert rows["text"][0].as_py() == "x"
    assert rows.schema.field("mag").metadata[b"unit"] == b"mag"


def test_its_files_have_addresses(job, folder):
    catalogue = read_hats(folder).main_catalog
    order, number = (lambda pixel: (pixel.order, pixel.pixel))(catalogue.get_healpix_pixels()[0])
    path = f"{_name(job)}/dataset/Norder={order}/Dir=0/Npix={number}.parquet"
    whole = job.get(f"/results/hats/{path}")
    part = job.get(f"/results/hats/{path}", headers={"Range": "bytes=4-99"})

    assert whole.content == (folder / path).read_bytes()
    assert (part.status_code, part.content) == (206, whole.content[4:100])
    assert part.headers["etag"] == whole.headers["etag"]
    assert f'href="{_name(job)}/"' in job.get("/results/hats/").text
    assert job.get(f"/results/hats/{_name(job)}/nothing").status_code == 404


def test_only_the_path_names_a_file(job):
    answer = job.get("/results/hats?path=collection.properties")

    assert (answer.status_code, answer.headers["location"]) == (307, "hats/")


def test_the_job_names_its_folder(job):
    link = job.summary.find(f"{UWS}results/{UWS}result[@id='hats']")

    assert link is not None
    assert link.get(HREF) == f"{job.url}/results/hats/"


def test_the_same_query_gives_the_same_files(service, job):
    again = create_job(service.tap, QUERY, RESPONSEFORMAT="hats").run()
    assert again.wait_for_end() == "COMPLETED"
    first, second = (each.get(f"/results/hats/{_name(each)}/dataset/_metadata").content for each in (job, again))

    assert first == second


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT id, mag FROM svc.stars", "the result has no position: HATS files are divided by the sky. Select"),
        (f"SELECT {SOME_RA}, dec FROM svc.stars WHERE id < 10", "no row of the result has a position"),
    ],
)
def test_a_result_without_positions_is_refused(service, query, said):
    refused = create_job(service.tap, query, RESPONSEFORMAT="hats").run()

    assert refused.wait_for_end() == "ERROR"
    assert said in refused.message


def test_rows_without_a_position_are_reported(service, tmp_path):
    query = f"SELECT id, {SOME_RA}, dec FROM svc.stars WHERE id < 25"
    lossy = create_job(service.tap, query, RESPONSEFORMAT="hats").run()
    assert lossy.wait_for_end() == "COMPLETED"

    lost = "10 rows have no position and are left out: HATS files are divided by the sky"
    assert lossy.info["warning"] == f"{lost}."
    catalogue = read_hats(_unpack(lossy, tmp_path)).main_catalog
    assert catalogue.catalog_name == f"query.{_name(lossy)}"
    assert catalogue.catalog_info.total_rows == 15
    assert catalogue.catalog_info.obs_description == f"{query} ({lost})"


@pytest.mark.parametrize(("condition", "maxrec"), [("id < 0", {}), ("id > 0", {"MAXREC": 0})])
def test_a_result_without_rows_is_an_empty_collection(service, tmp_path, condition, maxrec):
    query = f"SELECT id, ra, dec, mag FROM svc.stars WHERE {condition}"
    empty = create_job(service.tap, query, RESPONSEFORMAT="hats", **maxrec).run()
    assert empty.wait_for_end() == "COMPLETED", empty.message

    unpacked = _unpack(empty, tmp_path)
    assert is_valid_catalog(unpacked, strict=True)
    collection = read_hats(unpacked)
    assert collection.main_catalog.catalog_info.total_rows == 0
    assert collection.get_healpix_pixels() == []
    assert collection.main_catalog.schema.names[:4] == ["_healpix_29", "id", "ra", "dec"]


def test_sync_refuses_it_and_names_the_right_address(service):
    answer = service.ask(QUERY, RESPONSEFORMAT="hats")

    assert answer.status_code == 400
    assert "send it to /async" in answer.text


def test_the_plan_has_no_row_limit(job):
    assert (job.info["plan"] or "").splitlines()[1] == "filter by 1 condition"


def test_its_table_is_dropped_when_the_job_ends(service, job):
    found = service.engine.fetch_table("SELECT name FROM system.tables WHERE startsWith(name, 'upload_async_')")

    assert found.num_rows == 0


def test_other_results_have_no_folder(service):
    plain = create_job(service.tap, "SELECT TOP 1 id FROM svc.stars", FORMAT="csv").run()
    assert plain.wait_for_end() == "COMPLETED"

    assert "not a HATS collection" in plain.get("/results/hats/").text
