"""Admission over HTTP, and how clients discover the login methods."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
import pyvo
import requests
from astropy.io.votable import parse_single_table
from fastapi.routing import APIRoute
from pyvo.auth import AuthSession
from pyvo.auth.securitymethods import BASIC
from starlette.types import Message, Receive, Scope, Send

from tap_service.handlers.common_headers import CommonHeaders
from tap_service.models.identity import Identity
from tap_service.services.site.authenticator import BEARER
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService
from tests.support.stilts import run_stilts
from tests.tap_service.users import USERS, temporary_user, write_accounts

ALICE = ("alice", USERS["alice"])
WRONG = ("alice", "wrong")
CHALLENGES = ['Basic realm="Skyhouse", charset="UTF-8"', 'Bearer realm="Skyhouse"']
FOR_CALLERS = (
    "/async",
    "/tables",
    "/tables/svc.stars",
    "/examples",
    "/sync?LANG=ADQL&QUERY=SELECT+TOP+1+id+FROM+svc.stars",
)
FOR_ALL = ("/availability", "/capabilities", "")
MINE = "SELECT a FROM mydb.mine"


@dataclass(frozen=True)
class Users:
    accounts: Path
    token: str


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Users:
    """The users of ``users.USERS``, and a token of Alice."""
    path = write_accounts(tmp_path_factory.mktemp("users") / "accounts.sqlite")
    accounts = Accounts(path)
    token = accounts.add_token("alice", "laptop", None)
    accounts.close()
    return Users(path, token)


@pytest.fixture(scope="module")
def open_service(serve: Callable[..., RunningService], users: Users) -> RunningService:
    return serve(accounts=users.accounts)


@pytest.fixture(scope="module")
def closed_service(serve: Callable[..., RunningService], users: Users) -> RunningService:
    return serve(accounts=users.accounts, anonymous=False)


@pytest.fixture
def mine(closed_service: RunningService) -> Iterator[None]:
    """Alice has a table mydb.mine with the rows 1 and 2."""
    with temporary_user(closed_service, "alice") as alice:
        alice.put("mydb.mine", "a\n1\n2\n")
        yield


def challenges(answer: httpx.Response) -> list[str]:
    return answer.headers.get_list("WWW-Authenticate")


def test_wrong_credentials_are_refused_everywhere(open_service: RunningService, closed_service: RunningService) -> None:
    """Every path below /tap refuses them, for every method, with the protocol's error document."""
    routers = open_service.server.config.app.state.routers
    asked = sorted(
        (method, re.sub(r"\{\w+\}", "x", f"{prefix}{route.path}"))
        for prefix, router in routers
        if prefix == "/tap"
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    )
    assert {path for _, path in asked} >= {"/tap", "/tap/capabilities", "/tap/async/x/results/result", "/tap/estimate"}
    with httpx.Client(verify=False) as client:
        for served, (method, path) in product((open_service, closed_service), asked):
            refused = client.request(method, served.url + path, headers=bearer("guess"))
            assert (refused.status_code, challenges(refused)) == (401, CHALLENGES), (method, path)
            assert refused.headers["Content-Type"] == "application/x-votable+xml"
            assert method == "HEAD" or "are wrong" in refused.text
            assert "X-VO-Authenticated" not in refused.headers
        for path in FOR_ALL + FOR_CALLERS:
            assert client.get(open_service.tap + path, auth=WRONG).status_code == 401, path


def test_a_login_is_offered_where_it_may_be_of_use(
    open_service: RunningService, closed_service: RunningService, service: RunningService, users: Users
) -> None:
    with httpx.Client(verify=False) as client:
        for path, method in product(FOR_ALL + FOR_CALLERS, ("GET", "HEAD")):
            if (method, path[:5]) == ("HEAD", "/sync"):
                continue
            without_users = client.request(method, service.tap + path)
            assert (without_users.status_code, challenges(without_users)) == (200, []), path
            for served, status in ((open_service, 200), (closed_service, 200 if path in FOR_ALL else 401)):
                anonymous = client.request(method, served.tap + path)
                assert (anonymous.status_code, challenges(anonymous)) == (status, CHALLENGES), path
                assert "X-VO-Authenticated" not in anonymous.headers
                for known in (
                    client.request(method, served.tap + path, auth=ALICE),
                    client.request(method, served.tap + path, headers=bearer(users.token)),
                ):
                    assert (known.status_code, challenges(known)) == (200, []), path
                    assert known.headers["X-VO-Authenticated"] == "alice"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_names_from_elsewhere_fit_into_a_header() -> None:
    async def app(scope: Scope, _: Receive, send: Send) -> None:
        scope["state"] = {"visitor": Identity("institute:Zoë 100%\r\nX: y")}
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        assert (b"x-vo-authenticated", b"institute:Zo%C3%AB 100%25%0D%0AX: y") in message["headers"]

    scope = {"type": "http", "path": "/tap/sync", "method": "GET"}
    asyncio.run(CommonHeaders(app)(scope, None, send))  # type: ignore[arg-type]


def test_failures_of_anonymous_callers_are_no_invitation(open_service: RunningService) -> None:
    """TOPCAT would ask for a password, in vain."""
    for path, status in (("/sync?QUERY=DUFF", 400), ("/tables/none.such", 404), ("/async/none", 404)):
        failed = httpx.get(open_service.tap + path)
        assert (failed.status_code, challenges(failed)) == (status, [])
    assert challenges(httpx.get(f"{open_service.tap}/mydb")) == CHALLENGES


def test_jobs_are_made_by_whom_one_says_one_is(open_service: RunningService, closed_service: RunningService) -> None:
    """Wrong credentials do not create an anonymous job."""
    for served, auth, status in (
        (open_service, WRONG, 401),
        (open_service, ("nobody", ALICE[1]), 401),
        (closed_service, None, 401),
        (closed_service, ALICE, 303),
    ):
        made = httpx.post(f"{served.tap}/async", data={"PHASE": "RUN"}, auth=auth)
        assert made.status_code == status
        assert ("location" in made.headers) == (status == 303)


def test_another_sites_page_gets_nothing_done_with_a_remembered_password(open_service: RunningService) -> None:
    query = {"LANG": "ADQL", "QUERY": "SELECT TOP 1 id FROM svc.stars"}
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert httpx.post(open_service.sync, data=query, headers=headers, auth=ALICE).status_code == 403
    assert httpx.post(open_service.sync, data=query, headers=headers).status_code == 200


def test_the_ways_in_are_declared(
    open_service: RunningService, closed_service: RunningService, service: RunningService
) -> None:
    """TAP, tables and examples declare them; public resources declare none (TAP 1.1, section 2.4)."""

    def declared(served: RunningService) -> list[list[str | None]]:
        tree = ElementTree.fromstring(httpx.get(served.tap + "/capabilities").content)
        found = [[method.get("standardID") for method in entry.iter("securityMethod")] for entry in tree]
        for_all = [entry.get("standardID") for entry, methods in zip(tree, found, strict=True) if not methods]
        if any(found):
            assert for_all == ["ivo://ivoa.net/std/VOSI#capabilities", "ivo://ivoa.net/std/VOSI#availability"]
        return [methods for methods in found if methods]

    assert declared(service) == []
    assert declared(open_service) == [[None, BASIC, BEARER.standard_id]] * 3
    assert declared(closed_service) == [[BASIC, BEARER.standard_id]] * 3


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("by", ["password", "token"])
def test_pyvo_logs_in(open_service: RunningService, closed_service: RunningService, users: Users, by: str) -> None:
    """pyvo needs only the capabilities."""
    for served in (open_service, closed_service):
        session = AuthSession()
        if by == "password":
            session.credentials.set_password(*ALICE)
        else:
            with_token = requests.Session()
            with_token.headers.update(bearer(users.token))
            session.credentials.set(BEARER.standard_id, with_token)
        tap = pyvo.dal.TAPService(served.tap, session=session)
        assert tap.search(MINE)["a"].tolist() == [1, 2]
        assert "mydb.mine" in tap.tables.keys()  # noqa: SIM118 (no dictionary)
        assert len(tap.examples) > 0
    anonymous = pyvo.dal.TAPService(open_service.tap)
    assert "mydb.mine" not in anonymous.tables.keys()  # noqa: SIM118
    with pytest.raises(pyvo.DALQueryError, match="there is no table"):
        anonymous.search(MINE)


@pytest.mark.usefixtures("mine")
def test_stilts_logs_in(closed_service: RunningService, tmp_path: Path) -> None:
    """STILTS answers the challenge, like TOPCAT, here without a terminal."""
    properties = {"auth.username": ALICE[0], "auth.password": ALICE[1]}
    properties |= {"star.basicauth.user": ALICE[0], "star.basicauth.password": ALICE[1]}  # of older versions
    query = [f"tapurl={closed_service.tap}", "sync=true", f"adql={MINE}", f"out={tmp_path / 'mine.vot'}"]
    ran = run_stilts("tapquery", *query, properties=properties)
    assert ran.returncode == 0, ran.stderr.decode()
    assert parse_single_table(tmp_path / "mine.vot").array["a"].tolist() == [1, 2]
