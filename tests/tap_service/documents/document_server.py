"""A server of the documents of a described service."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.tap_service.documents.described_service import make_documents


class DocumentHandler(BaseHTTPRequestHandler):
    """Serve ``documents`` below /tap, like the service."""

    def do_GET(self) -> None:
        path = self.path.removeprefix("/tap/").replace("tables?detail=min", "tables-min")
        body = make_documents(f"http://127.0.0.1:{self.server.server_port}/tap").get(path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/xml")
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: Any) -> None:
        pass
