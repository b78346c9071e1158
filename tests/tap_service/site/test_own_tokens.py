"""Tokens that users create, list and revoke themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service.models.identity import Identity
from tap_service.service_errors import Forbidden, ServiceUnavailable
from tap_service.services.site.own_tokens import OwnTokens
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS, write_accounts

ALICE = ("alice", USERS["alice"])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_accounts(tmp_path_factory.mktemp("tokens") / "accounts.sqlite")


@pytest.fixture(scope="module")
def service(serve: Callable[..., RunningService], path: Path) -> RunningService:
    return serve(accounts=path)


def send(
    service: RunningService, method: str, path: str = "/tokens", token: str = "", **options: Any
) -> httpx.Response:
    """Send a request as alice, with her password or a token."""
    if token:
        options["headers"] = {"Authorization": f"Bearer {token}"}
    else:
        options.setdefault("auth", ALICE)
    return httpx.request(method, f"{service.tap}{path}", verify=False, timeout=60, **options)


def test_the_life_of_a_token(service: RunningService) -> None:
    made = send(service, "POST", json={"label": "laptop", "days": 2})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    token, token_id = made.json()["token"], made.json()["id"]
    listed = send(service, "GET", token=token)
    assert listed.json()["tokens"] == [{"id": token_id, "label": "laptop", "expires": made.json()["expires"]}]
    assert token not in listed.text
    assert send(service, "GET", auth=("bob", USERS["bob"])).json() == {"owner": "bob", "tokens": []}
    assert send(service, "DELETE", f"/tokens/{token_id}", auth=("bob", USERS["bob"])).status_code == 404
    assert send(service, "DELETE", f"/tokens/{token_id}", token=token).status_code == 204
    assert send(service, "GET", token=token).status_code == 401
    assert send(service, "DELETE", f"/tokens/{token_id}").status_code == 404


def test_a_token_makes_none_that_lives_longer(service: RunningService) -> None:
    parent = send(service, "POST", json={"label": "short", "days": 1}).json()
    refused = send(service, "POST", token=parent["token"], json={"days": 2})
    assert refused.status_code == 403
    assert "your token is valid for only 1 days" in refused.text
    child = send(service, "POST", token=parent["token"], json={"label": "child"}).json()
    assert child["expires"] <= parent["expires"]
    assert send(service, "POST", token=child["token"], json={"days": 0.5}).status_code == 201
    for token in send(service, "GET").json()["tokens"]:
        send(service, "DELETE", f"/tokens/{token['id']}")


def test_a_token_ends_with_the_one_that_made_it(path: Path) -> None:
    """The time between the check of its days and its creation does not matter."""
    accounts = Accounts(path)
    latest = time.time() + 1000
    value = accounts.add_token("carol", "child", 1, latest=latest)
    assert [each.expires for each in accounts.list_tokens("carol") if each.matches(value)] == [latest]
    accounts.revoke_tokens("carol", "child")
    accounts.close()


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ({"auth": None}, 401, "sign in to use this resource"),
        ({"data": {"label": "form"}}, 400, "send a JSON object, with Content-Type: application/json"),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "the body is not JSON"),
        ({"json": ["label"]}, 400, "the body is not a JSON object"),
        ({"json": {"admin": True}}, 400, "'admin' is unknown; known members are: label, days"),
        ({"json": {"days": 367}}, 400, "days, the lifetime of the token, must be a number above 0 and up to 366"),
        ({"json": {"days": True}}, 400, "days, the lifetime of the token, must be a number"),
        ({"json": {"days": "7"}}, 400, "days, the lifetime of the token, must be a number"),
        ({"json": {"label": ""}}, 400, "label, the purpose of the token, must have 1 to 100 printable"),
        ({"json": {"label": "a\nb"}}, 400, "label, the purpose of the token, must have 1 to 100 printable"),
        ({"json": {"label": 7}}, 400, "label is not a string"),
        ({"json": {"label": "x" * 20_000}}, 413, "the body has more than 10000 bytes"),
    ],
)
def test_requests_that_cannot_be(service: RunningService, options: dict[str, Any], status: int, said: str) -> None:
    answer = send(service, "POST", **options)
    assert answer.status_code == status
    assert said in answer.text.replace("&#39;", "'").replace("&apos;", "'").replace("&quot;", '"')
    assert send(service, "GET").json()["tokens"] == []


def test_a_page_of_another_site_makes_no_token(service: RunningService) -> None:
    """A browser would send a stored password with a form; it sends JSON only if the service has allowed it."""
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    allowed = httpx.options(f"{service.tap}/tokens", headers=asked, verify=False)
    assert "access-control-allow-credentials" not in allowed.headers
    form = send(service, "POST", data={"label": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert form.status_code == 403


def test_there_is_a_maximum(service: RunningService, path: Path) -> None:
    accounts = Accounts(path)
    for number in range(50):
        accounts.add_token("carol", f"t{number}", 1)
    refused = send(service, "POST", auth=("carol", USERS["carol"]), json={})
    assert refused.status_code == 429
    assert "you have 50 tokens, the maximum" in refused.text
    accounts.close()


def test_users_of_issuers_have_none_here(path: Path) -> None:
    accounts = Accounts(path)
    with pytest.raises(Forbidden, match="the institute that signed you in"):
        OwnTokens(accounts).create_token(Identity("institute:alice", valid_until=time.time()), "x", 1, is_capped=True)
    accounts.close()


def test_a_file_of_users_that_cannot_be_written(path: Path) -> None:
    """The refusal says to try again, and does not reveal the path of the file."""
    accounts = Accounts(path)
    accounts._connection.execute("PRAGMA query_only = ON")
    tokens = OwnTokens(accounts)
    for change in (
        lambda: tokens.create_token(Identity("alice"), "x", 1, is_capped=False),
        lambda: tokens.revoke_token(Identity("alice"), "0" * 24),
    ):
        with pytest.raises(ServiceUnavailable, match=r"^tokens cannot be changed now\. Try again later$"):
            change()
    accounts.close()
