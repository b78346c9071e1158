"""User tables, created, loaded and queried by pyvo, STILTS and plain HTTP clients."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.table import Table as AstropyTable
from pyvo.utils.prototype import activate_features

from tap_service.config import Config
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.service_errors import ServiceBusy
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.catalogue.user_groups import UserGroups
from tap_service.services.uploads.table_file_reader import TableFileReader
from tap_service.services.user_tables.user_table_service import UserTableService
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.site_state import open_site_state
from tests.support.running_service import RunningService
from tests.support.stilts import run_stilts
from tests.tap_service.async_client import Job
from tests.tap_service.users import User, temporary_user

activate_features("cadc-tb-upload")

DEFINITION = """<?xml version="1.0" encoding="UTF-8"?>
<vosi:table xmlns:vosi="http://www.ivoa.net/xml/VOSITables/v1.0" xmlns:vod="http://www.ivoa.net/xml/VODataService/v1.1"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" type="table" version="1.1">
  <name>mydb.stars</name>
  <description>Stars of mine</description>
  <column><name>id</name><dataType xsi:type="vod:VOTableType">long</dataType></column>
  <column><name>ra</name><unit>deg</unit><ucd>pos.eq.ra;meta.main</ucd>
    <dataType xsi:type="vod:VOTableType">double</dataType></column>
  <column><name>dec</name><unit>deg</unit><ucd>pos.eq.dec;meta.main</ucd>
    <dataType xsi:type="vod:VOTableType">double</dataType></column>
  <column><name>name</name><description>What I call it</description>
    <dataType xsi:type="vod:VOTableType" arraysize="30*">unicodeChar</dataType></column>
</vosi:table>
"""
ROWS = "id\tra\tdec\tname\n1\t10.5\t20.5\talpha\n2\t11.5\t-20.5\tβ\n"


@pytest.fixture
def alice(own: RunningService) -> Iterator[User]:
    with temporary_user(own, "alice") as found:
        yield found


@pytest.fixture
def bob(own: RunningService) -> Iterator[User]:
    with temporary_user(own, "bob") as found:
        yield found


def half_filled(engine: EmbeddedEngine) -> list[str]:
    sql = "SELECT name FROM system.tables WHERE database = 'skyhouse_users' AND startsWith(name, 'l_')"
    return [str(name) for name in engine.fetch_table(sql)["name"].to_pylist()]


def test_the_life_of_a_table_with_pyvo(alice: User) -> None:
    alice.vo.create_table("mydb.stars", io.BytesIO(DEFINITION.encode()))
    assert alice.vo.search("SELECT * FROM mydb.stars").to_table().colnames == ["id", "ra", "dec", "name"]
    alice.vo.load_table("mydb.stars", io.BytesIO(ROWS.encode()), format="tsv")
    alice.vo.load_table("mydb.stars", io.BytesIO(b"name,id,ra,dec\ngamma,3,0,0\n"), format="csv")
    fits = io.BytesIO()
    AstropyTable({"id": [4], "ra": [1.0], "dec": [2.0], "name": ["delta"]}).write(fits, format="fits")
    alice.vo.load_table("mydb.stars", io.BytesIO(fits.getvalue()), format="FITSTable")
    table = alice.vo.search("SELECT * FROM mydb.stars ORDER BY id").to_table()
    assert table["name"].tolist() == ["alpha", "β", "gamma", "delta"]
    assert table["ra"].unit == "deg"
    alice.vo.create_index("mydb.stars", "id", unique=True)
    alice.vo.create_index("mydb.stars", "name")
    described = alice.vo.tables["mydb.stars"]
    assert described.description == "Stars of mine"
    assert [column.name for column in described.columns if "indexed" in column.flags] == ["id", "ra", "dec", "name"]
    assert [column.name for column in described.columns if "primary" in column.flags] == ["id"]
    assert alice.vo.search("SELECT name FROM mydb.stars WHERE id = 2").to_table()["name"].tolist() == ["β"]
    job = alice.vo.run_async("SELECT COUNT(*) AS n FROM mydb.stars")
    assert job.to_table()["n"].tolist() == [4]
    alice.vo.remove_table("mydb.stars")
    assert "there is no table mydb.stars" in alice.ask("SELECT * FROM mydb.stars").text


def test_a_table_from_a_votable_with_pyvo(alice: User) -> None:
    made = io.BytesIO()
    table = AstropyTable({"id": [1, 2], "flux": [0.5, 1.5]}, meta={"description": "Fluxes"})
    table["flux"].unit = "Jy"
    table.write(made, format="votable")
    alice.vo.create_table("mydb.fluxes", io.BytesIO(made.getvalue()), format="VOTable")
    found = alice.vo.search("SELECT * FROM mydb.fluxes ORDER BY id").to_table()
    assert found["flux"].tolist() == [0.5, 1.5]
    assert found["flux"].unit == "Jy"


def test_stilts_asks_with_a_password(
    alice: User, serve: Callable[..., RunningService], accounts: Path, tmp_path: Path
) -> None:
    """STILTS sends a password only after a challenge. Existing tables stay readable when new ones are not permitted."""
    assert alice.put("mydb.stars", ROWS, "text/tab-separated-values").status_code == 201
    service = serve(accounts=accounts, anonymous=False, user_tables=0)
    name, password = alice.auth
    login = {"star.basicauth.user": name, "star.basicauth.password": password}
    query = "adql=SELECT id, name FROM mydb.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10.5, 20.5, 0.1))"
    out = tmp_path / "out.csv"
    asked = (f"tapurl={service.tap}", "sync=true", query, f"out={out}", "ofmt=csv")
    run = run_stilts("tapquery", *asked, properties=login)
    assert run.returncode == 0, run.stderr.decode()
    assert out.read_text().splitlines() == ["id,name", "1,alpha"]
    answer = User(service, "alice").put("mydb.mine", DEFINITION, "text/xml")
    assert answer.status_code == 403
    assert "this service has no user tables" in answer.text


# --- whose tables


def test_nobody_else_sees_a_table(alice: User, bob: User, own: RunningService) -> None:
    definition = "<table><column><name>hidden_column</name><dataType>int</dataType></column></table>"
    assert alice.put("mydb.secret_plan", definition, "text/xml").status_code == 201
    bob.create_empty_table("mydb.other")
    for path in ("tables", "tables?detail=min", "mydb", "tables/mydb.other"):
        assert "secret" not in bob.http("GET", path).text, path
        assert "hidden" not in bob.http("GET", path).text, path
    anonymous = httpx.get(f"{own.tap}/tables", verify=False).text
    assert "mydb" not in anonymous
    for name in ("mydb.secret_plan", "mydb.no_plan"):
        answer = bob.http("GET", f"tables/{name}")
        assert (answer.status_code, answer.text.replace(name, "")) == (
            404,
            bob.http("GET", "tables/x").text.replace("'x'", "''"),
        )
    for query in (
        "SELECT * FROM mydb.secret_plan",
        "SELECT * FROM secret_plan",
        "SELECT * FROM mydb.secret_plam",
        "SELECT hidden_column FROM mydb.other",
    ):
        for answer in (bob.ask(query), own.ask(query)):
            assert answer.status_code == 400
            told = answer.text.split("secret_plan", 1)[0] if "secret_plan" in query else answer.text
            assert "did you mean mydb.secret" not in answer.text
            assert "hidden" not in told or "hidden_column" in query
    for table in ("schemas", "tables", "columns", "keys", "key_columns"):
        assert "secret" not in bob.ask(f"SELECT * FROM TAP_SCHEMA.{table}").text
        assert "mydb" not in own.ask(f"SELECT * FROM TAP_SCHEMA.{table}", FORMAT="csv").text
    for status in (bob.load("mydb.secret_plan", "hidden_column\n1\n"), bob.http("DELETE", "tables/mydb.secret_plan")):
        assert status.status_code == 404
    assert "you have no table mydb.secret_plan" in bob.create_index("mydb.secret_plan", "hidden_column").message


def test_the_owner_sees_a_table_everywhere(alice: User) -> None:
    assert alice.put("mydb.stars", DEFINITION, "text/xml").status_code == 201
    assert ["mydb"] in alice.rows("SELECT schema_name FROM TAP_SCHEMA.schemas")
    tables = alice.rows("SELECT table_name, description FROM TAP_SCHEMA.tables WHERE schema_name = 'mydb'")
    assert tables == [["mydb.stars", "Stars of mine"]]
    columns = alice.rows(
        "SELECT column_name, unit, indexed FROM TAP_SCHEMA.columns WHERE table_name = 'mydb.stars' ORDER BY column_index"
    )
    assert columns == [["id", "", "0"], ["ra", "deg", "1"], ["dec", "deg", "1"], ["name", "", "0"]]
    joined = (
        "SELECT COUNT(*) AS n FROM TAP_SCHEMA.columns AS c JOIN TAP_SCHEMA.tables AS t ON c.table_name = t.table_name"
    )
    assert int(alice.rows(joined)[0][0]) == alice.count("TAP_SCHEMA.columns")
    for path in ("tables", "tables?detail=min", "tables/mydb.stars"):
        assert "<name>mydb.stars</name>" in alice.http("GET", path).text
    assert "did you mean mydb.stars?" in alice.ask("SELECT * FROM mydb.star").text


def test_users_have_tables_of_one_name(alice: User, bob: User) -> None:
    alice.create_empty_table("mydb.mine")
    assert bob.put("mydb.mine", "a\n2\n").status_code == 201
    assert (alice.rows("SELECT a FROM mydb.mine"), bob.rows("SELECT a FROM mydb.mine")) == ([], [["2"]])
    assert alice.http("DELETE", "tables/mydb.mine").status_code == 204
    assert bob.rows("SELECT a FROM mydb.mine") == [["2"]]


def test_a_job_sees_the_tables_of_its_owner(alice: User, bob: User) -> None:
    """A job reads the tables as they are when it runs, not when it was created."""
    query = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": "SELECT * FROM mydb.later"}
    jobs = [who.job("async", **query) for who in (alice, bob)]
    assert alice.put("mydb.later", "a\n7\n").status_code == 201
    assert [job.run().wait_for_end() for job in jobs] == ["COMPLETED", "ERROR"]
    assert jobs[0].rows().split() == ["a", "7"]
    assert "there is no table mydb.later" in jobs[1].message


def test_a_reused_result_is_of_the_same_rows(alice: User) -> None:
    alice.create_empty_table("mydb.growing")
    query = {"LANG": "ADQL", "FORMAT": "csv", "PHASE": "RUN", "REUSE": "true", "QUERY": "SELECT a FROM mydb.growing"}

    def job() -> Job:
        made = alice.job("async", **query)
        assert made.wait_for_end() == "COMPLETED"
        return made

    jobs = [job(), job()]
    assert alice.load("mydb.growing", "a\n1\n").status_code == 200
    jobs.append(job())
    assert ["resultOf" in each.info for each in jobs] == [False, True, False]
    assert [each.rows().split() for each in jobs] == [["a"], ["a"], ["a", "1"]]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "tables/mydb.stars"),
        ("DELETE", "tables/mydb.stars"),
        ("POST", "load/mydb.stars"),
        ("POST", "table-update"),
        ("POST", "async/0123/table"),
        ("GET", "mydb"),
    ],
)
def test_anonymous_callers_have_no_tables(own: RunningService, method: str, path: str) -> None:
    answer = httpx.request(method, f"{own.tap}/{path}", verify=False, content=b"x\n1\n" if method != "GET" else None)
    assert answer.status_code == 401
    assert "user tables need a name and password" in answer.text
    assert "Basic" in answer.headers["www-authenticate"]


# --- formats


def test_every_format_makes_and_fills_a_table(alice: User) -> None:
    """PUT creates the table from the first file, POST appends the rows of the others."""
    arrow = pa.table({"n": pa.array([1, None, 3], pa.int32()), "x": [0.5, 1.5, -2.0], "t": ["a", "b,c", "é"]})
    table = AstropyTable({"n": [1, 2, 3], "x": [0.5, 1.5, -2.0], "t": ["a", "b,c", "é"]}, masked=True)
    table["n"].mask = [False, True, False]

    def astropy(name: str, **options: Any) -> bytes:
        out = io.BytesIO() if name in ("fits", "votable") else io.StringIO()
        table.write(out, format=name, **options)
        value = out.getvalue()
        return value if isinstance(value, bytes) else value.encode()

    parquet, stream = io.BytesIO(), io.BytesIO()
    pq.write_table(arrow, parquet)
    with pa.ipc.new_stream(stream, arrow.schema) as writer:
        writer.write_table(arrow)
    ascii_table = table.copy()
    ascii_table["t"] = ["a", "b,c", "d"]
    fits = io.BytesIO()
    ascii_table.write(fits, format="fits")
    files = {
        "text/csv": b'n,x,t\n1,0.5,a\n,1.5,"b,c"\n3,-2.0,\xc3\xa9\n',
        "text/tab-separated-values": "n\tx\tt\n1\t0.5\ta\n\t1.5\tb,c\n3\t-2.0\té\n".encode(),
        "application/x-votable+xml": astropy("votable"),
        "text/xml": astropy("votable", tabledata_format="binary2"),
        "application/vnd.apache.parquet": parquet.getvalue(),
        "application/vnd.apache.arrow.stream": stream.getvalue(),
        "application/fits": fits.getvalue(),
        "": astropy("ascii.ecsv"),
    }
    assert alice.put("mydb.all_made", files["application/vnd.apache.parquet"]).status_code == 400
    for number, (kind, content) in enumerate(files.items()):
        answer = alice.load("mydb.all_made", content, kind) if number else alice.put("mydb.all_made", content, kind)
        assert answer.status_code == (200 if number else 201), (kind, answer.text)
    answer = alice.ask("SELECT n, x, t, COUNT(*) AS c FROM mydb.all_made GROUP BY n, x, t ORDER BY x, t", FORMAT="json")
    assert answer.json()["data"] == [
        [3, -2.0, "d", 1], [3, -2.0, "é", 7], [1, 0.5, "a", 8], [None, 1.5, "b,c", 8]
    ]  # fmt: skip


def test_rows_take_the_types_of_the_table(alice: User) -> None:
    """The table's types are used, not the types inferred from the file."""
    definition = DEFINITION.replace(">long<", ' arraysize="4*">char<')
    assert alice.put("mydb.stars", definition, "text/xml").status_code == 201
    assert alice.load("mydb.stars", "id,ra,dec,name\n0012,1,2,\n").status_code == 200
    assert alice.rows("SELECT id, ra FROM mydb.stars") == [["0012", "1"]]
    answer = alice.load("mydb.stars", "id,ra,dec,name\n12345,1,2,\n")
    assert answer.status_code == 400
    assert "longer than 4 characters" in answer.text


def test_a_table_is_in_the_order_of_its_positions(alice: User, svc_engine: EmbeddedEngine) -> None:
    assert alice.put("mydb.stars", DEFINITION, "text/xml").status_code == 201
    rows = "".join(f"{i},{i % 360},{i % 179 - 89},s{i}\n" for i in range(2000))
    assert alice.load("mydb.stars", "id,ra,dec,name\n" + rows).status_code == 200
    keys = svc_engine.fetch_table(
        "SELECT sorting_key FROM system.tables WHERE database = 'skyhouse_users' AND total_rows = 2000"
    )["sorting_key"].to_pylist()
    assert keys
    assert set(keys) == {"hpx29"}
    matched = (
        "SELECT COUNT(*) AS n FROM mydb.stars AS a JOIN svc.stars AS b "
        "ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.001"
    )
    assert alice.rows(matched) == [["2000"]]
    around = "SELECT COUNT(*) AS n FROM mydb.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(100, 11, 0.5))"
    assert alice.rows(around) == [[str(len([i for i in range(2000) if i % 360 == 100 and i % 179 - 89 == 11]))]]


# --- what is refused


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("svc.mine", 403, "your tables are in the schema mydb"),
        ("mine", 403, "write mydb.name"),
        ("TAP_SCHEMA.tables", 403, "your tables are in the schema mydb"),
        ("skyhouse_users.t_1", 403, "your tables are in the schema mydb"),
        ("mydb.", 400, "is not a valid table name"),
        ("mydb.a.b", 400, "is not a valid table name"),
        ("mydb.a b", 400, "is not a valid table name"),
        ("mydb.a'b", 400, "is not a valid table name"),
        ('mydb."a"', 400, "is not a valid table name"),
        ("mydb.a`b", 400, "is not a valid table name"),
        ("mydb.sté", 400, "is not a valid table name"),
        ("mydb.1st", 400, "is not a valid table name"),
        ("mydb." + "a" * 65, 400, "is not a valid table name"),
        ("mydb.select", 400, "select is a reserved word of ADQL: choose another name, such as select_1"),
        ("mydb.%00", 400, "is not a valid table name"),
    ],
)
def test_names_that_are_none(alice: User, name: str, status: int, said: str) -> None:
    for answer in (alice.put(name, "x\n1\n"), alice.load(name, "x\n1\n"), alice.http("DELETE", f"tables/{name}")):
        assert answer.status_code == status, answer.text
        assert said in httpx_text(answer)


def httpx_text(answer: httpx.Response) -> str:
    return answer.text.replace("&quot;", '"')


def test_names_that_are_good(alice: User) -> None:
    longest = "mydb." + "a" * 64
    alice.create_empty_table(longest)
    alice.create_empty_table("MyDB.Mixed_1")
    assert alice.count(longest) == alice.count("MYDB.MIXED_1") == 0
    assert alice.put("mydb.mixed_1", "x\n1\n").status_code == 409


def test_columns_may_have_any_name(alice: User) -> None:
    hostile = ["a`b", "c'd", 'e"f', "g\\h", "select", "i j", "k;--", "λ"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in hostile)
    assert alice.put("mydb.odd", f"{header}\n{','.join('12345678')}\n").status_code == 201
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in hostile)
    assert alice.rows(f"SELECT {quoted} FROM mydb.odd") == [list("12345678")]
    for name in hostile[:4]:
        job = alice.create_index("mydb.odd", name)
        assert job.phase == "COMPLETED", job.message
    assert alice.rows('SELECT "c\'d" FROM mydb.odd WHERE "a`b" = 1') == [["2"]]


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        ("", "text/csv", "the request has no body"),
        ("x\n", "application/fits", "does not start like a FITS file"),
        ("<table><name>x</name></table>", "text/xml", "the definition has no columns"),
        ("<tableset/>", "text/xml", "starts with the element tableset"),
        ("<table><column><name>x</name></column></table>", "text/xml", "column x: it has no datatype"),
        ("<table><column><dataType>int</dataType></column></table>", "text/xml", "a column without a name"),
        ('<!DOCTYPE t [<!ENTITY a "b">]><table/>', "text/xml", "DOCTYPE"),
        ("<table>" + "<a>" * 50 + "</a>" * 50 + "</table>", "text/xml", "deeper than 16"),
        ("<table><column></table>", "text/xml", "mismatched tag"),
        (DEFINITION.replace(">long<", ">complex<"), "text/xml", "its datatype 'complex' is not valid in VOTable"),
        (DEFINITION.replace("<name>id<", "<name>RA<"), "text/xml", "the column ra occurs twice"),
        (DEFINITION.replace("<name>id<", "<name>hpx29<"), "text/xml", "is reserved for the storage"),
        (DEFINITION.replace("<name>id<", f"<name>{'x' * 65}<"), "text/xml", "names have at most 64"),
        (",".join(f"c{i}" for i in range(1001)) + "\n", "text/csv", "1001 columns; the limit is 1000"),
    ],
)
def test_what_is_no_table(alice: User, content: str, kind: str, said: str) -> None:
    answer = alice.put("mydb.bad", content, kind)
    assert answer.status_code == 400
    assert said in answer.text
    assert alice.tables == {}


def test_a_table_of_many_columns(alice: User) -> None:
    columns = "".join(f"<column><name>c{i}</name><dataType>int</dataType></column>" for i in range(5001))
    answer = alice.put("mydb.wide", f"<table>{columns}</table>", "text/xml")
    assert answer.status_code == 400
    assert "the definition has more than 5000 columns" in answer.text


def test_a_table_is_not_replaced_unasked(alice: User) -> None:
    alice.create_empty_table("mydb.mine")
    answer = alice.put("mydb.MINE", "b\n2\n")
    assert answer.status_code == 409
    assert "you already have a table mydb.mine" in answer.text
    assert alice.rows("SELECT a FROM mydb.mine") == []
    definition = "<table><column><name>b</name><dataType>int</dataType></column></table>"
    assert alice.put("mydb.mine", definition, "text/xml", replace="true").status_code == 201
    assert alice.load("mydb.mine", "b\n2\n").status_code == 200
    assert alice.load("mydb.mine", "b\n3\n", replace="true").text.endswith("which now has 1\n")
    assert alice.rows("SELECT b FROM mydb.mine") == [["3"]]
    assert alice.put("mydb.mine", "b\n2\n", replace="maybe").status_code == 400


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,ra,dec\n3,1,1\n", "the file lacks columns: name; the table has id, ra, dec, name"),
        ("id,ra,dec,name,z\n3,1,1,x,2\n", "the file has extra columns: z"),
        ("id,ra,dec,name\n3,1,1,x\nfour,1,1,y\n", "line 3, column id: 'four'"),
    ],
)
def test_rows_that_do_not_fit_change_nothing(alice: User, svc_engine: EmbeddedEngine, content: str, said: str) -> None:
    assert alice.put("mydb.stars", DEFINITION, "text/xml").status_code == 201
    answer = alice.load("mydb.stars", content)
    assert answer.status_code == 400
    assert said in answer.text
    assert alice.count("mydb.stars") == 0
    assert half_filled(svc_engine) == []


# --- how much


def test_there_are_so_many_tables(alice: User) -> None:
    for number in range(5):
        alice.create_empty_table(f"mydb.t{number}")
    answer = alice.put("mydb.t5", "a\n1\n")
    assert answer.status_code == 403
    assert "you have 5 tables, and the maximum is 5" in answer.text
    assert alice.put("mydb.t4", DEFINITION, "text/xml", replace="true").status_code == 201


def test_a_load_stops_where_there_is_no_room(alice: User, svc_engine: EmbeddedEngine) -> None:
    noise = "x\n" + "".join(f"{i * 2654435761 % 2**32 / 7}\n" for i in range(300_000))
    answer = alice.put("mydb.large", noise)
    assert answer.status_code == 403
    assert "bytes that are left of your quota of 1000000" in answer.text
    assert alice.put("mydb.small", noise[: len(noise) // 6].rpartition("\n")[0]).status_code == 201
    before = alice.count("mydb.small")
    assert alice.load("mydb.small", noise).status_code == 403
    assert alice.count("mydb.small") == before
    assert half_filled(svc_engine) == []
    told = alice.http("GET", "mydb").json()
    assert told["used"]["bytes"] == told["tables"][0]["bytes"] < told["limits"]["bytes"] == 1_000_000


def test_a_file_that_is_too_large(alice: User) -> None:
    answer = alice.put("mydb.large", b"x\n" + bytes(20_000_000))
    assert answer.status_code == 413
    assert "more than 20000000 bytes" in answer.text


# --- at once


def test_loads_at_once_lose_nothing(alice: User) -> None:
    alice.create_empty_table("mydb.busy")
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda i: alice.load("mydb.busy", f"a\n{i}\n").status_code, range(3)))
    assert answers == [200] * 3
    assert sorted(alice.rows("SELECT a FROM mydb.busy")) == [[str(i)] for i in range(3)]


def test_one_user_does_not_take_all_slots(svc_engine: EmbeddedEngine, tmp_path: Path) -> None:
    """Two loads of a user run, eight wait, and the next one is refused; another user's load does not wait."""
    config = Config()
    state = open_site_state("", tmp_path)
    cache = CatalogueCache(svc_engine, UserGroups(None, state), FileGateway("127.0.0.1", tmp_path / "attached", 0))
    tables = UserTableService(config, svc_engine, cache, TableFileReader(config, is_kept_ready=False))
    go_on = threading.Event()

    async def asked() -> tuple[int, str]:
        running = [asyncio.create_task(tables.run_load("alice", go_on.wait)) for _ in range(10)]
        await asyncio.sleep(0)
        with pytest.raises(ServiceBusy) as refused:
            await tables.run_load("alice", go_on.wait)
        quick = await tables.run_load("bob", lambda: 7)
        go_on.set()
        assert await asyncio.gather(*running) == [True] * 10
        assert await tables.run_load("alice", lambda: 8) == 8
        return quick, str(refused.value)

    assert asyncio.run(asked()) == (7, "10 of your loads are already running or waiting: try again in a while")
    tables.close()
    state.close()


def test_only_one_makes_a_table(alice: User) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: alice.put("mydb.winner", DEFINITION, "text/xml").status_code, range(4)))
    assert sorted(answers) == [201, 409, 409, 409]
    assert alice.count("mydb.winner") == 0


def test_a_query_goes_on_while_its_table_is_removed(alice: User, own: RunningService) -> None:
    assert alice.put("mydb.reading", "a\n" + "".join(f"{i}\n" for i in range(2000))).status_code == 201
    query = "SELECT x.a, y.a AS b FROM mydb.reading AS x, mydb.reading AS y"
    data = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, "MAXREC": "2000000"}
    with httpx.stream("POST", own.sync, data=data, auth=alice.auth, verify=False, timeout=60) as answer:
        lines = answer.iter_lines()
        assert next(lines) == "a,b"
        assert alice.http("DELETE", "tables/mydb.reading").status_code == 204
        assert alice.ask("SELECT * FROM mydb.reading").status_code == 400
        assert sum(1 for _ in lines) == 2_000_000


class TestPost:
    def test_a_definition_describes_the_table_again(self, alice: User) -> None:
        assert alice.put("mydb.stars", ROWS, "text/tab-separated-values").status_code == 201
        shown = alice.http("GET", "tables/mydb.stars").text
        changed = (
            shown.replace("</name>", "</name><description>Mine</description>", 1)
            .replace("<name>name</name>", "<name>name</name><description>Of the star</description><ucd>meta.id</ucd>")
            .replace("<name>id</name>", "<name>id</name><unit>s</unit>")
        )
        answer = alice.http("POST", "tables/mydb.stars", content=changed, headers={"Content-Type": "text/xml"})
        assert answer.status_code == 200, answer.text
        assert answer.text == alice.http("GET", "tables/mydb.stars").text
        assert "<description>Of the star</description>" in answer.text
        assert alice.rows(
            "SELECT column_name, unit, ucd FROM TAP_SCHEMA.columns WHERE table_name = 'mydb.stars' AND column_name IN "
            "('id', 'name') ORDER BY 1"
        ) == [["id", "s", ""], ["name", "", "meta.id"]]
        assert alice.rows("SELECT description FROM TAP_SCHEMA.tables WHERE table_name = 'mydb.stars'") == [["Mine"]]
        assert alice.rows("SELECT name FROM mydb.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10.5, 20.5, 1))") == [
            ["alpha"]
        ]

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("<name>name</name>", "<name>title</name>", "differ in the column 'name'"),
            (">long<", ">int<", "the column id has another type in the table"),
            ("<unit>deg</unit>", "<unit>rad</unit>", "the unit and UCD of ra cannot change"),
        ],
    )
    def test_what_a_definition_cannot_change(self, alice: User, old: str, new: str, said: str) -> None:
        assert alice.put("mydb.stars", DEFINITION, "text/xml").status_code == 201
        content = DEFINITION.replace(old, new, 1)
        answer = alice.http("POST", "tables/mydb.stars", content=content, headers={"Content-Type": "text/xml"})
        assert answer.status_code == 400
        assert said in answer.text
        assert "Stars of mine" in alice.http("GET", "tables/mydb.stars").text

    def test_readers_see_it(self, alice: User, bob: User) -> None:
        assert alice.put("mydb.stars", DEFINITION, "text/xml").status_code == 201
        alice.http("POST", "mydb/mydb.stars/grants", json={"user": "bob"})
        content = DEFINITION.replace("Stars of mine", "Stars of ours")
        alice.http("POST", "tables/mydb.stars", content=content, headers={"Content-Type": "text/xml"})
        assert bob.rows("SELECT description FROM TAP_SCHEMA.tables WHERE schema_name = 'mydb_alice'") == [
            ["Stars of ours"]
        ]
        answer = bob.http("POST", "tables/mydb_alice.stars", content=content, headers={"Content-Type": "text/xml"})
        assert answer.status_code == 403

    def test_rows_are_appended(self, alice: User) -> None:
        assert alice.put("mydb.stars", DEFINITION, "text/xml").status_code == 201
        kind = {"Content-Type": "text/tab-separated-values"}
        for number in (1, 2):
            answer = alice.http("POST", "tables/mydb.stars", content=ROWS, headers=kind)
            assert answer.text == f"loaded 2 rows into mydb.stars, which now has {2 * number}\n"

    def test_a_table_that_does_not_exist(self, alice: User) -> None:
        answer = alice.http("POST", "tables/mydb.none", content=DEFINITION, headers={"Content-Type": "text/xml"})
        assert answer.status_code == 404
