"""The bodies of requests."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import Request

from tap_service.handlers import request_body
from tap_service.scratch_files import IncomingFile, IncomingSpace, NoRoom
from tap_service.service_errors import BodyTooLarge, BodyTooSlow, ClientGone, ParameterError
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS


def read(messages: list[dict[str, object]], most: int, *, seconds_each: float = 0) -> bytes:
    """Read a body; the received messages are consumed."""

    async def receive() -> dict[str, object]:
        await asyncio.sleep(seconds_each)
        return messages.pop(0)

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    return asyncio.run(request_body.read_body(request, most, "too long"))


def send(pieces: list[bytes], *, ends: bool = True) -> list[dict[str, object]]:
    last = {"type": "http.request", "body": b"", "more_body": False} if ends else {"type": "http.disconnect"}
    return [*({"type": "http.request", "body": piece, "more_body": True} for piece in pieces), last]


def test_a_body_within_its_limit_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a body may exceed MAX_DISCARDED_BYTES.

    That many bytes of a longer body are dropped, and nothing is kept.
    """
    monkeypatch.setattr(request_body, "MAX_DISCARDED_BYTES", 10)
    assert len(read(send([b"12345"] * 10), 50)) == 50
    messages = send([b"12345"] * 10)
    with pytest.raises(BodyTooLarge, match="too long"):
        read(messages, 5)
    assert len(messages) == 11 - 3


def test_after_an_error_the_rest_of_the_body_is_dropped() -> None:
    messages = send([b"12345"] * 10)

    async def refuse() -> None:
        async def receive() -> dict[str, object]:
            return messages.pop(0)

        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        async with request_body.open_body(request, 100, "too long") as pieces:
            async for _ in pieces:
                raise ParameterError("an error")

    with pytest.raises(ParameterError, match="an error"):
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


def test_slow_files_of_one_client_or_of_anonymous_ones_leave_room(tmp_path: Path) -> None:
    space = IncomingSpace(tmp_path, 1000, 300, 500)

    def send(client: str, size: int, *, is_anonymous: bool = False) -> IncomingFile:
        file = space.create_file(client, is_anonymous=is_anonymous)
        try:
            file.write(bytes(size))
        except NoRoom:
            file.close()
            raise
        return file

    first = send("a", 200, is_anonymous=True)
    also = send("a", 100, is_anonymous=True)
    with pytest.raises(NoRoom):
        send("a", 1, is_anonymous=True)
    other = send("b", 200, is_anonymous=True)
    with pytest.raises(NoRoom):
        send("c", 1, is_anonymous=True)
    users = [send("alice", 300), send("bob", 200)]
    with pytest.raises(NoRoom):
        send("bob", 1)
    for file in (first, also, other, *users):
        file.close()
    send("c", 300, is_anonymous=True).close()
    assert space._all.used == space._anonymous.used == 0


def test_files_that_arrive_for_hours_leave_room_for_users(
    serve: Callable[..., RunningService], accounts: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Some addresses send megabytes, and then single bytes with pauses."""
    service = serve(spool_disk=8 << 20, accounts=accounts, trusted_proxies="127.0.0.1")
    begin = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + bytes(5 << 19)
    with ExitStack() as stack:
        for number in range(3):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", urlsplit(service.url).port)))
            head = f"POST /tap/sync HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.{number}\r\n"
            kind = f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {5 << 20}\r\n\r\n"
            connection.sendall((head + kind).encode() + begin)
        incoming = service.server.config.app.state.services.incoming
        eventually(lambda: incoming._all.used > 7 << 19)
        form = {"QUERY": "SELECT COUNT(*) AS n FROM TAP_UPLOAD.t", "FORMAT": "csv", "UPLOAD": "t,param:f"}
        file = ("t.csv", b"number\n" + b"1234567\n" * (3 << 17), "text/csv")
        auth = ("alice", USERS["alice"])
        answer = httpx.post(service.sync, data=form, files={"f": file}, auth=auth, timeout=60)
        assert (answer.status_code, answer.text.split()) == (200, ["n", str(3 << 17)])


def test_files_of_requests_share_the_disk_budget(serve: Callable[..., RunningService]) -> None:
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
