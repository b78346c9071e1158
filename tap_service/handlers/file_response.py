"""Send a stored file, or a range of it (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.types import Receive, Scope, Send

from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.service_errors import ClientGone
from tap_service.services.jobs.result_downloads import DownloadStopped

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file to send.

    Attributes
    ----------
    name : str
        The file name for the client.
    size : int
        The size in bytes.
    etag : str
        The entity tag, without quotes.
    content_type : str
        The media type.
    """

    name: str
    size: int
    etag: str
    content_type: str


async def send_file(request: Request, file: StoredFile, read_bytes: Callable[[int, int], Iterator[bytes]]) -> Response:
    """Send a file or the requested range of it, unless a condition of the request forbids that.

    Parameters
    ----------
    request : Request
        A GET or HEAD, with the headers If-Match, If-None-Match, If-Range and Range.
    file : StoredFile
        The file.
    read_bytes : Callable[[int, int], Iterator[bytes]]
        Returns the bytes from a start to an exclusive end, in pieces; it is called on a thread.

    Returns
    -------
    Response
        200 or 206 with bytes, 304, 412 or 416. The connection breaks if the file ends early.
    """
    etag = f'"{file.etag}"'
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",  # it may be deleted, and its readers may change
        "Content-Type": file.content_type,
        "Content-Disposition": f'inline; filename="{file.name}"',
    }
    if not _names_etag(request.headers.get("if-match", "*"), etag):
        return Response(status_code=412, headers=headers)
    if _names_etag(request.headers.get("if-none-match", "").replace("W/", ""), etag):
        return Response(status_code=304, headers=headers)
    size = file.size
    whole = request.method == "HEAD" or request.headers.get("if-range", etag) != etag  # only GET has ranges
    part = None if whole else read_range(request.headers.get("range", ""), size)
    start, end = part or (0, size)
    if start >= size and part:
        return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{size}"})
    headers["Content-Length"] = str(end - start)
    if part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        return Response(headers=headers)
    pieces = await run_in_threadpool(read_bytes, start, end)
    return _FileResponse(pieces, 206 if part else 200, headers)


def _names_etag(header: str, etag: str) -> bool:
    """Return whether a list of strong entity tags contains this one."""
    return header.strip() == "*" or etag in re.split(r"\s*,\s*", header.strip())


def read_range(header: str, size: int) -> tuple[int, int] | None:
    """Parse a Range header.

    Parameters
    ----------
    header : str
        The value of the header, '' without one.
    size : int
        The size of the file in bytes.

    Returns
    -------
    (int, int) or None
        The start and the exclusive end; None without a valid range, or with several. A range whose start is not below
        ``size`` cannot be satisfied.
    """
    match = _RANGE.fullmatch(header.replace(" ", ""))
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        return (max(size - int(last), 0), size) if int(last) else (size, size)
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size


class _FileResponse(Response):
    """The bytes of a file. If they end early, the connection breaks, so that the client notices."""

    def __init__(self, pieces: Iterator[bytes], status: int, headers: dict[str, str]) -> None:
        self.status_code = status
        self.background = None
        self._pieces = pieces
        self.init_headers(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI)
        gone = asyncio.create_task(wait_for_disconnect(receive))
        try:
            with suppress(ClientGone, DownloadStopped):
                await run_unless_gone(gone, self._send_pieces(send))
        finally:
            gone.cancel()

    async def _send_pieces(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in iterate_in_threadpool(self._pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
