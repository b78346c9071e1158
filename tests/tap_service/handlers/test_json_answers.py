"""Clients that prefer JSON get the XML answers as JSON; errors become problem details (RFC 9457)."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from tests.support.running_service import RunningService
from tests.tap_service.async_client import UWS, Job, create_job
from tests.tap_service.users import User, temporary_user

JSON = {"Accept": "application/json"}
QUERY = "SELECT TOP 3 id, name FROM svc.stars ORDER BY id"


def get_json(url: str, **options: Any) -> Any:
    answer = httpx.get(url, headers=JSON, **options)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), answer.text
    assert "Accept" in answer.headers["vary"]
    return answer.json()


@pytest.fixture(scope="module")
def job(service: RunningService) -> Job:
    found = create_job(service.tap, QUERY, PHASE="RUN", RUNID="three", NOTE="for the test")
    found.wait_for_end()
    return found


class TestJobs:
    def test_a_job_says_what_its_xml_says(self, job: Job) -> None:
        told = get_json(job.url)
        summary = job.summary
        for name in ("jobId", "runId", "phase", "creationTime", "startTime", "endTime", "destruction"):
            assert told[name] == summary.findtext(UWS + name), name
        assert told["executionDuration"] == int(summary.findtext(UWS + "executionDuration") or "")
        assert told["ownerId"] is None
        assert told["errorSummary"] is None
        assert {each["id"]: each["value"] for each in told["parameters"]}["QUERY"] == QUERY
        assert {name: str(value) for name, value in told["jobInfo"].items()} == job.info
        [result] = told["results"]
        assert result["href"] == f"{job.url}/results/result"
        assert result["size"] == len(httpx.get(result["href"]).content)

    @pytest.mark.parametrize(
        ("path", "member"),
        [
            ("phase", "phase"),
            ("executionduration", "executionDuration"),
            ("destruction", "destruction"),
            ("name", "runId"),
            ("quote", "quote"),
            ("owner", "ownerId"),
            ("parameters", "parameters"),
            ("results", "results"),
        ],
    )
    def test_each_property_is_a_member_of_the_job(self, job: Job, path: str, member: str) -> None:
        assert get_json(f"{job.url}/{path}") == {member: get_json(job.url)[member]}

    def test_the_note(self, job: Job) -> None:
        assert get_json(f"{job.url}/note") == {"note": "for the test"}

    def test_the_list(self, service: RunningService, own: RunningService) -> None:
        user = User(own, "alice")
        jobs = [create_job(own.tap, "SELECT 1 AS a", user.auth, RUNID=f"{number}") for number in range(2)]
        listed = get_json(f"{own.tap}/async", auth=user.auth, params={"LAST": 2})["jobs"]
        assert [each["href"] for each in listed] == [each.url for each in reversed(jobs)]
        assert (listed[0]["runId"], listed[0]["ownerId"], listed[0]["phase"]) == ("1", "alice", "PENDING")
        assert get_json(f"{service.tap}/async") == {"jobs": []}

    def test_the_preview(self, job: Job) -> None:
        told = get_json(f"{job.url}/preview")
        assert [column["name"] for column in told["columns"]] == ["id", "name"]
        assert told["data"] == [[0, "Stérn 0"], [1, "Stérn 1"], [2, "Stérn 2"]]
        assert told["status"]["value"] == "OVERFLOW"
        votable = httpx.get(f"{job.url}/preview")
        assert votable.headers["content-type"].startswith("application/x-votable+xml")
        assert "Stérn 2" in votable.text

    def test_a_new_job_is_where_the_redirect_leads(self, service: RunningService) -> None:
        with httpx.Client(headers=JSON, follow_redirects=True) as client:
            made = client.post(f"{service.tap}/async", data={"QUERY": QUERY}).json()
            assert made["phase"] == "PENDING"
            assert client.post(f"{made['href']}/phase", data={"PHASE": "ABORT"}).json()["phase"] == "ABORTED"

    def test_an_error_has_its_position(self, service: RunningService) -> None:
        failed = create_job(service.tap, "SELECT n,\n  hlaf\nFROM svc.numbers", PHASE="RUN")
        assert failed.wait_for_end() == "ERROR"
        error = get_json(failed.url)["errorSummary"]
        [found] = error["errors"]
        assert (found["line"], found["column"], found["endColumn"]) == (2, 3, 7)
        assert error["message"] == failed.message
        assert error["type"] == "fatal"
        assert get_json(f"{failed.url}/error") == error


class TestTables:
    def test_all_tables(self, service: RunningService) -> None:
        told = get_json(f"{service.tap}/tables")
        root = ElementTree.fromstring(httpx.get(f"{service.tap}/tables").content)
        assert [
            (schema["name"], table["name"], column["name"], column["datatype"], column["unit"])
            for schema in told["schemas"]
            for table in schema["tables"]
            for column in table["columns"]
        ] == [
            (
                schema.findtext("name"),
                table.findtext("name"),
                column.findtext("name"),
                column.findtext("dataType"),
                column.findtext("unit", ""),
            )
            for schema in root.iter("schema")
            for table in schema.iter("table")
            for column in table.iter("column")
        ]

    def test_without_columns(self, service: RunningService) -> None:
        told = get_json(f"{service.tap}/tables", params={"detail": "min"})
        tables = {table["name"]: table for schema in told["schemas"] for table in schema["tables"]}
        assert tables["svc.stars"]["columns"] is None
        assert tables["svc.stars"]["description"] == "Stars on a grid of one degree"

    def test_one_table(self, service: RunningService) -> None:
        told = get_json(f"{service.tap}/tables/SVC.stars")
        assert told["name"] == "svc.stars"
        [ra] = [column for column in told["columns"] if column["name"] == "ra"]
        assert (ra["datatype"], ra["unit"], ra["ucd"]) == ("double", "deg", "pos.eq.ra;meta.main")
        keys = get_json(f"{service.tap}/tables/TAP_SCHEMA.columns")["foreignKeys"]
        assert {"fromColumn": "table_name", "targetColumn": "table_name"} in [
            pair for key in keys for pair in key["fkColumns"]
        ]

    def test_tables_of_the_user(self, own: RunningService) -> None:
        own.refresh()  # both answers are about the same tables, even if other tests have dropped some
        with temporary_user(own, "bob") as bob:
            made = bob.http("PUT", "tables/mydb.mine", content="a\n1\n", headers={**JSON, "Content-Type": "text/csv"})
            assert (made.status_code, made.json()["name"]) == (201, "mydb.mine")
            for detail in ("min", "max"):
                told = get_json(f"{own.tap}/tables", params={"detail": detail}, auth=bob.auth)
                assert [table["name"] for table in told["schemas"][-1]["tables"]] == ["mydb.mine"]
                assert told["schemas"][:-1] == get_json(f"{own.tap}/tables", params={"detail": detail})["schemas"]
            assert "mydb" not in httpx.get(f"{own.tap}/tables", headers=JSON).text


class TestService:
    def test_availability(self, service: RunningService) -> None:
        told = get_json(f"{service.tap}/availability")
        assert told["available"] is True
        assert told["notes"] == ["queries are taken, by /sync and /async"]

    def test_capabilities(self, serve: Any, accounts: Any) -> None:
        service = serve(accounts=accounts, sync_seconds=2.5)
        told = get_json(f"{service.tap}/capabilities")
        root = ElementTree.fromstring(httpx.get(f"{service.tap}/capabilities").content)
        assert [each["standardId"] for each in told["capabilities"]] == [
            each.get("standardID") for each in root.iter("capability")
        ]
        assert told["capabilities"][0]["interface"]["securityMethods"][:2] == ["", "ivo://ivoa.net/sso#BasicAA"]
        access = told["tableAccess"]
        assert {"mime": "application/json", "aliases": ["json"], "ivoId": ""} in access["outputFormats"]
        assert access["languages"][0]["versions"] == ["2.0", "2.1"]
        assert {"forMode": "sync", "default": 3, "hard": 3} in access["executionDuration"]
        assert {"forMode": "async", "default": 100_000, "hard": 100_000_000} in access["outputLimit"]
        assert "forMode" not in httpx.get(f"{service.tap}/capabilities").text


class TestErrors:
    def test_an_error_of_adql(self, service: RunningService) -> None:
        answer = httpx.get(service.sync, params={"QUERY": "SELECT n,\n hlaf FROM svc.numbers"}, headers=JSON)
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
        assert "Accept" in answer.headers["vary"]
        problem = answer.json()
        assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", "Bad Request", 400)
        [error] = problem["errors"]
        assert (error["line"], error["column"]) == (2, 2)
        assert error["fixes"] == [{"start": 11, "end": 15, "text": "half"}]
        assert problem["detail"].startswith("line 2, column 2: ")

    @pytest.mark.parametrize(
        ("path", "status", "said"),
        [
            ("/tap/async/nosuchjob", 404, "there is no job 'nosuchjob'"),
            ("/tap/nothing", 404, "there is nothing at /tap/nothing"),
            ("/nothing", 404, "there is nothing at /nothing"),
            ("/tap/tables/svc.missing", 404, "there is no table 'svc.missing'"),
            ("/tap/tables?detail=all", 400, "detail"),
            ("/tap/mydb", 401, "a name and password"),
        ],
    )
    @pytest.mark.parametrize("accept", ["application/json", "application/problem+json, */*;q=0.5"])
    def test_other_errors(self, service: RunningService, path: str, status: int, said: str, accept: str) -> None:
        answer = httpx.get(service.url + path, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert said in answer.json()["detail"]
        assert answer.json()["status"] == status
        assert answer.json()["errors"] == []

    def test_other_clients_get_votables(self, service: RunningService) -> None:
        for accept in ("*/*", "text/html,*/*;q=0.8", "application/x-votable+xml"):
            answer = httpx.get(f"{service.tap}/nothing", headers={"Accept": accept})
            assert answer.headers["content-type"] == "application/x-votable+xml"
