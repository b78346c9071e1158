"""The bodies of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest
from fastapi import Request

from tap_service.handlers import request_body
from tap_service.service_errors import BodyTooLarge, BodyTooSlow, ClientGone, ParameterFault
from tests.tap_service.conftest import Served


def read(messages: list[dict[str, object]], most: int, *, seconds_each: float = 0) -> bytes:
    """Read a body; what was received is taken from the messages."""

    async def receive() -> dict[str, object]:
        await asyncio.sleep(seconds_each)
        return messages.pop(0)

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    return asyncio.run(request_body.read_body(request, most, "too long"))


def send(pieces: list[bytes], *, ends: bool = True) -> list[dict[str, object]]:
    last = {"type": "http.request", "body": b"", "more_body": False} if ends else {"type": "http.disconnect"}
    return [*({"type": "http.request", "body": piece, "more_body": True} for piece in pieces), last]


def test_a_body_within_its_limit_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its limit may exceed MAX_DISCARDED_BYTES. Of a longer one, that much is dropped, and nothing is kept."""
    monkeypatch.setattr(request_body, "MAX_DISCARDED_BYTES", 10)
    assert len(read(send([b"12345"] * 10), 50)) == 50
    messages = send([b"12345"] * 10)
    with pytest.raises(BodyTooLarge, match="too long"):
        read(messages, 5)
    assert len(messages) == 11 - 3


def test_after_a_fault_the_rest_of_the_body_is_dropped() -> None:
    messages = send([b"12345"] * 10)

    async def refuse() -> None:
        async def receive() -> dict[str, object]:
            return messages.pop(0)

        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        async with request_body.open_body(request, 100, "too long") as pieces:
            async for _ in pieces:
                raise ParameterFault("a fault")

    with pytest.raises(ParameterFault, match="a fault"):
        asyncio.run(refuse())
    assert not messages


def test_an_interrupted_body_is_refused() -> None:
    with pytest.raises(ClientGone):
        read(send([b"12345"], ends=False), 50)


def test_a_slow_body_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit grows with the number of received bytes."""
    monkeypatch.setattr(request_body, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(request_body, "BODY_BYTES_PER_SECOND", 100)
    with pytest.raises(BodyTooSlow, match=r"too slowly, [0-9] bytes so far"):
        read(send([b"1"] * 100), 1000, seconds_each=0.05)
    assert len(read(send([b"1" * 20] * 10), 1000, seconds_each=0.05)) == 200


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
