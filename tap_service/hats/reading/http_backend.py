"""A folder behind an HTTP server."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError, SSLError

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.folder_backend import (
    FileMissing,
    FileVersion,
    PassingFailure,
    Patience,
    refuse_other_version,
)
from tap_service.http_connections import open_pool

_PIECE = 1 << 20
_MAX_CONNECTIONS = 32

#: statuses that another attempt may change: timeouts, too many requests, errors of a server or of a proxy
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})

#: statuses of missing files; S3 refuses access to a missing file if the client may not list the files
_MISSING = frozenset({401, 403, 404, 410})

_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class HttpBackend:
    """The files below ``address``, an http or https URL. Redirects are not followed: they lead to other addresses."""

    def __init__(self, address: str, patience: Patience) -> None:
        self._address = address
        self._patience = patience
        self._pool = open_pool(_MAX_CONNECTIONS, patience.connect_seconds, patience.silence_seconds)

    def stat(self, path: str) -> FileVersion:
        answer = self._request("HEAD", path, {})
        answer.release_conn()
        return self._read_version(path, answer)

    def read(self, path: str, start: int, length: int, version: FileVersion) -> bytes:
        answer = self._request("GET", path, {"Range": f"bytes={start}-{start + length - 1}"})
        try:
            refuse_other_version(self._name(path), self._read_version(path, answer), version)
            if answer.status == 200 and (start, length) != (0, version.size):
                raise HatsError(f"{self._name(path)}: the server sends no ranges of files, only complete files")
            if answer.status == 206 and not answer.headers["Content-Range"].startswith(f"bytes {start}-"):
                raise PassingFailure(f"the server sent {answer.headers['Content-Range']} instead of byte {start}")
            return self._read_body(answer, length)
        finally:
            answer.close()  # has no effect if the connection was returned at the end of the body

    def list_files(self, path: str) -> list[str]:
        raise HatsError(f"{self._name(path)}: HTTP has no lists of files: the catalogue's own lists must name them")

    def _name(self, path: str) -> str:
        return f"{self._address}/{path}"

    def _request(self, method: str, path: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        """Return an answer with status 200 or 206, whose body has not been read."""
        try:
            answer = self._pool.request(
                method,
                f"{self._address}/{quote(path)}",
                headers={**self._pool.headers, **headers},
                redirect=False,
                preload_content=False,
            )
        except (SSLError, LocationParseError) as error:
            raise HatsError(f"{self._name(path)}: {error}") from None
        except HTTPError as error:
            raise PassingFailure(str(error)) from None
        if answer.status in (200, 206):
            return answer
        answer.close()
        if answer.status in _PASSING:
            raise PassingFailure(f"the server answered {answer.status} {answer.reason}")
        if answer.status in _MISSING:
            raise FileMissing(f"{self._name(path)} does not exist: the server answered {answer.status} {answer.reason}")
        if 300 <= answer.status < 400:
            raise HatsError(
                f"{self._name(path)} redirects to {answer.headers.get('Location', '')[:300]}:"
                " redirects are not followed; give that address instead"
            )
        raise HatsError(f"{self._name(path)}: the server answered {answer.status} {answer.reason}")

    def _read_version(self, path: str, answer: urllib3.BaseHTTPResponse) -> FileVersion:
        tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        if not tag:
            raise HatsError(
                f"{self._name(path)}: the server sends neither ETag nor Last-Modified, so that a change of the file"
                " during the reading would not be detected"
            )
        if answer.status == 206:
            found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            size = found[2] if found else ""
        else:
            size = answer.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,18}", size):
            raise HatsError(f"{self._name(path)}: the server does not send the size of the file")
        return FileVersion(int(size), tag)

    def _read_body(self, answer: urllib3.BaseHTTPResponse, length: int) -> bytes:
        until = time.monotonic() + self._patience.limit_seconds(length)
        body = bytearray()
        try:
            while len(body) < length and (piece := answer.read1(min(_PIECE, length - len(body)))):
                body += piece
                if time.monotonic() > until:
                    raise PassingFailure(f"{len(body):,} of {length:,} bytes arrived within the time limit")
        except HTTPError as error:
            raise PassingFailure(f"the answer broke off after {len(body):,} of {length:,} bytes: {error}") from None
        return bytes(body)
