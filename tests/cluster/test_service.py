"""The service on a cluster of three shards: queries, uploads, jobs and metadata are the same as on one server."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.config import Config
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import inside, positions, separation
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import create_job

ROWS = 1000

SCHEMA = """
name: survey
tables:
- name: stars
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double, ivoa:unit: deg, ivoa:ucd: pos.eq.ra}
  - {name: dec, datatype: double, ivoa:unit: deg, ivoa:ucd: pos.eq.dec}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 0.2}
"""

PAIRS = "SELECT a.id AS i, b.id AS j FROM survey.stars AS a JOIN {} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.1"

Rows = list[tuple[int, ...]]


@pytest.fixture(scope="module")
def stars() -> dict[str, NDArray[np.float64]]:
    """Positions that are hard for spatial indexes, many of them close to each other."""
    lon, lat = positions(ROWS, seed=3)
    return {"id": np.arange(len(lon)), "ra": lon, "dec": lat}


@pytest.fixture(scope="module")
def service(
    cluster_of: Callable[[int], Engine],
    stars: dict[str, NDArray[np.float64]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningService]:
    engine, folder = cluster_of(3), tmp_path_factory.mktemp("service")
    pq.write_table(pa.table(stars), folder / "stars.parquet")
    (folder / "survey.yaml").write_text(SCHEMA)
    request = LoadRequest(
        files=(folder / "stars.parquet",),
        table="survey.stars",
        rejects=folder / "rejects.csv",
        schema_file=folder / "survey.yaml",
    )
    with ConsoleReporter() as reporter:
        load_files(engine, request, reporter)
    config = Config(query_log="", jobs_path=folder / "jobs", piece_seconds=1e-4)
    with running_service(config, engine) as running:
        yield running


def numbers(text: str) -> Rows:
    return sorted(tuple(map(int, row)) for row in list(csv.reader(io.StringIO(text)))[1:])


def test_a_cone(service: RunningService, stars: dict[str, NDArray[np.float64]]) -> None:
    sure, at_border = inside(separation(0, 90, stars["ra"], stars["dec"]), 5)
    answer = service.ask(
        "SELECT id FROM survey.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 90, 5))", FORMAT="csv"
    )
    found = [i for (i,) in numbers(answer.text)]
    assert len(found) == len(set(found)) > 0
    assert sure <= set(found) <= sure | at_border


def test_a_match_with_an_upload(service: RunningService, stars: dict[str, NDArray[np.float64]]) -> None:
    some = slice(0, ROWS, 50)
    file = io.BytesIO()
    pq.write_table(pa.table({name: column[some] for name, column in stars.items()}), file)
    data = {
        "LANG": "ADQL",
        "QUERY": PAIRS.format("TAP_UPLOAD.mine"),
        "UPLOAD": "mine,param:file",
        "FORMAT": "csv",
        "MAXREC": "10000000",
    }
    answer = httpx.post(service.sync, data=data, files={"file": file.getvalue()}, timeout=100, verify=False)
    apart = separation(stars["ra"][:, None], stars["dec"][:, None], stars["ra"][None, some], stars["dec"][None, some])
    wanted = [(int(i), int(j) * 50) for i, j in zip(*np.nonzero(apart < 0.1), strict=True)]
    assert numbers(answer.text) == sorted(wanted)


def test_a_job_in_pieces(service: RunningService, stars: dict[str, NDArray[np.float64]]) -> None:
    query = PAIRS.format("survey.stars") + " WHERE a.dec > 0"
    job = create_job(service.tap, query, PHASE="RUN", FORMAT="csv", MAXREC="10000000")
    assert job.wait_for_end() == "COMPLETED", job.message
    apart = separation(stars["ra"][:, None], stars["dec"][:, None], stars["ra"][None, :], stars["dec"][None, :])
    wanted = [pair for pair in zip(*np.nonzero(apart < 0.1), strict=True) if stars["dec"][pair[0]] > 0]
    assert numbers(job.rows()) == sorted(wanted)
    assert int(job.info["pieces"] or 0) > 1
    plan = job.info["plan"] or ""
    assert "rows near its borders" in plan
    assert "sent to all shards" not in plan


def test_a_job_that_sends_rows_around_says_so(service: RunningService, stars: dict[str, NDArray[np.float64]]) -> None:
    query = "SELECT COUNT(*) FROM survey.stars AS a JOIN survey.stars AS b ON a.id = b.id + 1"
    job = create_job(service.tap, query, PHASE="RUN", FORMAT="csv")
    assert job.wait_for_end() == "COMPLETED", job.message
    assert numbers(job.rows()) == [(len(stars["id"]) - 1,)]
    assert "sent to all shards" in (job.info["plan"] or "")


def test_the_parts_of_a_table_are_nobodys(service: RunningService) -> None:
    tables = httpx.get(f"{service.tap}/tables", timeout=60, verify=False).text
    assert "stars" in tables
    assert "__" not in tables
    listed = service.ask("SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name = 'survey'", FORMAT="csv").text
    assert listed.split() == ["table_name", "survey.stars"]
    assert "stars__local" in service.ask("SELECT * FROM survey.stars__local").text
    assert service.ask("SELECT * FROM survey.stars__local").status_code == 400
