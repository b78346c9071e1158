"""Requests to /async: UWS 1.1 in the way clients use it."""

from __future__ import annotations

import datetime
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import pyvo

from tap_service.models.timestamps import add_seconds, format_instant, now
from tests.support.running_service import RunningService
from tests.support.service_tables import NUMBERS
from tests.tap_service.async_client import ENDLESS, HREF, NIL, UWS, Job, create_job

THREE = "SELECT n FROM svc.numbers WHERE n < 3 ORDER BY n"
ROWS = "n\r\n0\r\n1\r\n2\r\n"
INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def serve(request: pytest.FixtureRequest, serve: Callable[..., RunningService]) -> Callable[..., RunningService]:
    """The same tests run on both deployments."""
    return serve if request.param == "embedded" else request.getfixturevalue("serve_cluster")


@pytest.fixture(scope="module")
def service(serve: Callable[..., RunningService]) -> RunningService:
    return serve()


@pytest.fixture
def running(service: RunningService, eventually: Eventually) -> Any:
    """Start a query that never ends, and destroy it after the test."""
    jobs: list[Job] = []

    def start(query: str = ENDLESS, **parameters: Any) -> Job:
        job = create_job(service.tap, query, FORMAT="csv", MAXREC="100000000", PHASE="RUN", **parameters)
        jobs.append(job)
        eventually(lambda: in_engine(service, job) == 1)
        return job

    yield start
    for job in jobs:
        job.delete()
    eventually(lambda: all(in_engine(service, job) == 0 for job in jobs))


def in_engine(service: RunningService, job: Job) -> int:
    ident = job.url.rsplit("/", 1)[1]
    found = service.engine.fetch_table(
        f"SELECT count() AS n FROM system.processes WHERE startsWith(Settings['log_comment'], 'async-{ident}')"
    )
    return found.to_pylist()[0]["n"]


class TestLife:
    def test_step_by_step(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE, FORMAT="csv", RUNID="a run")
        assert re.fullmatch(re.escape(service.tap) + "/async/[0-9a-f]{32}", job.url)
        assert job.phase == "PENDING"
        assert job.element_text("startTime") is job.element_text("endTime") is None
        assert job.run().wait_for_end() == "COMPLETED"
        summary = job.summary
        assert summary.get("version") == "1.1"
        assert summary.findtext(UWS + "runId") == "a run"
        assert summary.find(UWS + "ownerId").get(NIL) == "true"
        instants = [
            summary.findtext(UWS + name) or "" for name in ("creationTime", "startTime", "endTime", "destruction")
        ]
        assert all(re.fullmatch(INSTANT, instant) for instant in instants)
        assert instants == sorted(instants)
        [result] = summary.findall(f"{UWS}results/{UWS}result")
        assert (result.get("id"), result.get(HREF)) == ("result", job.url + "/results/result")
        assert (result.get("size"), result.get("mime-type")) == (
            str(len(ROWS)),
            "text/csv;header=present;charset=utf-8",
        )
        assert job.rows() == ROWS
        assert ElementTree.fromstring(job.get("/results").content).find(UWS + "result").attrib == result.attrib

    def test_the_creation_may_start_it(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE, FORMAT="csv", phase="run")
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows() == ROWS
        assert [parameter.get("id") for parameter in job.summary.iter(UWS + "parameter")] == ["LANG", "QUERY", "FORMAT"]

    def test_a_client_that_follows_where_it_is_sent(self, service: RunningService) -> None:
        """astroquery follows the redirect of the POST that starts a job."""
        asked = {"REQUEST": "doQuery", "LANG": "ADQL", "FORMAT": "csv", "phase": "RUN", "QUERY": THREE}
        answer = httpx.post(f"{service.tap}/async", data=asked, follow_redirects=True)
        summary = ElementTree.fromstring(answer.content)
        job = Job(str(answer.url))
        assert summary.findtext(UWS + "jobId") == job.url.rsplit("/", 1)[1]
        assert summary.findtext(UWS + "phase") in ("QUEUED", "EXECUTING", "COMPLETED")
        assert job.wait_for_end() == "COMPLETED"
        assert job.rows() == ROWS

    def test_a_job_without_anything(self, service: RunningService) -> None:
        job = create_job(service.tap)
        assert job.phase == "PENDING"
        assert job.run().wait_for_end() == "ERROR"
        assert "the parameter QUERY is missing" in job.message

    def test_parts_as_text(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE)
        for path, pattern in {
            "/phase": "PENDING",
            "/executionduration": "3600",
            "/destruction": INSTANT,
            "/quote": "",
            "/owner": "",
        }.items():
            response = job.get(path)
            assert response.headers["content-type"] == "text/plain; charset=utf-8", path
            assert re.fullmatch(pattern, response.text), (path, response.text)
            assert response.headers["cache-control"] == "no-store"
            head = httpx.head(job.url + path)
            assert (head.status_code, head.content) == (200, b"")

    def test_a_result_in_every_way(self, service: RunningService) -> None:
        job = create_job(service.tap, "SELECT TOP 100000 n FROM svc.numbers ORDER BY n", FORMAT="csv", PHASE="RUN")
        assert job.wait_for_end() == "COMPLETED"
        whole = job.get("/results/result", headers={"Accept-Encoding": "identity"})
        assert whole.text.split() == ["n", *map(str, range(100_000))]
        assert whole.headers["content-disposition"] == 'inline; filename="result.csv"'
        assert whole.headers["accept-ranges"] == "bytes"
        size = len(whole.content)
        for asked, start, end in [
            ("bytes=0-9", 0, 10),
            ("bytes=100-", 100, size),
            ("bytes=-7", size - 7, size),
            (f"bytes=10-{10**15}", 10, size),
            (f"bytes=-{10**15}", 0, size),
        ]:
            part = job.get("/results/result", headers={"Range": asked, "If-Range": whole.headers["etag"]})
            assert (part.status_code, part.content) == (206, whole.content[start:end]), asked
            assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
        for asked in ("bytes=5-4", "bytes=0-1,3-4", "lines=1-2", "bytes=-", "bytes=x-"):
            assert job.get("/results/result", headers={"Range": asked}).content == whole.content
        for asked in (f"bytes={size}-", "bytes=-0"):
            beyond = job.get("/results/result", headers={"Range": asked})
            assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        other = job.get("/results/result", headers={"Range": "bytes=0-9", "If-Range": '"another"'})
        assert other.content == whole.content
        known = job.get("/results/result", headers={"If-None-Match": f'"x", W/{whole.headers["etag"]}'})
        assert (known.status_code, known.content) == (304, b"")
        etag = whole.headers["etag"]
        for name, value, status in [
            ("If-None-Match", "*", 304),
            ("If-None-Match", '"x"', 200),
            ("If-Match", f'"x", {etag}', 200),
            ("If-Match", "*", 200),
            ("If-Match", '"x"', 412),
            ("If-Match", f"W/{etag}", 412),
            ("If-Range", f"W/{etag}", 200),
            ("If-Range", "Wed, 21 Oct 2015 07:28:00 GMT", 200),
        ]:
            answer = job.get(
                "/results/result", headers={name: value, "Range": "bytes=0-3"} if name == "If-Range" else {name: value}
            )
            assert answer.status_code == status, (name, value)
            assert answer.content == (whole.content if status == 200 else b"")
        head = httpx.head(job.url + "/results/result")
        assert (head.status_code, head.headers["content-length"], head.content) == (200, str(size), b"")

    def test_pyvo(self, service: RunningService) -> None:
        tap = pyvo.dal.TAPService(service.tap)
        assert tap.run_async(THREE).to_table()["n"].tolist() == [0, 1, 2]
        with tap.submit_job("SELECT 1 AS one FROM svc.numbers", maxrec=1) as job:
            job.query = "SELECT TOP 1 n + 41 AS answer FROM svc.numbers ORDER BY n"
            job.execution_duration = 77
            job.destruction = datetime.datetime(2027, 1, 1)
            assert job.execution_duration.sec == 77
            assert job.destruction <= datetime.datetime.now() + datetime.timedelta(days=30, hours=24)
            assert job.quote is None
            assert job.owner is None
            assert job.uws_version == "1.1"
            job.run().wait()
            assert job.phase == "COMPLETED"
            assert job.fetch_result().to_table()["answer"].tolist() == [41]
            assert job.job.jobinfo["work"]["rowsWritten"].text == "1"
        with pytest.raises(pyvo.DALQueryError, match="line 1, column 8: there is no column nn"):
            tap.run_async("SELECT nn FROM svc.numbers")
        assert tap.get_job_list(phases=["COMPLETED"], after=datetime.datetime(2026, 1, 1), last=5) == []

    def test_pyvo_aborts(self, service: RunningService) -> None:
        job = pyvo.dal.TAPService(service.tap).submit_job(ENDLESS, maxrec=100_000_000).run()
        job.abort()
        assert job.phase == "ABORTED"
        with pytest.raises(pyvo.DALQueryError):
            job.fetch_result()
        job.delete()


class TestErrors:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"QUERY": "SELECT nn\nFROM svc.numbers"},
            {"QUERY": "DUFF QUERY"},
            {"QUERY": THREE, "LANG": "OOBLECK"},
            {"QUERY": THREE, "MAXREC": "many"},
            {"QUERY": [THREE, THREE]},
            {"QUERY": THREE, "FORMAT": "png"},
            {"QUERY": THREE, "UPLOAD": "t,http://127.0.0.1/t.vot"},
            {"QUERY": THREE, "UPLOAD": "t,param:none"},
            {"QUERY": "SELECT CAST(word AS INTEGER) AS x FROM svc.numbers WHERE n = 5"},
            {"REQUEST": "getCapabilities"},
            {"QUERY": "SELECT '\x00</uws:message>\x01' FROM svc.nothing"},
        ],
    )
    def test_the_same_words_as_sync(self, service: RunningService, parameters: dict[str, Any]) -> None:
        job = create_job(service.tap, **parameters)
        assert job.run().wait_for_end() == "ERROR"
        at_once = httpx.post(service.sync, data=parameters)
        assert at_once.status_code == 400
        pattern = r'<INFO name="QUERY_STATUS" value="ERROR">(.*?)</INFO>'
        [said] = re.findall(pattern, at_once.text, re.DOTALL)
        document = job.get("/error")
        assert (document.status_code, document.headers["content-type"]) == (200, "application/x-votable+xml")
        assert re.findall(pattern, document.text, re.DOTALL) == [said]
        summary = job.summary.find(UWS + "errorSummary")
        assert (summary.get("type"), summary.get("hasDetail")) == ("fatal", "true")
        assert job.message == ElementTree.fromstring(f"<m>{said}</m>").text
        assert job.get("/results/result").status_code == 404
        assert list(ElementTree.fromstring(job.get("/results").content)) == []

    def test_an_error_in_mid_stream_leaves_no_partial_result(self, service: RunningService, running: Any) -> None:
        """A query is stopped at its execution duration after millions of rows."""
        job = running(EXECUTIONDURATION="1")
        assert job.wait_for_end() == "ABORTED"
        assert "the job reached its execution duration of 1 seconds" in job.message
        assert job.get("/error").status_code == 200
        assert job.get("/results/result").status_code == 404
        stored = service.server.config.app.state.services.stores.results
        eventually_gone = time.monotonic() + 20
        while stored.list_keys(0) and any(job.url.rsplit("/", 1)[1] in key for key in stored.list_keys(0)):
            assert time.monotonic() < eventually_gone

    def test_nothing_was_wrong(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE)
        assert job.get("/error").status_code == 404
        assert job.run().wait_for_end() == "COMPLETED"
        assert job.get("/error").status_code == 404
        assert job.summary.find(UWS + "errorSummary") is None

    @pytest.mark.parametrize(
        ("method", "path", "data", "status", "said"),
        [
            ("GET", "/async/nothing", None, 404, "there is no job"),
            ("POST", "/async/nothing/phase", {"PHASE": "RUN"}, 404, "there is no job"),
            ("DELETE", "/async/nothing", None, 404, "there is no job"),
            ("PUT", "/async", None, 405, "PUT is not allowed at /tap/async; allowed: GET, HEAD, POST"),
            ("POST", "/async", {"PHASE": "ABORT"}, 400, "RUN starts it"),
            ("POST", "/async", {"EXECUTIONDURATION": "-1"}, 400, "a number of seconds"),
            ("POST", "/async", {"DESTRUCTION": "tomorrow"}, 400, "write an instant as in"),
            ("GET", "/async?PHASE=DONE", None, 400, "the phases are: PENDING,"),
            ("GET", "/async?LAST=0", None, 400, "a number of jobs above 0"),
            ("GET", "/async?AFTER=yesterday", None, 400, "write an instant as in"),
            ("GET", "/async?AFTER=202602", None, 400, "write an instant as in"),
            ("GET", "/async?AFTER=20260230", None, 400, "there is no such instant"),
        ],
    )
    def test_requests_that_are_wrong(
        self, service: RunningService, method: str, path: str, data: Any, status: int, said: str
    ) -> None:
        response = httpx.request(method, service.tap + path, data=data)
        assert response.status_code == status
        assert response.headers["content-type"] == "application/x-votable+xml"
        assert said in response.text

    @pytest.mark.parametrize(
        ("path", "data", "status"),
        [
            ("/phase", {"PHASE": "STOP"}, 400),
            ("/phase", {}, 400),
            ("/phase", {"PHASE": ["RUN", "RUN"]}, 400),
            ("/executionduration", {"EXECUTIONDURATION": "long"}, 400),
            ("/executionduration", {"DURATION": "1"}, 400),
            ("/destruction", {"DESTRUCTION": ""}, 400),
            ("/parameters", {"PHASE": "RUN"}, 400),
            ("/parameters", {"QUERY": "x" * 7_000_000}, 413),
            ("", {"QUERY": THREE}, 403),
            ("", {"ACTION": "ABORT"}, 403),
            ("/quote", {"QUOTE": "now"}, 405),
            ("/owner", {"OWNER": "me"}, 405),
            ("/results/result", {"x": "y"}, 405),
        ],
    )
    def test_what_a_job_does_not_take(self, service: RunningService, path: str, data: Any, status: int) -> None:
        job = create_job(service.tap, THREE)
        before = job.get().text
        assert job.post(path, **data).status_code == status
        assert job.get().text == before


class TestPhases:
    def test_an_ended_job_stays_as_it_is(self, service: RunningService, running: Any) -> None:
        aborted, failed = running(), create_job(service.tap, "DUFF", PHASE="RUN")
        completed = create_job(service.tap, THREE, PHASE="RUN")
        assert aborted.post("/phase", PHASE="ABORT").status_code == 303
        assert (failed.wait_for_end(), completed.wait_for_end()) == ("ERROR", "COMPLETED")
        for job, phase in ((aborted, "ABORTED"), (failed, "ERROR"), (completed, "COMPLETED")):
            for path, data in (
                ("/phase", {"PHASE": "RUN"}),
                ("/phase", {"PHASE": "ABORT"}),
                ("/parameters", {"QUERY": "SELECT 1"}),
                ("/executionduration", {"EXECUTIONDURATION": "10"}),
            ):
                refused = job.post(path, **data)
                assert refused.status_code == 403
                assert f"the job is {phase}" in refused.text
            assert job.phase == phase
            assert job.post("/destruction", DESTRUCTION="2100-01-01T00:00:00Z").status_code == 303
        assert aborted.get("/error").status_code == 404

    def test_a_running_job(self, running: Any) -> None:
        job = running()
        assert job.phase == "EXECUTING"
        assert job.post("/phase", PHASE="RUN").status_code == 403
        assert job.post("/parameters", MAXREC="1").status_code == 403
        assert job.post("/executionduration", EXECUTIONDURATION="7000").status_code == 303
        assert (job.element_text("executionDuration"), job.element_text("endTime")) == ("7000", None)
        assert job.get("/results/result").status_code == 404

    def test_abort_kills_the_query(
        self, service: RunningService, running: Any, heavy: str, eventually: Eventually
    ) -> None:
        job = running(heavy)
        answer = job.post("/phase", PHASE="ABORT")
        assert (answer.status_code, answer.headers["location"]) == (303, job.url)
        assert job.phase == "ABORTED"
        eventually(lambda: in_engine(service, job) == 0)
        assert re.fullmatch(INSTANT, job.element_text("endTime") or "")

    def test_abort_before_anything(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE)
        assert job.post("/phase", PHASE="ABORT").status_code == 303
        assert job.phase == "ABORTED"

    def test_abort_in_the_queue(self, serve: Callable[..., RunningService]) -> None:
        narrow = serve(concurrent_jobs=1, user_running_jobs=1)
        first = create_job(narrow.tap, ENDLESS, MAXREC="100000000", PHASE="RUN")
        second = create_job(narrow.tap, THREE, PHASE="RUN")
        third = create_job(narrow.tap, THREE, PHASE="RUN", FORMAT="csv")
        assert second.phase == "QUEUED"
        second.post("/phase", PHASE="ABORT")
        first.delete()
        assert third.wait_for_end() == "COMPLETED"
        assert second.phase == "ABORTED"

    def test_progress(self, running: Any, heavy: str, eventually: Eventually) -> None:
        job = running()
        eventually(lambda: int(job.info.get("rowsWritten") or 0) > 0 and job.info.get("stage") == "joining")
        info = job.info
        assert int(info["rowsExpected"] or 0) >= int(info["rowsRead"] or 0) > 0
        assert 0 <= int(info["percent"] or -1) < 100
        assert float(info["seconds"] or 0) > 0
        assert int(info["bytesRead"] or 0) > 0
        assert "peakMemory" in info

    def test_a_result_that_was_cut(self, service: RunningService) -> None:
        job = create_job(service.tap, "SELECT n FROM svc.numbers", MAXREC="7", PHASE="RUN")
        assert job.wait_for_end() == "COMPLETED"
        assert "The result was cut at 7 rows" in job.rows()
        assert "MAXREC, up to 100000000" in job.rows()
        assert {
            "rowsWritten": "7",
            "rowLimit": "7",
            "queryStatus": "OVERFLOW",
            "resultRowsForeseen": str(NUMBERS),
            "resultRowsPrecision": "exact",
            "percent": "100",
        }.items() <= job.info.items()
        assert "The result was cut at 7 rows" in (job.info["warning"] or "")
        assert f"The query gives {NUMBERS:,} rows" in (job.info["warning"] or "")


class TestParameters:
    def test_they_can_be_given_bit_by_bit(self, service: RunningService) -> None:
        job = create_job(service.tap, "SELECT nothing", custom="<kept>")
        for data in ({"query": THREE}, {"Format": "tsv", "MAXREC": "2"}, {"FORMAT": "csv", "MAXREC": "10"}):
            answer = job.post("/parameters", **data)
            assert (answer.status_code, answer.headers["location"]) == (303, job.url)
        listed = ElementTree.fromstring(job.get("/parameters").content)
        given = [(each.get("id"), each.text) for each in listed]
        assert given == [("LANG", "ADQL"), ("custom", "<kept>"), ("QUERY", THREE), ("FORMAT", "csv"), ("MAXREC", "10")]
        assert job.run().wait_for_end() == "COMPLETED"
        assert job.rows() == ROWS

    def test_uploads_accumulate(self, service: RunningService) -> None:
        job = create_job(service.tap, UPLOAD="a,http://x/a")
        job.post("/parameters", UPLOAD="b,http://x/b")
        assert [each.text for each in job.summary.iter(UWS + "parameter")] == ["a,http://x/a", "b,http://x/b"]

    def test_the_run_id(self, service: RunningService) -> None:
        job = create_job(service.tap, RUNID="one")
        job.post("/parameters", runId="two & three")
        assert job.element_text("runId") == "two & three"

    def test_odd_bytes(self, service: RunningService) -> None:
        """Job documents keep unusual characters that XML can represent."""
        odd = "\x00\x0b<a>&\"'\ud7ff\uffff\r\n\t]]>"
        told = "\ufffd\ufffd<a>&\"'\ud7ff\ufffd\r\n\t]]>"
        job = create_job(service.tap, f"SELECT {odd}", RUNID="r" * 10_000, **{odd: odd})
        assert job.element_text("runId") == "r" * 10_000
        given = [(each.get("id"), each.text) for each in ElementTree.fromstring(job.get("/parameters").content)]
        assert given == [("LANG", "ADQL"), ("QUERY", f"SELECT {told}"), ("RUNID", "r" * 10_000), (told, told)]
        assert job.run().wait_for_end() == "ERROR"
        assert "\x00" not in job.get("/error").text

    def test_thousands(self, service: RunningService) -> None:
        many = {f"p{number}": "v" for number in range(990)}
        job = create_job(service.tap, THREE, FORMAT="csv", **many)
        assert len(job.summary.findall(f"{UWS}parameters/{UWS}parameter")) == 993
        assert job.run().wait_for_end() == "COMPLETED"
        too_many = httpx.post(f"{service.tap}/async", data={**many, **{f"q{number}": "v" for number in range(990)}})
        assert too_many.status_code == 400
        assert "more than 1000 parameters" in too_many.text

    def test_in_the_address_and_as_multipart(self, service: RunningService) -> None:
        response = httpx.post(f"{service.tap}/async", params={"QUERY": THREE}, files={"FORMAT": (None, "csv")})
        job = Job(response.headers["location"])
        assert job.run().wait_for_end() == "COMPLETED"
        assert job.rows() == ROWS


class TestLimits:
    def test_execution_duration(self, serve: Callable[..., RunningService]) -> None:
        strict = serve(async_seconds=10, async_hard_seconds=100)
        job = create_job(strict.tap, THREE)
        for asked, given in (("50", "50"), ("101", "100"), ("0", "100"), ("9" * 18, "100"), (" 1 ", "1")):
            answer = job.post("/executionduration", EXECUTIONDURATION=asked)
            assert (answer.status_code, answer.headers["location"]) == (303, job.url)
            assert job.get("/executionduration").text == job.element_text("executionDuration") == given
        assert create_job(strict.tap, EXECUTIONDURATION="5").element_text("executionDuration") == "5"

    def test_destruction(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE)
        wanted = add_seconds(now(), 3600)
        whole = format_instant(wanted)
        basic = whole.replace("-", "").replace(":", "")
        for asked in (whole, whole.replace("Z", "+00:00"), whole[:-1], basic):
            answer = job.post("/destruction", DESTRUCTION=asked)
            assert (answer.status_code, answer.headers["location"]) == (303, job.url)
            assert job.get("/destruction").text == job.element_text("destruction") == whole
        before = now()
        job.post("/destruction", DESTRUCTION="9999-12-31")
        assert (
            format_instant(add_seconds(before, 30 * 86_400))
            <= job.get("/destruction").text
            <= format_instant(add_seconds(now(), 30 * 86_400))
        )

    def test_a_destroyed_job_is_forgotten(self, service: RunningService, running: Any, eventually: Eventually) -> None:
        done, busy = create_job(service.tap, THREE, PHASE="RUN"), running()
        done.wait_for_end()
        for job in (done, busy):
            job.post("/destruction", DESTRUCTION=format_instant(now()))
            for path in ("", "/phase", "/results/result", "/parameters"):
                assert job.get(path).status_code == 404
        stored = service.server.config.app.state.services.stores.results
        eventually(lambda: not {job.url.rsplit("/", 1)[1] + "-1" for job in (done, busy)} & set(stored.list_keys(0)))
        eventually(lambda: in_engine(service, busy) == 0)

    def test_rows(self, serve: Callable[..., RunningService]) -> None:
        small = serve(default_maxrec=5, hard_maxrec=10, async_hard_maxrec=20)
        query = "SELECT n FROM svc.numbers"
        for maxrec, rows in (({}, 5), ({"MAXREC": "15"}, 15), ({"MAXREC": "1000"}, 20)):
            job = create_job(small.tap, query, FORMAT="csv", PHASE="RUN", **maxrec)
            assert job.wait_for_end() == "COMPLETED"
            assert len(job.rows().split()) == 1 + rows

    def test_they_are_declared(self, service: RunningService) -> None:
        document = ElementTree.fromstring(httpx.get(service.tap + "/capabilities").content)
        declared = {
            name: [part.text for part in next(document.iter(name))] for name in ("retentionPeriod", "executionDuration")
        }
        assert declared == {"retentionPeriod": ["604800", "2592000"], "executionDuration": ["3600", "86400"]}


class TestDelete:
    @pytest.mark.parametrize("how", ["DELETE", "ACTION"])
    @pytest.mark.parametrize("phase", ["PENDING", "EXECUTING", "COMPLETED"])
    def test_a_job_goes_with_all_it_has(
        self, service: RunningService, running: Any, eventually: Eventually, how: str, phase: str
    ) -> None:
        job = running() if phase == "EXECUTING" else create_job(service.tap, THREE)
        if phase == "COMPLETED":
            job.run().wait_for_end()
        answer = job.delete() if how == "DELETE" else job.post("", ACTION="DELETE")
        assert (answer.status_code, answer.headers["location"]) == (303, service.tap + "/async")
        assert job.get().status_code == job.delete().status_code == 404
        eventually(lambda: in_engine(service, job) == 0)
        stored = service.server.config.app.state.services.stores.results
        eventually(lambda: job.url.rsplit("/", 1)[1] + "-1" not in stored.list_keys(0))


class TestWait:
    def test_it_comes_back_with_the_change(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE)
        timer_ran: list[Job] = []
        starter = threading.Timer(0.3, lambda: timer_ran.append(job.run()))
        starter.start()
        answer = job.get(params={"WAIT": "50"})
        starter.join()
        assert ElementTree.fromstring(answer.content).findtext(UWS + "phase") != "PENDING"

    def test_it_comes_back_after_its_time(self, running: Any) -> None:
        job = running()
        answer = job.get(params={"wait": "1", "phase": "executing"})
        assert ElementTree.fromstring(answer.content).findtext(UWS + "phase") == "EXECUTING"

    def test_it_is_capped(self, running: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tap_service.services.jobs.job_service.MAX_WAIT_SECONDS", 0.2)
        job = running()
        for seconds in ("-1", "100000"):
            answer = job.get(params={"WAIT": seconds})
            assert ElementTree.fromstring(answer.content).findtext(UWS + "phase") == "EXECUTING"

    @pytest.mark.parametrize("wait", ["-2", "soon", "1.5"])
    def test_what_is_no_time(self, service: RunningService, wait: str) -> None:
        assert create_job(service.tap).get(params={"WAIT": wait}).status_code == 400

    def test_at_once_in_another_phase_or_at_the_end(self, service: RunningService) -> None:
        job = create_job(service.tap, THREE)
        assert job.get(params={"WAIT": "-1", "PHASE": "QUEUED"}).status_code == 200
        job.run().wait_for_end()
        for parameters in ({"WAIT": "60"}, {"WAIT": "60", "PHASE": "COMPLETED"}, {"WAIT": "60", "PHASE": "EXECUTING"}):
            assert job.get(params=parameters).status_code == 200

    def test_a_job_that_is_destroyed_meanwhile(self, service: RunningService) -> None:
        job = create_job(service.tap)
        threading.Timer(0.3, job.delete).start()
        assert job.get(params={"WAIT": "-1"}).status_code == 404


def test_the_list_of_nobody_is_empty(service: RunningService) -> None:
    create_job(service.tap)
    after = ("2026-01-01T00:00", "2026-01-01", "20151026", "2015-10", "2015", "20151026T101112.5Z")
    for filters in ("", "?PHASE=PENDING&PHASE=completed", "?LAST=5", *(f"?AFTER={instant}" for instant in after)):
        response = httpx.get(f"{service.tap}/async{filters}")
        assert response.headers["content-type"] == "application/xml"
        listed = ElementTree.fromstring(response.content)
        assert (listed.tag, listed.get("version"), len(listed)) == (UWS + "jobs", "1.1", 0)


def test_the_query_log_has_jobs_too(
    serve: Callable[..., RunningService], tmp_path: Path, eventually: Eventually
) -> None:
    logged = serve(query_log=str(tmp_path / "log"))
    job = create_job(logged.tap, THREE, RUNID="r", PHASE="RUN")
    job.wait_for_end()
    eventually(lambda: (tmp_path / "log").read_text().count("\n") == 1)
    line = (tmp_path / "log").read_text()
    assert f'"query_id": "async-{job.url.rsplit("/", 1)[1]}-1"' in line
    assert '"runid": "r"' in line
    assert '"rows": 3' in line
