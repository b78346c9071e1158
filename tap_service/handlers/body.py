"""The body of a request that is a file, on disk."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from tap_service.exceptions import BodyTooLarge, ServiceUnavailable, UploadFault
from tap_service.handlers.form import chunks
from tap_service.services.table_files import path_of

#: smaller pieces are put together before they are written
_PIECE = 1 << 20


@asynccontextmanager
async def body_file(request: Request, directory: Path, most: int) -> AsyncIterator[Path]:
    """A path to the whole body, which vanishes with the context. One that is too long is read on but not kept.

    Raises BodyTooLarge, UploadFault for an empty one, ClientGone, ServiceUnavailable where it finds no room.
    """
    with tempfile.TemporaryFile(dir=directory) as file:
        length = 0
        piece = bytearray()
        try:
            async for chunk in chunks(request, most):
                length += len(chunk)
                piece += chunk if length <= most else b""
                if len(piece) >= _PIECE:
                    await run_in_threadpool(file.write, bytes(piece))
                    piece.clear()
            await run_in_threadpool(file.write, bytes(piece))
            await run_in_threadpool(file.flush)
        except OSError as error:
            raise ServiceUnavailable(f"the file finds no room here ({error.strerror}). Ask again later") from error
        if length > most:
            raise BodyTooLarge(f"the file has more than {most} bytes, the most that this service takes at once")
        if not length:
            raise UploadFault("the request has no body: send a table file in it, or the definition of a table")
        yield path_of(file)
