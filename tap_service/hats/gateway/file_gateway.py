"""The HTTP server of the gateway: ``GET /SECRET/FILES/NUMBER.parquet`` with ranges.

It listens where only the engine reaches it, and answers only requests with its secret, which is new in each process. An
error is an answer with ``MARK`` and a message for the user of the query, never a short body.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
import secrets
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.hats.attachment import AttachedRows
from clickhouse_schema.hats.hats_error import HatsError
from tap_service.constants import FILES_MARK
from tap_service.hats.gateway.attached_files import AttachedFiles
from tap_service.hats.gateway.block_cache import BlockCache
from tap_service.hats.reading.folder_backend import Patience, StorageUnavailable

_log = logging.getLogger("skyhouse")

_PATH = re.compile(r"/([\w-]{8,64})/([0-9a-f]{32})/(\d{1,9})\.parquet", re.ASCII)
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)

#: seconds after which an idle connection of the engine is closed
_IDLE_SECONDS = 60

_BACKLOG = 256

#: time limits of a storage; the engine waits longer (``clickhouse_schema.hats.attachment``), so it gets the reason
PATIENCE = Patience(connect_seconds=5, silence_seconds=10, bytes_per_second=256 << 10, attempts=3, pause_seconds=0.2)


class FileGateway:
    """Serves the files of attached tables to the engine. The server starts with the first attached table.

    Parameters
    ----------
    host : str
        The address to listen on, by which the engine reaches it.
    cache_folder, cache_bytes
        As for ``BlockCache``.
    query_seconds : float
        The longest time of a query. Files of tables that are no longer published are forgotten after it.
    patience : Patience
        How long a storage may take.
    """

    def __init__(
        self,
        host: str,
        cache_folder: Path,
        cache_bytes: int,
        query_seconds: float = math.inf,
        patience: Patience = PATIENCE,
    ) -> None:
        self.secret = secrets.token_urlsafe(24)
        self._host = host
        self._cache = BlockCache(cache_folder, cache_bytes)
        self._query_seconds = query_seconds
        self._patience = patience
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._files: dict[str, AttachedFiles] = {}
        self._replaced: dict[str, float] = {}

    def publish(self, catalogue: Catalogue) -> Catalogue:
        """Make the files of attached tables readable for the engine. Starts the server with the first attached table.

        Files that were published before stay readable while queries may still run.

        Parameters
        ----------
        catalogue : Catalogue
            All tables.

        Returns
        -------
        Catalogue
            The same tables, with attached tables that are read through this gateway.

        Raises
        ------
        OSError
            The server cannot listen on its address.
        """
        entries = tuple(self._publish_entry(entry) for entry in catalogue.entries if entry.attached is not None)
        self._forget_replaced({_name_files(entry) for entry in entries})
        return catalogue.replace_entries(entries) if entries else catalogue

    def list_published(self) -> list[AttachedFiles]:
        """Return the files of all attached tables, as they were last published."""
        with self._lock:
            return [files for name, files in self._files.items() if name not in self._replaced]

    def find_files(self, name: str) -> AttachedFiles | None:
        """Find the files of a table for a request. Thread-safe.

        Parameters
        ----------
        name : str
            Their name in addresses.

        Returns
        -------
        AttachedFiles or None
            The files, None if none of this name is published.
        """
        return self._files.get(name)

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _publish_entry(self, entry: TableEntry) -> TableEntry:
        assert entry.attached is not None  # noqa: S101
        attachment = entry.attached.attachment
        name = _name_files(entry)
        with self._lock:
            if name not in self._files:
                self._files[name] = AttachedFiles(entry.qualified_name, attachment, self._cache, self._patience)
            if self._server is None:
                self._server = _Server(self._host, self)
                threading.Thread(target=self._server.serve_forever, name="file gateway", daemon=True).start()
        host = f"[{self._host}]" if ":" in self._host else self._host
        root = f"http://{host}:{self._server.server_port}/{self.secret}/{name}"
        return entry.read_attached(AttachedRows(attachment, root))

    def _forget_replaced(self, published: set[str]) -> None:
        """Forget the files that have not been published for the longest time of a query."""
        now = time.monotonic()
        with self._lock:
            self._replaced = {name: self._replaced.get(name, now) for name in self._files if name not in published}
            for name, since in self._replaced.items():
                if now - since > self._query_seconds:
                    del self._files[name]


def _name_files(entry: TableEntry) -> str:
    """Return the name of a table's files in addresses. Errors name the table, so tables of the same files differ."""
    assert entry.attached is not None  # noqa: S101
    return hashlib.sha256(f"{entry.qualified_name} {entry.attached.attachment.key}".encode()).hexdigest()[:32]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = _BACKLOG

    def __init__(self, host: str, gateway: FileGateway) -> None:
        self.gateway = gateway
        super().__init__((host, 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def log_message(self, *_: object) -> None:
        """Log nothing: the query log has what matters."""

    def _answer(self, *, has_body: bool) -> None:
        found = _PATH.fullmatch(self.path)
        gateway = self.server.gateway
        is_known = found is not None and secrets.compare_digest(found[1], gateway.secret)
        files = gateway.find_files(found[2]) if found and is_known else None
        if found is None or files is None or int(found[3]) >= len(files.attachment.files):
            self._refuse(HTTPStatus.FORBIDDEN, "there is no such file")
            return
        number = int(found[3])
        size = files.attachment.files[number].size
        asked = self.headers.get("Range")
        limits = _read_range(asked, size) if asked else (0, size)
        if limits is None:
            self._refuse(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "there are no such bytes")
            return
        start, end = limits
        pieces = files.read_range(number, start, end) if has_body and end > start else iter(())
        try:
            first = next(pieces, b"")
        except HatsError as error:
            self._refuse(HTTPStatus.FORBIDDEN, _explain_error(files.table, error))
            return
        self.send_response(HTTPStatus.PARTIAL_CONTENT if asked else HTTPStatus.OK)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.end_headers()
        try:
            self.wfile.write(first)
            for piece in pieces:
                self.wfile.write(piece)
        except HatsError as error:  # the engine sees a broken connection, and gets the reason with its next request
            _explain_error(files.table, error)
            self.close_connection = True
        except OSError:
            self.close_connection = True

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        body = f"{FILES_MARK}{message}{FILES_MARK}".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _read_range(text: str, size: int) -> tuple[int, int] | None:
    """Return the half-open range of a Range header; None if there are no such bytes."""
    found = _RANGE.fullmatch(text.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    start, end = int(found[1]), min(int(found[2]) + 1 if found[2] else size, size)
    return (start, end) if start < end else None


def _explain_error(table: str, error: HatsError) -> str:
    """Log an error of a file, and return the user's message, which names no path."""
    if isinstance(error, StorageUnavailable):
        _log.warning("attached table %s: %s", table, error)
        return (
            f"the files of the table {table} cannot be read now, because their storage does not answer. Try again later"
        )
    command = f"skyhouse attach --refresh --table {table}"
    _log.warning(
        "attached table %s: %s. skyhouse verify %s lists all changes, and %s reads the files again",
        table,
        error,
        table,
        command,
    )
    return (
        f"the files of the table {table} have changed since they were attached, or some are missing."
        f" The operator must check them, and attach them again ({command})"
    )
