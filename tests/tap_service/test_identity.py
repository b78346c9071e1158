"""Who is let in, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
import pyvo
from pyvo.auth import AuthSession

from tap_service.storage.accounts import Accounts
from tests.tap_service.conftest import Served

ALICE = ("alice", "correct horse")
FOR_CALLERS = (
    "/async",
    "/tables",
    "/tables/svc.stars",
    "/examples",
    "/sync?LANG=ADQL&QUERY=SELECT+TOP+1+id+FROM+svc.stars",
)
FOR_ALL = ("/availability", "/capabilities")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("users") / "accounts.sqlite"
    accounts = Accounts(made)
    accounts.add(*ALICE)
    accounts.close()
    return made


@pytest.fixture(scope="module")
def open_service(serve: Callable[..., Served], path: Path) -> Served:
    return serve(accounts=path)


@pytest.fixture(scope="module")
def closed_service(serve: Callable[..., Served], path: Path) -> Served:
    return serve(accounts=path, anonymous=False)


@pytest.mark.parametrize("endpoint", FOR_CALLERS)
def test_only_users(closed_service: Served, endpoint: str) -> None:
    refused = httpx.get(closed_service.tap + endpoint)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic realm=")
    assert "QUERY_STATUS" in refused.text
    assert httpx.get(closed_service.tap + endpoint, auth=ALICE).status_code == 200


@pytest.mark.parametrize("endpoint", FOR_ALL)
@pytest.mark.parametrize("auth", [None, ALICE, ("alice", "wrong")])
def test_these_answer_everybody(closed_service: Served, endpoint: str, auth: tuple[str, str] | None) -> None:
    assert httpx.get(closed_service.tap + endpoint, auth=auth).status_code == 200


@pytest.mark.parametrize("endpoint", FOR_CALLERS)
def test_wrong_credentials_are_told(open_service: Served, endpoint: str) -> None:
    assert httpx.get(open_service.tap + endpoint).status_code == 200
    assert httpx.get(open_service.tap + endpoint, auth=("alice", "wrong")).status_code == 401


def test_jobs_are_made_by_whom_one_says_one_is(open_service: Served, closed_service: Served) -> None:
    """Wrong credentials make no anonymous job."""
    for served, auth, status in (
        (open_service, ("alice", "wrong"), 401),
        (open_service, ("nobody", ALICE[1]), 401),
        (closed_service, None, 401),
        (closed_service, ALICE, 303),
    ):
        made = httpx.post(f"{served.tap}/async", data={"PHASE": "RUN"}, auth=auth)
        assert made.status_code == status
        assert ("location" in made.headers) == (status == 303)


def test_another_sites_page_gets_nothing_done_with_a_remembered_password(open_service: Served) -> None:
    query = {"LANG": "ADQL", "QUERY": "SELECT TOP 1 id FROM svc.stars"}
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert httpx.post(open_service.sync, data=query, headers=headers, auth=ALICE).status_code == 403
    assert httpx.post(open_service.sync, data=query, headers=headers).status_code == 200


def test_the_ways_in_are_declared(open_service: Served, closed_service: Served, service: Served) -> None:
    def declared(served: Served) -> list[str | None]:
        tree = ElementTree.fromstring(httpx.get(served.tap + "/capabilities").content)
        return [method.get("standardID") for method in tree.iter("securityMethod")]

    assert declared(service) == []
    assert declared(open_service) == [None, "ivo://ivoa.net/sso#BasicAA"]
    assert declared(closed_service) == ["ivo://ivoa.net/sso#BasicAA"]


def test_pyvo_logs_in(closed_service: Served) -> None:
    session = AuthSession()
    session.credentials.set_password(*ALICE)
    session.add_security_method_for_url(closed_service.tap, "ivo://ivoa.net/sso#BasicAA", exact=False)
    found = pyvo.dal.TAPService(closed_service.tap, session=session).search("SELECT TOP 3 id FROM svc.stars")
    assert len(found) == 3
