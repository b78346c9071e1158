"""Slow clients get the whole result: the time limit counts the engine's work, not the download."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tap_service.config import Config
from tap_service.models.engine_share import Lane
from tests.tap_service.readable_sockets import find_readable

RATE = 200_000  # bytes a second


class SlowReader:
    """An HTTP/1.1 client with a small receive buffer that reads at a chosen rate."""

    def __init__(self, port: int, **parameters: str) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        self._socket.settimeout(30)
        self._socket.connect(("127.0.0.1", port))
        body = urlencode(parameters).encode()
        head = "POST /tap/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        self._socket.sendall(f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        self.received = bytearray()

    def has_bytes(self) -> bool:
        return bool(find_readable([self._socket]))

    def read_at(self, rate: int, seconds: float) -> None:
        began = time.monotonic()
        count = 0
        while (elapsed := time.monotonic() - began) < seconds:
            if count > rate * elapsed:
                time.sleep(0.01)
                continue
            piece = self._socket.recv(4096)
            if not piece:
                return
            count += len(piece)
            self.received += piece

    def read_rest(self) -> None:
        while piece := self._socket.recv(1 << 20):
            self.received += piece
        self._socket.close()

    @property
    def body(self) -> bytes:
        """Return the content of the chunks; the final empty chunk must be there."""
        rest = bytes(self.received).partition(b"\r\n\r\n")[2]
        pieces = []
        while True:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            pieces.append(rest[:length])
            rest = rest[length + 2 :]
            if length == 0:
                return b"".join(pieces)


@pytest.mark.parametrize("spool_memory", [Config().spool_memory, 0], ids=["memory", "disk"])
def test_at_200_kilobytes_a_second(
    serve: Callable[..., Any], spool_memory: int, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """The engine ends before the download, which is complete."""
    service = serve(spool_memory=spool_memory)
    where = "memory" if spool_memory else "disk"
    query = "SELECT n, word FROM svc.numbers WHERE n < 500000"
    reader = SlowReader(service.port, LANG="ADQL", QUERY=query, MAXREC="1000000", FORMAT="csv")
    eventually(lambda: service.metric("skyhouse_spool_bytes", where=where) > 0)
    eventually(lambda: not any(service.metric("skyhouse_lane_requests", lane=lane, state="running") for lane in Lane))
    reader.read_at(RATE, 2)
    assert service.metric("skyhouse_queries_in_flight") == 1
    reader.read_rest()
    rows = reader.body.decode().splitlines()
    assert len(rows) == 500_001
    assert sorted(rows[1:], key=lambda row: int(row.split(",")[0])) == [f"{n},row {n}" for n in range(500_000)]
    eventually(lambda: service.metric("skyhouse_queries_in_flight") == 0)
    assert (
        service.metric("skyhouse_spool_bytes", where="memory")
        == service.metric("skyhouse_spool_bytes", where="disk")
        == 0
    )
    assert service.metric("skyhouse_queries_total", status="OK") == 1


def test_the_first_bytes_leave_before_the_last_are_made(serve: Callable[..., Any]) -> None:
    """The client receives rows of a result that would never end."""
    service = serve()
    data = {"QUERY": "SELECT a.n FROM svc.numbers AS a, svc.numbers AS b", "FORMAT": "csv", "MAXREC": "10000000"}
    with httpx.stream("POST", service.sync, data=data) as response:
        assert response.headers["content-encoding"] == "gzip"
        assert next(response.iter_bytes()).startswith(b"n\r\n")
        assert service.metric("skyhouse_queries_total", status="OVERFLOW") == 0
        assert service.metric("skyhouse_queries_in_flight") == 1


@pytest.mark.parametrize("form", ["csv", "votable"])
def test_a_full_spool_is_said(
    serve: Callable[..., Any], form: str, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """A VOTable ends with the error; a CSV cannot contain it, so its last chunk is missing."""
    service = serve(spool_memory=1_600_000)
    query = "SELECT a.n, b.word FROM svc.numbers AS a, svc.numbers AS b"
    reader = SlowReader(service.port, QUERY=query, MAXREC="10000000", FORMAT=form)
    eventually(reader.has_bytes)
    spools = service.server.config.app.state.services.queries.spools
    spools.disk.limit = spools.open_disk.limit = 8_000_000
    eventually(lambda: "QueryTooHeavy" in _failures(service))
    reader.read_rest()
    assert b"200 OK" in reader.received[:20]
    if form == "votable":
        assert re.search(rb'value="ERROR">the 8000000 bytes that this service holds', reader.body)
        assert reader.body.endswith(b"</VOTABLE>\n")
    else:
        assert not reader.received.endswith(b"\r\n0\r\n\r\n")


def _failures(service: Any) -> list[str]:
    queries = service.server.config.app.state.services.queries
    return [type(answer._failure).__name__ for answer in queries.answers if answer._failure]
