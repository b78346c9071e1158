"""Operators list, stop, drain and announce, by commands over a running service."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from typer.testing import CliRunner, Result

from clickhouse_schema.engine_tables.catalogue_log import write_grants
from loaders.cli.skyhouse_command import app
from loaders.control import admin_commands
from loaders.control.admin_commands import Administration
from loaders.control.admin_requests import StopQueriesRequest
from loaders.control.control_client import execute_admin_command
from loaders.control.control_server import ControlServer
from tap_service.config import Config
from tap_service.constants import ACCOUNTS_FILE
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.data_path import lock_data_path
from tap_service.storage.site_state import SiteState, StateKind, open_site_state
from tests.loaders.recorder import Recorder
from tests.support.environment import ROOT
from tests.support.running_service import RunningService
from tests.tap_service.async_client import LABORIOUS, create_job
from tests.tap_service.users import USERS, write_accounts

TEXT = (ROOT / "docs" / "administration.md").read_text()
VOSI = "{http://www.ivoa.net/xml/VOSIAvailability/v1.0}"


class Operator:
    """Runs commands on a data directory."""

    def __init__(self, data: Path, service: RunningService) -> None:
        self.data = data
        self.service = service
        self.tap = service.tap

    def type(self, *words: str) -> Result:
        return CliRunner().invoke(app, [*words, "--data", str(self.data)], catch_exceptions=False)

    def stop_on_thread(self, work_id: str) -> threading.Thread:
        """Stop the running jobs in the meantime."""
        asked = (self.data, StopQueriesRequest(ids=(work_id,)), Recorder())
        thread = threading.Thread(target=execute_admin_command, args=asked)
        thread.start()
        return thread

    def rows(self, *words: str) -> list[dict[str, Any]]:
        result = self.type(*words, "--json")
        assert result.exit_code == 0, result.output
        found: list[dict[str, Any]] = json.loads(result.stdout)
        return found

    def refresh(self) -> None:
        """Read the announcements now; the service does so every second."""
        self.service.server.config.app.state.services.announcements.refresh()


@pytest.fixture(scope="module")
def operator(serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """An operator of a service that holds its data directory and listens on its control socket, like ``skyhouse serve``."""
    data = tmp_path_factory.mktemp("data")
    accounts = write_accounts(data / ACCOUNTS_FILE)
    service = serve(jobs_path=data / "jobs", accounts=accounts, sync_seconds=60)  # queries end when they are stopped
    services = service.server.config.app.state.services
    administration = Administration(services.job_administration, services.work, lambda: nullcontext(services.watches))
    control = ControlServer(services.engine, data, services.catalogue_cache.refresh, administration)
    control.start()
    with lock_data_path(data):
        yield Operator(data, service)
    control.close()


@pytest.fixture
def asked() -> Iterator[Callable[[str, str], Future[httpx.Response]]]:
    """Send a query to /sync on a thread."""
    with ThreadPoolExecutor(2) as threads:

        def ask(tap: str, query: str, **parameters: str) -> Future[httpx.Response]:
            data = {"LANG": "ADQL", "QUERY": query, **parameters}
            return threads.submit(httpx.post, f"{tap}/sync", data=data, timeout=100, verify=False)

        yield ask


def _wait_for_work(operator: Operator, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    while True:
        found = [row for row in operator.rows("queries") if is_wanted(row)]
        if found:
            return found[0]


def test_a_query_is_seen_and_stopped(operator: Operator, asked: Any, heavy: str) -> None:
    answer = asked(operator.tap, f"{heavy}\t-- a comment")
    found = _wait_for_work(operator, lambda row: row["kind"] == "sync" and row["read_rows"] > 0)
    assert (found["client"], found["state"]) == ("127.0.0.1", "running")
    assert found["query"].startswith(heavy)
    assert found["read_bytes"] > 0
    header, line = operator.type("queries").stdout.splitlines()
    assert len(header.split("\t")) == len(line.split("\t"))
    stopped = operator.type("queries", "stop", found["work_id"])
    assert (stopped.exit_code, stopped.stderr) == (0, f"stopped the query {found['work_id']} of 127.0.0.1\n")
    assert answer.result().status_code == 503
    assert "retry-after" not in answer.result().headers
    assert "the operator of this service has stopped this query" in answer.result().text
    assert operator.rows("queries") == []


def test_a_stopped_stream_ends_with_the_reason(operator: Operator) -> None:
    data = {"LANG": "ADQL", "QUERY": LABORIOUS, "MAXREC": "10000000"}
    with httpx.stream("POST", f"{operator.tap}/sync", data=data, timeout=100, verify=False) as answer:
        pieces = answer.iter_bytes()
        next(pieces)
        found = _wait_for_work(operator, lambda row: row["sent_bytes"] > 0)
        stopping = operator.stop_on_thread(found["work_id"])
        last = b"".join(pieces)[-2000:].decode()
        stopping.join()
    assert 'name="QUERY_STATUS" value="ERROR"' in last
    assert "the operator of this service has stopped this query" in last


def test_a_job_is_seen_stopped_and_deleted(operator: Operator, heavy: str) -> None:
    job = create_job(operator.tap, heavy, PHASE="RUN", RUNID="mine")
    job_id = job.url.rsplit("/", 1)[1]
    found = _wait_for_work(operator, lambda row: row["kind"] == "job")
    assert (found["work_id"], found["query"]) == (job_id, heavy)
    [listed] = operator.rows("jobs", "list", "--phase", "executing", "--user", "-")
    assert (listed["job"], listed["phase"], listed["client"]) == (job_id, "EXECUTING", "127.0.0.1")
    assert operator.rows("jobs", "list", "--older-than", "1") == []
    assert operator.rows("jobs", "list", "--user", "alice") == []
    assert operator.type("queries", "stop", job_id).exit_code == 0
    assert (job.phase, job.message) == ("ABORTED", "the operator of this service has stopped it")
    assert operator.rows("queries") == []
    [shown] = operator.rows("jobs", "show", job_id)
    assert (shown["run_id"], shown["error"]) == ("mine", "the operator of this service has stopped it")
    assert f"query\t{heavy}" in operator.type("jobs", "show", job_id).stdout
    again = operator.type("jobs", "stop", job_id)
    assert (again.exit_code, again.stderr) == (1, f"error: the job {job_id} has already ended: it is ABORTED\n")
    assert operator.type("jobs", "delete", job_id).exit_code == 0
    assert job.get().status_code == 404


def test_a_stopped_job_that_never_ran_keeps_no_files(operator: Operator) -> None:
    files = {"f": ("f.csv", b"id\n1\n", "text/csv")}
    made = httpx.post(f"{operator.tap}/async", data={"UPLOAD": "t,param:f"}, files=files, verify=False)
    job_id = made.headers["location"].rsplit("/", 1)[1]
    results = operator.service.server.config.app.state.services.stores.results
    kept = lambda: [key for key in results.list_keys(0) if key.startswith(job_id)]  # noqa: E731
    assert len(kept()) == 1
    assert operator.type("jobs", "stop", job_id).exit_code == 0
    assert kept() == []
    assert operator.type("jobs", "delete", job_id).exit_code == 0


def test_a_download_is_seen_and_stopped(operator: Operator) -> None:
    """A client that does not read keeps its connection; a stopped download ends without its last bytes."""
    query = "SELECT TOP 3000000 a.n, b.half FROM svc.numbers AS a, svc.numbers AS b"
    job = create_job(operator.tap, query, PHASE="RUN", MAXREC="3000000", FORMAT="csv")
    assert job.wait_for_end() == "COMPLETED"
    with httpx.stream("GET", f"{job.url}/results/result", timeout=60, verify=False) as answer:
        found = _wait_for_work(operator, lambda row: row["kind"] == "download")
        assert (found["query"], found["client"]) == (query, "127.0.0.1")
        stopping = operator.stop_on_thread(found["work_id"])
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()
    stopping.join()
    job.delete()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["queries", "stop", "sync-1"],
            "error: nothing with the id 'sync-1' runs now; skyhouse queries lists running work",
        ),
        (["jobs", "show", "x"], "error: there is no job 'x'; skyhouse jobs list lists them"),
        (["jobs", "delete", "x"], "error: there is no job 'x'; skyhouse jobs list lists them"),
        (["downtime", "remove", "x"], "error: there is no downtime 'x'; skyhouse downtime list lists them"),
        (["downtime", "add", "--from", "2027", "--to", "2026"], "error: a downtime must end after its start"),
        (["downtime", "add", "--from", "2020", "--to", "2021"], "error: this downtime is already over"),
        (["downtime", "add", "--from", "soon", "--to", "2027"], "error: write an instant as in 2026-01-31T12:00:00"),
        (["note", "add", " "], "error: a note needs a text"),
        (["note", "add", "x" * 1001], "error: a text may have at most 1000 characters; this text has 1001"),
        (["note", "remove", "x"], "error: there is no note 'x'; skyhouse note list lists them"),
    ],
)
def test_what_cannot_be_is_one_sentence(operator: Operator, words: list[str], said: str) -> None:
    result = operator.type(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


def test_a_drained_service_finishes_what_runs(operator: Operator, asked: Any, heavy: str) -> None:
    running = asked(operator.tap, heavy)
    work_id = _wait_for_work(operator, lambda row: row["kind"] == "sync")["work_id"]
    pending = create_job(operator.tap, "SELECT TOP 1 n FROM svc.numbers")
    assert operator.type("drain", "--no-wait", "--note", "a new <disk>").exit_code == 0
    operator.refresh()
    refused = httpx.post(f"{operator.tap}/sync", data={"LANG": "ADQL", "QUERY": heavy}, verify=False)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "60")
    assert "the service takes no new queries now: a new &lt;disk&gt;. Try again later" in refused.text
    assert pending.post("/phase", PHASE="RUN").status_code == 503
    assert pending.phase == "PENDING"
    document = ElementTree.fromstring(httpx.get(f"{operator.tap}/availability", verify=False).content)
    assert document.findtext(f"{VOSI}available") == "false"
    assert document.findtext(f"{VOSI}note") == "no new queries are accepted: a new <disk>"
    assert not running.done()
    stopping = threading.Timer(1, lambda: operator.stop_on_thread(work_id).join())
    stopping.start()
    assert operator.type("drain").stdout == "nothing is running\n"
    assert running.result(0).status_code == 503
    stopping.join()
    assert operator.type("drain", "--off").stdout == "the service accepts queries and jobs again\n"
    assert operator.type("drain", "--off").stdout == "the service was not draining\n"
    operator.refresh()
    assert pending.run().wait_for_end() == "COMPLETED"
    pending.delete()


def test_queued_jobs_stay_queued_while_it_drains(operator: Operator, eventually: Any) -> None:
    """A job that was queued before runs when the drain ends, and not earlier."""
    services = operator.service.server.config.app.state.services
    job = create_job(operator.tap, "SELECT TOP 1 n FROM svc.numbers")
    services.announcements.start_drain()
    services.stores.jobs.queue_job(job.url.rsplit("/", 1)[1])
    assert services._dispatcher._runner.run_next() is False
    assert job.phase == "QUEUED"
    services.announcements.end_drain()
    eventually(lambda: services._dispatcher._runner.run_next() or job.phase != "QUEUED")
    assert job.wait_for_end() == "COMPLETED"
    job.delete()


def test_downtimes_and_notes_are_shown_as_text(operator: Operator) -> None:
    later = operator.type("downtime", "add", "--from", "2099-03-01", "--to", "2099-03-02", "--note", "<b>power</b>")
    sooner = operator.type("downtime", "add", "--from", "2098-03-01T06:30", "--to", "2098-03-01T07:00")
    note = operator.type("note", "add", "new <i>tables</i> & more")
    operator.refresh()
    document = ElementTree.fromstring(httpx.get(f"{operator.tap}/availability", verify=False).content)
    children = [(each.tag.removeprefix(VOSI), each.text) for each in document]
    assert [name for name, _ in children] == ["available", "upSince", "downAt", "backAt", *["note"] * 4]
    assert children[0][1] == "true"
    assert [text for _, text in children[2:]] == [
        "2098-03-01T06:30:00.000Z",
        "2098-03-01T07:00:00.000Z",
        "the service accepts queries, by /sync and /async",
        "Downtime from 2098-03-01T06:30:00.000Z to 2098-03-01T07:00:00.000Z",
        "Downtime from 2099-03-01T00:00:00.000Z to 2099-03-02T00:00:00.000Z: <b>power</b>",
        "new <i>tables</i> & more",
    ]
    page = httpx.get(operator.tap, verify=False).text
    assert "<strong>new &lt;i&gt;tables&lt;/i&gt; &amp; more</strong>" in page
    assert [row["note"] for row in operator.rows("downtime", "list")] == ["", "<b>power</b>"]
    assert [row["text"] for row in operator.rows("note", "list")] == ["new <i>tables</i> & more"]
    for made, kind in ((later, "downtime"), (sooner, "downtime"), (note, "note")):
        assert operator.type(kind, "remove", made.stdout.strip()).exit_code == 0
    operator.refresh()
    assert "Downtime" not in httpx.get(f"{operator.tap}/availability", verify=False).text


def test_jobs_without_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command opens the store itself. (The engine of the tests' process is already open.)"""
    opened = []

    class NoEngine:
        def __enter__(self) -> object:
            opened.append(True)
            return object()

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(admin_commands, "open_engine", lambda *_, **__: NoEngine())
    result = CliRunner().invoke(app, ["jobs", "list", "--data", str(tmp_path)], catch_exceptions=False)
    assert (result.exit_code, result.stdout.split("\t")[0]) == (0, "job")
    assert opened


def test_services_that_share_a_redis_stop_each_others_queries(
    cluster_settings: Callable[..., dict[str, Any]],
    start_server: Callable[..., AbstractContextManager[RunningService]],
    asked: Any,
    heavy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = cluster_settings()
    for name, value in settings.items():
        monkeypatch.setenv(f"SKYHOUSE_{name.upper()}", str(value))
    with ExitStack() as stack:
        services = []
        for _ in range(2):
            engine = ClickHouseEngine(settings["clickhouse_url"])
            stack.callback(engine.close)
            services.append(stack.enter_context(start_server(Config(**settings), engine)))
        operator = Operator(tmp_path, services[0])
        answers = [asked(service.tap, heavy) for service in services]
        while len(found := [row for row in operator.rows("queries") if row["read_rows"]]) < 2:
            pass
        assert operator.type("queries", "stop", *(row["work_id"] for row in found)).exit_code == 0
        assert {answer.result().status_code for answer in answers} == {503}
        assert operator.type("note", "add", "for all").exit_code == 0
        operator.refresh()
        assert "for all" in httpx.get(f"{services[0].tap}/availability", verify=False).text


@pytest.fixture(params=["sqlite", "redis"])
def state(
    request: pytest.FixtureRequest, tmp_path: Path, cluster_settings: Callable[..., dict[str, Any]]
) -> Iterator[SiteState]:
    url = cluster_settings()["redis_url"] if request.param == "redis" else ""
    opened = open_site_state(url, tmp_path)
    yield opened
    opened.close()


def test_documents_of_a_deployment(state: SiteState) -> None:
    state.put(StateKind.NOTES, "b", {"text": "é"})
    state.put(StateKind.NOTES, "a", 1)
    state.put(StateKind.NOTES, "gone", 2, seconds=-1)
    state.put(StateKind.WORK, "a", [], seconds=100)
    assert list(state.read_all(StateKind.NOTES).items()) == [("a", 1), ("b", {"text": "é"})]
    assert state.get(StateKind.NOTES, "b") == {"text": "é"}
    assert state.get(StateKind.NOTES, "gone") is None
    assert state.get(StateKind.WORK, "a") == []
    assert (state.remove(StateKind.NOTES, "a"), state.remove(StateKind.NOTES, "a")) == (True, False)
    assert list(state.read_all(StateKind.NOTES)) == ["b"]


def test_the_commands_of_the_documentation_run(
    operator: Operator, asked: Any, heavy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/administration.md is correct: its commands run unchanged."""

    job = create_job(operator.tap, heavy, PHASE="RUN")
    monkeypatch.setenv("JOB", job.url.rsplit("/", 1)[1])
    answer = asked(operator.tap, heavy)
    monkeypatch.setenv("ID", _wait_for_work(operator, lambda row: row["kind"] == "sync")["work_id"])
    monkeypatch.setenv("TAP", operator.tap)
    monkeypatch.setenv("WHO", f"alice:{USERS['alice']}")
    said = {}
    for line in "".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)).splitlines():
        words = shlex.split(os.path.expandvars(line))
        if words[0] == "skyhouse":
            result = operator.type(*words[1:])
            assert result.exit_code == 0, (line, result.output)
            said[line] = result.stdout
        else:
            said[line] = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    assert answer.result().status_code == 503
    assert said["skyhouse group members lens"] == "alice\nbob\n"
    assert said["skyhouse grants"] == "survey\tlens\nsurvey.public_objects\teverybody\n"
    assert said["skyhouse revoke survey lens"].startswith(
        "survey is visible to nobody (skyhouse grant survey everybody"
    )
    tokens = json.loads(said['curl -sS -u "$WHO" "$TAP/tokens"'])["tokens"]
    assert [token["label"] for token in tokens] == ["laptop"]
    write_grants(operator.service.engine, dict.clear)
    for kind in ("downtime", "note"):
        for row in operator.rows(kind, "list"):
            operator.type(kind, "remove", row[kind if kind == "downtime" else "note"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["group", "add", "everybody"], "error: 'everybody' is not a valid name of a group"),
        (["group", "add", "lens", "alice", "nobody"], "error: there is no user nobody"),
        (["group", "members", "none"], "error: there is no group none; `skyhouse group list` lists them"),
        (["group", "remove", "none"], "error: there is no group none"),
        (["grant", "survey", "none"], "error: there is no group none"),
        (["grant", "TAP_SCHEMA.tables", "everybody"], "error: TAP_SCHEMA.tables cannot have grants"),
        (["grant", "mydb.mine", "everybody"], "error: mydb.mine cannot have grants"),
        (["grant", "survey.", "everybody"], "error: 'survey.' is neither a schema nor schema.table"),
        (["revoke", "survey.x", "lens"], "error: lens has no grant for survey.x; skyhouse grants lists the grants"),
    ],
)
def test_grants_that_cannot_be(operator: Operator, words: list[str], said: str) -> None:
    result = operator.type(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1
