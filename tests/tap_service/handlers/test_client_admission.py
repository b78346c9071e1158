"""Blocked addresses and rates, over HTTP and with the commands that operators use."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from loaders.cli.skyhouse_command import app
from tap_service.services.site.blocked_networks import BlockedError, BlockedNetworks, read_networks
from tap_service.services.token_buckets import TokenBuckets
from tests.support.running_service import RunningService

TOKENS = 5


def run(*arguments: str) -> tuple[int, str]:
    ran = CliRunner().invoke(app, list(arguments))
    return ran.exit_code, ran.output


def ask(service: RunningService, address: str, path: str = "/tap/availability") -> httpx.Response:
    return httpx.get(service.url + path, headers={"X-Forwarded-For": address}, verify=False)


def test_blocked_addresses(
    serve: Callable[..., RunningService], tmp_path: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Commands take effect while the service runs; an invalid line keeps the previous blocks."""
    file = tmp_path / "blocked.txt"
    service = serve(blocked=file, contact="observer@example.org")
    assert ask(service, "192.0.2.7").status_code == 200
    assert run("block", "192.0.2.0/24", "--reason", "floods", "--file", str(file)) == (0, "192.0.2.0/24 is blocked\n")
    assert run("block", "2001:db8::/64", "--file", str(file))[0] == 0
    eventually(lambda: ask(service, "192.0.2.7").status_code == 403)
    for path in ("/tap/availability", "/", "/metrics", "/nothing"):
        refused = ask(service, "192.0.2.7", path)
        assert refused.status_code == 403
        assert "requests from 192.0.2.7 are blocked: write to observer@example.org" in refused.text
        assert "floods" not in refused.text
    assert ask(service, "2001:db8::7").status_code == 403
    assert ask(service, "::ffff:192.0.2.7").status_code == 403
    assert ask(service, "192.0.3.7").status_code == 200
    listed = run("block", "--file", str(file))
    assert listed == (0, "192.0.2.0/24\tfloods\n2001:db8::/64\t\n")
    file.write_text(file.read_text() + "nonsense\n")
    for address, status in (("192.0.2.8", 403), ("192.0.3.8", 200)):
        assert ask(service, address).status_code == status
    file.write_text("192.0.2.0/24\n")
    code, said = run("unblock", "192.0.2.7", "--file", str(file))
    assert (code, "it belongs to 192.0.2.0/24, which is blocked" in said) == (1, True)
    assert run("unblock", "192.0.2.0/24", "--file", str(file))[0] == 0
    eventually(lambda: ask(service, "192.0.2.7").status_code == 200)
    assert run("block", "--file", str(file)) == (0, "no address is blocked\n")


def test_files_of_blocked_addresses(tmp_path: Path) -> None:
    file = tmp_path / "blocked.txt"
    assert not BlockedNetworks(file).is_blocked("192.0.2.1")
    assert not BlockedNetworks(None).is_blocked("192.0.2.1")
    file.write_text("# nobody\n\n192.0.2.7 # a robot\n2001:db8::1/64\n")
    assert read_networks(file) == {ip_network("192.0.2.7/32"): "a robot", ip_network("2001:db8::/64"): ""}
    assert not BlockedNetworks(file).is_blocked("no address")
    file.write_text("192.0.2.7\n192.0.2\n")
    with pytest.raises(BlockedError, match=r"line 2: .*192\.0\.2.*write 192\.0\.2\.7 or"):
        BlockedNetworks(file)
    assert run("block", "192.0.2", "--file", str(file))[0] == 2
    code, said = run("block", "192.0.2.9", "--file", str(file))
    assert (code, "line 2" in said) == (1, True)
    assert file.read_text() == "192.0.2.7\n192.0.2\n"


def test_token_buckets() -> None:
    now = [100.0]
    buckets = TokenBuckets(60, lambda: now[0])
    assert [buckets.take_token("a") for _ in range(60)] == [0.0] * 60
    assert buckets.take_token("a") == pytest.approx(1.0)
    assert buckets.take_token("b") == 0
    now[0] += 2.5
    assert [buckets.take_token("a") for _ in range(3)] == [0.0, 0.0, pytest.approx(0.5)]
    now[0] += 86_400
    assert [buckets.take_token("a") for _ in range(61)] == [*[0.0] * 60, pytest.approx(1.0)]
    for number in range(20_000):
        buckets.take_token(f"client {number}")
    assert len(buckets._buckets) <= 10_000
    assert all(TokenBuckets(0).take_token("a") == 0 for _ in range(1000))


def test_rates_of_requests_and_jobs(serve: Callable[..., RunningService]) -> None:
    service = serve(client_requests_per_minute=TOKENS)
    answers = [ask(service, f"2001:db8::{number}") for number in range(TOKENS + 1)]
    assert [answer.status_code for answer in answers] == [200] * TOKENS + [429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60 / TOKENS
    assert "2001:db8::/64 sends too many requests per minute: wait" in answers[-1].text
    assert answers[-1].headers["access-control-allow-origin"] == "*"
    assert ask(service, "2001:db8:1::1").status_code == 200
    service = serve(user_jobs_per_minute=TOKENS)

    def create(address: str) -> httpx.Response:
        return httpx.post(f"{service.tap}/async", headers={"X-Forwarded-For": address}, verify=False)

    made = [create("192.0.2.1") for _ in range(TOKENS + 1)]
    assert [answer.status_code for answer in made] == [303] * TOKENS + [429]
    assert 0 < int(made[-1].headers["retry-after"]) <= 60 / TOKENS
    assert f"you create more than {TOKENS} jobs a minute: wait" in made[-1].text
    assert create("192.0.2.2").status_code == 303
