"""Permissions: docs/access.md lists every route and its methods, and a closed service follows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.support.environment import ROOT
from tests.support.running_service import RunningService

FOR_EVERYBODY, FOR_USERS, FOR_OPERATORS = (
    "everybody",
    ("users", "the owner", "the user", "administrators"),
    "the operator",
)
FOR_HARVESTERS = "harvesters of the registry"


def documented() -> dict[tuple[str, str], str]:
    """The permitted clients, for each path and method of the table, without the portal's files."""
    rows = re.findall(r"^\| (`/.*) \| (.*) \| (.*) \|$", (ROOT / "docs" / "access.md").read_text(), re.MULTILINE)
    return {
        (path, method): who
        for paths, methods, who in rows
        if "portal" not in paths
        for path in re.findall(r"`([^`]+)`", paths)
        for method in methods.split(", ")
    }


@pytest.fixture(scope="module")
def closed(serve: Callable[..., RunningService], accounts: Path) -> RunningService:
    return serve(
        accounts=accounts, anonymous=False, metrics_from="192.0.2.0/24", contact="observer@example.org", mcp=True
    )


def test_every_route_is_documented(closed: RunningService) -> None:
    *routers, (_, portal) = closed.server.config.app.state.routers
    found = {
        (prefix + route.path, method)
        for prefix, router in routers
        for route in router.routes
        for method in route.methods
    }
    assert found == documented().keys()
    assert "/" in {route.path for route in portal.routes}


def test_a_closed_service_answers_nobody_else(closed: RunningService) -> None:
    with httpx.Client() as client:
        for (path, method), who in documented().items():
            answer = client.request(method, closed.url + re.sub(r"\{\w+\}", "svc.stars", path))
            if who.startswith(FOR_HARVESTERS):
                assert answer.status_code == 404, path
            elif who.startswith(FOR_EVERYBODY):
                assert answer.status_code == 200, path
                assert "svc.stars" not in answer.text, path
            else:
                assert answer.status_code == (403 if who == FOR_OPERATORS else 401), (method, path)
                assert who == FOR_OPERATORS or who.startswith(FOR_USERS)
        landing = client.get(closed.tap)
        assert "observer@example.org" in landing.text
        assert "log in" in landing.text
        assert "svc.stars" in client.get(closed.tap, auth=("alice", "correct-horse")).text


def test_metrics_are_for_the_operator(closed: RunningService, service: RunningService) -> None:
    url = f"{closed.url}/metrics"
    refused = httpx.get(url, auth=("alice", "correct-horse"))
    assert refused.status_code == 403
    assert (
        "Your address is 127.0.0.1. Send the request from an address that SKYHOUSE_METRICS_FROM names" in refused.text
    )
    assert httpx.get(url, auth=("root", "administrator")).status_code == 200
    assert httpx.get(url, auth=("root", "wrong")).status_code == 401
    assert httpx.get(url, headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 200
    assert httpx.get(f"{service.url}/metrics").status_code == 200
    for headers in ({"X-Forwarded-For": "192.0.2.7"}, {"Forwarded": "for=127.0.0.1"}, {"X-Forwarded-Host": "x"}):
        assert httpx.get(f"{service.url}/metrics", headers=headers).status_code == 403, headers


def test_metrics_through_a_proxy_that_is_not_trusted(serve: Callable[..., RunningService]) -> None:
    """The address of the request is this machine's, which does not identify the client."""
    service = serve(trusted_proxies="")
    assert httpx.get(f"{service.url}/metrics").status_code == 200
    refused = httpx.get(f"{service.url}/metrics", headers={"X-Forwarded-For": "127.0.0.1"})
    assert refused.status_code == 403
    assert "a proxy that is not trusted or does not name its client" in refused.text


OWN, ELSEWHERE = "{url}", "https://evil.example"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),  # pyvo, TOPCAT, curl
        ({"Origin": OWN}, 303),
        ({"Referer": OWN + "/tables.html"}, 303),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://public.example"}, 303),
        ({"Sec-Fetch-Site": "none"}, 303),
        ({"Origin": ELSEWHERE}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://[evil"}, 403),
        ({"Referer": ELSEWHERE + "/page"}, 403),
        ({"Origin": ELSEWHERE, "Referer": OWN}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": OWN}, 403),
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_passwords_that_other_sites_pages_send(
    closed: RunningService, headers: dict[str, str], status: int, method: str
) -> None:
    """Browsers send Sec-Fetch-Site only to https; without it, Origin and Referer identify the source of a request."""
    headers = {name: value.replace(OWN, closed.url) for name, value in headers.items()}
    auth = ("alice", "correct-horse")
    if method == "POST":
        answer = httpx.post(f"{closed.tap}/async", data={"QUERY": "SELECT 1 AS a"}, headers=headers, auth=auth)
    else:
        job = httpx.post(f"{closed.tap}/async", auth=auth).headers["location"]
        answer = httpx.delete(job, headers=headers, auth=auth)
    assert answer.status_code == status, answer.text
    assert httpx.get(f"{closed.tap}/tables?detail=min", headers=headers, auth=auth).status_code == 200


def test_a_portal_behind_a_proxy_is_no_other_site(closed: RunningService) -> None:
    headers = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Host": "example.org", "X-Forwarded-Proto": "https"}
    for page, status in (
        ("https://example.org", 303),
        ("https://example.org:443", 303),
        ("https://a.example.org", 403),
    ):
        answer = httpx.post(f"{closed.tap}/async", headers=headers | {"Origin": page}, auth=("alice", "correct-horse"))
        assert answer.status_code == status, page


def test_other_methods_are_refused_with_those_that_are_allowed(closed: RunningService) -> None:
    allowed: dict[str, set[str]] = {}
    for path, method in documented():
        allowed.setdefault(path, set()).add(method)
    for path, methods in allowed.items():
        url = closed.url + re.sub(r"\{\w+\}", "svc.stars", path)
        expected = ", ".join(sorted(methods))
        for method in {"PATCH", "PROPFIND", "PUT", "DELETE", "POST"} - methods:
            answer = httpx.request(method, url, headers={"Accept": "application/json"}, verify=False)
            assert (answer.status_code, answer.headers["allow"]) == (405, expected), (method, path)
            assert answer.json()["detail"].endswith(f"allowed: {expected}")
        if path.startswith("/tap"):
            preflight = httpx.request("OPTIONS", url, verify=False)
            assert (preflight.status_code, preflight.headers["allow"]) == (204, f"{expected}, OPTIONS"), path
    assert httpx.request("OPTIONS", f"{closed.tap}/nothing").status_code == 404
