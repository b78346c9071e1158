"""The resolver with a stand-in for Sesame: good answers, unknown names, broken or hostile answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from adql.functions.object_name_functions import NameLookupError
from tap_service.config import Config
from tap_service.services.queries.sesame_resolver import SesameResolver
from tests.support.ports import closed_port

_GOOD = (
    "# Barnard's star\t#Q1\n#=S=Simbad (CDS, via client/server):    1     0ms (from cache)\n%@ 2918\n%I.0 NAME Barnard's star\n"
    "%C.0 PM*\n%J 269.45207695 +04.69336496 = 17:57:48.49 +04:41:36.1\n%J.E [0.02 0.02 90] A 2020yCat.1350....0G\n"
    "#====Done (2026-Nov-21,07:00:00z)====\n"
)
_UNKNOWN = "# nothing\t#Q2\n#=S=Simbad\n#! *** Nothing found *** \n#====Done====\n"


def _http(body: str, status: str = "200 OK", headers: str = "") -> list[bytes]:
    content = body.encode()
    return [f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}\r\n".encode() + content]


def _drip(piece: bytes, times: int) -> Iterator[bytes]:
    for _ in range(times):
        time.sleep(0.05)
        yield piece


def _answers() -> dict[str, Iterable[bytes]]:
    """Return the bytes that the stand-in sends for a name."""
    return {
        "GJ 699": _http(_GOOD),
        "nothing": _http(_UNKNOWN),
        "M 31 & co/..?#": _http(_GOOD),
        "page": _http("<html><body>%J 1 2 =</body></html>"),
        "empty": _http(""),
        "moved": _http("", "302 Found", "Location: http://127.0.0.1:1/\r\n"),
        "broken": _http(_GOOD, "500 Oops"),
        "huge": _http("# " + "x" * 100_000 + "\n" + _GOOD),
        "out of range": _http("# x\n%J 400.0 +04.6 = x\n"),
        "two dots": _http("# x\n%J 1.2.3 +04.6 = x\n"),
        "short": [b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + _GOOD.encode()],
        "no http": [b"220 mail.example.org ESMTP\r\n"],
        "closed": [],
        "endless header": [b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000],
        "slow header": _drip(b"X", 100),
        "slow body": (
            b for part in ([b"HTTP/1.1 200 OK\r\n\r\n# x\n"], _drip(b"%J 1.0 +2.0 = x\n", 100)) for b in part
        ),
    }


class StandIn:
    """A socket that answers each connection according to the name in its request."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self._answers = _answers()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/cgi-bin/nph-sesame"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            target = connection.recv(65_536).decode().split(" ")[1]
            self.requests.append(target)
            pieces = self._answers[unquote(target.split("?", 1)[1])]
            try:
                for piece in pieces:
                    connection.sendall(piece)
            except OSError:
                return  # the client has read enough

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.close()


def test_a_known_name(stand_in: StandIn) -> None:
    assert SesameResolver(stand_in.url)("GJ 699") == (269.45207695, 4.69336496)
    assert stand_in.requests == ["/cgi-bin/nph-sesame/-oI/SNV?GJ%20699"]


def test_an_unknown_name(stand_in: StandIn) -> None:
    with pytest.raises(NameLookupError, match="no object called 'nothing' is known to Simbad, NED or VizieR"):
        SesameResolver(stand_in.url)("nothing")


def test_nothing_in_a_name_is_part_of_the_address(stand_in: StandIn) -> None:
    SesameResolver(stand_in.url)("M 31 & co/..?#")
    assert stand_in.requests == ["/cgi-bin/nph-sesame/-oI/SNV?M%2031%20%26%20co%2F..%3F%23"]


@pytest.mark.parametrize(
    "name",
    ["page", "empty", "moved", "broken", "huge", "out of range", "two dots", "short", "no http", "closed", "endless header", "slow header", "slow body"],
)  # fmt: skip
def test_invalid_answers_are_refused(name: str, stand_in: StandIn) -> None:
    with pytest.raises(NameLookupError, match=f"the position of '{name}' cannot be looked up now; write it as POINT"):
        SesameResolver(stand_in.url, seconds=0.5)(name)


def test_an_unreachable_server() -> None:
    with closed_port() as port, pytest.raises(NameLookupError, match="cannot be looked up now"):
        SesameResolver(f"http://127.0.0.1:{port}/")("M 31")


def test_answers_are_cached_for_a_while(stand_in: StandIn) -> None:
    now = [0.0]
    sesame = SesameResolver(stand_in.url, clock=lambda: now[0])
    for later in (0, 3000, 5000, 5001):
        now[0] = later
        sesame("GJ 699")
        with pytest.raises(NameLookupError):
            sesame("nothing")
    assert len(stand_in.requests) == 4
    with pytest.raises(NameLookupError):
        sesame("broken")
    with pytest.raises(NameLookupError):
        sesame("broken")
    assert len(stand_in.requests) == 6  # an error is not an answer


def test_the_service_asks_where_it_may(stand_in: StandIn, serve: Any) -> None:
    query = "SELECT TOP 1 ivo_simbadpoint('{}') AS p FROM svc.stars"
    service = serve(sesame_url=stand_in.url)
    answer = service.ask(query.format("GJ 699"), RESPONSEFORMAT="csv")
    assert "269.45207695 4.69336496" in answer.text
    refused = service.ask(query.format("nothing"))
    assert refused.status_code == 400
    assert "no object called 'nothing' is known" in unescape(refused.text)
    assert "ivo_simbadpoint(identifier TEXT)" in httpx.get(service.tap + "/capabilities").text


def test_the_service_asks_nobody_by_default(service: Any) -> None:
    assert Config().sesame_url == ""
    response = service.ask("SELECT TOP 1 ivo_simbadpoint('GJ 699') AS p FROM svc.stars")
    assert response.status_code == 400
    # the engine may hold the demo's tables, which have names of objects
    knows_names = "tycho2.star_names" in httpx.get(service.tap + "/tables").text
    said = "no object called 'GJ 699' is in " if knows_names else "this service does not resolve object names"
    assert said in unescape(response.text)
    assert ("ivo_simbadpoint" in httpx.get(service.tap + "/capabilities").text) == knows_names
