"""Cone searches as TOPCAT, STILTS and pyvo make them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import pyvo
from astropy.coordinates import SkyCoord
from astropy.io.votable import parse
from lxml import etree

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, register_table, unregister_table
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.serializers.serializer import ResultInfo, Status
from tap_service.services.cone_search.cone_parameters import read_cone_parameters
from tap_service.services.cone_search.cone_query import build_cone_query
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService
from tests.support.stilts import read_output, run_stilts, validate_document

CONE = {"RA": 10, "DEC": 60, "SR": 1.1}
#: name, UCD, datatype
FIRST_COLUMNS = [
    ("scs_id", "ID_MAIN", "unicodeChar"),
    ("ra", "POS_EQ_RA_MAIN", "double"),
    ("dec", "POS_EQ_DEC_MAIN", "double"),
]


def ask(service: RunningService, table: str = "svc.stars", **parameters: object) -> httpx.Response:
    return httpx.get(f"{service.url}/scs/{table}", params={**CONE, **parameters}, timeout=60)


def list_fields(answer: httpx.Response) -> list[tuple[str, str, str]]:
    return [(field.name, field.ucd, field.datatype) for field in read_table(answer).fields]


def read_table(answer: httpx.Response):
    return parse(io.BytesIO(answer.content)).get_first_table()


def read_error(answer: httpx.Response) -> str:
    """Return the only INFO called Error, directly in the VOTABLE; the document is valid."""
    [error] = etree.fromstring(answer.content).xpath("*[@name='Error']")
    return error.get("value")


def test_rows_are_those_within_the_cone(service: RunningService) -> None:
    """The grid of svc.stars, whose distances are computed by astropy."""
    service_of_table = pyvo.dal.SCSService(f"{service.url}/scs/svc.stars?")
    numbers = np.arange(360 * 179)
    grid = SkyCoord(numbers % 360, numbers // 360 - 89, unit="deg")
    for ra, dec, radius in ((10, 20, 5.5), (0.2, 88.4, 2), (359.9, -1, 0.95), (200, -45, 0.01)):
        found = service_of_table.search((ra, dec), radius)
        expected = numbers[grid.separation(SkyCoord(ra, dec, unit="deg")).deg <= radius]
        assert sorted(found["id"]) == expected.tolist()
        for record in found:
            assert record.pos.separation(grid[record["id"]]).deg < 1e-9
            assert record.id == str(record["id"])


def test_columns_by_verbosity(service: RunningService) -> None:
    others = [("id", "meta.id;meta.main", "long"), ("mag", "phot.mag", "float"), ("name", None, "unicodeChar")]
    assert list_fields(ask(service, VERB=1)) == FIRST_COLUMNS
    for verbosity in (2, 3):
        found = list_fields(ask(service, VERB=verbosity))
        assert found == [FIRST_COLUMNS[0], others[0], *FIRST_COLUMNS[1:], *others[1:]]


@pytest.mark.parametrize("parameters", [{"SR": 0}, {"MAXREC": 0}])
def test_columns_without_rows(service: RunningService, parameters: dict[str, int]) -> None:
    answer = ask(service, VERB=1, **parameters)
    assert list_fields(answer) == FIRST_COLUMNS
    assert len(read_table(answer).array) == 0
    assert "scs_id" in [column.name for column in pyvo.dal.SCSService(f"{service.url}/scs/svc.stars").columns]


def test_no_radius_is_no_row_limit(service: RunningService) -> None:
    """A row lies at the centre, but SR=0 is not a cone: the answer has no row, is complete, and gives the reason."""
    answer = ask(service, SR=0, MAXREC=10)
    infos = {info.get("name"): info for info in etree.fromstring(answer.content).iter("{*}INFO")}
    assert (infos["QUERY_STATUS"].get("value"), infos["MAXREC"].get("value")) == ("OK", "10")
    assert infos["note"].get("value").startswith("SR=0 requests only the columns")


def test_the_row_limit_is_told(service: RunningService) -> None:
    answer = ask(service, MAXREC=2)
    assert len(read_table(answer).array) == 2
    assert 'value="OVERFLOW">The result was cut at 2 rows' in answer.text
    assert "Error" not in answer.text


def test_other_formats_and_forms(service: RunningService) -> None:
    assert ask(service, RESPONSEFORMAT="csv", VERB=1, SR=0.1).text.split() == ["scs_id,ra,dec", "53650,10,60"]
    posted = httpx.post(f"{service.url}/scs/svc.stars", data=CONE)
    assert posted.headers["content-type"].startswith("text/xml")
    assert len(read_table(posted).array) == len(read_table(ask(service, RESPONSEFORMAT="votable")).array) == 7


@pytest.mark.parametrize(
    ("table", "parameters", "status", "message"),
    [
        ("svc.stars", {"DEC": 91}, 200, "DEC=91 is out of range"),
        ("svc.stars", {"RA": ""}, 200, "give RA: a cone search takes RA, DEC and SR"),
        ("svc.stars", {"RA": "", "SR": ""}, 200, "give RA, SR: a cone search takes RA, DEC and SR"),
        ("svc.numbers", {"SR": "", "DEC": ""}, 404, "the table svc.numbers has no position"),
        ("svc.nowhere", {}, 404, "there is no table 'svc.nowhere'"),
        ("svc.stars/more", {}, 404, "there is nothing at /scs/svc.stars/more"),
    ],
)
def test_errors(service: RunningService, table: str, parameters: dict[str, object], status: int, message: str) -> None:
    answer = ask(service, table, **parameters)
    assert answer.status_code == status
    assert read_error(answer).startswith(message)
    assert answer.headers["content-type"].startswith("text/xml")


@pytest.mark.parametrize("parameters", [{}, {"RA": "x"}])
def test_documents_are_valid(service: RunningService, parameters: dict[str, str], tmp_path: Path) -> None:
    """Validate with votlint, which does not know the UCDs of SCS 1.03."""
    path = tmp_path / "document.xml"
    path.write_bytes(ask(service, **parameters).content)
    assert read_output("votlint", "ucd=false", str(path)) == b""


def test_pyvo_and_stilts_read_the_message(service: RunningService) -> None:
    url = f"{service.url}/scs/svc.stars"
    with pytest.raises(pyvo.dal.DALQueryError, match=r"SR=200\.0 is out of range"):
        pyvo.dal.conesearch(url, (1, 2), 200)
    run = run_stilts("cone", f"serviceurl={url}", "lon=1", "lat=2", "radius=200")
    assert b"SR=200.0 is out of range" in run.stderr


def test_a_query_that_fails_after_rows_ends_with_the_error(svc_engine: EmbeddedEngine) -> None:
    """pyvo only looks for INFO Error, and would take the rows to be complete."""
    entry = read_catalogue(svc_engine).find_entry("svc", "stars")
    query = build_cone_query(entry, read_cone_parameters((name, str(value)) for name, value in CONE.items()))
    fields = [column.field for column in entry.table.columns]
    serializer = query.format.serializer(fields, ResultInfo(query.query))
    document = serializer.write_header() + b"".join(serializer.write_footer(Status("ERROR", "too <long>")))
    assert parse(io.BytesIO(document)).resources[0].infos[-1].value == "too <long>"
    assert etree.fromstring(document).xpath("//*[@name='Error']/@value") == ["too <long>"]


def test_stilts_matches_a_list(service: RunningService, tmp_path: Path) -> None:
    path, out = tmp_path / "list.csv", tmp_path / "pairs.csv"
    path.write_text("a,b\n10.1,20\n200,-45.2\n")
    command = ["coneskymatch", f"serviceurl={service.url}/scs/svc.stars", f"in={path}", "ifmt=csv", "ra=a", "dec=b"]
    options = ["sr=0.5", "verb=1", "find=all", f"out={out}", "erract=abort"]
    read_output(*command, *options)
    rows = [line.split(",")[2] for line in out.read_text().split()[1:]]
    assert rows == ["39250", "16040"]


_POSITION = [{"name": "alpha", "datatype": "double"}, {"name": "two words", "datatype": "double"}]
_LAYOUT = {"position": ["alpha", "two words"]}
_TABLES = [
    {
        "name": "named",
        "columns": [
            {"name": "designation", "datatype": "unicode", "length": 9, "tap:principal": True},
            *_POSITION,
            {"name": "scs_id", "datatype": "int", "tap:principal": True, "ivoa:ucd": "pos.eq.ra"},
            {"name": "note", "datatype": "unicode", "length": 9},
        ],
        "skyhouse:layout": {**_LAYOUT, "id": ["designation"]},
    },
    {
        "name": "pairs",
        "columns": [{"name": "run", "datatype": "int"}, *_POSITION, {"name": "scs_id", "datatype": "long"}],
        "skyhouse:layout": {**_LAYOUT, "id": ["run", "scs_id"]},
    },
    {"name": "nameless", "columns": _POSITION, "skyhouse:layout": _LAYOUT},
]


@pytest.fixture(scope="module")
def cones(svc_engine: EmbeddedEngine, service: RunningService) -> Iterator[RunningService]:
    """The service with tables that identify their rows by a text, by two numbers, and not at all."""
    schema = Schema.model_validate_json(json.dumps({"name": "cones", "tables": _TABLES}))
    svc_engine.execute("CREATE DATABASE cones")
    rows = {"named": "'A & b', 10, 60, 7, 'x'", "pairs": "3, 10, 60, 4", "nameless": "10, 60"}
    for table in schema.tables:
        columns = ", ".join(f"`{column.name}`" for column in table.columns)
        svc_engine.execute(create_table_sql(table, f"cones.{table.name}"))
        svc_engine.execute(f"INSERT INTO cones.{table.name} ({columns}) SELECT {rows[table.name]}")
        register_table(svc_engine, schema, table)
    service.refresh()
    yield service
    for table in schema.tables:
        unregister_table(svc_engine, schema.name, table.name)
    svc_engine.execute("DROP DATABASE cones")
    service.refresh()


@pytest.mark.parametrize(
    ("table", "verbosity", "header", "row"),
    [
        ("named", 1, "designation,alpha,two words", "A & b,10,60"),
        ("named", 2, "designation,alpha,two words,scs_id", "A & b,10,60,7"),
        ("named", 3, "designation,alpha,two words,scs_id,note", "A & b,10,60,7,x"),
        ("pairs", 2, "scs_id_,run,alpha,two words,scs_id", "3 4,3,10,60,4"),
        ("nameless", 2, "scs_id,alpha,two words", "10 60,10,60"),
    ],
)
def test_the_first_column_identifies_the_row(
    cones: RunningService, table: str, verbosity: int, header: str, row: str
) -> None:
    told = ask(cones, f"cones.{table}", VERB=verbosity, RESPONSEFORMAT="csv").text
    assert told.splitlines() == [header, row]
    fields = list_fields(ask(cones, f"cones.{table}", VERB=verbosity))
    assert fields[0][1:] == ("ID_MAIN", "unicodeChar")
    assert {name: ucd for name, ucd, _ in fields if ucd in ("POS_EQ_RA_MAIN", "POS_EQ_DEC_MAIN")} == {
        "alpha": "POS_EQ_RA_MAIN",
        "two words": "POS_EQ_DEC_MAIN",
    }


@pytest.mark.usefixtures("counted_stars")
def test_capabilities(service: RunningService, tmp_path: Path) -> None:
    """The records are valid, and their test query finds rows."""
    answer = httpx.get(f"{service.url}/scs/svc.stars/capabilities")
    path = tmp_path / "capabilities.xml"
    path.write_bytes(answer.content)
    schema = Path(__file__).parents[1] / "registry" / "schemas" / "ConeSearch.xsd"
    validate_document(path, {"http://www.ivoa.net/xml/ConeSearch/v1.0": schema})
    capability, *_ = etree.fromstring(answer.content)
    assert capability.get("standardID") == "ivo://ivoa.net/std/ConeSearch"
    told = {name: capability.findtext(f"testQuery/{name}") for name in ("ra", "dec", "sr", "verb")}
    found = httpx.get(capability.findtext("interface/accessURL") + "&".join(f"{k}={v}" for k, v in told.items()))
    assert len(read_table(found).array) == 1


@pytest.mark.usefixtures("counted_stars")
def test_capabilities_in_json_say_what_the_xml_says(service: RunningService) -> None:
    url = f"{service.url}/scs/svc.stars/capabilities"
    answer = httpx.get(url, headers={"Accept": "application/json"})
    plain = httpx.get(url)
    for sent, kind in ((answer, "application/json"), (plain, "application/xml")):
        assert sent.headers["content-type"] == kind
        assert "Accept" in sent.headers["vary"].split(", ")
    told, root = answer.json(), etree.fromstring(plain.content)
    assert [each["standardId"] for each in told["capabilities"]] == [each.get("standardID") for each in root]
    assert told["capabilities"][0]["interface"]["accessUrl"] == f"{service.url}/scs/svc.stars?"
    cone = told["coneSearch"]
    for name in ("description", "maxSR", "maxRecords"):
        assert str(cone[name]).removesuffix(".0") == root[0].findtext(name)
    assert {name: str(value) for name, value in cone["testQuery"].items()} == {
        each.tag: each.text for each in root[0].find("testQuery")
    }
    assert [(each["name"], each["use"]) for each in cone["parameters"]] == [
        (each.findtext("name"), each.get("use")) for each in root[0].iterfind("interface/param")
    ]


def test_capabilities_of_what_is_not_there(service: RunningService) -> None:
    answer = httpx.get(f"{service.url}/scs/svc.numbers/capabilities")
    assert (answer.status_code, read_error(answer)[:20]) == (404, "the table svc.number")
    wrong = httpx.delete(f"{service.url}/scs/svc.stars")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")
