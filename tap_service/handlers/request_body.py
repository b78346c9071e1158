"""Receive the body of a request as bytes, in pieces or as a file: decompressed, and within a limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, closing, nullcontext
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from tap_service.constants import BODY_BYTES_PER_SECOND, BODY_SECONDS, MAX_DISCARDED_BYTES
from tap_service.handlers.body_decoder import BodyDecoder, count_compressed_body, find_encoding
from tap_service.handlers.request_context import create_incoming_file, get_origin
from tap_service.scratch_files import NoRoom
from tap_service.service_errors import BodyTooLarge, BodyTooSlow, ClientGone, ServiceUnavailable, UploadError

#: number of bytes that one call on a thread writes
_PIECE_BYTES = 1 << 20


@asynccontextmanager
async def open_body(request: Request, max_bytes: int, too_long: str) -> AsyncIterator[AsyncIterator[bytes]]:
    """Open the body of a request.

    If the context raises an error, the rest of the body is received and discarded first, because many clients read
    the answer only after they have sent the body.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    max_bytes : int
        The maximum size in bytes, both as sent and decompressed.
    too_long : str
        The message of the error about a longer body.

    Yields
    ------
    AsyncIterator[bytes]
        The decompressed pieces of the body.

    Raises
    ------
    BodyTooLarge, BodyTooSlow, ClientGone
        The body does not arrive completely.
    UnknownEncoding, TooManyUploads, ParameterError
        The body cannot be decompressed: see ``body_decoder``.
    """
    async with aclosing(_receive_pieces(request, max_bytes)) as received:
        try:
            encoding = find_encoding(request)
            counted: AbstractContextManager[None] = nullcontext()
            if encoding:
                counted = count_compressed_body((await get_origin(request)).address)
            with counted:
                async with aclosing(_decode_pieces(received, encoding, max_bytes, too_long)) as pieces:
                    yield pieces
        except Exception:
            async for _ in received:
                pass
            raise


async def read_body(request: Request, max_bytes: int, too_long: str) -> bytes:
    """Return the complete body; parameters and errors as in ``open_body``."""
    body = bytearray()
    async with open_body(request, max_bytes, too_long) as pieces:
        async for piece in pieces:
            body += piece
    return bytes(body)


async def feed_body(request: Request, write: Callable[[bytes], None], max_bytes: int, too_long: str) -> int:
    """Write the body in large pieces, on threads.

    Parameters
    ----------
    request, max_bytes, too_long
        As in ``open_body``.
    write : Callable[[bytes], None]
        Writes a piece; its errors are raised.

    Returns
    -------
    int
        The decompressed length in bytes.

    Raises
    ------
    BodyTooLarge, BodyTooSlow, ClientGone, UnknownEncoding, TooManyUploads, ParameterError
        As in ``open_body``.
    """
    length = 0
    joined = bytearray()
    async with open_body(request, max_bytes, too_long) as pieces:
        async for piece in pieces:
            length += len(piece)
            joined += piece
            if len(joined) >= _PIECE_BYTES:
                await run_in_threadpool(write, bytes(joined))
                joined.clear()
        if joined:
            await run_in_threadpool(write, bytes(joined))
    return length


@asynccontextmanager
async def receive_body_file(request: Request, max_bytes: int) -> AsyncIterator[Path]:
    """Receive the complete body into a file.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    max_bytes : int
        The maximum size in bytes. A longer body is read to its end but not stored.

    Yields
    ------
    Path
        The file, which exists within the context.

    Raises
    ------
    BodyTooLarge, BodyTooSlow, ClientGone, UnknownEncoding, TooManyUploads, ParameterError
        As in ``open_body``.
    UploadError
        The body is empty.
    ServiceUnavailable
        The disk has no space for the body.
    """
    try:
        file = create_incoming_file(request)
    except OSError as error:
        raise no_room_error("the file", error) from error
    with closing(file):
        too_long = f"the file has more than {max_bytes} bytes, the limit of this service"
        try:
            length = await feed_body(request, file.write, max_bytes, too_long)
            path = file.path
        except (OSError, NoRoom) as error:
            raise no_room_error("the file", error) from error
        if not length:
            raise UploadError("the request has no body: send a table file or the definition of a table")
        yield path


def no_room_error(what: str, error: OSError | NoRoom) -> ServiceUnavailable:
    """Return the error of a request for whose body (``what``) the disk has no space."""
    why = error.strerror if isinstance(error, OSError) else error
    return ServiceUnavailable(f"there is no space for {what} ({why}); try again later")


async def _receive_pieces(request: Request, max_bytes: int) -> AsyncGenerator[bytes]:
    """Yield the body as sent. A body of more than ``max_bytes`` bytes ends after MAX_DISCARDED_BYTES."""
    start = asyncio.get_running_loop().time()
    length, more = 0, True
    while more and length <= max(max_bytes, MAX_DISCARDED_BYTES):
        try:
            async with asyncio.timeout_at(start + BODY_SECONDS + length / BODY_BYTES_PER_SECOND):
                message = await request.receive()
        except TimeoutError:
            raise BodyTooSlow(
                f"the request's body arrived too slowly, {length} bytes so far: the limit is {BODY_SECONDS:.0f} s "
                f"plus one second for each {BODY_BYTES_PER_SECOND} bytes. Send it again"
            ) from None
        if message["type"] == "http.disconnect":
            raise ClientGone("the client disconnected while it sent its request")
        piece = message.get("body", b"")
        length += len(piece)
        more = message.get("more_body", False)
        yield piece


async def _decode_pieces(
    received: AsyncIterator[bytes], encoding: str, max_bytes: int, too_long: str
) -> AsyncGenerator[bytes]:
    decoder = BodyDecoder(encoding) if encoding else None
    sent = length = 0
    async for data in received:
        sent += len(data)
        if sent > max_bytes:
            raise BodyTooLarge(too_long)
        if decoder is None:
            yield data
            continue
        pieces = decoder.decode(data)
        while piece := await run_in_threadpool(next, pieces, b""):
            length += len(piece)
            if length > max_bytes:
                raise BodyTooLarge(too_long)
            yield piece
    if decoder is not None:
        decoder.finish()
