"""A proxy for a TAP service that behaves like a busy origin.

It answers 503 and 429, closes connections early, and cuts off results without an error.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode

from tests.servers.server_thread import run_server


class UnsteadyProxy(ThreadingHTTPServer):
    """In front of the service at ``port``. Each ``period``-th request fails; jobs return at most ``max_rows`` rows."""

    daemon_threads = True

    def __init__(self, port: int, period: int, max_rows: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service_port = port
        self.period = period
        self.max_rows = max_rows
        self.requests = 0
        #: jobs that were created and not deleted
        self.jobs = 0
        self.most_jobs = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that disconnects."""


class _Handler(BaseHTTPRequestHandler):
    server: UnsteadyProxy
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._count(b"")

    def do_POST(self) -> None:
        self._count(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _count(self, body: bytes) -> None:
        server = self.server
        with server.lock:
            server.requests += 1
            number = server.requests
        self._answer(body, number // server.period % 3 if number % server.period == 0 else -1)

    def _answer(self, body: bytes, error: int) -> None:
        if error in (0, 1):
            self._send(503 if error else 429, {"Retry-After": "0"}, b"")
            return
        status, headers, answer = self._forward(body)
        self._send(status, headers, answer, is_cut=error == 2)

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if "MAXREC" in form:
            form["MAXREC"] = str(min(int(form["MAXREC"]), self.server.max_rows))
        self._count_jobs(form)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.service_port, timeout=30)
        try:
            sent = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
            connection.request(self.command, self.path, urlencode(form).encode() if form else None, sent)
            answer = connection.getresponse()
            headers = {name: answer.headers[name] for name in ("Location", "Content-Type") if name in answer.headers}
            if "Location" in headers:
                headers["Location"] = headers["Location"].replace(str(self.server.service_port), self.server.url[17:])
            return answer.status, headers, answer.read()
        finally:
            connection.close()

    def _count_jobs(self, form: dict[str, str]) -> None:
        server = self.server
        with server.lock:
            server.jobs += ("QUERY" in form and self.path.endswith("/async")) - (form.get("ACTION") == "DELETE")
            server.most_jobs = max(server.most_jobs, server.jobs)

    def _send(self, status: int, headers: dict[str, str], body: bytes, *, is_cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if is_cut else body)
        self.close_connection = is_cut

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running_proxy(port: int, period: int = 1_000_000, max_rows: int = 1_000_000) -> Iterator[UnsteadyProxy]:
    with run_server(UnsteadyProxy(port, period, max_rows)) as proxy:
        yield proxy
