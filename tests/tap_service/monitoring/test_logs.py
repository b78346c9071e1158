"""The logs of requests and queries: what a line has, who can be recognized in it, and how files are replaced."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service import hangup
from tap_service.config import ConfigError
from tap_service.hangup import call_hangup, on_hangup
from tap_service.services import client_mask, line_log
from tap_service.services.client_mask import ClientMask, cut_address
from tap_service.services.line_log import LineLog
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS

Eventually = Callable[[Callable[[], bool]], None]
Serve = Callable[..., RunningService]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_line_for_each_request(serve: Serve, tmp_path: Path, accounts: Path, eventually: Eventually) -> None:
    path, queries = tmp_path / "requests.jsonl", tmp_path / "queries.jsonl"
    service = serve(request_log=str(path), query_log=str(queries), accounts=accounts)
    name, password = next(iter(USERS.items()))
    agent = "x\\\"\t'" + "y" * 1000
    url = f"{service.tap}/sync?LANG=ADQL&QUERY=SELECT+TOP+3+n+FROM+svc.numbers&FORMAT=csv"
    answer = httpx.get(url, headers={"User-Agent": agent, "X-Forwarded-For": "198.51.100.7"}, auth=(name, password))
    assert answer.status_code == 200
    httpx.get(f"{service.url}/no%0Athing%22/{'z' * 1000}")
    eventually(lambda: len(read_lines(path)) == 2 and len(read_lines(queries)) == 1)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", path.read_text())
    found, missing = read_lines(path)
    assert set(found) == {
        "client", "user", "method", "route", "path", "lane", "status", "bytes", "seconds", "agent", "time", "kind",
    }  # fmt: skip
    assert (found["kind"], found["client"], found["user"]) == ("request", "198.51.100.7", name)
    assert (found["method"], found["route"], found["path"]) == ("GET", "/tap/sync", "/tap/sync")
    assert (found["lane"], found["status"], found["bytes"]) == ("light", 200, answer.num_bytes_downloaded)
    assert found["agent"] == agent[:300]
    assert found["seconds"] > 0
    assert (missing["route"], missing["status"], missing["user"]) == ("none", 404, None)
    assert missing["path"].startswith('/no\nthing"/z')
    assert len(missing["path"]) == 300
    assert read_lines(queries)[0]["user"] == name
    assert stat.S_IMODE(path.stat().st_mode) & 0o007 == 0


def test_what_is_compressed_counts_as_sent(serve: Serve, tmp_path: Path, eventually: Eventually) -> None:
    path = tmp_path / "requests.jsonl"
    service = serve(request_log=str(path))
    data = {"LANG": "ADQL", "QUERY": "SELECT TOP 5000 n FROM svc.numbers", "FORMAT": "csv"}
    with httpx.stream("POST", service.sync, data=data, headers={"Accept-Encoding": "gzip"}, timeout=60) as answer:
        sent = b"".join(answer.iter_raw())
    assert gzip.decompress(sent)
    eventually(lambda: len(read_lines(path)) == 1)
    assert read_lines(path)[0]["bytes"] == len(sent)


class Keys:
    """Keys in the memory of a test; ``failure`` makes them unavailable."""

    def __init__(self) -> None:
        self.made: dict[str, bytes] = {}
        self.error: Exception | None = None

    def find(self, name: str, seconds: float) -> bytes:
        if self.error is not None:
            raise self.error
        return self.made.setdefault(name, os.urandom(32))


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.77", "192.0.2.0/24"),
        ("::ffff:192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("::1", "::/48"),
        ("", ""),
        ("unix", ""),
    ],
)
def test_cut_addresses(address: str, network: str) -> None:
    assert cut_address(address) == network


def test_hashes_of_a_day_belong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys()
    one, other = (ClientMask("hashed", "hashed", keys.find) for _ in range(2))
    today = [mask.mask_record({"client": "192.0.2.1", "user": "ann", "query": "192.0.2.1"}) for mask in (one, other)]
    assert today[0] == today[1]
    assert re.fullmatch(r"[0-9a-f]{16}", today[0]["client"])
    assert today[0]["client"] != today[0]["user"]
    assert today[0]["query"] == "192.0.2.1"
    assert one.mask_record({"client": "192.0.2.2"})["client"] != today[0]["client"]
    one._day = "yesterday"
    keys.made.clear()
    assert one.mask_record({"client": "192.0.2.1"})["client"] != today[0]["client"]


def test_nothing_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    keys = Keys()
    hidden = ClientMask("none", "none", keys.find).mask_record({"client": "192.0.2.1", "user": "ann"})
    assert hidden == {"client": "", "user": ""}
    keys.error = OSError("no key")
    hashed = ClientMask("hashed", "none", keys.find).mask_record({"client": "192.0.2.1", "user": None})
    assert re.fullmatch(r"[0-9a-f]{16}", hashed["client"])
    assert "the common key is unavailable: no key" in caplog.text


def plain_log(path: Path, failures: list[None]) -> LineLog:
    return LineLog(str(path), "test", None, lambda: failures.append(None))


def test_a_moved_file_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, moved = tmp_path / "log", tmp_path / "log.1"
    failures: list[None] = []
    log = plain_log(path, failures)
    log.write_record(number=1)
    path.rename(moved)
    log.write_record(number=2)  # within a second: nobody has looked
    call_hangup()
    log.write_record(number=3)
    path.rename(tmp_path / "log.2")
    monkeypatch.setattr(line_log, "_LOOKING_SECONDS", 0)
    log.write_record(number=4)
    log.close()
    assert [line["number"] for line in read_lines(moved)] == [1, 2]
    assert [line["number"] for line in read_lines(tmp_path / "log.2")] == [3]
    assert [line["number"] for line in read_lines(path)] == [4]
    assert not failures
    log.write_record(number=5)  # closed: without effect
    call_hangup()


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file goes on, and the failure to open a new one is counted."""
    monkeypatch.setattr(line_log, "_LOOKING_SECONDS", 0)
    folder = tmp_path / "logs"
    folder.mkdir()
    failures: list[None] = []
    log = plain_log(folder / "log", failures)
    folder.rename(tmp_path / "moved")
    log.write_record(number=1)
    assert len(failures) == 1
    assert [line["number"] for line in read_lines(tmp_path / "moved" / "log")] == [1]
    folder.mkdir()
    log.write_record(number=2)
    log.close()
    assert [line["number"] for line in read_lines(folder / "log")] == [2]


def test_a_full_disk_cuts_a_line_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[None] = []
    log = plain_log(tmp_path / "log", failures)
    whole = os.write
    monkeypatch.setattr(line_log.os, "write", lambda file, line: whole(file, line[:7]))
    log.write_record(number=1)
    monkeypatch.undo()
    log.write_record(number=2)
    log.close()
    cut, *rest = (tmp_path / "log").read_text().splitlines()
    assert (len(cut), len(failures)) == (7, 1)
    assert [json.loads(line)["number"] for line in rest] == [2]


def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    said = r"the test log .*/missing/log cannot be opened: No such file or directory; change SKYHOUSE_TEST_LOG, or the permissions"
    with pytest.raises(ConfigError, match=said):
        plain_log(tmp_path / "missing" / "log", [])


def test_a_request_log_that_cannot_be_written(serve: Serve, eventually: Eventually) -> None:
    service = serve(request_log="/dev/full")
    assert httpx.get(f"{service.tap}/availability").status_code == 200
    eventually(lambda: service.metric("skyhouse_log_failures_total", log="request") == 1)


def test_hangups_call_all(caplog: pytest.LogCaptureFixture) -> None:
    called: list[str] = []

    def fail() -> None:
        raise ValueError("a failure")

    forget = [on_hangup(lambda: called.append("a")), on_hangup(fail), on_hangup(lambda: called.append("b"))]
    call_hangup()
    for each in forget:
        each()
    before = len(hangup._callbacks)
    call_hangup()
    assert called == ["a", "b"]
    assert "a reaction to SIGHUP failed: a failure" in caplog.text
    forget[0]()  # a second time: without effect
    assert len(hangup._callbacks) == before


def test_keys_outlive_their_day() -> None:
    assert client_mask.KEY_SECONDS > 24 * 3600
