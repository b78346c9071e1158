"""An origin of files, like the servers of data centres: ranges, If-Range, ETags; it fails on request."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from tests.servers.server_thread import run_server

#: failures of a response: a status, 'half' of the body, 'slow' (a pause in the middle of the body)
Failure = int | str


class OriginServer(ThreadingHTTPServer):
    """``choose_failure`` gets the path of each request and how often it was requested, and returns its failure."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.choose_failure: Callable[[str, int], Failure] = lambda path, count: ""
        self.requests: list[tuple[str, str]] = []
        self.counts: Counter[str] = Counter()
        self.sent = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def fail_first(self, **errors: list[Failure]) -> None:
        """Let the first responses for the files whose names begin with a word fail."""

        def find(path: str, count: int) -> Failure:
            name = path.rpartition("/")[2]
            found = next((errors[start] for start in errors if name.startswith(start)), [])
            return found[count - 1] if count <= len(found) else ""

        self.choose_failure = find

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that disconnects."""


class _Handler(BaseHTTPRequestHandler):
    server: OriginServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = unquote(self.path).lstrip("/")
        with self.server.lock:
            self.server.counts[path] += 1
            count = self.server.counts[path]
            self.server.requests.append((path, self.headers.get("Range", "")))
        error = self.server.choose_failure(path, count)
        file = self.server.folder / path
        if isinstance(error, int):
            self._send(error, b"", {"Retry-After": "0"})
        elif not file.is_file():
            self._send(404, b"", {})
        else:
            self._send_file(file.read_bytes(), f'"{file.stat().st_mtime_ns}"', error)

    def _send_file(self, data: bytes, tag: str, error: Failure) -> None:
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        headers = {"ETag": tag}
        if not found or self.headers.get("If-Range") != tag:
            self._send(200, data, headers, error)
            return
        start = int(found[1])
        if start >= len(data):
            self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            return
        headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._send(206, data[start:], headers, error)

    def _send(self, status: int, body: bytes, headers: dict[str, str], error: Failure = "") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2 if error else len(body)
        self.wfile.write(body[:half])
        self.server.sent += half
        if error == "slow":
            time.sleep(0.5)
            self.wfile.write(body[half:])
        elif error:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving_origin(folder: Path) -> Iterator[OriginServer]:
    with run_server(OriginServer(folder)) as server:
        yield server
