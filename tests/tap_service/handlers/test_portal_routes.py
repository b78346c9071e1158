"""The portal's files over HTTP and their headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service.config import Config
from tap_service.handlers.compress_responses import zstd

INDEX = '<!doctype html><meta name="csp-nonce" content="{csp-nonce}"><script src="./assets/a-1.js"></script>'
SCRIPT = "// π\n" + "export const answer = 42;\n" * 200


@pytest.fixture(scope="module")
def site(
    svc_engine: Any, start_server: Callable[..., AbstractContextManager[Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a service with a portal of three files, and a secret file next to the build."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "secret.txt").write_text("of the host")
    (folder / "dist" / "assets").mkdir(parents=True)
    for name, text in {"index.html": INDEX, "assets/a-1.js": SCRIPT, "assets/f.woff2": "wOF2" * 1000}.items():
        (folder / "dist" / name).write_text(text, encoding="utf-8")
    config = Config(query_log="", jobs_path=folder / "jobs")
    with start_server(config, svc_engine, portal=folder / "dist") as service:
        yield service.url


def policy(response: httpx.Response) -> dict[str, str]:
    directives = (part.strip().partition(" ") for part in response.headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in directives}


class TestPage:
    def test_each_response_has_its_own_nonce(self, site: str) -> None:
        first, second = httpx.get(site), httpx.get(site + "/")
        assert first.headers["content-type"] == "text/html; charset=utf-8"
        assert first.headers["cache-control"] == "no-cache"
        nonces = [re.search('content="([^"]+)"', page.text) for page in (first, second)]
        assert all(nonces)
        assert nonces[0][1] != nonces[1][1]
        for page, nonce in zip((first, second), nonces, strict=True):
            assert policy(page)["style-src"] == f"'self' 'nonce-{nonce[1]}'"

    def test_the_policy_allows_only_what_is_needed(self, site: str) -> None:
        found = policy(httpx.get(site))
        assert found.pop("style-src")
        assert found == {
            "default-src": "'none'",
            "script-src": "'self'",
            "worker-src": "'self'",
            "img-src": "'self' data: blob:",
            "font-src": "'self'",
            "connect-src": "'self' http://127.0.0.1:21012 http://localhost:21012",
            "base-uri": "'self'",
            "form-action": "'self'",
            "frame-ancestors": "'none'",
        }

    @pytest.mark.parametrize("path", ["/", "/assets/a-1.js", "/tap", "/tap/nothing", "/metrics"])
    def test_no_sniffing_and_no_referrer(self, site: str, path: str) -> None:
        headers = httpx.get(site + path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]

    def test_head(self, site: str) -> None:
        for path in ("/", "/assets/a-1.js"):
            head, whole = httpx.head(site + path), httpx.get(site + path)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == whole.headers["content-length"]

    def test_other_methods_are_refused(self, site: str) -> None:
        answer = httpx.post(site + "/")
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD"


class TestAssets:
    def test_assets_are_immutable(self, site: str) -> None:
        answer = httpx.get(site + "/assets/a-1.js")
        assert answer.text == SCRIPT
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert policy(answer)["style-src"] == "'self'"

    @pytest.mark.parametrize("encoding", ["gzip", "zstd", ""])
    def test_compressed(self, site: str, encoding: str) -> None:
        with httpx.stream("GET", site + "/assets/a-1.js", headers={"Accept-Encoding": encoding}) as answer:
            body = b"".join(answer.iter_raw())
        assert answer.headers.get("content-encoding", "") == encoding
        assert answer.headers["vary"] == "Accept-Encoding"
        if encoding:
            assert len(body) < len(SCRIPT) / 10
        unpack = {"gzip": lambda data: httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=data).content}
        assert {"zstd": zstd.decompress, **unpack}.get(encoding, bytes)(body).decode() == SCRIPT

    def test_fonts_are_not_compressed_again(self, site: str) -> None:
        answer = httpx.get(site + "/assets/f.woff2")
        assert answer.headers["content-type"] == "font/woff2"
        assert "content-encoding" not in answer.headers

    def test_a_known_etag_gets_304(self, site: str) -> None:
        etags = {}
        for encoding in ("gzip", "identity"):
            headers = {"Accept-Encoding": encoding}
            etags[encoding] = httpx.get(site + "/assets/a-1.js", headers=headers).headers["etag"]
            for known in (etags[encoding], f'"other", W/{etags[encoding]}', "*"):
                again = httpx.get(site + "/assets/a-1.js", headers={**headers, "If-None-Match": known})
                assert (again.status_code, again.content) == (304, b"")
                assert again.headers["etag"] == etags[encoding]
            other = httpx.get(site + "/assets/a-1.js", headers={**headers, "If-None-Match": '"other"'})
            assert other.status_code == 200
        assert etags["gzip"] != etags["identity"]

    @pytest.mark.parametrize(
        "path",
        [
            "/assets/../../secret.txt",
            "/assets/%2e%2e/%2e%2e/secret.txt",
            "/assets/..%2f..%2fsecret.txt",
            "/..\\secret.txt",
            "//secret.txt",
            "/assets",
            "/assets/",
            "/assets/a-1.js/",
            "/assets/a-1.js%00",
            "/assets/a-2.js",
            "/secret.txt",
        ],
    )
    def test_no_path_leads_out_of_the_build(self, site: str, path: str) -> None:
        host, port = site.removeprefix("http://").split(":")
        with httpx.Client(base_url=f"http://{host}:{port}") as client:
            request = client.build_request("GET", "/")
            request.url = request.url.copy_with(raw_path=path.encode())
            answer = client.send(request)
        assert answer.status_code == 404
        assert "of the host" not in answer.text


def test_surveys_and_aladin_lite_have_addresses_and_a_policy_of_their_own(
    svc_engine: Any, start_server: Callable[..., AbstractContextManager[Any]], tmp_path: Path
) -> None:
    for name, text in {"index.html": INDEX, "aladin.html": "<!doctype html>", "copy.js": SCRIPT}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    survey = "https://sky.example.org/DSS/colour"
    options = {"surveys": survey, "aladin_lite": tmp_path / "copy.js"}
    with start_server(
        Config(query_log="", jobs_path=tmp_path / "jobs", **options), svc_engine, portal=tmp_path
    ) as service:
        assert httpx.get(service.url + "/portal.json").json() == {"surveys": [survey + "/"], "aladinLite": True}
        page = policy(httpx.get(service.url))
        assert page["connect-src"].split()[-1] == survey + "/"
        assert (page["script-src"], page["img-src"]) == ("'self'", "'self' data: blob:")
        aladin = policy(httpx.get(service.url + "/aladin.html"))
        assert aladin["script-src"] == "'self' 'wasm-unsafe-eval'"
        assert survey + "/" in aladin["connect-src"].split()
        assert httpx.get(service.url + "/aladin.js").text == SCRIPT
    with start_server(Config(query_log="", jobs_path=tmp_path / "jobs"), svc_engine, portal=tmp_path) as service:
        assert httpx.get(service.url + "/portal.json").json() == {"surveys": [], "aladinLite": False}
        for name in ("aladin.html", "aladin.js"):
            assert httpx.get(f"{service.url}/{name}").status_code == 404


def test_a_plain_page_without_a_build(
    svc_engine: Any, start_server: Callable[..., AbstractContextManager[Any]], tmp_path: Path
) -> None:
    config = Config(query_log="", jobs_path=tmp_path / "jobs")
    with start_server(config, svc_engine, portal=tmp_path / "nowhere") as service:
        door, tap = httpx.get(service.url), httpx.get(service.tap)
    assert (door.status_code, door.text) == (200, tap.text)
    assert f"<pre>{service.tap}</pre>" in door.text
