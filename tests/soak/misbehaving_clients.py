"""Clients that misbehave: they disconnect, wait, lie, guess and forget. Each has a different address.

Each returns None if the service behaved correctly, otherwise a description of its behaviour.
"""

from __future__ import annotations

import base64
import random
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlencode

#: a client that waits disconnects after this number of seconds
_PATIENCE = 8.0

_UPLOADED_ROWS = 2000


@dataclass(frozen=True)
class Target:
    port: int
    dice: random.Random

    def connect(self) -> socket.socket:
        address = f"127.{self.dice.randint(1, 250)}.{self.dice.randint(0, 255)}.{self.dice.randint(1, 254)}"
        return socket.create_connection(("127.0.0.1", self.port), 60, source_address=(address, 0))

    def send(self, head: str, body: bytes = b"", *, length: int | None = None) -> int:
        """Send a request; return the HTTP status, 0 if the service closed the connection."""
        with self.connect() as connection:
            connection.sendall(build_request(head, body, length))
            return read_status(connection)


Misbehaviour = Callable[[Target], str | None]


def build_request(head: str, body: bytes = b"", length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return f"{head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n".encode() + body


def read_status(connection: socket.socket) -> int:
    with suppress(ConnectionError):
        first = connection.recv(4096)
        return int(first.split(b" ", 2)[1]) if first.startswith(b"HTTP/") else 0
    return 0


def be_silent(target: Target) -> None:
    with target.connect():
        time.sleep(target.dice.uniform(0, _PATIENCE))


def leave_half_a_request(target: Target) -> None:
    with target.connect() as connection:
        connection.sendall(b"POST /tap/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-fo")
        time.sleep(target.dice.uniform(0, _PATIENCE))


def leave_half_an_upload(target: Target) -> None:
    with target.connect() as connection:
        head = "POST /tap/async HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B"
        body = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid\r\n' + b"1\r\n" * 50_000
        connection.sendall(build_request(head, body, 100_000_000))
        time.sleep(target.dice.uniform(0, 1))


def speak_no_http(target: Target) -> str | None:
    with target.connect() as connection:
        connection.sendall(target.dice.randbytes(2000) + b"\r\n\r\n")
        return _expect(read_status(connection), 0, 400)


def read_slowly(target: Target) -> None:
    """Read a kilobyte per second of a result, and disconnect."""
    form = {"LANG": "ADQL", "QUERY": "SELECT * FROM chaos.stars", "MAXREC": "100000", "FORMAT": "csv"}
    with target.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(_build_form("sync", form))
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and connection.recv(1024):
            time.sleep(1)


def guess_password(target: Target) -> str | None:
    guess = base64.b64encode(f"alice:guess{target.dice.random()}".encode()).decode()
    head = f"GET /tap/async HTTP/1.1\r\nAuthorization: Basic {guess}"
    return _expect(target.send(head), 401, 429)


def forget_job(target: Target) -> str | None:
    """Create a job with an uploaded table, and never run it."""
    form = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.mine", "UPLOAD": "mine,param:file"}
    fields = [f'--B\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in form.items()]
    rows = "".join(f"{n},{n % 360},{n % 80}\n" for n in range(_UPLOADED_ROWS))
    file = f'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\nid,ra,dec\n{rows}\r\n--B--\r\n'
    head = "POST /tap/async HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B"
    return _expect(target.send(head, "".join([*fields, file]).encode()), 303)


def ignore_result(target: Target) -> str | None:
    """Run a job, and never poll it."""
    first = target.dice.randrange(50_000)
    form = {"LANG": "ADQL", "PHASE": "RUN", "QUERY": f"SELECT * FROM chaos.stars WHERE id > {first}"}
    return _expect(_send_form(target, "async", form), 303)


def ask_nonsense(target: Target) -> str | None:
    dice = target.dice
    corners = ", ".join(f"{dice.uniform(10, 20):.6f}, {dice.uniform(-10, 10):.6f}" for _ in range(2000))
    query = dice.choice(
        [
            "SELECT",
            f"SELECT nosuch{dice.random()} FROM chaos.stars",
            f"SELECT * FROM chaos.nosuch{dice.randrange(10**9)}",
            "SELECT id FROM chaos.stars; DROP TABLE chaos.stars",
            f"SELECT {'(' * 5000}1{')' * 5000} FROM chaos.stars",
            f"SELECT '{'x' * 200_000}' AS a FROM chaos.stars",
            f"SELECT id FROM chaos.stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON({corners}))",
            f"SELECT id FROM chaos.stars WHERE id = 1e{dice.randint(300, 999)}",
            "SELECT id FROM chaos.stars WHERE id / 0 = 'a'",
        ]
    )
    return _expect(_send_form(target, "sync", {"LANG": "ADQL", "QUERY": query, "MAXREC": "10"}), 200, 400, 413)


def try_addresses(target: Target) -> str | None:
    path = target.dice.choice(
        [
            "/tap/async/" + "a" * 3000,
            "/tap/async/nosuchjob",
            "/../../etc/passwd",
            "/tap/tables/%00",
            f"/wp-login.php?{target.dice.random()}",
            "/tap/sync?QUERY=SELECT+1&LANG=nosuch",
            "/tap/examples/nosuch",
        ]
    )
    return _expect(target.send(f"GET {path} HTTP/1.1"), 200, 303, 400, 403, 404, 414)


MISBEHAVIOURS: dict[str, Misbehaviour] = {
    each.__name__: each
    for each in (
        be_silent,
        leave_half_a_request,
        leave_half_an_upload,
        speak_no_http,
        read_slowly,
        guess_password,
        forget_job,
        ignore_result,
        ask_nonsense,
        try_addresses,
    )
}


def misbehave(port: int, dice: random.Random) -> tuple[str, str | None]:
    """Return the action of a client, and the error of the answer or None."""
    name = dice.choice(list(MISBEHAVIOURS))
    try:
        return name, MISBEHAVIOURS[name](Target(port, dice))
    except ConnectionError:
        return name, None  # the service may close the connection of such a client at any time
    except TimeoutError:
        return name, "no answer"


def _build_form(resource: str, form: dict[str, str]) -> bytes:
    head = f"POST /tap/{resource} HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded"
    return build_request(head, urlencode(form).encode())


def _send_form(target: Target, resource: str, form: dict[str, str]) -> int:
    with target.connect() as connection:
        connection.sendall(_build_form(resource, form))
        return read_status(connection)


def _expect(status: int, *expected: int) -> str | None:
    """503 is correct at any time, because the service may be full."""
    return None if status in (*expected, 503) else f"status {status}"
