"""Requests to /sync: every format, reported limits, errors as DALI documents, and failures in mid-stream."""

from __future__ import annotations

import io
import json
import math
import re
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import pyvo
from astropy.io.votable import parse as parse_votable

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.config import Config
from tap_service.documents.error_document import error_document
from tap_service.serializers import FORMATS
from tests.support.service_tables import NUMBERS
from tests.tap_service.async_client import ENDLESS, LABORIOUS
from tests.tap_service.serializers.readers import read


def status_of(response: httpx.Response) -> list[tuple[str, str]]:
    """Return the QUERY_STATUS values in document order, each with its text."""
    pattern = r'<INFO name="QUERY_STATUS" value="(\w+)"(?:/>|>(.*?)</INFO>)'
    return re.findall(pattern, response.text, re.DOTALL)


def _write_slow_query(form: str) -> str:
    """Return a query that takes the engine many seconds, over 64 million pairs of rows."""
    position, pairs = (
        "POINT(a.ra + b.half / 1000, a.dec)",
        "svc.stars AS a CROSS JOIN svc.numbers AS b WHERE b.n < 1000",
    )
    if form == "many columns":
        return f"SELECT {', '.join(f'a.id AS x{i}' for i in range(999))} FROM {pairs}"
    if form == "many circles":
        circles = (f"1 = CONTAINS({position}, CIRCLE({i}, {i % 80}, 100.5))" for i in range(300))
        return f"SELECT COUNT(*) AS n FROM {pairs} AND NOT ({' OR '.join(circles)})"
    turns = [2 * math.pi * i / 2000 for i in range(2000)]
    star = ", ".join(
        f"{100 + (2 + i % 2) * math.cos(a):.9f}, {(2 + i % 2) * math.sin(a):.9f}" for i, a in enumerate(turns)
    )
    return f"SELECT COUNT(*) AS n FROM {pairs} AND 0 = CONTAINS({position}, POLYGON({star}))"


class TestAnswers:
    def test_pyvo_reads_values_and_metadata(self, service: Any) -> None:
        answer = pyvo.dal.TAPService(service.tap).search("SELECT id, ra, name FROM svc.stars WHERE id = 400")
        assert answer.to_table()["id", "ra", "name"][0].as_void().tolist() == (400, 40.0, "Stérn 400")
        assert answer.fielddescs[1].unit == "deg"
        assert answer.fielddescs[1].ucd == "pos.eq.ra;meta.main"

    def test_where_it_comes_from(self, service: Any) -> None:
        response = service.ask(
            "SELECT id, ra, dec + 0 AS shifted, MIN(mag) AS m FROM svc.stars WHERE id < 3 GROUP BY id, ra, dec"
        )
        votable = parse_votable(io.BytesIO(response.content))
        infos = {info.name: info.value for info in votable.resources[0].infos}
        assert infos["server_software"].startswith("skyhouse/")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", infos["request_date"])
        assert (infos["citation"], infos["rights"]) == ("2000A&A...355L..27H", "CC BY 4.0")
        assert 0 <= float(infos["execution_seconds"]) < 10
        [frame] = votable.resources[0].coordinate_systems
        assert [field.ref for field in votable.get_first_table().fields] == [None, frame.ID, None, None]
        assert frame.system == "ICRS"
        schema = service.ask("SELECT TOP 1 table_name FROM TAP_SCHEMA.tables").text
        assert "citation" not in schema
        assert "COOSYS" not in schema

    @pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.mime)
    def test_every_format_comes_as_what_it_is(self, service: Any, entry: Any) -> None:
        response = service.ask("SELECT n FROM svc.numbers WHERE n < 3 ORDER BY n", RESPONSEFORMAT=entry.mime)
        assert response.status_code == 200
        assert response.headers["content-type"] == entry.content_type
        length = response.headers.get("content-length")
        assert length == str(response.num_bytes_downloaded) or "content-encoding" in response.headers
        if entry.mime == "text/csv;header=absent":
            assert response.text.split() == ["0", "1", "2"]
        else:
            assert [int(n) for n in read(entry.mime, response.content)[0]] == [0, 1, 2]

    def test_no_rows(self, service: Any) -> None:
        response = service.ask("SELECT n, word FROM svc.numbers WHERE n < 0", FORMAT="csv")
        assert (response.status_code, response.text) == (200, "n,word\r\n")

    def test_a_large_result_is_whole(self, service: Any) -> None:
        response = service.ask("SELECT n FROM svc.numbers", FORMAT="csv", MAXREC=2_000_000)
        assert sum(map(int, response.text.split()[1:])) == 1_000_000 * 999_999 // 2

    def test_a_cone(self, service: Any) -> None:
        query = "SELECT id FROM svc.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 0.5, 0.6))"
        response = service.ask(query, FORMAT="csv")
        assert sorted(response.text.split()[1:]) == [str(360 * 89 + 10), str(360 * 90 + 10)]

    def test_a_table_can_be_read_as_soon_as_it_is_published(self, service: Any) -> None:
        """The service reads the catalogue once a second, and when a query has an unknown name."""
        table = Table(name="newest", columns=(Column.model_validate({"name": "n", "datatype": "long"}),))
        service.engine.execute("CREATE DATABASE newly")
        service.engine.execute(create_table_sql(table, "`newly`.`newest`"))
        try:
            for _ in range(3):
                register_table(service.engine, Schema(name="newly", tables=(table,)), table)
                assert service.ask("SELECT n FROM newly.newest", FORMAT="csv").text.split() == ["n"]
                unregister_table(service.engine, "newly", "newest")
                service.refresh()
        finally:
            service.engine.execute("DROP DATABASE newly")


class TestLimits:
    def test_overflow_is_said(self, service: Any) -> None:
        response = service.ask("SELECT n FROM svc.numbers", MAXREC=7)
        said = status_of(response)
        assert [value for value, _ in said] == ["OK", "OVERFLOW"]
        assert "cut at 7 rows" in said[1][1]
        assert "MAXREC, up to 10000000" in said[1][1]
        assert len(parse_votable(io.BytesIO(response.content)).get_first_table().array) == 7

    @pytest.mark.parametrize(
        ("query", "maxrec", "rows", "overflow"),
        [
            ("SELECT n FROM svc.numbers WHERE n < 7", 7, 7, False),
            ("SELECT n FROM svc.numbers WHERE n < 8", 7, 7, True),
            ("SELECT TOP 7 n FROM svc.numbers", 7, 7, False),
            ("SELECT TOP 8 n FROM svc.numbers", 7, 7, True),
            ("SELECT n FROM svc.numbers", 0, 0, True),
            ("SELECT TOP 0 n FROM svc.numbers", 7, 0, False),
        ],
    )
    def test_maxrec(self, service: Any, query: str, maxrec: int, rows: int, overflow: bool) -> None:
        response = service.ask(query, MAXREC=maxrec, FORMAT="votable/td")
        assert response.text.count("<TR>") == rows
        assert ("OVERFLOW" in response.text) is overflow

    @pytest.mark.parametrize("form", ["csv", "fits", "parquet", "arrow", "json", "ecsv", "html", "text", "votable"])
    def test_the_headers_tell_the_limit_and_the_end_of_a_short_result(self, service: Any, form: str) -> None:
        cut = service.ask("SELECT n FROM svc.numbers", MAXREC=7, FORMAT=form)
        assert cut.headers["skyhouse-row-limit"] == "7"
        assert cut.headers["skyhouse-result-rows"] == str(NUMBERS)
        whole = service.ask("SELECT n FROM svc.numbers WHERE n < 7", MAXREC=7, FORMAT=form)
        assert whole.headers["skyhouse-row-limit"] == "7"
        if form != "votable":  # which reports the error at its end
            assert cut.headers["skyhouse-query-status"] == "OVERFLOW"
            assert whole.headers["skyhouse-query-status"] == "OK"

    def test_default_and_hard_limit(self, serve: Callable[..., Any]) -> None:
        small = serve(default_maxrec=5, hard_maxrec=10)
        query = "SELECT n FROM svc.numbers"
        assert "cut at 5 rows" in status_of(small.ask(query))[1][1]
        assert "cut at 10 rows" in status_of(small.ask(query, MAXREC=1000))[1][1]
        assert "A job gives more, with MAXREC up to 100000000" in status_of(small.ask(query, MAXREC=1000))[1][1]

    def test_time_limit_counts_the_engine_and_says_so(self, serve: Callable[..., Any], heavy: str) -> None:
        response = serve(sync_seconds=0.5).ask(heavy)
        assert response.status_code == 400
        [(value, text)] = status_of(response)
        assert value == "ERROR"
        assert "worked for 0.5 seconds on this query, the time limit of /sync" in text
        assert "Longer queries belong in /async" in text

    @pytest.mark.parametrize("form", ["outside of a star", "many columns", "many circles"])
    def test_time_limit_holds_whatever_the_query(
        self, serve: Callable[..., Any], svc_engine: Any, form: str, eventually: Callable[[Callable[[], bool]], None]
    ) -> None:
        """A killed query is removed from the engine, and the query of another client is answered."""
        hasty = serve(sync_seconds=0.5, concurrent_queries=1)
        response = hasty.ask(_write_slow_query(form), MAXREC=10_000_000, FORMAT="fits")
        assert response.status_code == 400
        assert "the time limit of /sync" in response.text
        assert hasty.ask("SELECT TOP 1 id FROM svc.stars", FORMAT="csv").status_code == 200
        running = "SELECT count() AS n FROM system.processes WHERE startsWith(Settings['log_comment'], 'sync-')"
        eventually(lambda: svc_engine.fetch_table(running).to_pylist() == [{"n": 0}])

    def test_memory_limit(self, serve: Callable[..., Any]) -> None:
        small = serve(query_memory=20_000_000)
        response = small.ask("SELECT ivo_string_agg(word, '') AS words FROM svc.numbers", FORMAT="csv")
        assert response.status_code == 400
        assert "needs more memory than this service allows for one query" in response.text
        assert "/async" in response.text

    def test_what_goes_to_disk(self, serve: Callable[..., Any]) -> None:
        words = "SELECT word, COUNT(*) AS c FROM svc.numbers GROUP BY word"
        response = serve(query_memory=20_000_000).ask(words, FORMAT="csv", MAXREC=2_000_000)
        assert response.text.count("\n") == NUMBERS + 1

    def test_when_too_many_wait(
        self, serve: Callable[..., Any], heavy: str, eventually: Callable[[Callable[[], bool]], None]
    ) -> None:
        busy = serve(concurrent_queries=1, waiting_queries=0, sync_seconds=1000)
        first = threading.Thread(target=busy.ask, args=(heavy,))
        first.start()
        eventually(lambda: busy.metric("skyhouse_lane_requests", lane="heavy", state="running") == 1)
        response = busy.ask(heavy)
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) > 0
        assert "accepts no more" in response.text
        for light in ("SELECT TOP 1 n FROM svc.numbers", "SELECT table_name FROM TAP_SCHEMA.tables"):
            assert busy.ask(light).status_code == 200
        busy.set_time_limit(0)
        first.join()


class TestErrors:
    def test_a_wrong_name_has_its_position(self, service: Any) -> None:
        response = service.ask("SELECT nn FROM svc.numbers", FORMAT="csv")
        assert response.status_code == 400
        assert response.headers["content-type"] == "application/x-votable+xml"
        assert "line 1, column 8" in status_of(response)[0][1]

    def test_pyvo_shows_the_message(self, service: Any) -> None:
        with pytest.raises(pyvo.dal.DALQueryError, match="line 1, column 1"):
            pyvo.dal.TAPService(service.tap).search("DUFF QUERY")

    @pytest.mark.parametrize(
        ("method", "path", "status", "said"),
        [
            ("GET", "/nothing", 404, "there is nothing at /tap/nothing"),
            ("DELETE", "/sync", 405, "DELETE is not allowed at /tap/sync; allowed: GET, POST"),
            ("HEAD", "/sync", 405, ""),
            ("GET", "/tables?detail=most", 400, "detail"),
            ("GET", "/tables/no.table", 404, "there is no table"),
        ],
    )
    def test_no_error_is_the_frameworks(self, service: Any, method: str, path: str, status: int, said: str) -> None:
        response = httpx.request(method, service.tap + path)
        assert response.status_code == status
        assert response.headers["content-type"] == "application/x-votable+xml"
        assert response.headers["server"].startswith("skyhouse/")
        assert said in response.text

    @pytest.mark.parametrize("request_line", [b"GET /tap/sync?QUERY=" + b"x" * 600_000, b"NONSENSE"])
    def test_what_is_no_http(self, service: Any, request_line: bytes) -> None:
        head, _, body = service.raw(request_line + b" HTTP/1.1\r\nHost: x\r\n\r\n").partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert b"server: skyhouse/" in head.lower()
        assert body.startswith(
            error_document(
                "this is not a valid HTTP request, or its address and headers are longer than 262144 bytes: "
                "send a long query by POST"
            )
        )


@pytest.fixture(scope="module")
def patient(serve: Callable[..., Any]) -> Any:
    return serve(sync_seconds=1000, hard_maxrec=10**9)


class TestMidStream:
    """The engine stops at its time limit, after the first rows were sent."""

    def test_a_votable_ends_well_formed_and_says_so(self, patient: Any) -> None:
        data = {"QUERY": LABORIOUS, "MAXREC": "1000000000"}
        with httpx.stream("POST", patient.sync, data=data, timeout=100) as response:
            assert response.status_code == 200
            patient.set_time_limit(0)
            response.read()
        said = status_of(response)
        assert [value for value, _ in said] == ["OK", "ERROR"]
        assert "the time limit of /sync" in said[1][1]
        [stream] = ElementTree.fromstring(response.content).iter("{http://www.ivoa.net/xml/VOTable/v1.3}STREAM")
        assert len(stream.text or "") > 1000

    @pytest.mark.parametrize(
        ("form", "beginning"),
        [
            ("csv", b"n,half\r\n"),
            ("json", b'{"metadata": '),
            ("parquet", b"PAR1"),
            ("arrow", b"\xff" * 4),
            ("ecsv", b"# "),
        ],
    )
    def test_others_are_broken_off(self, patient: Any, form: str, beginning: bytes) -> None:
        data = {"QUERY": LABORIOUS, "FORMAT": form, "MAXREC": "1000000000"}
        with httpx.stream("POST", patient.sync, data=data, timeout=100) as response:
            assert response.status_code == 200
            pieces = response.iter_bytes()
            assert next(pieces).startswith(beginning)
            patient.set_time_limit(0)
            with pytest.raises(httpx.RemoteProtocolError):
                deque(pieces, maxlen=0)

    @pytest.mark.parametrize("form", ["fits", "text"])
    def test_where_nothing_is_sent_before_the_end_there_is_an_error_instead(
        self, serve: Callable[..., Any], form: str
    ) -> None:
        hasty = serve(sync_seconds=0.5, hard_maxrec=10**9)
        response = hasty.ask(LABORIOUS, MAXREC=1_000_000_000, FORMAT=form)
        assert response.status_code == 400
        assert "the time limit of /sync" in response.text


class TestClientsThatLeave:
    @pytest.mark.parametrize("query", ["heavy", ENDLESS])
    def test_their_query_ends_in_the_engine(
        self,
        service: Any,
        svc_engine: Any,
        heavy: str,
        query: str,
        eventually: Callable[[Callable[[], bool]], None],
    ) -> None:
        before = service.metric("skyhouse_queries_total", status="GONE")
        data = {"QUERY": heavy if query == "heavy" else query, "MAXREC": "10000000", "FORMAT": "csv"}
        running = "SELECT count() AS n FROM system.processes WHERE startsWith(Settings['log_comment'], 'sync-')"
        with suppress(httpx.ReadTimeout), httpx.stream("POST", service.sync, data=data, timeout=1) as response:
            next(response.iter_raw())
        eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)
        assert svc_engine.fetch_table(running).to_pylist() == [{"n": 0}]
        assert service.metric("skyhouse_queries_total", status="GONE") == before + 1
        assert service.metric("skyhouse_spool_bytes", where="memory") == 0
        assert service.metric("skyhouse_spool_bytes", where="disk") == 0


class TestHeaders:
    def test_any_site_may_ask(self, service: Any) -> None:
        response = httpx.get(service.tap + "/capabilities", headers={"Origin": "https://example.org"})
        assert response.headers["access-control-allow-origin"] == "*"
        assert "Location" in response.headers["access-control-expose-headers"]
        asked_before = httpx.options(
            service.sync, headers={"Origin": "https://x.org", "Access-Control-Request-Method": "POST"}
        )
        assert asked_before.status_code == 204
        assert "POST" in asked_before.headers["access-control-allow-methods"]

    @pytest.mark.parametrize("path", ["/", "/tap", "/tap/", "/tap/sync", "/tap/availability", "/metrics", "/nothing"])
    def test_the_product_is_said(self, service: Any, path: str) -> None:
        assert re.fullmatch(r"skyhouse/[0-9.]+", httpx.get(service.url + path).headers["server"])


class TestQueryLog:
    def test_a_line_for_each_request(
        self, serve: Callable[..., Any], tmp_path: Path, eventually: Callable[[Callable[[], bool]], None]
    ) -> None:
        path = tmp_path / "queries.log"
        logged = serve(query_log=str(path))
        logged.ask("SELECT TOP 3 n\nFROM svc.numbers", RUNID="run\n7", FORMAT="csv", MAXREC="10")
        logged.ask("SELECT '\x07")
        logged.ask("SELECT 1", MAXREC="x")
        logged.ask("SELECT 1", RUNID="run\x1b[31m\n7")
        eventually(lambda: path.read_text().count("\n") == 4)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", path.read_text())
        ok, wrong, refused, steering = map(json.loads, path.read_text().splitlines())
        assert {key: ok[key] for key in ("runid", "client", "query", "lang", "maxrec", "format", "status", "rows")} == {
            "runid": "run\n7",
            "client": "127.0.0.1",
            "query": "SELECT TOP 3 n\nFROM svc.numbers",
            "lang": "ADQL",
            "maxrec": 10,
            "format": next(entry.mime for entry in FORMATS if entry.extension == "csv"),
            "status": "OK",
            "rows": 3,
        }
        assert ok["bytes"] == len("n\r\n") + 3 * len("0\r\n")
        assert {"translate", "first_batch", "engine", "total"} <= ok["milliseconds"].keys()
        assert (wrong["status"], refused["status"]) == ("ERROR", "REFUSED")
        assert "MAXREC=x" in refused["error"]
        assert (steering["status"], "U+001B" in steering["error"]) == ("REFUSED", True)

    def test_a_log_that_cannot_be_written_fails_no_query(
        self, serve: Callable[..., Any], eventually: Callable[[Callable[[], bool]], None]
    ) -> None:
        full = serve(query_log="/dev/full")
        assert full.ask("SELECT TOP 1 n FROM svc.numbers").status_code == 200
        eventually(lambda: full.metric("skyhouse_log_failures_total", log="query") == 1)


def test_shutdown(
    start_server: Any, svc_engine: Any, heavy: str, tmp_path: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Requests that outlast the grace period of a shutdown get an error, and a line in the log."""
    log = tmp_path / "queries.log"
    answers: list[httpx.Response] = []
    with start_server(
        Config(query_log=str(log), sync_seconds=60, jobs_path=tmp_path), svc_engine, grace_seconds=0
    ) as server:
        asking = threading.Thread(target=lambda: answers.append(server.ask(heavy)))
        asking.start()
        eventually(lambda: server.metric("skyhouse_queries_in_flight") == 1)
    asking.join()
    [answer] = answers
    assert answer.status_code == 503
    assert "the service is shutting down" in answer.text
    assert json.loads(log.read_text())["status"] in ("GONE", "ERROR")
