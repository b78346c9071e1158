"""The bodies of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest
from fastapi import Request

from tap_service.handlers import request_form as form
from tap_service.service_errors import BodyTooSlow, ClientGone
from tests.tap_service.conftest import Served


def read(pieces: list[bytes], most: int, *, ends: bool = True, seconds_each: float = 0) -> bytes:
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False} if ends else {"type": "http.disconnect"})

    async def receive() -> dict[str, object]:
        await asyncio.sleep(seconds_each)
        return messages.pop(0)

    async def whole() -> bytes:
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        return b"".join([chunk async for chunk in form.iterate_body(request, most)])

    return asyncio.run(whole())


def test_a_body_within_its_limit_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its limit may exceed MAX_DISCARDED_BYTES."""
    monkeypatch.setattr(form, "MAX_DISCARDED_BYTES", 10)
    pieces = [b"12345"] * 10
    assert len(read(pieces, 50)) == 50
    assert len(read(pieces, 5)) == 15


def test_an_interrupted_body_is_refused() -> None:
    with pytest.raises(ClientGone):
        read([b"12345"], 50, ends=False)


def test_a_slow_body_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit grows with the number of received bytes."""
    monkeypatch.setattr(form, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(form, "BODY_BYTES_PER_SECOND", 100)
    with pytest.raises(BodyTooSlow, match=r"too slowly, [0-9] bytes so far"):
        read([b"1"] * 100, 1000, seconds_each=0.05)
    assert len(read([b"1" * 20] * 10, 1000, seconds_each=0.05)) == 200


def test_files_of_requests_share_the_disk_budget(serve: Callable[..., Served]) -> None:
    """Each request releases its share."""
    service = serve(spool_disk=100_000)

    def ask(rows: int) -> httpx.Response:
        form = {
            "LANG": "ADQL",
            "QUERY": "SELECT COUNT(*) AS n FROM TAP_UPLOAD.t",
            "FORMAT": "csv",
            "UPLOAD": "t,param:f",
        }
        table = "number\n" + "\n".join(map(str, range(rows)))
        return httpx.post(service.sync, data=form, files={"f": ("t.csv", table, "text/csv")}, timeout=60)

    for _ in range(3):
        answer = ask(9000)
        assert (answer.status_code, answer.text.split()) == (200, ["n", "9000"])
        refused = ask(90_000)
        assert refused.status_code == 503
        assert "there is no space for the files of the request" in refused.text
