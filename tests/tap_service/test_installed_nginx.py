"""The shipped configuration of nginx for one machine, in a real nginx, with forged headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from loaders.installation import read_installation_file
from tests.support.environment import ROOT
from tests.support.ports import free_port
from tests.support.running_service import RunningService
from tests.tap_service.nginx import make_certificate, running_nginx

_HEADER = re.compile(r"proxy_set_header (\S+) (.*);")

FORGED = {
    "Forwarded": "for=192.0.2.1;host=evil.example;proto=http",
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Prefix": "/evil",
}


class Front:
    def __init__(self, plain: str, secure: str) -> None:
        self.plain = plain
        self.secure = secure


@pytest.fixture(scope="module")
def front(serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """An nginx in front of the service, with other ports and paths than in the file."""
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "html" / ".well-known" / "acme-challenge").mkdir(parents=True)
    (folder / "html" / ".well-known" / "acme-challenge" / "token").write_text("proof")
    certificate, key = make_certificate(folder)
    plain, secure = free_port(), free_port()
    text = read_installation_file("nginx.conf")
    for shipped, here in (
        ("tap.example.org/fullchain.pem", str(certificate)),
        ("tap.example.org/privkey.pem", str(key)),
        ("/etc/letsencrypt/live/", ""),
        ("server_name tap.example.org", "server_name localhost"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{secure} ssl;"),
        ("listen [::]:80;", ""),
        ("listen [::]:443 ssl;", ""),
        ("/var/www/html", str(folder / "html")),
        ("127.0.0.1:8000", f"127.0.0.1:{serve().port}"),
    ):
        assert shipped in text
        text = text.replace(shipped, here)
    with running_nginx(folder, text, secure):
        yield Front(f"http://localhost:{plain}", f"https://localhost:{secure}")


def test_http_leads_to_https(front: Front) -> None:
    answer = httpx.post(f"{front.plain}/tap/sync?x=1", data={"QUERY": "SELECT 1"})
    assert (answer.status_code, answer.headers["Location"]) == (308, "https://localhost/tap/sync?x=1")
    assert httpx.get(f"{front.plain}/.well-known/acme-challenge/token").text == "proof"


def test_forged_headers_change_no_address(front: Front) -> None:
    with httpx.Client(verify=False, headers=FORGED) as client:
        capabilities = client.get(f"{front.secure}/tap/capabilities").text
        assert f"{front.secure}/tap/examples" in capabilities
        assert "evil" not in capabilities
        created = client.post(f"{front.secure}/tap/async", data={"LANG": "ADQL", "QUERY": "SELECT 1 AS a"})
        assert created.status_code == 303
        assert created.headers["Location"].startswith(f"{front.secure}/tap/async/")


def test_it_sends_on_what_is_large_and_what_it_answers(front: Front) -> None:
    """Send an upload above nginx's default limit of a megabyte."""
    rows = "n\n" + "".join(f"{number}\n" for number in range(300_000))
    asked = {
        "LANG": "ADQL",
        "FORMAT": "csv",
        "UPLOAD": "mine,param:file",
        "QUERY": "SELECT COUNT(*) AS n FROM TAP_UPLOAD.mine",
    }
    files = {"file": ("mine.csv", rows.encode(), "text/csv")}
    answer = httpx.post(f"{front.secure}/tap/sync", data=asked, files=files, verify=False, timeout=60)
    assert (answer.status_code, answer.text.split()) == (200, ["n", "300000"])
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_the_gateway_of_compose_sets_the_same_headers() -> None:
    ours = dict(_HEADER.findall(read_installation_file("nginx.conf")))
    theirs = dict(_HEADER.findall((ROOT / "compose" / "gateway" / "nginx.conf").read_text()))
    assert theirs | {"X-Forwarded-Proto": "$scheme"} == ours
