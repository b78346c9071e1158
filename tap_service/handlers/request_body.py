"""The body of a request that is a file, on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from tap_service.handlers.request_form import iterate_body, no_room_error
from tap_service.scratch_files import IncomingFile, NoRoom, ScratchSpace
from tap_service.service_errors import BodyTooLarge, UploadFault

#: smaller pieces are put together before they are written
_PIECE = 1 << 20


@asynccontextmanager
async def receive_body_file(request: Request, space: ScratchSpace, most: int) -> AsyncIterator[Path]:
    """A path to the whole body, which vanishes with the context. One that is too long is read on but not kept.

    Raises BodyTooLarge, BodyTooSlow, ClientGone, UploadFault if empty, ServiceUnavailable where it finds no room.
    """
    try:
        file = space.create_incoming_file()
    except OSError as error:
        raise no_room_error("the file finds", error) from error
    with closing(file):
        try:
            length = await _receive_body(request, file, most)
            path = file.path
        except (OSError, NoRoom) as error:
            raise no_room_error("the file finds", error) from error
        if length > most:
            raise BodyTooLarge(f"the file has more than {most} bytes, the most that this service takes at once")
        if not length:
            raise UploadFault("the request has no body: send a table file in it, or the definition of a table")
        yield path


async def _receive_body(request: Request, file: IncomingFile, most: int) -> int:
    """The length of the body, which is in the file unless it is more than ``most``."""
    length = 0
    piece = bytearray()
    async for chunk in iterate_body(request, most):
        length += len(chunk)
        piece += chunk if length <= most else b""
        if len(piece) >= _PIECE:
            await run_in_threadpool(file.write, bytes(piece))
            piece.clear()
    await run_in_threadpool(file.write, bytes(piece))
    return length
