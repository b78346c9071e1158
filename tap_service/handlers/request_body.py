"""Receive the body of a request as a file on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from tap_service.handlers.request_form import iterate_body, no_room_error
from tap_service.scratch_files import IncomingFile, NoRoom, ScratchSpace
from tap_service.service_errors import BodyTooLarge, UploadFault

#: how many bytes are written at once
_PIECE = 1 << 20


@asynccontextmanager
async def receive_body_file(request: Request, space: ScratchSpace, max_bytes: int) -> AsyncIterator[Path]:
    """Receive the whole body and yield its path, which is valid in the context.

    Parameters
    ----------
    request
        The request, whose body has not been read.
    space
        Where the body is stored.
    max_bytes
        The largest size in bytes; a longer body is read to its end but not stored.

    Raises
    ------
    BodyTooLarge, BodyTooSlow, ClientGone
        The body does not arrive completely.
    UploadFault
        The body is empty.
    ServiceUnavailable
        There is no space for the body.
    """
    try:
        file = space.create_incoming_file()
    except OSError as error:
        raise no_room_error("the file", error) from error
    with closing(file):
        try:
            length = await _receive_body(request, file, max_bytes)
            path = file.path
        except (OSError, NoRoom) as error:
            raise no_room_error("the file", error) from error
        if length > max_bytes:
            raise BodyTooLarge(f"the file has more than {max_bytes} bytes, the limit of this service")
        if not length:
            raise UploadFault("the request has no body: send a table file or the definition of a table")
        yield path


async def _receive_body(request: Request, file: IncomingFile, max_bytes: int) -> int:
    """Write the body to the file unless it has more than ``max_bytes`` bytes; return its length."""
    length = 0
    piece = bytearray()
    async for chunk in iterate_body(request, max_bytes):
        length += len(chunk)
        piece += chunk if length <= max_bytes else b""
        if len(piece) >= _PIECE:
            await run_in_threadpool(file.write, bytes(piece))
            piece.clear()
    await run_in_threadpool(file.write, bytes(piece))
    return length
