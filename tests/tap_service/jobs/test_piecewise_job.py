"""Jobs in pieces, on both deployments, return the rows of the whole query in one document, and leave nothing behind."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.io.votable import parse

from tap_service.storage.engine.engine import Engine
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.piecewise_tables import STARS, cut_tables, replace_table

ALL = "SELECT id, ra, dec, word FROM cut.stars"
NEAR = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.1"
MATCH = f"SELECT a.id AS i, b.id AS j FROM cut.stars AS a {{}} JOIN cut.others AS b ON {NEAR}"
EVERYTHING = {"FORMAT": "csv", "MAXREC": "1000000"}

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def piecewise(request: pytest.FixtureRequest) -> Iterator[RunningService]:
    """Queries estimated at more than 0.2 milliseconds run in pieces."""
    start = request.getfixturevalue("serve" if request.param == "embedded" else "serve_cluster")
    served: RunningService = start(piece_seconds=2e-4)
    with cut_tables(served.engine):
        served.refresh()
        yield served


def run_job(served: RunningService, query: str, **parameters: str) -> Job:
    job = create_job(served.tap, query, PHASE="RUN", **EVERYTHING | parameters)
    assert job.wait_for_end() == "COMPLETED", job.message
    return job


def in_one(served: RunningService, query: str) -> list[list[str]]:
    """Return the rows from /sync, which runs the query without cutting it."""
    return sorted(table(served.ask(query, **EVERYTHING).text))


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def results(served: RunningService) -> list[str]:
    config = served.server.config.app.state.services.config
    directory = Path(config.results_url) if config.results_url else config.jobs_path / "results"
    return sorted(os.listdir(directory))


def parts(served: RunningService, job: Job) -> list[str]:
    ident = job.url.rsplit("/", 1)[1]
    return [name for name in results(served) if name.startswith(ident) and "x" in name.rpartition("-")[2]]


def test_a_scan(piecewise: RunningService, eventually: Eventually) -> None:
    job = run_job(piecewise, ALL)
    header, *rows = table(job.rows())
    assert header == ["id", "ra", "dec", "word"]
    assert sorted(int(row[0]) for row in rows) == list(range(STARS))
    assert sorted(table(job.rows())) == in_one(piecewise, ALL)
    info = job.info
    assert int(info["pieces"] or 0) > 2
    assert info["piecesDone"] == info["pieces"]
    assert (info["percent"], info["secondsLeft"], info["rowsWritten"]) == ("100", "0", str(STARS))
    assert (info["plan"] or "").splitlines() == [
        f"in {info['pieces']} pieces of cut.stars, by ranges of HEALPix cells",
        "1000001 rows at most",
        f"  read 4 columns of cut.stars, {STARS} rows",
    ]
    eventually(lambda: parts(piecewise, job) == [])


@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
def test_a_match(piecewise: RunningService, kind: str) -> None:
    query = MATCH.format(kind)
    job = run_job(piecewise, query)
    rows = sorted(table(job.rows()))
    assert rows == in_one(piecewise, query)
    assert len(rows) > 100
    assert int(job.info["pieces"] or 0) > 5
    assert "join by nearness, in cubes of the sky" in (job.info["plan"] or "")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) AS n, MIN(id) AS lo, MAX(word) AS hi, COUNT(DISTINCT MOD(id, 50)) AS d FROM cut.stars",
        "SELECT MOD(id, 50) AS k, COUNT(ra) AS n, SUM(id) AS s FROM cut.stars GROUP BY MOD(id, 50)",
        "SELECT TOP 7 MOD(id, 50) AS k, COUNT(*) AS n FROM cut.stars WHERE dec > 10 GROUP BY MOD(id, 50)"
        " HAVING COUNT(*) > 5 ORDER BY 2 DESC, 1",
        f"SELECT b.id, COUNT(*) AS n FROM cut.stars AS a JOIN cut.others AS b ON {NEAR} GROUP BY b.id",
    ],
)
def test_groups(piecewise: RunningService, query: str) -> None:
    job = run_job(piecewise, query)
    rows = table(job.rows())
    if "ORDER" in query:
        assert rows == table(piecewise.ask(query, **EVERYTHING).text)
    else:
        assert sorted(rows) == in_one(piecewise, query)
    assert job.info["piecesDone"] == job.info["pieces"]
    assert (job.info["plan"] or "").splitlines()[0].endswith("by ranges of HEALPix cells, whose groups are merged")
    assert merge_tables(piecewise.engine) == []


def merge_tables(engine: Engine) -> list[str]:
    found = engine.fetch_table(
        "SELECT name FROM system.tables WHERE database = 'skyhouse' AND startsWith(name, 'groups_')"
    )
    return found["name"].to_pylist() if found.num_rows else []


def test_groups_overflow(piecewise: RunningService) -> None:
    job = run_job(piecewise, "SELECT id, COUNT(*) AS n FROM cut.stars GROUP BY id", MAXREC="100")
    assert len(table(job.rows())) == 101
    assert job.info["queryStatus"] == "OVERFLOW"


def test_one_valid_document_of_each_format(piecewise: RunningService) -> None:
    query = "SELECT id, ra, word FROM cut.stars WHERE dec > 30"
    count = len(in_one(piecewise, query)) - 1
    read: dict[str, Callable[[bytes], int]] = {
        "votable": lambda data: len(parse(io.BytesIO(data)).get_first_table().array),
        "votable/td": lambda data: len(parse(io.BytesIO(data)).get_first_table().array),
        "fits": lambda data: len(fits.open(io.BytesIO(data))[1].data),
        "parquet": lambda data: pq.read_table(io.BytesIO(data)).num_rows,
        "arrow": lambda data: pa.ipc.open_stream(data).read_all().num_rows,
        "json": lambda data: data.count(b"\\u00e9") or data.count("é".encode()),
    }
    for form, rows in read.items():
        job = run_job(piecewise, query, FORMAT=form)
        assert rows(job.get("/results/result").content) == count, form
        assert int(job.info["pieces"] or 0) > 1


def test_the_row_limit_is_of_all_pieces(piecewise: RunningService) -> None:
    job = run_job(piecewise, ALL, MAXREC="5432", FORMAT="votable/td")
    document = job.get("/results/result").content
    assert len(parse(io.BytesIO(document)).get_first_table().array) == 5432
    assert document.count(b'value="OVERFLOW"') == 1
    assert job.info["queryStatus"] == "OVERFLOW"
    assert 0 < int(job.info["piecesDone"] or 0) < int(job.info["pieces"] or 0)


@pytest.mark.parametrize("top", [0, 1, 777, STARS - 1])
def test_top(piecewise: RunningService, top: int) -> None:
    job = run_job(piecewise, ALL.replace("SELECT", f"SELECT TOP {top}"))
    ids = [row[0] for row in table(job.rows())[1:]]
    assert len(ids) == len({*ids}) == top
    assert job.info["queryStatus"] == "OK"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (ALL + " ORDER BY dec", "in one: ORDER BY compares all rows"),
        ("SELECT table_name FROM TAP_SCHEMA.tables", "in one: "),
        ("SELECT n FROM svc.numbers WHERE n < 5", "in one: no table with positions"),
    ],
)
def test_what_is_not_cut_runs_in_one(piecewise: RunningService, query: str, why: str) -> None:
    info = run_job(piecewise, query).info
    assert (info["plan"] or "").startswith(why)
    assert "pieces" not in info


def test_a_failure_in_a_piece(piecewise: RunningService, eventually: Eventually) -> None:
    job = create_job(piecewise.tap, "SELECT CAST(word AS INTEGER) AS n FROM cut.stars", PHASE="RUN", **EVERYTHING)
    assert job.wait_for_end() == "ERROR"
    assert "the query fails on a value" in job.message
    eventually(lambda: parts(piecewise, job) == [])


def test_stopped_between_and_in_pieces(piecewise: RunningService, eventually: Eventually) -> None:
    """The query has the maximum number of pieces and lasts for several seconds."""
    for action in ("PHASE=ABORT", "DELETE"):
        job = create_job(piecewise.tap, MATCH.format("LEFT"), PHASE="RUN", **EVERYTHING)
        eventually(lambda job=job: int(job.info.get("piecesDone") or 0) > 1)
        assert parts(piecewise, job)
        if action == "DELETE":
            job.delete()
            assert job.get().status_code == 404
        else:
            job.post("/phase", PHASE="ABORT")
            assert job.phase == "ABORTED"
        eventually(lambda job=job: parts(piecewise, job) == [])


def test_a_table_is_replaced_meanwhile(piecewise: RunningService, eventually: Eventually) -> None:
    """No row of the old table is in the result."""
    query = MATCH.format("LEFT")
    job = create_job(piecewise.tap, query, PHASE="RUN", **EVERYTHING)
    eventually(lambda: int(job.info.get("piecesDone") or 0) > 1)
    replace_table(piecewise.engine, "stars", STARS // 2, first=STARS)
    try:
        assert job.wait_for_end() == "COMPLETED", job.message
        rows = table(job.rows())
        assert {int(row[0]) for row in rows[1:]} == {*range(STARS, STARS + STARS // 2)}
        assert sorted(rows) == in_one(piecewise, query)
        eventually(lambda: parts(piecewise, job) == [])
    finally:
        replace_table(piecewise.engine, "stars", STARS)
