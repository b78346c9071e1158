"""Uploaded tables, sent like clients do: every format, several tables, cross-matches, in /sync and in jobs."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import pyvo
import requests
from astropy.io import votable
from astropy.table import MaskedColumn, Table

from tap_service.readers.file_formats import FORMATS as READABLE
from tests.servers.server_thread import run_server
from tests.support.environment import ROOT
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job

NAMES = ["id", "ra", "dec", "name", "flag", "spectrum"]


def stars() -> Table:
    """A table with NULLs, non-ASCII characters and VOTable metadata."""
    table = Table(
        {
            "id": MaskedColumn(np.array([1, 2, 3], np.int64), mask=[False, False, True]),
            "ra": np.array([10.5, 350.25, 0.0]),
            "dec": np.array([-10.5, 80.0, np.nan]),
            "name": ["Vega", "β Cyg", 'it\'s "x", y'],
            "flag": np.array([True, False, True]),
            "spectrum": np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]], np.float32),
        }
    )
    for name, unit, ucd in (("ra", "deg", "pos.eq.ra;meta.main"), ("dec", "deg", "pos.eq.dec;meta.main")):
        table[name].unit = unit
        table[name].meta["ucd"] = ucd
    table["name"].description = "what it is called"
    return table


def as_votable(table: Table, serialization: str) -> bytes:
    out = io.BytesIO()
    document = votable.from_table(table)
    for field in document.get_first_table().fields:
        if serialization == "binary" and field.name == "id":
            field.values.null = -99
        field.ucd = table[field.name].meta.get("ucd")
    document.to_xml(out, tabledata_format=serialization)
    return out.getvalue()


def as_fits(table: Table) -> bytes:
    out = io.BytesIO()
    plain = table.copy()
    plain["name"] = [name.encode() for name in table["name"]]
    plain.write(out, format="fits")
    return out.getvalue()


def as_text(table: Table, form: str) -> bytes:
    out = io.StringIO()
    table.write(out, format=form)
    return out.getvalue().encode()


def as_arrow(write: Callable[[pa.Table, Any], object]) -> Callable[[Table], bytes]:
    def written(table: Table) -> bytes:
        columns = {name: pa.array(np.ma.asarray(table[name]).tolist()) for name in NAMES}
        out = io.BytesIO()
        write(pa.table(columns), out)
        return out.getvalue()

    return written


def _stream(table: pa.Table, out: io.BytesIO) -> None:
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)


FORMATS: dict[str, Callable[[Table], bytes]] = {
    "VOTable TABLEDATA": lambda table: as_votable(table, "tabledata"),
    "VOTable BINARY": lambda table: as_votable(table, "binary"),
    "VOTable BINARY2": lambda table: as_votable(table, "binary2"),
    "VOTable, packed": lambda table: gzip.compress(as_votable(table, "binary2")),
    "ECSV": lambda table: as_text(table, "ascii.ecsv"),
    "Parquet": as_arrow(pa.parquet.write_table),
    "Arrow stream": as_arrow(_stream),
    "Arrow file": as_arrow(lambda table, out: pa.feather.write_feather(table, out, compression="uncompressed")),
    "Arrow file, packed": as_arrow(lambda table, out: pa.feather.write_feather(table, out, compression="zstd")),
}


def ask(service: RunningService, query: str, files: dict[str, bytes], **parameters: str) -> httpx.Response:
    """Send a query with each file as the table of its name."""
    data = {"QUERY": query, "UPLOAD": ";".join(f"{name},param:{name}" for name in files), **parameters}
    return httpx.post(
        service.sync, data=data, files={name: (name, content) for name, content in files.items()}, timeout=60
    )


def rows(response: httpx.Response) -> list[tuple[Any, ...]]:
    assert response.status_code == 200, response.text
    found = pa.ipc.open_stream(response.content).read_all()
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def same(value: Any) -> Any:
    return "nan" if isinstance(value, float) and np.isnan(value) else value


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(service: RunningService, form: str) -> None:
    query = "SELECT id, ra, dec, name, flag, spectrum FROM TAP_UPLOAD.t ORDER BY ra DESC"
    found = rows(ask(service, query, {"t": FORMATS[form](stars())}, FORMAT="arrow"))
    assert [(row[0], row[1], row[3], row[4]) for row in found] == [
        (2, 350.25, "β Cyg", False),
        (1, 10.5, "Vega", True),
        (None, 0.0, 'it\'s "x", y', True),
    ]
    # NaN is VOTable's mark of a missing number; ECSV writes only masked values as an empty field
    assert [same(row[2]) for row in found] == [80.0, -10.5, None if "VOTable" in form else "nan"]
    assert [[same(value) for value in row[5]] for row in found] == [[3.0, "nan"], [1.0, 2.0], [5.0, 6.0]]


def test_coordinate_and_time_systems_are_kept(service: RunningService) -> None:
    document = (
        b'<VOTABLE version="1.5" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>'
        b'<COOSYS ID="c" system="ICRS" epoch="J1991.25" refposition="BARYCENTER"/><COOSYS ID="g" system="GALACTIC"/>'
        b'<TIMESYS ID="t" timescale="TT" refposition="GEOCENTER" timeorigin="MJD-origin"/><TABLE>'
        b'<FIELD name="ra" datatype="double" unit="deg" ucd="pos.eq.ra;meta.main" ref="c"/>'
        b'<FIELD name="dec" datatype="double" unit="deg" ucd="pos.eq.dec;meta.main" ref="c"/>'
        b'<FIELD name="l" datatype="double" unit="deg" ref="g"/><FIELD name="mjd" datatype="double" unit="d" ref="t"/>'
        b"<DATA><TABLEDATA><TR><TD>1</TD><TD>2</TD><TD>3</TD><TD>4</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    )
    query = "SELECT t.*, ra + 1 AS other FROM TAP_UPLOAD.t AS t WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 2, 1))"
    answer = ask(service, query, {"t": document}, RESPONSEFORMAT="votable;version=1.5")
    resource = votable.parse(io.BytesIO(answer.content)).resources[0]
    known = {each.ID: (each.system, each.epoch, each.refposition) for each in resource.coordinate_systems}
    known |= {each.ID: (each.timescale, each.refposition, each.timeorigin) for each in resource.time_systems}
    assert [known.get(field.ref) for field in resource.tables[0].fields] == [
        ("ICRS", "J1991.25", "BARYCENTER"),
        ("ICRS", "J1991.25", "BARYCENTER"),
        ("GALACTIC", None, None),
        ("TT", "GEOCENTER", "MJD-origin"),
        None,
    ]


def test_fits(service: RunningService) -> None:
    table = stars()["id", "ra", "dec", "flag", "spectrum"]
    out = io.BytesIO()
    table.filled(-99).write(out, format="fits")
    query = "SELECT id, ra, dec, flag, spectrum FROM TAP_UPLOAD.t ORDER BY id"
    found = rows(ask(service, query, {"t": out.getvalue()}, FORMAT="arrow"))
    assert [(row[0], row[1], row[3]) for row in found] == [(-99, 0.0, True), (1, 10.5, True), (2, 350.25, False)]
    assert list(found[1][4]) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("text/csv", b"n,word\n1,a\n,b\n"),
        ("text/tab-separated-values", b"n\tword\n1\ta\n\tb\n"),
        ("text/csv; header=present", b"n;word\n1;a\n;b\n"),
        ("", b"n|word\r\n1|a\r\n|b\r\n"),
        ("application/octet-stream", b"\xef\xbb\xbfn,word\n1,a\n,b"),
    ],
)
def test_text(service: RunningService, content_type: str, content: bytes) -> None:
    data = {"QUERY": "SELECT n + 1, word FROM TAP_UPLOAD.t ORDER BY word", "UPLOAD": "t,param:p", "FORMAT": "arrow"}
    assert rows(httpx.post(service.sync, data=data, files={"p": ("p", content, content_type)})) == [
        (2, "a"),
        (None, "b"),
    ]


def test_what_is_guessed_of_text_is_corrected_by_later_rows(service: RunningService) -> None:
    """Integers become floats, floats become text, and values out of range are no positions."""
    text = "x" * 200
    lines = ["i,f,ra,dec,text", *(f"{i},{i},{i % 360},0,{text}" for i in range(25_000)), f"1.5,none,1000,91,{text}"]
    files = {"t": "\n".join(lines).encode()}
    query = "SELECT COUNT(*) AS n, SUM(i) AS i, MAX(f) AS f, MAX(ra) AS r FROM TAP_UPLOAD.t"
    assert rows(ask(service, query, files, FORMAT="arrow")) == [(25_001, 312_487_501.5, "none", 1000)]


def test_names_and_metadata_come_back_unchanged(service: RunningService) -> None:
    answer = ask(service, "SELECT * FROM TAP_UPLOAD.t", {"t": as_votable(stars(), "binary2")})
    sent = votable.parse(io.BytesIO(as_votable(stars(), "binary2"))).get_first_table()
    back = votable.parse(io.BytesIO(answer.content)).get_first_table()
    for one, other in zip(sent.fields, back.fields, strict=True):
        kept = ("name", "datatype", "unit", "ucd", "description")
        was, now = ([getattr(field, each) for each in kept] for field in (one, other))
        assert now == ["boolean" if each == "bit" else each for each in was]
        assert one.arraysize == other.arraysize or one.datatype in ("char", "unicodeChar")


def test_column_names_of_any_kind(service: RunningService) -> None:
    names = ["select", "hpx29", "RA", "ra", "a.b", "it's", 'say "x"', "`tick`", "x\\", "Größe"]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    files = {"t": (quoted + "\n" + ",".join(map(str, range(len(names))))).encode()}
    answer = ask(service, f"SELECT {quoted}, t.* FROM TAP_UPLOAD.t", files, FORMAT="votable")
    table = votable.parse(io.BytesIO(answer.content)).get_first_table()
    assert [field.name for field in table.fields] == names * 2
    assert [list(row) for row in table.array.tolist()] == [[*range(len(names))] * 2]


def test_several_tables_and_stored_ones(service: RunningService) -> None:
    files = {"a": b"n,x\n1,one\n2,two\n", "b": b"n,y\n2,zwei\n3,drei\n"}
    query = (
        "SELECT s.n, a.x, b.y FROM svc.numbers AS s LEFT JOIN TAP_UPLOAD.a AS a ON s.n = a.n"
        " LEFT JOIN tap_upload.B AS b ON s.n = b.n WHERE s.n BETWEEN 1 AND 3 ORDER BY n"
    )
    assert rows(ask(service, query, files, FORMAT="arrow")) == [(1, "one", None), (2, "two", "zwei"), (3, None, "drei")]


def test_a_table_without_rows(service: RunningService) -> None:
    empty = as_votable(stars()[:0], "tabledata")
    for content in (empty, b"id,ra,dec\n"):
        assert rows(ask(service, "SELECT COUNT(*) FROM TAP_UPLOAD.t", {"t": content}, FORMAT="arrow")) == [(0,)]


def test_it_is_known_to_its_query_alone(service: RunningService) -> None:
    answer = ask(service, "SELECT * FROM TAP_UPLOAD.u", {"t": b"n\n1\n"})
    assert answer.status_code == 400
    assert "did you mean TAP_UPLOAD.t?" in answer.text
    assert service.ask("SELECT * FROM TAP_UPLOAD.t").status_code == 400
    seen = ask(service, "SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name = 'TAP_UPLOAD'", {"t": b"n\n1\n"})
    assert "<TR>" not in seen.text


def test_nothing_is_left(service: RunningService, eventually: Callable[[Callable[[], bool]], None]) -> None:
    for query in ("SELECT * FROM TAP_UPLOAD.t", "SELECT nothing FROM TAP_UPLOAD.t", "SELECT 1/0 FROM TAP_UPLOAD.t"):
        ask(service, query, {"t": b"n\n1\n"})
    eventually(lambda: left(service) == [])


def left(service: RunningService) -> list[str]:
    engine = service.server.config.app.state.services.engine
    sql = "SELECT name FROM system.tables WHERE database = 'skyhouse' AND startsWith(name, 'upload_')"
    return [row["name"] for row in engine.fetch_table(sql).to_pylist()]


# --- jobs -------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["embedded", "cluster"])
def either(request: pytest.FixtureRequest, service: RunningService) -> RunningService:
    """A service of either deployment."""
    if request.param == "embedded":
        return service
    found: RunningService = request.getfixturevalue("serve_cluster")()
    return found


def test_jobs(either: RunningService, eventually: Callable[[Callable[[], bool]], None]) -> None:
    query = "SELECT id, name FROM TAP_UPLOAD.mine WHERE id IS NOT NULL ORDER BY id"
    with requests.Session() as session:
        tap = pyvo.dal.TAPService(either.tap, session=session)
        for found in (tap.run_async(query, uploads={"mine": stars()}), tap.run_sync(query, uploads={"mine": stars()})):
            assert list(found["name"]) == ["Vega", "β Cyg"]
    eventually(lambda: left(either) == [])


def test_a_file_may_come_before_its_parameters(
    either: RunningService, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    first = httpx.post(
        f"{either.tap}/async", data={"QUERY": "SELECT SUM(n) AS n FROM TAP_UPLOAD.t"}, files={"p": ("p", b"n\n1\n")}
    )
    job = create_job(either.tap)
    job.url = first.headers["location"]
    httpx.post(
        job.url + "/parameters", data={"UPLOAD": "t,param:p"}, files={"p": ("p", b"n\n3\n4\n"), "q": ("q", b"x")}
    )
    job.post("/parameters", FORMAT="csv")
    stored = either.server.config.app.state.services.stores.results
    name = job.url.rsplit("/", 1)[1]
    assert sum(key.startswith(name) for key in stored.list_keys(0)) == 3
    assert job.run().wait_for_end() == "COMPLETED", job.message
    assert job.rows() == "n\r\n7\r\n"
    job.delete()
    lifetimes = either.server.config.app.state.services.jobs._lifetimes
    lifetimes.sweep_orphans(0.001)
    assert not [key for key in stored.list_keys(0) if key.startswith(name)]


def test_a_job_whose_table_is_none(either: RunningService) -> None:
    form = {"QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:p", "PHASE": "RUN"}
    created = httpx.post(f"{either.tap}/async", data=form, files={"p": ("p.vot", b"<VOTABLE><TABLE>")})
    job = create_job(either.tap)
    job.url = created.headers["location"]
    assert job.wait_for_end() == "ERROR"
    assert "table t: the file, line 1: the VOTable is not well-formed XML" in job.message


# --- by address -------------------------------------------------------------------------------------------------------


@contextmanager
def web(content: bytes, content_type: str = "", redirects: int = 0) -> Iterator[str]:
    """Serve one file over HTTP; return its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            left = int(self.path.rpartition("/")[2] or 0)
            if left:
                self.send_response(302)
                self.send_header("Location", f"/{left - 1}")
                self.end_headers()
                return
            self.send_response(200)
            if content_type:
                self.send_header("Content-Type", content_type)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with run_server(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://localhost:{server.server_port}/{redirects}"


def test_by_address(serve: Callable[..., RunningService], service: RunningService) -> None:
    trusting = serve(upload_hosts=("localhost",))
    query = {"QUERY": "SELECT SUM(n) AS n FROM TAP_UPLOAD.t", "FORMAT": "csv"}
    with web(b"n\n3\n4\n", "text/csv", redirects=2) as address:
        given = {**query, "UPLOAD": f"t,{address}"}
        for answer in (
            httpx.get(trusting.sync, params=given, timeout=60),
            httpx.post(trusting.sync, data=given, timeout=60),
        ):
            assert answer.text == "n\r\n7\r\n"
        job = create_job(trusting.tap, **query, UPLOAD=f"t,{address}", PHASE="RUN")
        assert job.wait_for_end() == "COMPLETED", job.message
        assert job.rows() == "n\r\n7\r\n"
        refused = httpx.get(service.sync, params=given, timeout=60)
    assert refused.status_code == 400
    assert "localhost is not an address of the public internet" in refused.text


# --- matches ----------------------------------------------------------------------------------------------------------


def test_a_match_with_a_stored_table(service: RunningService) -> None:
    stored = rows(service.ask("SELECT id, ra, dec FROM svc.stars WHERE MOD(id, 101) = 0", FORMAT="arrow"))
    files = {"u": ("id,ra,dec\n" + "\n".join(f"{n},{ra},{dec + 0.0001}" for n, ra, dec in stored)).encode()}
    tables = "TAP_UPLOAD.u AS u {} JOIN svc.stars AS s ON DISTANCE(u.ra, u.dec, s.ra, s.dec) < 1/3600."
    pairs = sorted((n, n) for n, _, _ in stored)
    for kind in ("", "LEFT", "RIGHT"):
        query = f"SELECT u.id, s.id FROM {tables.format(kind)} WHERE u.id IS NOT NULL ORDER BY 1"
        assert rows(ask(service, query, files, FORMAT="arrow")) == pairs
    query = f"SELECT COUNT(*) FROM {tables.format('RIGHT')} WHERE u.id IS NULL"
    assert rows(ask(service, query, files, FORMAT="arrow")) == [(360 * 179 - len(pairs),)]


def test_the_documentation_lists_the_formats() -> None:
    text = (ROOT / "docs" / "uploads.md").read_text()
    table = re.findall(r"^\| (\w+) \| (`[a-z/+., `-]+`|any text, by content) \|", text, re.MULTILINE)
    assert [name for name, _ in table] == [form.name for form in READABLE]
    for (_, types), form in zip(table, READABLE, strict=True):
        assert set(re.findall(r"`([^`]+)`", types)) <= set(form.types)
