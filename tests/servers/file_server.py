"""An HTTP server of the files of a folder, with ranges and ETags, which fails on request."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from tests.servers.server_thread import run_server

#: failures of a response: a status, an ETag that no other response has, half of the body, no response for a second, a
#: body
#: with one byte every tenth of a second, the complete file instead of a range, no ETag, a redirect to another server
Failure = int | str
Errors = Callable[[str, str], Failure]


class FileServer(ThreadingHTTPServer):
    """``choose_failure`` gets method and path of each request and returns its failure, '' for none."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.choose_failure: Errors = lambda method, path: ""
        self.requests: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that disconnects."""


class _Handler(BaseHTTPRequestHandler):
    server: FileServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(self.path).lstrip("/")
        self.server.requests.append((self.command, path))
        error = self.server.choose_failure(self.command, path)
        file = self.server.folder / path
        if isinstance(error, int):
            self._send(error, b"", {"Location": "http://elsewhere.example/x"} if error in (301, 302) else {})
            return
        if error == "silent":
            time.sleep(1)
            return
        if not file.is_file():
            self._send(404, b"", {})
            return
        data = file.read_bytes()
        headers = {"ETag": f'"{file.stat().st_mtime_ns}-{len(data)}"'}
        if error == "changed":
            headers["ETag"] = f'"{time.monotonic_ns()}"'
        if error == "no tag":
            headers = {}
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not found or error == "whole":
            self._send(200, data, headers, error)
            return
        start, end = int(found[1]), min(int(found[2]) + 1, len(data))
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        self._send(206, data[start:end], headers, error)

    def _send(self, status: int, body: bytes, headers: dict[str, str], error: Failure = "") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if error == "slow head":
            self.flush_headers()
            self._drip(b"X-More: " + 100 * b"x")
        self.end_headers()
        if self.command == "HEAD":
            return
        if error == "half":
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif error == "slow":
            self._drip(body)
        else:
            self.wfile.write(body)

    def _drip(self, data: bytes) -> None:
        for index in range(len(data)):
            self.wfile.write(data[index : index + 1])
            time.sleep(0.1)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving_files(folder: Path) -> Iterator[FileServer]:
    with run_server(FileServer(folder)) as server:
        yield server
