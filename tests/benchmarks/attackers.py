"""Clients that try to slow the service down, in a separate process and at separate addresses."""

from __future__ import annotations

import base64
import math
import multiprocessing
import os
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from urllib.parse import urlencode

from tests.benchmarks.light_client import LightClient

#: connects to this service from this address until the time is over, and counts the answers
Attack = Callable[["Attacker"], None]


class Attacker:
    """An attacking client, one of many threads."""

    def __init__(self, port: int, address: str, number: int, until: float, outcomes: Counter[str]) -> None:
        self.port = port
        self.address = address
        self.number = number
        self.outcomes = outcomes
        self._until = until

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 300, source_address=(self.address, 0))

    def receive_status(self, connection: socket.socket) -> str:
        """Count and return the HTTP status of an answer, or "cut"."""
        first = connection.recv(1024)
        status = first.split(b" ", 2)[1].decode() if first else "cut"
        self.outcomes[status] += 1
        return status

    def ask(self, query: str, headers: str = "", **parameters: str) -> None:
        """Send requests without a pause, also after a refusal."""
        client = LightClient(self.port, self.address, headers=headers)
        while not self.is_over:
            if self.ask_once(client, query, **parameters) != 200:
                time.sleep(0.05)

    def ask_once(self, client: LightClient, query: str, **parameters: str) -> int:
        """Send a request, count and return the HTTP status; 0 means that the service closed the connection."""
        self.outcomes["asked"] += 1
        status, _ = client.ask(query, **parameters)
        self.outcomes[str(status) if status else "cut"] += 1
        return status

    def download(self, query: str, bytes_per_second: float) -> None:
        """Read results at a limited rate, over separate connections."""
        body = urlencode({"LANG": "ADQL", "QUERY": query, "RESPONSEFORMAT": "csv", "MAXREC": "10000000"}).encode()
        head = (
            "POST /tap/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        while not self.is_over:
            self.outcomes["asked"] += 1
            with self.connect() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.sendall(head.encode() + body)
                self._read_slowly(connection, bytes_per_second)

    def _read_slowly(self, connection: socket.socket, bytes_per_second: float) -> None:
        status = self.receive_status(connection)
        size = min(1 << 16, max(1, int(bytes_per_second)))
        while not self.is_over and (got := connection.recv(size)):
            time.sleep(len(got) / bytes_per_second)
        if status != "200":
            time.sleep(0.05)


def _polygon(attacker: Attacker) -> None:
    """10,000 vertices around a random position."""
    draw = random.Random(attacker.number)
    while not attacker.is_over:
        ra, dec = draw.uniform(20, 340), draw.uniform(-60, 60)
        turns = (2 * math.pi * n / 10_000 for n in range(10_000))
        corners = ", ".join(f"{ra + 3 * math.cos(t):.5f}, {dec + 3 * math.sin(t):.5f}" for t in turns)
        client = LightClient(attacker.port, attacker.address)
        attacker.ask_once(
            client, f"SELECT COUNT(*) AS n FROM light.stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON({corners}))"
        )
        client.close()


def _heavy(attacker: Attacker) -> None:
    attacker.ask(
        "SELECT COUNT(*) AS n FROM light.stars AS a JOIN light.stars AS b "
        f"ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {0.3 + attacker.number / 1000}"
    )


def _underestimated(attacker: Attacker) -> None:
    """A join whose keys look distinct to the estimate but are few: it seems cheap and runs without end."""
    attacker.ask(
        "SELECT COUNT(*) AS n FROM light.stars AS a JOIN light.stars AS b "
        f"ON FLOOR(a.phot_g_mean_mag * {10 + attacker.number}) = FLOOR(b.phot_g_mean_mag * {10 + attacker.number})"
    )


def _bulk(bytes_per_second: float) -> Attack:
    return lambda attacker: attacker.download("SELECT * FROM light.stars", bytes_per_second)


def _silent(attacker: Attacker) -> None:
    """A connection that sends nothing; it is opened again when the service closes it."""
    while not attacker.is_over:
        attacker.outcomes["connected"] += 1
        try:
            with attacker.connect() as connection:
                connection.settimeout(max(0.1, attacker._until - time.monotonic()))
                connection.recv(1)
                attacker.outcomes["closed"] += 1
        except TimeoutError:
            attacker.outcomes["still open"] += 1
        except OSError:
            attacker.outcomes["cut"] += 1
        time.sleep(0.2)


def _pending(attacker: Attacker) -> None:
    """Create jobs with an upload of 2,000 rows, and do not run them."""
    rows = "\n".join(f"{n},{n % 360},{n % 80}" for n in range(2000))
    parts = {
        "LANG": "ADQL",
        "QUERY": "SELECT * FROM TAP_UPLOAD.mine",
        "UPLOAD": "mine,param:file",
    }
    body = "".join(f'--B\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in parts.items())
    body += f'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\nid,ra,dec\n{rows}\r\n--B--\r\n'
    head = (
        "POST /tap/async HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Content-Type: multipart/form-data; boundary=B\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    while not attacker.is_over:
        attacker.outcomes["asked"] += 1
        with attacker.connect() as connection:
            connection.sendall((head + body).encode())
            status = attacker.receive_status(connection)
        if status != "303":
            time.sleep(0.05)


def _passwords(attacker: Attacker) -> None:
    guess = base64.b64encode(f"ann:guess{attacker.number}".encode()).decode()
    attacker.ask("SELECT TOP 1 table_name FROM TAP_SCHEMA.tables", headers=f"Authorization: Basic {guess}\r\n")


#: the name of one of ``ATTACKS``, or an attack of that form that can be pickled
AttackPlan = str | tuple[int, int, Attack]

#: by name: the number of clients, the number of addresses, and what each client does
ATTACKS: dict[str, tuple[int, int, Attack]] = {
    "polygons": (3, 1, _polygon),
    "bulk": (24, 1, _bulk(1e9)),
    "slow bulk": (64, 1, _bulk(1000)),
    "spread bulk": (24, 24, _bulk(1e9)),
    "heavy": (20, 1, _heavy),
    "spread heavy": (20, 20, _heavy),
    "underestimated": (20, 1, _underestimated),
    "spread underestimated": (20, 20, _underestimated),
    "silent": (1000, 1, _silent),
    "spread silent": (1000, 100, _silent),
    "pending": (10, 1, _pending),
    "passwords": (20, 1, _passwords),
}


@dataclass(frozen=True)
class RouteAttack:
    """Send the same request without a pause, also after a refusal."""

    request: bytes

    def __call__(self, attacker: Attacker) -> None:
        client = LightClient(attacker.port, attacker.address)
        while not attacker.is_over:
            attacker.outcomes["asked"] += 1
            status, _ = client.exchange(self.request)
            attacker.outcomes[str(status) if status else "cut"] += 1
            if not 200 <= status < 400:
                time.sleep(0.05)


def _run_attack(plan: AttackPlan, port: int, seconds: float, pipe: Connection) -> None:
    clients, addresses, attack = plan if isinstance(plan, tuple) else ATTACKS[plan]
    outcomes: Counter[str] = Counter()
    until = time.monotonic() + seconds
    threading.stack_size(256 << 10)

    def attack_as(number: int) -> None:
        try:
            attack(Attacker(port, f"127.0.9.{1 + number % addresses}", number, until, outcomes))
        except OSError:
            outcomes["cut"] += 1

    for number in range(clients):
        threading.Thread(target=attack_as, args=(number,), daemon=True).start()
    pipe.recv()  # the measurement has ended
    answered = sum(count for what, count in outcomes.items() if what not in ("asked", "connected"))
    if outcomes["asked"] > answered:
        outcomes["unanswered"] = outcomes["asked"] - answered
    pipe.send({what: count for what, count in outcomes.items() if count})
    pipe.recv()
    os._exit(0)  # threads may still wait for answers


@contextmanager
def attacked(plan: AttackPlan, port: int, seconds: float) -> Iterator[Callable[[], dict[str, int]]]:
    """Attack for ``seconds``; the yielded function returns the answers that the attackers got."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run_attack, args=(plan, port, seconds, there))
    process.start()

    def read_outcomes() -> dict[str, int]:
        here.send("over")
        return here.recv()

    try:
        yield read_outcomes
    finally:
        here.send("end")
        process.join()
