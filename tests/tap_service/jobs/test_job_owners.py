"""Job owners: nobody sees, changes, stops or destroys another user's job."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
import pyvo
from pyvo.auth import AuthSession
from starlette.routing import Route

from tap_service.handlers import async_routes as jobs
from tap_service.handlers import result_routes
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService
from tests.tap_service.async_client import HREF, UWS, Job, create_job

TYCHO, KEPLER, CHIEF = ("tycho", "uraniborg"), ("kepler", "harmonices"), ("chief", "of the observatory")
TWO = "SELECT n FROM svc.numbers WHERE n < 2 ORDER BY n"

#: every resource of a job with every method it has
RESOURCES: list[tuple[str, str, dict[str, str]]] = [
    *(("GET", path, {}) for path in ("", "?WAIT=-1", "/phase", "/executionduration", "/destruction", "/quote")),
    *(("GET", path, {}) for path in ("/owner", "/error", "/parameters", "/results", "/results/result", "/preview")),
    ("GET", "/results/", {}),
    *((method, f"/results/hats{path}", {}) for method in ("GET", "HEAD") for path in ("", "/{path:path}")),
    *((method, path, {}) for method in ("GET", "HEAD") for path in ("/name", "/note")),
    ("POST", "/name", {"NAME": "mine"}),
    ("POST", "/note", {"NOTE": "mine"}),
    *(
        ("HEAD", path, {})
        for path in ("", "/phase", "/executionduration", "/destruction", "/quote", "/owner", "/error")
    ),
    *(("HEAD", path, {}) for path in ("/parameters", "/results", "/results/", "/results/result", "/preview")),
    ("POST", "", {"ACTION": "DELETE"}),
    ("POST", "/phase", {"PHASE": "RUN"}),
    ("POST", "/phase", {"PHASE": "ABORT"}),
    ("POST", "/executionduration", {"EXECUTIONDURATION": "1"}),
    ("POST", "/destruction", {"DESTRUCTION": "2026-01-01"}),
    ("POST", "/parameters", {"QUERY": "SELECT 1"}),
    ("DELETE", "", {}),
]


@pytest.fixture(scope="module")
def shared(serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> RunningService:
    path: Path = tmp_path_factory.mktemp("users") / "accounts.sqlite"
    accounts = Accounts(path)
    accounts.add_user(*TYCHO)
    accounts.add_user(*KEPLER)
    accounts.add_user(*CHIEF, admin=True)
    accounts.close()
    return serve(accounts=path)


@pytest.fixture(scope="module")
def tychos(shared: RunningService) -> Job:
    """A job with a result."""
    job = create_job(shared.tap, TWO, TYCHO, PHASE="RUN", FORMAT="csv")
    assert job.wait_for_end() == "COMPLETED"
    return job


def listed(served: RunningService, auth: tuple[str, str] | None, query: str = "") -> list[str]:
    response = httpx.get(f"{served.tap}/async{query}", auth=auth)
    assert response.status_code == 200
    return [each.get(HREF) or "" for each in ElementTree.fromstring(response.content)]


_numbers = itertools.count(1)


@pytest.mark.parametrize(("method", "path", "data"), RESOURCES)
@pytest.mark.parametrize("auth", [None, KEPLER, ("tycho", "wrong")], ids=["anonymous", "another", "wrong password"])
def test_anothers_job(tychos: Job, auth: tuple[str, str] | None, method: str, path: str, data: dict[str, str]) -> None:
    before = tychos.get().content
    number = next(_numbers)
    elsewhere = {
        "X-Forwarded-For": f"192.0.2.{number}"
    }  # many wrong passwords from one address, or for one name, would cause 429
    if auth and auth[1] == "wrong":
        auth = (("tycho", "kepler")[number % 2], "wrong")
    refused = httpx.request(method, tychos.url + path, data=data or None, auth=auth, headers=elsewhere)
    assert refused.status_code == (401 if auth and auth[1] == "wrong" else 403)
    assert tychos.get().content == before
    assert "SELECT" not in refused.text


def test_these_are_all_resources() -> None:
    """The tests cover all resources of a job: a new one must be added here."""
    tried = {(method, path.partition("?")[0]) for method, path, _ in RESOURCES}
    there = {
        (method, route.path.removeprefix("/async/{job_id}"))
        for router in (jobs.router, result_routes.router)
        for route in router.routes
        if isinstance(route, Route) and route.path.startswith("/async/{job_id}")
        for method in route.methods or ()
    }
    assert there == tried


def test_ones_own_job(tychos: Job) -> None:
    assert tychos.get("/owner").text == tychos.element_text("ownerId") == "tycho"
    assert tychos.rows() == "n\r\n0\r\n1\r\n"


def test_an_administrator(shared: RunningService) -> None:
    job = create_job(shared.tap, TWO, TYCHO)
    ruled = Job(job.url, CHIEF)
    assert ruled.phase == "PENDING"
    assert job.url in listed(shared, CHIEF)
    assert ruled.delete().status_code == 303
    assert job.get().status_code == 404


def test_lists(shared: RunningService, tychos: Job) -> None:
    keplers = [create_job(shared.tap, TWO, KEPLER, RUNID=f"r{n}") for n in range(3)]
    anonymous = create_job(shared.tap, TWO)
    assert listed(shared, KEPLER) == [job.url for job in reversed(keplers)]
    assert tychos.url in listed(shared, TYCHO)
    assert {tychos.url, anonymous.url, *(job.url for job in keplers)} <= set(listed(shared, CHIEF))
    assert listed(shared, None) == []
    assert listed(shared, KEPLER, "?LAST=2") == [keplers[2].url, keplers[1].url]
    assert listed(shared, KEPLER, f"?AFTER={keplers[2].element_text('creationTime')}") == []
    assert listed(shared, KEPLER, "?AFTER=2026-01-01T00:00") == listed(shared, KEPLER)
    keplers[0].post("/phase", PHASE="ABORT")
    keplers[1].run().wait_for_end()
    assert listed(shared, KEPLER, "?PHASE=ABORTED") == [keplers[0].url]
    assert listed(shared, KEPLER, "?PHASE=ABORTED&PHASE=completed") == [keplers[1].url, keplers[0].url]
    assert listed(shared, KEPLER, "?PHASE=ABORTED&PHASE=COMPLETED&LAST=1") == [keplers[1].url]
    [first] = ElementTree.fromstring(httpx.get(f"{shared.tap}/async?LAST=1", auth=KEPLER).content)
    told = [first.findtext(UWS + name) for name in ("phase", "runId", "ownerId", "creationTime")]
    assert told == ["PENDING", "r2", "kepler", keplers[2].element_text("creationTime")]


def test_name_and_note(shared: RunningService) -> None:
    """Notes can be changed at any time; the document stays valid, and pyvo reads the note."""
    job = create_job(shared.tap, TWO, KEPLER, RUNID="first", NOTE="made\r\nby hand")
    assert (job.element_text("runId"), job.info["note"]) == ("first", "made\nby hand")
    assert job.run().wait_for_end() == "COMPLETED"
    assert (
        job.post("/name", NAME=" Orbits of <Mars> ").status_code == job.post("/note", NOTE="& so on").status_code == 303
    )
    assert (job.get("/name").text, job.get("/note").text) == ("Orbits of <Mars>", "& so on")
    assert (job.element_text("runId"), job.info["note"]) == ("Orbits of <Mars>", "& so on")
    assert '<uws:parameter id="RUNID">first<' in job.get("/parameters").text
    for path, value, said in (
        ("name", "x" * 201, "200"),
        ("name", "a\nb", "printable"),
        ("note", "x" * 4097, "4097"),
        ("note", "two\nlines\x1b[2J", "character 10 is U+001B"),
        ("note", "\x9b2J", "character 1 is U+009B"),
    ):
        answer = job.post(f"/{path}", **{path.upper(): value})
        assert (answer.status_code, said in answer.text) == (400, True), answer.text
    assert job.post("/note", NOTE="a\ttab, a\rline, a no-break\u00a0space and \u2600\ufe0f").status_code == 303
    assert job.info["note"] == "a\ttab, a\nline, a no-break\u00a0space and \u2600\ufe0f"
    for given in ({"NOTE": "\x07"}, {"RUNID": "a\x1b[1m"}, {"RUNID": "x", "runid": "\r"}):
        refused = httpx.post(f"{shared.tap}/async", data={"QUERY": TWO, **given}, auth=KEPLER)
        assert (refused.status_code, "control character" in refused.text) == (400, True), refused.text
    assert "RUNID: character 1 is U+0007" in httpx.get(shared.sync, params={"QUERY": TWO, "RUNID": "\x07"}).text
    assert job.post("/note", NOTE="").status_code == 303
    assert "note" not in job.info
    assert job.post("/note").status_code == 400
    job.delete()


def test_search(shared: RunningService) -> None:
    first = create_job(shared.tap, TWO, KEPLER, RUNID="Orbit of Mars")
    second = create_job(shared.tap, "SELECT half FROM svc.numbers", KEPLER, NOTE="for the Mars paper")
    foreign = create_job(shared.tap, TWO, TYCHO, RUNID="Mars, my observations")
    assert listed(shared, KEPLER, "?SEARCH=mars") == [second.url, first.url]
    assert listed(shared, KEPLER, "?SEARCH=mars&LAST=1") == listed(shared, KEPLER, "?SEARCH=half+paper") == [second.url]
    assert listed(shared, KEPLER, "?SEARCH=svc.numbers+orbit") == [first.url]
    assert listed(shared, KEPLER, "?SEARCH=mars&PHASE=COMPLETED") == []
    created = second.element_text("creationTime")
    assert first.url in listed(shared, KEPLER, f"?SEARCH=mars&BEFORE={created}")
    assert second.url not in listed(shared, KEPLER, f"?SEARCH=mars&BEFORE={created}")
    # an administrator also finds only own jobs
    assert listed(shared, None, "?SEARCH=mars") == listed(shared, CHIEF, "?SEARCH=mars") == []
    assert listed(shared, TYCHO, "?SEARCH=mars") == [foreign.url]
    assert httpx.get(f"{shared.tap}/async", params={"SEARCH": "x" * 501}, auth=KEPLER).status_code == 400
    for job in (first, second, foreign):
        job.delete()


def test_pyvo_lists_and_takes_up_ones_jobs(shared: RunningService) -> None:
    session = AuthSession()
    session.credentials.set_password(*KEPLER)
    session.add_security_method_for_url(shared.tap, "ivo://ivoa.net/sso#BasicAA", exact=False)
    tap = pyvo.dal.TAPService(shared.tap, session=session)
    jobs = [tap.submit_job(TWO), tap.submit_job(TWO)]
    jobs[0].run().wait(phases=["COMPLETED"])
    assert [each.jobid for each in tap.get_job_list(last=2)] == [job.job_id for job in reversed(jobs)]
    assert jobs[1].job_id not in [each.jobid for each in tap.get_job_list(phases=["COMPLETED"])]
    assert tap.get_job_list(after=datetime.datetime(2100, 1, 1)) == []
    [listed, *_] = tap.get_job_list(phases=["COMPLETED"], last=1)
    assert (listed.jobid, listed.ownerid) == (jobs[0].job_id, "kepler")
    resumed = pyvo.dal.AsyncTAPJob(jobs[0].url, session=session)
    assert resumed.owner == "kepler"
    assert resumed.fetch_result().to_table()["n"].tolist() == [0, 1]
    for job in jobs:
        job.delete()


def test_an_anonymous_job_is_for_whoever_knows_it(shared: RunningService) -> None:
    job = create_job(shared.tap, TWO)
    assert Job(job.url, KEPLER).phase == job.phase == "PENDING"
