"""Jobs that change user tables: indexes, and results saved as tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from astropy.io.votable import parse_single_table

from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.users import User, temporary_user

POSITIONS = "id,lon,lat,mag,word\n" + "".join(f"{i},{i % 360},{i % 179 - 89},{i % 7},w{i}\n" for i in range(5000))


@pytest.fixture(scope="module")
def positions(own: RunningService) -> Iterator[User]:
    """The user alice with a table mydb.positions."""
    with temporary_user(own, "alice") as alice:
        assert alice.put("mydb.positions", POSITIONS).status_code == 201
        yield alice


@pytest.fixture
def alice(positions: User) -> Iterator[User]:
    """The same user; her other tables are dropped after the test."""
    yield positions
    for table in positions.tables.keys() - {"mydb.positions"}:
        assert positions.http("DELETE", f"tables/{table}").status_code == 204


def indexed_columns(asker: User, table: str) -> list[str]:
    where = f"table_name = '{table}' AND indexed = 1"
    return [row[0] for row in asker.rows(f"SELECT column_name FROM TAP_SCHEMA.columns WHERE {where} ORDER BY 1")]


# --- indexes


def test_what_an_index_is(alice: User, svc_engine: EmbeddedEngine) -> None:
    """Indexes of a column, of a unique column, and of a position."""
    assert alice.put("mydb.searched", POSITIONS).status_code == 201
    for column, unique, said in (
        ("mag", "false", "rows are found by mag"),
        ("MAG", "false", "mag already has an index"),
        ("id", "true", "id identifies each row"),
        ("lon,lat", "false", "the table is in the order of lon and lat"),
        ("lat", "", "the table is already in the order of lon and lat"),
    ):
        job = alice.create_index("mydb.searched", column, UNIQUE=unique)
        assert job.phase == "COMPLETED", job.message
        told = parse_single_table(io.BytesIO(job.get("/results/result").content)).to_table()
        assert (told["table_name"][0], told["n_rows"][0], told["done"][0]) == ("mydb.searched", 5000, said)
    assert indexed_columns(alice, "mydb.searched") == ["id", "lat", "lon", "mag"]
    assert alice.count("mydb.searched") == 5000
    keys = svc_engine.fetch_table(
        "SELECT sorting_key FROM system.tables WHERE database = 'skyhouse_users' AND total_rows = 5000"
    )["sorting_key"].to_pylist()
    assert "hpx29" in keys
    assert alice.rows("SELECT word FROM mydb.searched WHERE id = 4321") == [["w4321"]]
    around = "SELECT COUNT(*) AS n FROM mydb.searched WHERE 1 = CONTAINS(POINT(lon, lat), CIRCLE(100, 11, 0.5))"
    assert alice.rows(around) == [[str(len([i for i in range(5000) if i % 360 == 100 and i % 179 - 89 == 11]))]]
    answer = alice.load("mydb.searched", "id,lon,lat,mag,word\n4321,1,1,1,again\n")
    assert answer.status_code == 400
    assert "id would not be unique: 5001 rows would have 5000 values" in answer.text


def test_indexes_of_several_columns_and_of_words(alice: User, svc_engine: EmbeddedEngine) -> None:
    """A longer index replaces one that it begins with."""
    assert alice.put("mydb.worded", POSITIONS).status_code == 201
    for columns, said in (
        ("mag", "rows are found by mag"),
        ("mag, word; text(word)", "rows are found by mag, word; rows are found by words of word"),
        (
            "mag;text(Word);values(mag,word)",
            "mag already has an index; word already has a text index; mag, word already has",
        ),
        ("values(id,lat)", "rows are found by id, lat"),
    ):
        job = alice.create_index("mydb.worded", columns)
        assert job.phase == "COMPLETED", job.message
        told = parse_single_table(io.BytesIO(job.get("/results/result").content)).to_table()
        assert told["done"][0].startswith(said)
    tables = [
        (sorted(row["names"]), row["texts"])
        for row in svc_engine.fetch_table(
            "SELECT p.table, groupArray(DISTINCT p.name) AS names, groupArray(DISTINCT i.name) AS texts"
            " FROM system.projections AS p JOIN system.data_skipping_indices AS i"
            " ON i.table = p.table AND i.database = p.database"
            " WHERE p.database = 'skyhouse_users' AND i.name = 'pieces_word' GROUP BY 1"
        ).to_pylist()
    ]
    assert (["by_columns_id__lat", "by_columns_mag__word"], ["pieces_word"]) in tables  # the others wait to be dropped
    assert alice.rows("SELECT id FROM mydb.worded WHERE word = 'w4321' AND mag > -99") == [["4321"]]
    assert alice.rows("SELECT id FROM mydb.worded WHERE 1 = ivo_hasword(word, 'W4321')") == [["4321"]]
    assert alice.count("mydb.worded") == 5000


def test_what_is_no_index(alice: User) -> None:
    """The jobs run at once, to save time."""
    cases = [
        ("mydb.positions", "magnitude", "", "mydb.positions has no column 'magnitude'; it has id, lon, lat, mag, word"),
        ("mydb.positions", "wrd", "", "has no column 'wrd': did you mean word?"),
        ("mydb.positions", "mag; DROP TABLE x", "", "has no column 'DROP TABLE x'"),
        ("mydb.positions", "mag", "true", "mag would not be unique: 5000 rows would have 7 values"),
        ("mydb.positions", "lon,lon", "", "lon is given twice"),
        ("mydb.positions", "mag,word,mag", "", "INDEX names a column twice: mag, word, mag"),
        ("mydb.positions", "id,lat", "", "For an index of both write INDEX=values(id,lat)"),
        ("mydb.positions", "id,lat", "", "id and lat are no positions: 4639 rows are outside"),
        ("mydb.positions", "text(mag)", "", "mag is BIGINT: only text columns can have a text index"),
        ("mydb.positions", "text(word,mag)", "", "a text index has one column"),
        ("mydb.positions", "text(word)", "true", "words are not unique: leave UNIQUE out"),
        ("mydb.positions", "txt(word)", "", "has no column 'txt(word)'"),
        ("mydb.positions", "mag;word", "true", "UNIQUE is for one index"),
        ("mydb.positions", "values(mag,lat)", "true", "mag, lat would not be unique"),
        ("mydb.positions", "mag", "perhaps", "UNIQUE is true or false"),
        ("mydb.nothing", "mag", "", "you have no table mydb.nothing"),
        ("svc.stars", "mag", "", "your tables are in the schema mydb"),
        ("TAP_SCHEMA.tables", "table_name", "", "your tables are in the schema mydb"),
    ]
    jobs = [
        alice.job("table-update", TABLE=table, INDEX=column, UNIQUE=unique, PHASE="RUN").run()
        for table, column, unique, _ in cases
    ]
    for job, (table, column, _, said) in zip(jobs, cases, strict=True):
        assert job.wait_for_end() == "ERROR", (table, column)
        assert said in job.message
    assert indexed_columns(alice, "mydb.positions") == []


def test_an_index_needs_a_table_and_a_column(alice: User) -> None:
    for parameters in ({}, {"TABLE": "mydb.positions"}, {"INDEX": "mag"}, {"TABLE": "mydb.positions", "INDEX": " "}):
        answer = alice.http("POST", "table-update", data=parameters)
        assert answer.status_code == 400
        assert "give " in answer.text


def test_an_anonymous_job_has_no_tables(own: RunningService) -> None:
    job = create_job(own.tap, REQUEST="createIndex", TABLE="mydb.positions", INDEX="mag", PHASE="RUN")
    assert job.wait_for_end() == "ERROR"
    assert "only users have their own tables" in job.message


# --- results


@pytest.mark.parametrize("form", ["votable", "parquet", "ecsv"])
def test_a_result_becomes_a_table(alice: User, form: str) -> None:
    query = "SELECT TOP 50 id, ra, dec, mag, name FROM svc.stars ORDER BY id"
    first = alice.job("async", LANG="ADQL", QUERY=query, RESPONSEFORMAT=form, PHASE="RUN")
    assert first.wait_for_end() == "COMPLETED"
    job = Job(first.post("/table", TABLE="mydb.saved").headers["location"], alice.auth)
    assert job.wait_for_end() == "COMPLETED", job.message
    described = (
        "SELECT column_name, datatype, xtype, unit, ucd FROM TAP_SCHEMA.columns WHERE table_name = '{}'"
        " ORDER BY column_index"
    )
    assert alice.rows(described.format("mydb.saved")) == alice.rows(described.format("svc.stars"))
    assert alice.rows("SELECT * FROM mydb.saved ORDER BY id") == alice.rows(query)
    assert indexed_columns(alice, "mydb.saved") == ["dec", "ra"]


def test_what_cannot_be_saved(alice: User, own: RunningService) -> None:
    """An existing table is replaced only with REPLACE."""
    query = {"LANG": "ADQL", "QUERY": "SELECT TOP 5 id, id AS id2 FROM svc.stars", "PHASE": "RUN"}
    csv, good, twice, failed = (
        alice.job("async", **{**query, **more})
        for more in (
            {"FORMAT": "csv"},
            {},
            {"QUERY": "SELECT a.id, b.id FROM svc.stars AS a JOIN svc.stars AS b ON a.id = b.id WHERE a.id < 5"},
            {"QUERY": "SELECT nothing FROM svc.stars"},
        )
    )
    assert [job.wait_for_end() for job in (csv, good, twice, failed)] == [
        "COMPLETED",
        "COMPLETED",
        "COMPLETED",
        "ERROR",
    ]

    def refused(job: Job, status: int, said: str, **parameters: str) -> None:
        answer = job.post("/table", **parameters)
        assert (answer.status_code, said in answer.text) == (status, True), answer.text

    refused(csv, 403, "does not preserve all values", TABLE="mydb.saved")
    refused(good, 400, "give TABLE", REPLACE="true")
    refused(good, 403, "your tables are in the schema mydb", TABLE="svc.saved")
    refused(failed, 400, "the job has no result to save as a table: it is ERROR", TABLE="mydb.saved")
    refused(Job(good.url, ("bob", "battery-staple")), 403, "another's", TABLE="mydb.saved")
    refused(Job(good.url), 401, "user tables need", TABLE="mydb.saved")
    refused(Job(good.url + "0", alice.auth), 404, "there is no job", TABLE="mydb.saved")

    def saved(job: Job, table: str = "mydb.saved", **parameters: str) -> Job:
        made = Job(job.post("/table", TABLE=table, **parameters).headers["location"], alice.auth)
        made.wait_for_end()
        return made

    assert saved(twice, "mydb.twice").phase == "COMPLETED"
    assert alice.rows("SELECT COUNT(*) AS n FROM mydb.twice WHERE id = id_2") == [[str(alice.count("mydb.twice"))]]
    assert saved(good).phase == "COMPLETED"
    assert "you already have a table mydb.saved" in saved(good).message
    assert saved(good, REPLACE="true").phase == "COMPLETED"
    assert alice.count("mydb.saved") == 5
    other = Job(f"{own.tap}/async", ("bob", "battery-staple"))
    asked = other.post("", REQUEST="saveTable", TABLE="mydb.stolen", JOB=good.url.rpartition("/")[2], PHASE="RUN")
    stolen = Job(asked.headers["location"], ("bob", "battery-staple"))
    assert stolen.wait_for_end() == "ERROR"
    assert "that job is another's" in stolen.message


def test_workers_change_tables_of_their_jobs_owners(
    serve_cluster: Callable[..., RunningService], accounts: Path
) -> None:
    """Workers know the owner only from the job; the service sees the change at once."""
    with temporary_user(serve_cluster(accounts=accounts), "carol") as carol:
        carol.create_empty_table("mydb.mine")
        assert carol.load("mydb.mine", "a\n1\n2\n").status_code == 200
        assert carol.create_index("mydb.mine", "a").phase == "COMPLETED"
        assert indexed_columns(carol, "mydb.mine") == ["a"]
        job = carol.job("async", LANG="ADQL", QUERY="SELECT a FROM mydb.mine", PHASE="RUN")
        assert job.wait_for_end() == "COMPLETED", job.message
        saved = Job(job.post("/table", TABLE="mydb.again").headers["location"], carol.auth)
        assert saved.wait_for_end() == "COMPLETED", saved.message
        assert carol.rows("SELECT a FROM mydb.again ORDER BY a") == [["1"], ["2"]]
