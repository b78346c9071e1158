"""Limits of connections and of slow clients, with real sockets. Trusted proxies have no limit, so none is trusted."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPResponse
from pathlib import Path

import pytest

from tap_service.constants import MAX_BODY_FRAMING, MAX_PIPELINED, MAX_REQUEST_HEADERS
from tap_service.http_server import http_protocol
from tests.support.environment import make_environment
from tests.support.running_service import RunningService
from tests.tap_service.readable_sockets import find_readable

Eventually = Callable[[Callable[[], bool]], None]
POST = b"POST /tap/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
QUICK = b"GET /tap/sync?LANG=ADQL&FORMAT=csv&QUERY=SELECT+n+FROM+svc.numbers+WHERE+n=7 HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
FORM = b"LANG=ADQL&FORMAT=csv&QUERY=SELECT+n+FROM+svc.numbers+WHERE+n=7"
FORM_CHUNK = b"%x\r\n%s\r\n" % (len(FORM), FORM)
LAST_CHUNK = b"0\r\n\r\n"
LIMIT = 5


@contextmanager
def connected(service: RunningService, source: str = "127.0.0.1", buffer: int = 0) -> Iterator[socket.socket]:
    with socket.socket() as connection:
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.bind((source, 0))
        connection.settimeout(30)
        connection.connect(("127.0.0.1", service.port))
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    pieces = []
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def ask_quickly(connection: socket.socket) -> bytes:
    connection.sendall(QUICK)
    return read_answer(connection)


def read_answer(connection: socket.socket) -> bytes:
    with HTTPResponse(connection) as response:
        response.begin()
        return response.read()


@pytest.fixture
def patient(serve: Callable[..., RunningService]) -> RunningService:
    """A service that closes connections for only one reason: there are too many."""
    return serve(trusted_proxies=(), client_connections=LIMIT, head_seconds=100)


def test_a_client_has_a_limit_of_connections(patient: RunningService, eventually: Eventually) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connected(patient)) for _ in range(LIMIT)]
        assert ask_quickly(held[0]) == b"n\r\n7\r\n"
        refused = read_to_end(stack.enter_context(connected(patient)))
        assert refused.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        assert b"\r\nretry-after: 5\r\n" in refused
        assert b"127.0.0.1 has 5 open connections, the limit for one client" in refused
        assert b'name="QUERY_STATUS" value="ERROR"' in refused
        assert ask_quickly(stack.enter_context(connected(patient, "127.0.0.2"))) == b"n\r\n7\r\n"
        held[1].close()
        eventually(lambda: patient.metric("skyhouse_open_connections") == LIMIT)
        assert ask_quickly(stack.enter_context(connected(patient))) == b"n\r\n7\r\n"


def test_refused_clients_wait_for_their_answer_if_not_too_many_do(serve: Callable[..., RunningService]) -> None:
    service = serve(trusted_proxies=(), client_connections=1, max_connections=4 * LIMIT)
    with ExitStack() as stack:
        quick = stack.enter_context(connected(service))
        assert ask_quickly(quick) == b"n\r\n7\r\n"
        held = [stack.enter_context(connected(service)) for _ in range(LIMIT)]
        for _ in range(3):
            assert read_to_end(stack.enter_context(connected(service))) == b""
        assert ask_quickly(quick) == b"n\r\n7\r\n"
        assert [read_to_end(connection).split(b" ")[1] for connection in held] == [b"429"] * LIMIT


def test_a_refused_client_may_send_its_request_first(patient: RunningService) -> None:
    """The client reads the refusal instead of a reset."""
    with ExitStack() as stack:
        for _ in range(LIMIT):
            stack.enter_context(connected(patient))
        refused = stack.enter_context(connected(patient))
        for _ in range(100):
            refused.sendall(QUICK)
        assert read_to_end(refused).startswith(b"HTTP/1.1 429 ")


def test_trusted_proxies_have_no_limit(serve: Callable[..., RunningService]) -> None:
    service = serve(client_connections=LIMIT)
    with ExitStack() as stack:
        connections = [stack.enter_context(connected(service)) for _ in range(2 * LIMIT)]
        assert ask_quickly(connections[-1]) == b"n\r\n7\r\n"


def test_all_connections_have_a_limit(serve: Callable[..., RunningService]) -> None:
    service = serve(max_connections=LIMIT, head_seconds=100)
    with ExitStack() as stack:
        for _ in range(LIMIT):
            stack.enter_context(connected(service))
        refused = read_to_end(stack.enter_context(connected(service)))
        assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"\r\nretry-after: 5\r\n" in refused


def test_silent_connections_up_to_every_limit(serve: Callable[..., RunningService], eventually: Eventually) -> None:
    """Three clients hold the maximum number of connections.

    Others are still answered, and all are closed at the end.
    """
    each, silent_clients = 100, [f"127.0.0.{number}" for number in (2, 3, 4)]
    full = each * len(silent_clients)
    service = serve(trusted_proxies=(), client_connections=each, max_connections=full + LIMIT, head_seconds=1000)
    with ExitStack() as stack:
        silent = [stack.enter_context(connected(service, source)) for source in silent_clients * each]
        eventually(lambda: service.metric("skyhouse_open_connections") == full)
        for source in silent_clients:
            assert read_to_end(stack.enter_context(connected(service, source))).startswith(b"HTTP/1.1 429 ")
        for number in range(20):
            with connected(service, f"127.0.0.{5 + number % 2}") as quick:
                assert ask_quickly(quick) == b"n\r\n7\r\n"
        eventually(lambda: service.metric("skyhouse_open_connections") == full)
        counted = service.server.config.app.state.open_connections
        counted.settings = counted.settings.model_copy(update={"head_seconds": 0.1})
        assert [read_to_end(connection) for connection in silent] == [b""] * full
        eventually(lambda: service.metric("skyhouse_open_connections") == 0)


def test_the_limit_of_open_files_is_raised_for_connections(tmp_path: Path) -> None:
    """The limit is raised to the hard limit, and never lowered."""
    script = """
import resource
from tap_service.http_server.open_connections import raise_file_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 1000))
for connections in (20, 400, 300, 4000):
    print(connections, raise_file_limit(connections), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    command = [sys.executable, "-c", script]
    said = subprocess.run(
        command, check=True, capture_output=True, text=True, env=make_environment(tmp_path / "data")
    ).stdout
    assert said.splitlines() == ["20 20 100 1000", "400 400 800 1000", "300 300 800 1000", "4000 500 1000 1000"]


def test_slow_requests(serve: Callable[..., RunningService], heavy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that do not complete a request do not extend its time.

    Other clients are answered on one connection meanwhile.
    """
    monkeypatch.setattr(http_protocol, "BODY_SECONDS", 1)
    service = serve(head_seconds=1, body_silence_seconds=1, idle_seconds=1000)
    nowhere = b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    query = f"QUERY={heavy}".encode()
    busy_request = POST + b"Content-Length: %d\r\n\r\n%s" % (len(query), query)
    with ExitStack() as stack:

        def begin(*beginnings: bytes) -> list[socket.socket]:
            opened = [stack.enter_context(connected(service)) for _ in beginnings]
            for connection, beginning in zip(opened, beginnings, strict=True):
                connection.sendall(beginning)
            return opened

        answered = begin(QUICK, QUICK, QUICK)
        dropped, complete = begin(nowhere, nowhere)
        silent, busy = begin(b"", busy_request + QUICK[:40])
        heads = begin(QUICK[:40])
        bodies = begin(POST + b"Content-Length: 100\r\n\r\nQUERY=SELECT", CHUNKED, CHUNKED + FORM_CHUNK + b"0\r\n")
        quick, *kept = answered
        for connection in answered:
            assert read_answer(connection) == b"n\r\n7\r\n"
        for connection in (dropped, complete):
            assert b"there is nothing at /nowhere" in read_answer(connection)
        complete.sendall(b"x" * 100)
        kept[0].sendall(QUICK[:40])
        heads += kept
        slow = {heads[0]: b"x", kept[1]: b"\r\n", bodies[1]: b"1;", bodies[2]: b"X: y\r\n", dropped: b"x"}
        late = [silent, dropped, complete, *heads, *bodies]
        while len(readable := find_readable([*late, busy])) < len(late):
            assert ask_quickly(quick) == b"n\r\n7\r\n"
            for connection, piece in slow.items():
                if connection not in readable:
                    with suppress(OSError):
                        connection.sendall(piece)
            time.sleep(0.05)
        assert busy not in readable
        for connection in (silent, complete):
            assert read_to_end(connection) == b""
        for connections, reason in ((heads, b"address and headers did not arrive"), (bodies, b"body paused for 1 s")):
            for connection in connections:
                said = read_to_end(connection)
                assert said.startswith(b"HTTP/1.1 408 ")
                assert reason in said


#: text that a client could repeat without end outside of bodies: the part before a body, and refused bodies
ENDLESS = {
    "trailers": (CHUNKED + FORM_CHUNK + b"0\r\n", b"X: y\r\n", b"trailers"),
    "a trailer": (CHUNKED + FORM_CHUNK + b"0\r\nX: ", b"y" * 100, b"trailers"),
    "extensions": (CHUNKED, b"1;a=" + b"x" * 1000 + b"\r\nQ\r\n", b"extensions"),
    "an extension": (CHUNKED + b"5;a=", b"x" * 100, b"extensions"),
    "tiny chunks": (CHUNKED, b"1\r\nQ\r\n", b"larger chunks"),
    "zeros of a size": (CHUNKED, b"0" * 100, b"sizes"),
    "empty lines": (b"", b"\r\n" * 100, b"not a valid HTTP request"),
    "a header": (QUICK[:-2] + b"X: ", b"y" * 100, b"not a valid HTTP request"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_is_no_body_has_a_limit(service: RunningService, name: str) -> None:
    begin, repeated, reason = ENDLESS[name]
    more = repeated * (1 << 20 // len(repeated))
    with connected(service) as connection:
        connection.sendall(begin)
        sent = 0
        while sent < 64 * MAX_BODY_FRAMING and not find_readable([connection]):
            with suppress(OSError):
                connection.sendall(more)
            sent += len(more)
        said = read_to_end(connection)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert reason in said


def test_empty_lines_between_requests_have_a_limit(service: RunningService) -> None:
    with connected(service) as connection:
        assert ask_quickly(connection) == b"n\r\n7\r\n"
        connection.sendall(b"\r\n" * 1000)
        assert ask_quickly(connection) == b"n\r\n7\r\n"
        with suppress(OSError):
            connection.sendall(b"\r\n" * 10_000_000)
        assert read_to_end(connection).startswith(b"HTTP/1.1 400 ")


def test_a_long_body_may_have_many_chunks(service: RunningService) -> None:
    chunk = b"10;a=b\r\n" + b"x" * 16 + b"\r\n"
    with connected(service) as connection:
        connection.sendall(CHUNKED + chunk * 20_000 + b"0\r\nX: y\r\n\r\n")
        assert b"QUERY" in read_answer(connection)


def test_trailers_are_no_headers(service: RunningService) -> None:
    trailers = b"0\r\nAuthorization: Basic bm9ib2R5Om5vdGhpbmc=\r\nContent-Type: text/csv\r\n\r\n"
    with connected(service) as connection:
        connection.sendall(CHUNKED + FORM_CHUNK + trailers)
        assert read_answer(connection) == b"n\r\n7\r\n"


def test_a_request_has_a_limit_of_headers(service: RunningService) -> None:
    head = QUICK[:-2] + b"Connection: close\r\n" + b"X: y\r\n" * (MAX_REQUEST_HEADERS - 2)
    assert service.raw(head + b"\r\n").startswith(b"HTTP/1.1 200 ")
    assert service.raw(head + b"X: y\r\n\r\n").startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("codings", [b"gzip, chunked", b"gzip\r\nTransfer-Encoding: chunked"])
def test_other_transfer_codings_are_refused(service: RunningService, codings: bytes) -> None:
    """The service would interpret the compressed bytes as the body."""
    said = service.raw(POST + b"Transfer-Encoding: " + codings + b"\r\n\r\n" + FORM_CHUNK + LAST_CHUNK)
    assert said.startswith(b"HTTP/1.1 501 ")


def test_nobody_of_http_1_0_is_told_to_continue(service: RunningService) -> None:
    expecting = b"POST /tap/sync HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: %d\r\n" % len(FORM)
    form = b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    assert service.raw(expecting + form + FORM).startswith(b"HTTP/1.1 200 ")


def test_an_idle_connection_is_closed(serve: Callable[..., RunningService]) -> None:
    service = serve(idle_seconds=0.5, head_seconds=100)
    with connected(service) as connection:
        ask_quickly(connection)
        assert read_to_end(connection) == b""


def test_a_client_that_reads_nothing_is_closed_and_a_slow_one_is_not(serve: Callable[..., RunningService]) -> None:
    service = serve(unread_seconds=2)
    everything = QUICK.replace(b"SELECT+n", b"SELECT+*").replace(b"+WHERE+n=7", b"&MAXREC=1000000")[:-2]
    with connected(service, buffer=4096) as deaf, connected(service, buffer=4096) as slow:
        for connection in (deaf, slow):
            connection.sendall(everything + b"Connection: close\r\n\r\n")
        received = b""
        began = time.monotonic()
        while time.monotonic() - began < 6:
            received += slow.recv(2000)
            time.sleep(0.01)
        received += read_to_end(slow)
        assert len(received) > 20_000_000
        assert received.endswith(LAST_CHUNK)
        with pytest.raises(ConnectionResetError):
            read_to_end(deaf)


def test_an_upgrade_is_not_asked_for_in_vain(service: RunningService) -> None:
    """Java's client offers HTTP/2 with its first request."""
    with connected(service) as connection:
        offer = QUICK[:-2] + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
        connection.sendall(offer)
        said = read_to_end(connection)
    assert b"\r\n7\r\n" in said
    assert b"\r\nconnection: close\r\n" in said


@pytest.mark.parametrize("hosts", [b"", b"Host: x\r\nHost: y\r\n"])
def test_a_request_names_one_host(service: RunningService, hosts: bytes) -> None:
    assert service.raw(b"GET /tap/availability HTTP/1.1\r\n" + hosts + b"\r\n").startswith(b"HTTP/1.1 400 ")


def test_pipelined_requests_are_answered_in_order(service: RunningService) -> None:
    with connected(service) as connection:
        last = QUICK.replace(b"n=7", b"n=8")[:-2] + b"Connection: close\r\n\r\n"
        connection.sendall(QUICK + QUICK + last)
        said = read_to_end(connection)
    assert said.count(b"HTTP/1.1 200 OK") == 3
    assert said.index(b"\r\n7\r\n") < said.index(b"\r\n8\r\n")


def test_pipelined_requests_have_a_limit(service: RunningService) -> None:
    """Requests within the limit are answered before the connection is closed."""
    with connected(service) as connection:
        with suppress(OSError):
            connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n" * 10_000)
        said = read_to_end(connection)
    assert said.count(b"HTTP/1.1 ") == said.count(b"HTTP/1.1 200 OK") == 1 + MAX_PIPELINED


@pytest.mark.parametrize("next_one", [b"nonsense\r\n\r\n", CHUNKED + b"nonsense\r\n"])
def test_a_refused_request_leaves_the_answers_of_earlier_ones_whole(service: RunningService, next_one: bytes) -> None:
    with connected(service) as connection:
        connection.sendall(QUICK + QUICK + next_one)
        said = read_to_end(connection)
    assert said.count(b"HTTP/1.1 ") == said.count(b"HTTP/1.1 200 OK") == 2
    assert said.endswith(b"n\r\n7\r\n")
