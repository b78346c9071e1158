"""The public URL and the client's address behind proxies: by headers, then with a real nginx, TLS and a path prefix."""

from __future__ import annotations

import json
import ssl
import timeit
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import pyvo
import requests

from tap_service.services.site.request_origin import find_origin
from tap_service.settings.site_settings import ProxyHeader
from tests.tap_service.nginx import behind_nginx

TRUSTED = (ip_network("10.0.0.0/8"),)
REQUEST = "http://inner:8000"


def asked(headers: dict[str, str], peer: str = "10.0.0.1", public_url: str = "") -> tuple[str, str]:
    found = find_origin(headers, peer, REQUEST, TRUSTED, public_url)
    return found.base_url, found.address


@pytest.mark.parametrize(
    ("headers", "base_url", "client"),
    [
        ({}, REQUEST, "10.0.0.1"),
        (
            {"x-forwarded-proto": "https", "x-forwarded-host": "example.org", "x-forwarded-for": "1.2.3.4"},
            "https://example.org",
            "1.2.3.4",
        ),
        ({"x-forwarded-proto": "https", "x-forwarded-prefix": "/a/b/"}, "https://inner:8000/a/b", "10.0.0.1"),
        # the client's header is to the left of the value appended by the proxy
        (
            {"x-forwarded-host": "evil.org, example.org", "x-forwarded-for": "6.6.6.6, 1.2.3.4"},
            "http://example.org",
            "1.2.3.4",
        ),
        # two trusted proxies, each of which appends
        (
            {
                "x-forwarded-proto": "https, http",
                "x-forwarded-host": "example.org, inner",
                "x-forwarded-for": "1.2.3.4, 10.1.1.1",
            },
            "https://example.org",
            "1.2.3.4",
        ),
        # two trusted proxies, of which only the first sends the host
        ({"x-forwarded-host": "example.org", "x-forwarded-for": "1.2.3.4, 10.1.1.1"}, "http://example.org", "1.2.3.4"),
        # the client sends Forwarded, and this proxy forwards it
        (
            {
                "forwarded": "for=6.6.6.6;host=evil.org;proto=https;prefix=/a",
                "x-forwarded-host": "example.org",
                "x-forwarded-for": "1.2.3.4",
            },
            "http://example.org",
            "1.2.3.4",
        ),
        ({"forwarded": "for=6.6.6.6;host=evil.org"}, REQUEST, "10.0.0.1"),
        # invalid hosts, schemes, prefixes and addresses are ignored
        (
            {
                "x-forwarded-host": 'x"><script>',
                "x-forwarded-proto": "gopher",
                "x-forwarded-prefix": "//evil.org",
                "x-forwarded-for": "unknown",
            },
            REQUEST,
            "10.0.0.1",
        ),
    ],
)
def test_headers_of_a_trusted_proxy(headers: dict[str, str], base_url: str, client: str) -> None:
    assert asked(headers) == (base_url, client)


@pytest.mark.parametrize(
    ("headers", "base_url", "client"),
    [
        (
            {
                "forwarded": 'for="[2001:db8::1]:4711";proto=https;host="example.org:8443"',
                "x-forwarded-host": "evil.org",
            },
            "https://example.org:8443",
            "2001:db8::1",
        ),
        (
            {
                "forwarded": 'for=6.6.6.6;host=evil.org, for=1.2.3.4;host=example.org;proto=https;prefix="/a"',
                "x-forwarded-prefix": "/evil",
                "x-forwarded-for": "6.6.6.6",
            },
            "https://example.org/a",
            "1.2.3.4",
        ),
        (
            {"x-forwarded-for": "6.6.6.6", "x-forwarded-host": "evil.org", "x-forwarded-prefix": "/a"},
            REQUEST,
            "10.0.0.1",
        ),
        ({"forwarded": "nonsense, ;;=,"}, REQUEST, "10.0.0.1"),
        # quotes that a client leaves open before a proxy appends its element
        ({"forwarded": 'for=", for=1.2.3.4'}, REQUEST, "1.2.3.4"),
        ({"forwarded": 'for="x, for="[2001:db8::1]:4711";host="example.org"'}, "http://example.org", "2001:db8::1"),
        ({"forwarded": r'for="\", for="[2001:db8::1]"'}, REQUEST, "2001:db8::1"),
    ],
)
def test_a_proxy_that_writes_forwarded(headers: dict[str, str], base_url: str, client: str) -> None:
    found = find_origin(headers, "10.0.0.1", REQUEST, TRUSTED, counts="forwarded")
    assert (found.base_url, found.address) == (base_url, client)


@pytest.mark.parametrize("text", ["a", " ", ",", ";", '"', '"\\"', '\\"', "a=b;", 'a="'])
def test_a_long_header_takes_no_long_time(text: str) -> None:
    """With a number of steps that grows with the square of the length, this would exceed the time limit of the test."""
    headers = {"forwarded": text * (400_000 // len(text)) + ", for=1.2.3.4"}
    assert find_origin(headers, "10.0.0.1", REQUEST, TRUSTED, counts="forwarded").address == "1.2.3.4"


@pytest.mark.parametrize("repeated", ["6.6.6.6, ", "10.0.0.1, ", ",", "a", "/a", "for=6.6.6.6, ", ";a=b", '"'])
@pytest.mark.parametrize("name", ["for", "proto", "host", "prefix", "forwarded"])
def test_what_stands_left_of_the_client_costs_nothing(name: str, repeated: str) -> None:
    """Each request is parsed like this before it can be refused."""
    counts: ProxyHeader = "forwarded" if name == "forwarded" else "x-forwarded"
    key, own = (name, "for=1.2.3.4") if name == "forwarded" else (f"x-forwarded-{name}", "1.2.3.4")

    def find_seconds(times: int) -> float:
        headers = {"x-forwarded-for": "1.2.3.4", key: f"{repeated * (times // len(repeated))}, {own}"}

        def find() -> None:
            assert find_origin(headers, "10.0.0.1", REQUEST, TRUSTED, counts=counts).address == "1.2.3.4"

        return min(timeit.repeat(find, number=1, repeat=20))

    assert find_seconds(400_000) < 4 * find_seconds(8000)


def test_many_trusted_proxies_are_followed_to_the_client() -> None:
    chain = ", ".join(f"10.0.0.{number}" for number in range(1, 100))
    headers = {"x-forwarded-for": f"6.6.6.6, 1.2.3.4, {chain}", "x-forwarded-host": "evil.org, example.org, inner"}
    assert asked(headers) == ("http://evil.org", "1.2.3.4")
    assert asked({"x-forwarded-for": "10.0.0.2, 10.0.0.3"}) == (REQUEST, "10.0.0.2")


def test_headers_of_anybody_else() -> None:
    headers = {"x-forwarded-host": "evil.org", "forwarded": "host=evil.org", "x-forwarded-for": "6.6.6.6"}
    assert asked(headers, peer="1.2.3.4") == (REQUEST, "1.2.3.4")
    assert asked(headers, peer="") == (REQUEST, "")


def test_the_public_url_decides() -> None:
    assert asked({"x-forwarded-host": "other.org"}, public_url="https://example.org/a") == (
        "https://example.org/a",
        "10.0.0.1",
    )


@pytest.fixture(scope="module")
def proxied(service: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The service's address behind nginx with TLS, and the certificate to trust."""
    with behind_nginx(tmp_path_factory.mktemp("nginx"), service.url) as (url, certificate):
        yield f"{url}/tap", certificate


class TestNginx:
    def test_capabilities_have_the_outer_address(self, proxied: tuple[str, Path]) -> None:
        url, certificate = proxied
        context = ssl.create_default_context(cafile=certificate)
        document = httpx.get(url + "/capabilities", verify=context).content
        addresses = [element.text for element in ElementTree.fromstring(document).iter("accessURL")]
        assert addresses == [url, *(f"{url}/{name}" for name in ("capabilities", "availability", "tables", "examples"))]
        for address in addresses:
            assert httpx.get(str(address), verify=context).status_code == 200

    def test_pyvo_works_through_it(self, proxied: tuple[str, Path]) -> None:
        url, certificate = proxied
        with requests.Session() as session:
            session.trust_env = False  # otherwise a bundle of the environment would be used
            session.verify = str(certificate)
            service = pyvo.dal.TAPService(url, session=session)
            assert "svc.stars" in service.tables.keys()  # noqa: SIM118 (pyvo's tables are no dict)
            assert len(service.search("SELECT id FROM svc.stars WHERE id < 10").to_table()) == 10

    def test_a_client_that_leaves_the_proxy_leaves_the_service(
        self, service: Any, proxied: tuple[str, Path], heavy: str, eventually: Callable[[Callable[[], bool]], None]
    ) -> None:
        url, certificate = proxied
        context = ssl.create_default_context(cafile=certificate)
        before = service.metric("skyhouse_queries_total", status="GONE")
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url + "/sync", data={"QUERY": heavy}, timeout=0.7, verify=context)
        eventually(lambda: service.metric("skyhouse_queries_total", status="GONE") == before + 1)


#: forged values by the client, with every header that a service might believe
FORGED = {
    "Forwarded": "for=6.6.6.6;host=evil.example;proto=http",
    "X-Forwarded-For": "6.6.6.6",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Prefix": "/evil",
    "X-Real-IP": "6.6.6.6",
}


def test_forged_headers_behind_nginx(serve: Callable[..., Any], tmp_path: Path) -> None:
    """The service returns its public address, logs the client's, and counts the client's jobs as one client's."""
    service = serve(trusted_proxies="127.0.0.1", user_pending_jobs=2, query_log=str(tmp_path / "queries.log"))
    with behind_nginx(tmp_path, service.url) as (url, certificate):
        context = ssl.create_default_context(cafile=certificate)
        with httpx.Client(transport=httpx.HTTPTransport(verify=context, local_address="127.0.0.2")) as client:

            def create(number: int) -> httpx.Response:
                headers = FORGED | {"Forwarded": f"for=6.6.6.{number}", "X-Forwarded-For": f"6.6.6.{number}"}
                return client.post(f"{url}/tap/async", data={"QUERY": "SELECT 1 AS a FROM svc.stars"}, headers=headers)

            made = [create(number) for number in range(3)]
            asked = client.get(
                f"{url}/tap/sync", params={"QUERY": "SELECT TOP 1 id FROM svc.stars", "LANG": "ADQL"}, headers=FORGED
            )
    assert [answer.status_code for answer in made] == [303, 303, 429]
    assert all(answer.headers["location"].startswith(f"{url}/tap/async/") for answer in made[:2])
    assert asked.status_code == 200
    logged = [json.loads(line) for line in (tmp_path / "queries.log").read_text().splitlines()]
    assert [line["client"] for line in logged] == ["127.0.0.2"]


def test_nobody_is_believed_without_trust(serve: Callable[..., Any]) -> None:
    service = serve(trusted_proxies="")
    page = httpx.get(
        service.tap + "/capabilities", headers={"X-Forwarded-Host": "evil.org", "Forwarded": "host=evil.org"}
    )
    assert service.tap in page.text
    assert "evil.org" not in page.text
