"""Bodies of requests as they come in."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import Request

from tap_service.exceptions import ClientGone
from tap_service.handlers import form


def read(pieces: list[bytes], most: int, *, ends: bool = True) -> bytes:
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False} if ends else {"type": "http.disconnect"})

    async def receive() -> dict[str, object]:
        return messages.pop(0)

    async def whole() -> bytes:
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        return b"".join([chunk async for chunk in form.chunks(request, most)])

    return asyncio.run(whole())


def test_a_body_that_may_be_large_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is larger than what is read of a body that may not."""
    monkeypatch.setattr(form, "DISCARDED_BYTES", 10)
    pieces = [b"12345"] * 10
    assert len(read(pieces, 50)) == 50
    assert len(read(pieces, 5)) == 15


def test_a_body_that_is_broken_off_is_none() -> None:
    with pytest.raises(ClientGone):
        read([b"12345"], 50, ends=False)
