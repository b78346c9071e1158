"""A local HTTP server with the answers of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from loaders.origin.sync_query import quote_text
from tests.servers.server_thread import run_server


@dataclass
class Reply:
    """``body``: bytes, or pieces that are sent without a length until the client disconnects."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Answer = Reply | Callable[[dict[str, str]], Reply]


class Origin:
    """``answers``: by path; the last reply of a list is repeated. ``requests``: the requests, in order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tap = f"{url}/tap"
        self.answers: dict[str, Answer | list[Answer]] = {}
        self.requests: list[str] = []

    def reply(self, method: str, path: str, form: dict[str, str]) -> Reply:
        self.requests.append(f"{method} {path}")
        found = self.answers.get(path, Reply(b"nothing", 404))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        return found(form) if callable(found) else found

    def publish(self, document: str, path: str = "/tap/tables") -> None:
        self.answers[path] = Reply(document.encode(), headers={"Content-Type": "text/xml"})


@contextmanager
def origin_server() -> Iterator[Origin]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(origin.reply("GET", unquote(urlsplit(self.path).path), {}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._send(origin.reply("POST", urlsplit(self.path).path, form))

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            pieces = [reply.body] if isinstance(reply.body, bytes) else reply.body
            if isinstance(reply.body, bytes) and "Content-Length" not in reply.headers:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            try:
                for piece in pieces:
                    self.wfile.write(piece)
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    origin = Origin(f"http://127.0.0.1:{server.server_address[1]}")
    with run_server(server):
        yield origin


def votable(rows: list[dict[str, Any]], *columns: str) -> Reply:
    """Return the answer to a query: texts, as from a service of TAP 1.0."""
    names = columns or tuple(dict.fromkeys(name for row in rows for name in row))
    fields = "".join(f'<FIELD name="{name}" datatype="char" arraysize="*"/>' for name in names)
    cells = "".join(
        "<TR>" + "".join(f"<TD>{escape(str(row.get(name, '')))}</TD>" for name in names) + "</TR>" for row in rows
    )
    return Reply(
        f'<VOTABLE version="1.3"><RESOURCE type="results"><INFO name="QUERY_STATUS" value="OK"/><TABLE>{fields}'
        f"<DATA><TABLEDATA>{cells}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>".encode()
    )


class TapSchema:
    """Answers queries to TAP_SCHEMA from rows, by the name in quotes after WHERE, which the row must have."""

    def __init__(self, **tables: list[dict[str, Any]]) -> None:
        self._tables = tables

    def __call__(self, form: dict[str, str]) -> Reply:
        _, _, rest = form["QUERY"].partition("TAP_SCHEMA.")
        name, _, condition = rest.partition(" WHERE ")
        rows = self._tables.get(name, [])
        column = condition.split(" ")[0]
        if column.startswith("LOWER"):
            kept = [row for row in rows if f"'{row['table_name'].lower()}'" in condition]
        else:
            kept = [row for row in rows if not condition or quote_text(row[column]) in condition]
        return votable(kept, *(rows[0] if rows else ["none"]))
