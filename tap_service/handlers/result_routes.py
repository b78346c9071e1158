"""/tap/async/{job}/results/result: a stored result or a range of it (RFC 9110, section 14).

/tap/async/{job}/preview: the first rows while the job still runs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.types import Receive, Scope, Send

from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.handlers.content_negotiation import Representation, send_preferred
from tap_service.handlers.request_context import Caller, Origin, Skyhouse
from tap_service.models.uws_job import JobResult
from tap_service.service_errors import ClientGone, NotFound
from tap_service.services.jobs.job_preview import PREVIEW_FORMATS, read_preview
from tap_service.services.jobs.job_requests import explain_missing_result
from tap_service.services.jobs.result_downloads import DownloadStopped

router = APIRouter(prefix="/async")

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@router.api_route("/{job_id}/results/result", methods=["GET", "HEAD"])
async def send_result(job_id: str, request: Request, skyhouse: Skyhouse, caller: Caller, origin: Origin) -> Response:
    job = await run_in_threadpool(skyhouse.jobs.get_job, job_id, caller)
    if job.result is None:
        raise NotFound(explain_missing_result(job))
    client = caller.name if caller else origin.client
    read_result = skyhouse.jobs.read_result
    return await send_stored_result(
        request, job.result, "result", lambda start, end: read_result(job, start, end, client)
    )


async def send_stored_result(
    request: Request, result: JobResult, name: str, read_bytes: Callable[[int, int], Iterator[bytes]]
) -> Response:
    """Send a stored result, or the range that the request asks for; ``name`` is that of the file."""
    etag = f'"{result.etag}"'
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",  # the job may be destroyed
        "Content-Type": result.content_type,
        "Content-Disposition": f'inline; filename="{name}.{result.extension}"',
    }
    if not _names_etag(request.headers.get("if-match", "*"), etag):
        return Response(status_code=412, headers=headers)
    if _names_etag(request.headers.get("if-none-match", "").replace("W/", ""), etag):
        return Response(status_code=304, headers=headers)
    size = result.size
    whole = request.headers.get("if-range", etag) != etag
    part = None if whole else read_range(request.headers.get("range", ""), size)
    start, end = part or (0, size)
    if start >= size and part:
        return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{size}"})
    headers["Content-Length"] = str(end - start)
    if part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        return Response(status_code=206 if part else 200, headers=headers)
    pieces = await run_in_threadpool(read_bytes, start, end)
    return _StoredResult(pieces, 206 if part else 200, headers)


@router.api_route("/{job_id}/preview", methods=["GET", "HEAD"])
async def send_preview(job_id: str, request: Request, skyhouse: Skyhouse, caller: Caller) -> Response:
    job = await run_in_threadpool(skyhouse.jobs.get_job, job_id, caller)
    file = await run_in_threadpool(skyhouse.jobs.read_preview, job)
    offered = (Representation(each.mime, partial(read_preview, file, each.mime)) for each in PREVIEW_FORMATS)
    return send_preferred(request, *offered, headers={"Cache-Control": "no-store"})


def _names_etag(header: str, etag: str) -> bool:
    """Return whether a list of entity tags without weakness marks contains this one."""
    return header.strip() == "*" or etag in re.split(r"\s*,\s*", header.strip())


def read_range(header: str, size: int) -> tuple[int, int] | None:
    """Return the start and the exclusive end of a Range header; None for no range, or several.

    A start at or beyond ``size`` is not satisfiable.
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


class _StoredResult(Response):
    """A stored result. If its bytes end early, the connection breaks, so that the client notices."""

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
