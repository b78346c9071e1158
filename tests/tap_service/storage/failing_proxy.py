"""A proxy in front of a real ClickHouse server, for what no real server can be made to do: TLS, and failing answers.

It records the statements and passes on requests and answers unchanged, except for the failures that a test sets.
"""

from __future__ import annotations

import http.client
import re
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_TAG = "X-ClickHouse-Exception-Tag"
_TAGGED = re.compile(rb"\r\n__exception__\r\n\w+\r\n(.*?)\n\d+ \w+\r\n__exception__\r\n", re.DOTALL)
_PIECE_BYTES = 65_536

#: headers of one connection
_OF_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


@dataclass
class Failures:
    """How the answers to some statements fail."""

    #: a name that a test has put into its own statement; if empty, all answers fail
    name: str = ""
    #: answer at once with this status and no error code, as a proxy does
    status: int = 0
    #: cut the connection after this number of pieces of the result
    cut_after: int = -1
    #: end the answer as if it were complete after this number of pieces, as a proxy without chunks passes on a cut
    end_after: int = -1
    #: as servers before 25.11: an error after the first rows is text without a tag
    untagged: bool = False
    #: send the status line before the query fails
    early_status: bool = False
    #: answer only when this is set
    silent: threading.Event | None = None


class FailingProxy(ThreadingHTTPServer):
    """Serves until ``close``. With ``tls`` it serves HTTPS for the name localhost."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.port_behind = port
        self.failures = Failures()
        self.statements: list[str] = []
        #: how many connections were opened to it
        self.connections = 0
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        start = "https://localhost" if isinstance(self.socket, ssl.SSLSocket) else "http://127.0.0.1"
        return f"{start}:{self.server_address[1]}"

    def close(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def failing_proxy(port: int, tls: ssl.SSLContext | None = None) -> Iterator[FailingProxy]:
    """A proxy before the server at ``port`` of this machine."""
    proxy = FailingProxy(port, tls)
    try:
        yield proxy
    finally:
        proxy.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FailingProxy
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._pass_on(b"")

    def do_POST(self) -> None:
        self._pass_on(self._read_body())

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _pass_on(self, body: bytes) -> None:
        query = dict(parse_qsl(urlsplit(self.path).query)).get("query", "")
        statement = query + body.decode(errors="replace")
        self.server.statements.append(statement)
        failures = self.server.failures if self.server.failures.name in statement else Failures()
        if failures.silent is not None:
            failures.silent.wait()
        if failures.status:
            return self._answer(failures.status, [], b"<html>out of order</html>")
        behind = http.client.HTTPConnection("127.0.0.1", self.server.port_behind)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_CONNECTION}
        try:
            behind.request(self.command, self.path, body, headers)
            self._pass_back(behind.getresponse(), failures)
        except ConnectionError:
            self.close_connection = True
        finally:
            behind.close()

    def _pass_back(self, response: http.client.HTTPResponse, failures: Failures) -> None:
        headers = [each for each in response.getheaders() if each[0].lower() not in _OF_CONNECTION]
        if response.status != 200:
            status = 200 if failures.early_status else response.status
            return self._answer(status, headers, response.read())
        if failures.untagged:
            headers = [each for each in headers if each[0] != _TAG]
        self._start(200, [*headers, ("Transfer-Encoding", "chunked")])
        number = 0
        while number not in (failures.cut_after, failures.end_after):
            try:
                piece = response.read1(_PIECE_BYTES)
            except http.client.HTTPException:
                self.close_connection = True
                return
            if failures.untagged:
                piece = _TAGGED.sub(rb"\1\n", piece)
            self._write_chunk(piece)
            if not piece:
                return
            number += 1
        self.close_connection = True
        if number == failures.end_after:
            self._write_chunk(b"")

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self._start(status, [*headers, ("Content-Length", str(len(body)))])
        self.wfile.write(body)

    def _start(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def _write_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
