"""The MCP endpoint, asked by the official client."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import httpx
import pytest

from tap_service.config import Config
from tap_service.handlers.mcp_tools import TOOLS
from tap_service.settings import site_settings
from tests.support.environment import ROOT
from tests.support.running_service import RunningService
from tests.tap_service.mcp.agent import Agent
from tests.tap_service.users import USERS

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def agents(serve: Callable[..., RunningService], accounts: Path) -> RunningService:
    return serve(mcp=True, accounts=accounts)


@pytest.fixture
def agent(agents: RunningService) -> Agent:
    return Agent(agents)


def call_tool(
    service: RunningService, tool: str, arguments: dict[str, str], version: str, timeout: float = 30
) -> httpx.Response:
    """Call a tool by a request without a client library, in this version of the protocol."""
    meta = {
        f"io.modelcontextprotocol/{name}": value
        for name, value in (
            ("protocolVersion", version),
            ("clientInfo", {"name": "test", "version": "1"}),
            ("clientCapabilities", {}),
        )
    }
    call = {"name": tool, "arguments": arguments, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": version}
    named = {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    return httpx.post(f"{service.url}/mcp", content=body, headers={**HEADERS, **headers, **named}, timeout=timeout)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_old_and_new(agents: RunningService, mode: str) -> None:
    """With the handshake of the versions until 2025, and without it."""
    agent = Agent(agents, mode=mode)
    assert agent.list_tools() == [tool.name for tool in TOOLS]
    assert agent.call("run_query", adql="SELECT COUNT(*) AS n FROM svc.numbers")["rowsCsv"].split() == ["n", "1000000"]


def test_from_a_word_to_rows(agent: Agent) -> None:
    found = agent.call("list_tables", words="GRID stars")
    assert [table["name"] for table in found["tables"]] == ["svc.stars"]
    table = agent.call("describe_table", name="svc.stars")
    assert (table["position"], table["identifier"], table["licence"]) == (["ra", "dec"], ["id"], "CC BY 4.0")
    assert [column["name"] for column in table["columns"]] == ["id", "ra", "dec", "mag", "name"]
    assert table["columns"][1]["ucd"] == "pos.eq.ra;meta.main"
    narrow = agent.call("describe_table", name="svc.stars", words="phot")
    assert ([column["name"] for column in narrow["columns"]], narrow["columnsNotListed"]) == (["mag"], 4)

    cone = "SELECT id, name FROM svc.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1.1)) ORDER BY id"
    estimate = agent.call("estimate_query", adql=cone)
    assert estimate["tables"] == ["svc.stars"]
    assert [field["name"] for field in estimate["fields"]] == ["id", "name"]
    answer = agent.call("run_query", adql=cone)
    rows = list(csv.reader(io.StringIO(answer["rowsCsv"])))
    assert rows[0] == ["id", "name"]
    assert [int(row[0]) for row in rows[1:]] == [38890, 39249, 39250, 39251, 39610]
    assert (answer["isComplete"], answer["note"], answer["rowCount"]) == (True, "", 5)
    assert answer["columns"][0] == {"name": "id", "datatype": "long", "ucd": "meta.id;meta.main"}


def test_large_numbers_keep_their_digits(agent: Agent) -> None:
    result = agent.ask("run_query", adql="SELECT TOP 1 9007199254740993 AS n FROM svc.stars")
    assert "9007199254740993" in result.structured_content["rowsCsv"]
    assert json.loads(result.content[0].text) == result.structured_content


def test_a_cut_result_says_so(agent: Agent) -> None:
    answer = agent.call("run_query", adql="SELECT n FROM svc.numbers ORDER BY n", maxrec=3)
    assert answer["rowsCsv"].split() == ["n", "0", "1", "2"]
    assert not answer["isComplete"]
    assert answer["note"].startswith("There are more than these 3 rows")
    for query in ("SELECT n FROM svc.numbers", "SELECT n FROM svc.numbers WHERE n < 0"):
        answer = agent.call("run_query", adql=query, maxrec=0)
        assert (answer["rowsCsv"].split(), answer["rowCount"], answer["isComplete"]) == (["n"], 0, False)
        assert answer["note"].startswith("With maxrec=0 the answer has the columns but no rows")
    assert "maxrec: Input should be less than or equal to 1000" in agent.fail("run_query", adql="SELECT 1", maxrec=1001)


def test_a_result_of_many_bytes_is_refused_whole(agent: Agent) -> None:
    columns = ", ".join(f"word AS w{number}" for number in range(30))
    assert "take more than 200,000 bytes" in agent.fail(
        "run_query", adql=f"SELECT {columns} FROM svc.numbers", maxrec=1000
    )


@pytest.mark.parametrize("tool", ["run_query", "estimate_query"])
def test_errors_have_their_position(agent: Agent, tool: str) -> None:
    assert "line 2, column 1: there is no column nosuch" in agent.fail(tool, adql="SELECT\nnosuch FROM svc.stars")


def test_wrong_calls(agent: Agent) -> None:
    assert agent.fail("drop_table").startswith("there is no tool 'drop_table'; the tools are: list_tables")
    assert agent.fail("run_query") == "adql: Field required"
    assert agent.fail("list_tables", order="x") == "order: Extra inputs are not permitted"
    assert agent.fail("describe_table", name="svc.nosuch").startswith("there is no table 'svc.nosuch'")
    assert agent.fail("get_job", job_id="0" * 32).startswith("there is no job")
    assert agent.fail("submit_job", adql="SELECT 1", format="png").startswith("RESPONSEFORMAT='png' is unknown")


def test_a_job(agents: RunningService, agent: Agent) -> None:
    job = agent.call("submit_job", adql="SELECT n FROM svc.numbers WHERE n < 4", format="csv", name="four")
    while job["phase"] not in ("COMPLETED", "ERROR"):
        job = agent.call("get_job", job_id=job["jobId"], wait_seconds=30)
    assert (job["phase"], job["runId"]) == ("COMPLETED", "four")
    assert sorted(httpx.get(job["results"][0]["href"]).text.split()) == ["0", "1", "2", "3", "n"]


def test_a_job_is_stopped(agents: RunningService, heavy: str) -> None:
    alice = Agent(agents, ("alice", USERS["alice"]))
    job = alice.call("submit_job", adql=heavy)
    assert (
        Agent(agents, ("bob", USERS["bob"])).fail("cancel_job", job_id=job["jobId"])
        == "this job belongs to another user"
    )
    assert alice.call("cancel_job", job_id=job["jobId"])["phase"] == "ABORTED"
    assert "it has ended and cannot be aborted" in alice.fail("cancel_job", job_id=job["jobId"])
    failed = alice.call("submit_job", adql="SELECT nosuch FROM svc.stars")
    while failed["phase"] != "ERROR":
        failed = alice.call("get_job", job_id=failed["jobId"], wait_seconds=30)
    assert "line 1, column 8" in failed["errorSummary"]["message"]


def test_who_may_ask(agents: RunningService, serve: Callable[..., RunningService], accounts: Path) -> None:
    assert httpx.post(f"{agents.url}/mcp", json=INITIALIZE, headers=HEADERS).status_code == 200
    closed = serve(mcp=True, accounts=accounts, anonymous=False)
    refused = httpx.post(f"{closed.url}/mcp", json=INITIALIZE, headers=HEADERS)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"]
    assert httpx.post(f"{closed.url}/mcp", json=INITIALIZE, auth=("alice", "wrong")).status_code == 401
    token = httpx.post(f"{closed.tap}/tokens", json={"label": "agent"}, auth=("alice", USERS["alice"])).json()["token"]
    bearer = Agent(closed, headers={"Authorization": f"Bearer {token}"})
    assert bearer.call("run_query", adql="SELECT COUNT(*) AS n FROM svc.stars")["rowsCsv"].split()[0] == "n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://evil.example", "Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example", "Host": "evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Origin": "http://localhost:8000", "Host": "localhost:8000"}, 200),
        ({"Origin": "http://[::1]:8000", "Host": "[::1]:8000"}, 200),
        ({"Origin": "http://192.0.2.7", "Host": "192.0.2.7"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_pages_of_other_sites(agents: RunningService, headers: dict[str, str], status: int) -> None:
    answer = httpx.post(f"{agents.url}/mcp", json=INITIALIZE, headers={**HEADERS, **headers})
    assert answer.status_code == status
    assert "access-control-allow-origin" not in answer.headers
    assert "access-control-allow-methods" not in httpx.options(f"{agents.url}/mcp").headers


@pytest.mark.parametrize(
    ("page", "status"),
    [("https://tap.example.org", 200), ("http://evil.example", 403), ("http://localhost", 403)],
)
def test_pages_of_a_service_with_an_address(serve: Callable[..., RunningService], page: str, status: int) -> None:
    named = serve(mcp=True, public_url="https://tap.example.org/archive")
    headers = {**HEADERS, "Origin": page, "Host": page.partition("://")[2]}
    assert httpx.post(f"{named.url}/mcp", json=INITIALIZE, headers=headers).status_code == status


def test_long_and_wrong_bodies(agents: RunningService) -> None:
    limit = Config().max_query_length * 16
    too_long = httpx.post(f"{agents.url}/mcp", content=b"{" + b" " * limit, headers=HEADERS)
    assert too_long.status_code == 413
    kind = {**HEADERS, "Content-Type": "application/json"}
    for body in (b"", b"[", b"[]", b"\xff", b"1", b'{"jsonrpc": "2.0", "id": 1, "method": "nosuch"}'):
        assert 200 <= httpx.post(f"{agents.url}/mcp", content=body, headers=kind).status_code < 500, body
    assert httpx.get(f"{agents.url}/mcp").status_code == 405


@pytest.mark.parametrize(
    ("tool", "argument", "others"),
    [
        ("list_tables", "words", {}),
        ("describe_table", "name", {}),
        ("estimate_query", "adql", {}),
        ("run_query", "adql", {}),
        ("submit_job", "adql", {}),
        ("submit_job", "name", {"adql": "SELECT 1 AS a"}),
        ("get_job", "job_id", {}),
        ("cancel_job", "job_id", {}),
        ("list_tables", "SELECT '\ud800'", {}),
    ],
)
def test_half_of_a_surrogate_pair(agents: RunningService, tool: str, argument: str, others: dict[str, str]) -> None:
    answer = call_tool(agents, tool, {argument: "SELECT '\ud800'", **others}, "2026-07-28").json()["result"]
    assert answer["isError"]
    assert "character 9 is U+D800, half of a surrogate pair" in answer["content"][0]["text"]


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_query_ends_with_its_client(
    serve: Callable[..., RunningService], heavy: str, eventually: Callable[[Callable[[], bool]], None], version: str
) -> None:
    patient = serve(mcp=True, sync_seconds=1000)
    answers = patient.server.config.app.state.services.queries.answers
    with pytest.raises(httpx.ReadTimeout):
        call_tool(patient, "run_query", {"adql": heavy}, version, timeout=2)
    eventually(lambda: not answers)


def test_the_time_limit_is_that_of_sync(serve: Callable[..., RunningService], heavy: str) -> None:
    hasty = Agent(serve(mcp=True, sync_seconds=0.5))
    assert "0.5 seconds on this query, the time limit of /sync. Send longer queries to submit_job. Or" in hasty.fail(
        "run_query", adql=heavy
    )


def test_rates_count(serve: Callable[..., RunningService]) -> None:
    strict = serve(mcp=True, client_requests_per_minute=1)
    answers = [httpx.post(f"{strict.url}/mcp", json=INITIALIZE, headers=HEADERS) for _ in range(3)]
    assert answers[-1].status_code == 429
    assert answers[-1].headers["retry-after"]


def test_it_is_off_by_default(service: RunningService) -> None:
    assert httpx.post(f"{service.url}/mcp", json=INITIALIZE, headers=HEADERS).status_code == 404


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if only version 1 is there."""
    monkeypatch.setattr(site_settings, "find_spec", lambda name: ModuleSpec(name, None) if name == "mcp" else None)
    with pytest.raises(
        ValueError, match=r"the package mcp is not installed in version 2: pip install 'skyhouse\[mcp\]'"
    ):
        Config(mcp=True)


def test_every_tool_is_documented() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| .* \|$", (ROOT / "docs" / "mcp.md").read_text(), re.MULTILINE)
    documented = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in rows}
    assert documented == {tool.name: list(tool.arguments.model_fields) for tool in TOOLS}
