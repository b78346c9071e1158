"""Clients of ``/sync`` over connections kept open, which leave the processor to the service."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median, quantiles
from threading import Event
from urllib.parse import urlencode


class LightClient:
    """A client at a separate address of 127.0.0.0/8."""

    def __init__(self, port: int, address: str = "127.0.0.1", timeout: float = 300.0, headers: str = "") -> None:
        self._port = port
        self._address = address
        self._timeout = timeout
        self._headers = headers
        self._socket: socket.socket | None = None

    def ask(self, query: str, **parameters: str) -> tuple[int, int]:
        """Return status and bytes of the answer; status 0 means that the service closed the connection."""
        body = urlencode({"LANG": "ADQL", "QUERY": query, **parameters}).encode()
        head = (
            f"POST /tap/sync HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n{self._headers}"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return self.exchange(head.encode() + body)

    def exchange(self, request: bytes) -> tuple[int, int]:
        """Send a request; return status and bytes of the answer like ``ask``."""
        is_new = self._socket is None
        try:
            return self._exchange(request)
        except ConnectionError:
            self.close()
            if is_new:
                return 0, 0
        try:  # the service may close a connection that was idle
            return self._exchange(request)
        except ConnectionError:
            self.close()
            return 0, 0

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, request: bytes) -> tuple[int, int]:
        if self._socket is None:
            self._socket = socket.create_connection(
                ("127.0.0.1", self._port), self._timeout, source_address=(self._address, 0)
            )
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._stream = self._socket.makefile("rb", 1 << 16)
        self._socket.sendall(request)
        status_line = self._stream.readline()
        if not status_line:
            raise ConnectionResetError
        length, is_chunked, closes = 0, False, False
        while line := self._stream.readline().strip().lower():
            name, _, value = line.partition(b":")
            if name == b"content-length":
                length = int(value)
            is_chunked |= name == b"transfer-encoding" and b"chunked" in value
            closes |= name == b"connection" and b"close" in value
        if is_chunked:
            length = sum(self._read_chunks())
        elif len(self._stream.read(length)) < length:
            raise ConnectionResetError
        if closes:
            self.close()
        return int(status_line.split()[1]), length

    def _read_chunks(self) -> Iterator[int]:
        while True:
            line = self._stream.readline()
            if not line:
                raise ConnectionResetError
            size = int(line, 16)
            if len(self._stream.read(size + 2)) < size + 2:
                raise ConnectionResetError
            if not size:
                return
            yield size


@dataclass
class Answers:
    """The answers of clients: the seconds of each answered query, and the number of answers of each status."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    elapsed: float = 0.0

    def add(self, other: Answers) -> None:
        self.seconds += other.seconds
        self.statuses += other.statuses
        self.elapsed += other.elapsed

    @property
    def refused(self) -> int:
        return self.statuses.total() - self.statuses[200]

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.elapsed

    @property
    def median_ms(self) -> float:
        return median(self.seconds) * 1000 if self.seconds else float("nan")

    @property
    def p95_ms(self) -> float:
        if len(self.seconds) < 2:
            return self.median_ms
        return quantiles(self.seconds, n=20, method="inclusive")[-1] * 1000


class LightClients:
    """Many clients of one service, each at a separate address; their connections stay open between runs."""

    def __init__(self, port: int, count: int, network: str = "127.0.1", **parameters: str) -> None:
        self._clients = [LightClient(port, f"{network}.{number + 1}") for number in range(count)]
        self._threads = ThreadPoolExecutor(count)
        self._parameters = parameters
        self._stopped = Event()

    def run(self, seconds: float, make_query: Callable[[int, int], str], pause: float = 0.0) -> Answers:
        """Let each client send queries for ``seconds``, or until ``stop``.

        Parameters
        ----------
        seconds
            The longest time until the last query begins.
        make_query
            Returns the next query of a client: ``make_query(client, number)``.
        pause
            The seconds between two queries of a client; the starts of the clients are spread evenly over it.
        """
        began = time.perf_counter()
        until = began + seconds
        parts = self._threads.map(
            lambda number: self._ask_until(number, until, make_query, pause), range(len(self._clients))
        )
        total = Answers()
        for part in parts:
            total.add(part)
        total.elapsed = time.perf_counter() - began
        return total

    def stop(self) -> None:
        """End ``run`` early, when the running queries are answered."""
        self._stopped.set()

    def close(self) -> None:
        self._threads.shutdown()
        for client in self._clients:
            client.close()

    def _ask_until(self, client: int, until: float, make_query: Callable[[int, int], str], pause: float) -> Answers:
        answers, number = Answers(), 0
        self._stopped.wait(pause * client / len(self._clients))
        while (began := time.perf_counter()) < until and not self._stopped.is_set():
            status, _ = self._clients[client].ask(make_query(client, number), **self._parameters)
            answers.statuses[status] += 1
            taken = time.perf_counter() - began
            if status == 200:
                answers.seconds.append(taken)
            number += 1
            self._stopped.wait(max(0.0, pause - taken))
        return answers
