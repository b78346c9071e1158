"""Files fetched from other servers, whose addresses and answers may be hostile."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from tap_service.service_errors import UploadError
from tap_service.services.uploads.url_fetch import UrlFetcher

MOST = 100_000
Script = Callable[[socket.socket], object]


@contextmanager
def web(script: Script) -> Iterator[int]:
    """Start a server that reads each request and runs the script; return its port."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):  # the client closes most of these connections
                connection.recv(65536)
                script(connection)

        def serve() -> None:
            with suppress(OSError):  # closed
                while True:
                    connection, _ = listener.accept()
                    stack.callback(connection.close)
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def says(*pieces: bytes) -> Script:
    return lambda connection: [connection.sendall(piece) for piece in pieces]


def forever(first: bytes, piece: bytes) -> Script:
    return lambda connection: [connection.sendall(each) for each in itertools.chain([first], itertools.repeat(piece))]


def drip(first: bytes) -> Script:
    """Send single bytes slowly, so that no single read times out."""

    def script(connection: socket.socket) -> None:
        connection.sendall(first)
        connection.settimeout(0.02)
        while True:
            connection.sendall(b"x")
            with suppress(TimeoutError):
                if not connection.recv(1):
                    return

    return script


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def fetch(directory: Path, address: str, *hosts: str, seconds: float = 20) -> tuple[bytes, str]:
    with UrlFetcher(directory, hosts, MOST, seconds).fetched_file(address) as (file, content_type):
        return file.read(), content_type


def test_a_file(tmp_path: Path) -> None:
    with web(says(OK + b"Content-Type: text/csv\r\nContent-Length: 4\r\n\r\na\n1\n")) as port:
        assert fetch(tmp_path, f"http://localhost:{port}/x?y=z", "localhost") == (b"a\n1\n", "text/csv")
    with web(says(CHUNKED + b"2\r\na\n\r\n2\r\n1\n\r\n0\r\n\r\n")) as port:
        assert fetch(tmp_path, f"http://LOCALHOST:{port}", "localhost") == (b"a\n1\n", "")
    packed = gzip.compress(b"a\n1\n")
    with web(says(OK + b"Content-Encoding: gzip\r\n\r\n" + packed)) as port:
        assert fetch(tmp_path, f"http://localhost:{port}/", "localhost") == (packed, "")  # readers unpack


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (says(b"HTTP/1.1 404 Not Found\r\n\r\n"), "the server answers 404"),
        (says(b"HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\n\r\nx"), "the server answers 206"),
        (says(b"SSH-2.0-OpenSSH_9.6\r\n"), "does not speak HTTP"),
        (says(b""), "does not speak HTTP"),
        (forever(OK, b"X-A: b\r\n"), "does not speak HTTP"),
        (forever(OK + b"X-A: ", b"b" * 1000), "does not speak HTTP"),
        (forever(OK + b"\r\n", b"x" * 10_000), f"more than {MOST} bytes"),
        (says(OK + b"Content-Length: 100001\r\n\r\n"), f"more than {MOST} bytes"),
        (says(OK + b"Content-Length: 1000\r\n\r\nx"), "the connection ended before the file"),
        (says(CHUNKED + b"5\r\nab"), "the connection ended before the file"),
        (forever(CHUNKED, b"1000\r\n" + b"x" * 4096 + b"\r\n"), f"more than {MOST} bytes"),
        (forever(CHUNKED + b"ffffffffffffffff\r\n", b"x" * 4096), f"more than {MOST} bytes"),
        (forever(CHUNKED + b"-1\r\n", b"x" * 4096), f"more than {MOST} bytes"),
        (says(CHUNKED + b"nonsense\r\n"), "the connection ended before the file"),
        (says(b"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n"), "redirects more than 5 times"),
        (says(b"HTTP/1.1 302 Found\r\n\r\n"), "redirects more than 5 times"),
        (
            says(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"),
            "redirects to an address that is not http",
        ),
        (
            says(b"HTTP/1.1 302 Found\r\nLocation: http://a:b@x.org/\r\n\r\n"),
            "redirects to an address that is not http",
        ),
        (
            says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
            "127.0.0.1 is not an address of the public",
        ),
        (says(b"HTTP/1.1 302 Found\r\nLocation: //0x7f.1/\r\n\r\n"), "0x7f.1 is not an address of the public internet"),
    ],
)
def test_servers_that_misbehave(tmp_path: Path, script: Script, said: str) -> None:
    with web(script) as port, pytest.raises(UploadError) as error:
        fetch(tmp_path, f"http://localhost:{port}/", "localhost")
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("first", [b"", OK, OK + b"\r\n", CHUNKED + b"9999\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_servers_that_never_end(tmp_path: Path, first: bytes) -> None:
    with web(drip(first)) as port, pytest.raises(UploadError, match=r"it takes longer than 0\.3 seconds"):
        fetch(tmp_path, f"http://localhost:{port}/", "localhost", seconds=0.3)


def test_redirects_have_one_deadline(tmp_path: Path) -> None:
    """Each answer arrives in time, but all together exceed the limit."""
    pause = threading.Event()

    def script(connection: socket.socket) -> None:
        pause.wait(0.2)
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n")

    with web(script) as port, pytest.raises(UploadError, match=r"it takes longer than 0\.5 seconds"):
        fetch(tmp_path, f"http://localhost:{port}/", "localhost", seconds=0.5)


def test_a_server_that_speaks_no_tls(tmp_path: Path) -> None:
    with web(says(b"hello")) as port, pytest.raises(UploadError, match="cannot be reached, or does not speak HTTP"):
        fetch(tmp_path, f"https://localhost:{port}/", "localhost")


# --- addresses to which no request may be sent


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b:1::a00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fe80::1%25lo]",
        "[fd00:ec2::254]",
        "[fec0::1]",
        "[ff02::1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.100.100.200",
        "169.254.169.254",
        "168.63.129.16",
        "192.0.0.192",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
    ],
)
def test_addresses_of_no_public_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr("tap_service.http_connections._open_connection", None)
    with pytest.raises(UploadError) as error:
        fetch(tmp_path, f"http://{host}:1/")
    # if the system has no such name or address, no request is sent either
    assert "is not an address of the public internet" in str(error.value) or "cannot be reached" in str(error.value)
    assert "::" in host or "is not an address of the public internet" in str(error.value)


class Names:
    """A stand-in for DNS: the successive answers for each name."""

    def __init__(self, **answers: list[str]) -> None:
        self._answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        self.asked.append(host)
        found = self._answers[host].pop(0) if host in self._answers else host
        family = socket.AF_INET6 if ":" in found else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (found, port))]


def test_a_host_may_be_named_with_a_port(tmp_path: Path) -> None:
    with web(says(OK + b"Content-Length: 4\r\n\r\na\n1\n")) as port:
        assert fetch(tmp_path, f"http://LOCALHOST:{port}/", f"localhost:{port}") == (b"a\n1\n", "")
    for hosts in ("localhost:80", f"localhost:{port}0", "[::1]", "::1:80"):
        with pytest.raises(UploadError, match="localhost is not an address of the public internet"):
            fetch(tmp_path, f"http://localhost:{port}/", hosts)
    with pytest.raises(UploadError, match="cannot be reached"):
        fetch(tmp_path, "http://[::1]:9/", "[::1]:9")


def test_names_of_private_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(inside_example_org=["127.0.0.1"], cloud_example_org=["169.254.169.254"], six_example_org=["::1"])
    monkeypatch.setattr(socket, "getaddrinfo", names)
    for name in ("inside", "cloud", "six"):
        with pytest.raises(UploadError, match="not an address of the public internet"):
            fetch(tmp_path, f"http://{name}.example.org/")


def test_a_name_whose_address_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection goes to the address that was checked, without a second look-up."""
    names = Names(example_org=["192.0.2.1", "127.0.0.1"])
    monkeypatch.setattr(socket, "getaddrinfo", names)
    monkeypatch.setattr("tap_service.public_addresses.is_public", lambda found: found[4][0] == "192.0.2.1")
    reached: list[str] = []

    class Watched(socket.socket):
        def connect(self, address: Any) -> None:
            reached.append(address[0])
            raise OSError("no way")

    monkeypatch.setattr(socket, "socket", Watched)
    with pytest.raises(UploadError, match="cannot be reached"):
        fetch(tmp_path, "http://example.org/")
    with pytest.raises(UploadError, match="not an address of the public internet"):
        fetch(tmp_path, "http://example.org/")
    assert (names.asked, reached) == (["example.org"] * 2, ["192.0.2.1"])


def test_a_redirect_is_looked_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with web(says(b"HTTP/1.1 302 Found\r\nLocation: http://inside.example.org/\r\n\r\n")) as port:
        monkeypatch.setattr(socket, "getaddrinfo", Names(trusted=["127.0.0.1"], inside_example_org=["127.0.0.1"]))
        with pytest.raises(UploadError, match=r"inside\.example\.org is not an address of the public internet"):
            fetch(tmp_path, f"http://trusted:{port}/", "trusted")


def test_the_own_host_under_a_public_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A public address of this host is refused: here 127.0.0.1 counts as public."""
    monkeypatch.setattr("tap_service.public_addresses.ip_address", lambda _: IPv4Address("8.8.8.8"))
    with web(says(OK)) as port, pytest.raises(UploadError, match="not an address of the public internet"):
        fetch(tmp_path, f"http://127.0.0.1:{port}/")
