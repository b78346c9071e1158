"""A stand-in for a ClickHouse server: a chDB engine behind ClickHouse's HTTP interface, as far as Skyhouse uses it.

Statement in the body, in the parameter ``query``, or part in each; settings and ``param_*`` in the address; the format by
FORMAT, by header or by ``default_format``; results in chunks; an exception as status and code before the first byte, and
as tagged text with a connection cut short after it. Query ids live in ``log_comment``, for chDB has ids of its own.

In its own process: ``python -m tests.tap_service.storage.stand_in DATA PORT``, DATA being an embedded engine's folder.
"""

from __future__ import annotations

import base64
import re
import secrets
import ssl
import struct
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb

VERSION = "26.9.2.1"

#: parameters of the interface itself; the others are settings
_TRANSPORT = frozenset(
    {"query", "database", "query_id", "user", "password", "quota_key", "role", "compress", "decompress", "buffer_size"}
    | {"wait_end_of_query", "default_format", "client_protocol_version", "stacktrace", "session_id", "session_timeout"}
)
_STATUS = {60: 404, 81: 404, 159: 408, 241: 500, 516: 403}

_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
_INSERT = re.compile(r"\s*(INSERT\s+INTO\b.*)\bFORMAT\s+(\w+)\s*$", re.IGNORECASE | re.DOTALL)
_READS = re.compile(r"[\s(]*(SELECT|WITH)\b", re.IGNORECASE)
_CODE = re.compile(r"Code: (\d+)\.")
_KILL_BY_ID = re.compile(r"^\s*KILL QUERY WHERE query_id\b", re.IGNORECASE)

_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass
class Faults:
    """Faults of the statements that contain ``query``."""

    query: str = ""
    #: answered at once with this status and no code, as by a proxy
    status: int = 0
    #: the connection is cut after so many pieces of the result
    cut_after: int = -1
    #: the answer ends as if whole after so many pieces, as a proxy without chunks would pass on a cut
    end_after: int = -1
    #: as servers before 25.11: text without tag
    untagged: bool = False
    #: the status line goes out before the query fails, with progress headers
    early_status: bool = False
    #: nothing is answered until this is set
    silent: threading.Event | None = None


@dataclass
class Seen:
    """The received statements."""

    statements: list[str] = field(default_factory=list)
    running: dict[str, str] = field(default_factory=dict)


class StandIn(ThreadingHTTPServer):
    """Serves until ``close``. ``path`` is chDB's, which may already be open in this process.

    With ``tls`` it serves HTTPS for the name localhost.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        path: str,
        port: int = 0,
        user: str = "default",
        password: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.path = path
        self.login = f"{user}:{password}"
        self.faults = Faults()
        self.seen = Seen()
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

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def standing_in(path: str, **options: Any) -> Iterator[StandIn]:
    server = StandIn(path, **options)
    try:
        yield server
    finally:
        server.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StandIn
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/ping":
            self._parameters: dict[str, str] = {}
            self._whole(b"Ok.\n")
        else:
            self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, body: bytes) -> None:
        self._parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        statement, data = self._statement(body)
        self.server.seen.statements.append(statement)
        faults = self.server.faults
        self._faults = faults if faults.query in statement else Faults()
        if self._faults.silent is not None:
            self._faults.silent.wait()
        if self._faults.status:
            return self._whole(b"<html>out of order</html>", self._faults.status)
        login = base64.b64encode(self.server.login.encode()).decode()
        if self.headers.get("Authorization") != f"Basic {login}":
            return self._exception("Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED)")
        with self._registered(statement) as refused:
            if refused:
                self._exception(refused)
            else:
                self._run(statement, data)

    def _statement(self, body: bytes) -> tuple[str, bytes]:
        """Return the SQL and the data of an INSERT with a format."""
        query = self._parameters.get("query", "")
        if _INSERT.match(query):
            return query, body
        return (f"{query}\n" if query else "") + body.decode(), b""

    @contextmanager
    def _registered(self, statement: str) -> Iterator[str]:
        """Return the error for the id of a running query."""
        query_id, running = self._parameters.get("query_id", ""), self.server.seen.running
        if query_id in running and self._parameters.get("replace_running_query") == "1":
            with self._handle({}) as handle:
                handle.query(f"KILL QUERY WHERE Settings['log_comment'] = '{query_id}' SYNC", "Null")
        elif query_id in running:
            yield f"Code: 216. DB::Exception: Query with id = {query_id} is already running. (QUERY_WITH_SAME_ID)"
            return
        token = secrets.token_hex(4)
        if query_id:
            running[query_id] = token
        try:
            yield ""
        finally:
            if running.get(query_id) == token:
                del running[query_id]

    @contextmanager
    def _handle(self, parameters: dict[str, str]) -> Iterator[Any]:
        handle = chdb.connect(self.server.path)
        try:
            settings = {name: value for name, value in parameters.items() if name not in _TRANSPORT}
            if query_id := parameters.get("query_id"):
                settings["log_comment"] = query_id
            if settings:
                quoted = ((name, value.replace("\\", "\\\\").replace("'", "\\'")) for name, value in settings.items())
                handle.query("SET " + ", ".join(f"{name} = '{value}'" for name, value in quoted))
            yield handle
        finally:
            handle.close()

    def _run(self, statement: str, data: bytes) -> None:
        try:
            with self._handle(self._parameters) as handle:
                if data:
                    return self._insert(handle, statement, data)
                form = _FORMAT.search(statement)
                default = self._parameters.get(
                    "default_format", self.headers.get("X-ClickHouse-Format", "TabSeparated")
                )
                sql = statement if form is None else statement[: form.start()]
                sql = _KILL_BY_ID.sub("KILL QUERY WHERE Settings['log_comment']", sql)
                self._give(handle, sql, default if form is None else form[1])
        except (chdb.ChdbError, RuntimeError) as error:
            self._exception(str(error).removeprefix("Streaming query failed: "))

    def _insert(self, handle: Any, statement: str, data: bytes) -> None:
        found = _INSERT.match(statement)
        assert found is not None
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(data)
            handle.query(f"{found[1]} FROM INFILE '{file.name}' COMPRESSION 'none' FORMAT {found[2]}", "Null")
        self._whole(b"")

    def _give(self, handle: Any, sql: str, form: str) -> None:
        if form != "ArrowStream" or not _READS.match(sql):
            return self._whole(handle.query(sql, form).bytes() or b"", form=form)
        result = handle.send_query(sql, form)
        try:
            first = result.fetch()
            if first is None:
                return self._whole(handle.query(sql, form).bytes(), form=form)
            self._start(form)
            self._stream(first, result)
        finally:
            result.cancel()

    def _stream(self, piece: Any, result: Any) -> None:
        """Join pieces, each a stream with its own schema and end mark, to a single stream."""
        number, data = 0, piece.bytes()[: -len(_END)]
        while data is not None:
            if number == self._faults.cut_after:
                self.close_connection = True
                return
            if number == self._faults.end_after:
                return self._chunk(b"")
            self._chunk(data)
            piece, number = result.fetch(), number + 1
            data = None if piece is None else _without_schema(piece.bytes())
        self._chunk(_END)
        self._chunk(b"")

    # --- HTTP ---------------------------------------------------------------------------------------------------------

    _started = False
    _tag = ""

    def handle_one_request(self) -> None:
        self._started = False
        super().handle_one_request()

    def _start(self, form: str) -> None:
        self._tag = secrets.token_hex(8)
        self._headers(200, form)
        if not self._faults.untagged:
            self.send_header("X-ClickHouse-Exception-Tag", self._tag)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._started = True

    def _headers(self, status: int, form: str) -> None:
        self.send_response(status)
        self.send_header("X-ClickHouse-Query-Id", self._parameters.get("query_id", ""))
        self.send_header("X-ClickHouse-Format", form)
        self.send_header("X-ClickHouse-Timezone", "UTC")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _whole(self, data: bytes, status: int = 200, form: str = "Null") -> None:
        self._headers(status, form)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _exception(self, text: str) -> None:
        text = f"{text.strip()} (version {VERSION} (official build))"
        codes = _CODE.findall(text)
        code = int(codes[-1]) if codes else 1002
        if self._started:
            return self._late(text)
        data = f"{text}\n".encode()
        self._headers(200 if self._faults.early_status else _STATUS.get(code, 500), "TabSeparated")
        if self._faults.early_status:
            self.send_header("X-ClickHouse-Progress", '{"read_rows":"1"}')
        self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _late(self, text: str) -> None:
        """Send an error after the first bytes: its text, and no last chunk."""
        message = f"{text}\n".encode()
        if not self._faults.untagged:
            head = f"\r\n__exception__\r\n{self._tag}\r\n".encode()
            message = head + message + f"{len(message)} {self._tag}\r\n__exception__\r\n".encode()
        self._chunk(message)
        self.close_connection = True


def _without_schema(stream: bytes) -> bytes:
    """Return the batches of an Arrow stream without its schema and end mark."""
    (length,) = struct.unpack_from("<i", stream, 4)
    return stream[8 + length : -len(_END)]


def main(data: str, port: str) -> None:
    from tap_service.storage.engine.embedded_engine import EmbeddedEngine

    engine = EmbeddedEngine(Path(data))
    server = StandIn(str(engine.data_path / "clickhouse"), int(port))
    print(server.url, flush=True)
    try:
        threading.Event().wait()
    finally:
        server.close()
        engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
