"""Compress responses while they are streamed, by Accept-Encoding (RFC 9110, section 12.5.3): zstd, else gzip.

Compression runs on threads, and each piece is flushed. Small or already compressed responses are not compressed, nor
are ranges, which refer to the original bytes. The ETag of a compressed response is weak.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from isal import isal_zlib
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tap_service.handlers.content_negotiation import parse_preferences

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: fewer bytes fit into one packet without compression
_MIN_BYTES = 1000
#: more bytes are compressed on a thread, so that the event loop serves other clients meanwhile
_MAX_INLINE_BYTES = 16_384
_COMPRESSED_TYPES = ("application/vnd.apache.parquet", "font/woff2")
#: zlib's window bits for the gzip format
_GZIP_BITS = 31


__all__ = ["CompressResponses", "Encoder", "choose_encoding", "zstd"]


class Encoder(Protocol):
    """Compresses the body of one response."""

    def encode(self, data: bytes, last: bool) -> bytes:
        """Compress the next bytes, and flush them, so that the client can read them at once.

        Parameters
        ----------
        data : bytes
            The next bytes of the body, possibly none.
        last : bool
            Whether they are the last bytes; the encoder is not used again then.
        """


class _Gzip:
    def __init__(self) -> None:
        self._encoder = isal_zlib.compressobj(isal_zlib.ISAL_DEFAULT_COMPRESSION, isal_zlib.DEFLATED, _GZIP_BITS)

    def encode(self, data: bytes, last: bool) -> bytes:
        mode = isal_zlib.Z_FINISH if last else isal_zlib.Z_SYNC_FLUSH
        return bytes(self._encoder.compress(data) + self._encoder.flush(mode))


class _Zstd:
    def __init__(self) -> None:
        self._encoder = zstd.ZstdCompressor(level=1)

    def encode(self, data: bytes, last: bool) -> bytes:
        if last:
            return self._encoder.compress(data, self._encoder.FLUSH_FRAME)
        return self._encoder.compress(data, self._encoder.FLUSH_BLOCK)


#: best first
_ENCODERS: dict[str, Callable[[], Encoder]] = {"zstd": _Zstd, "gzip": _Gzip}


@lru_cache(256)
def choose_encoding(header: str) -> str:
    """Return the encoding that an Accept-Encoding header prefers.

    Parameters
    ----------
    header : str
        The value of the header, '' without one.

    Returns
    -------
    str
        ``zstd`` or ``gzip``, '' for no compression.
    """
    named = parse_preferences(header)
    qualities = {name.removeprefix("x-"): quality for name, quality in named.items()}
    others = qualities.get("*", 0.0)
    best = max(_ENCODERS, key=lambda name: qualities.get(name, others))
    quality = qualities.get(best, others)
    return best if quality > 0 and quality >= qualities.get("identity", 0.0) else ""


class CompressResponses:
    """ASGI middleware that compresses responses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            send = _Sender(scope, send)
        await self._app(scope, receive, send)


class _Sender:
    """Sends one response, compressed if the client accepts it."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._request = Headers(scope=scope)
        self._whole = scope["method"] != "HEAD" and "range" not in self._request
        self._send = send
        self._encoder: Encoder | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._choose_encoder(message)
        elif self._encoder is not None:
            message = {**message, "body": await self._encode_body(self._encoder, message)}
        await self._send(message)

    def _choose_encoder(self, start: Message) -> None:
        headers = MutableHeaders(scope=start)
        small = int(headers.get("content-length", _MIN_BYTES)) < _MIN_BYTES
        is_packed = "content-encoding" in headers or headers.get("content-type", "") in _COMPRESSED_TYPES
        if start["status"] != 200 or small or is_packed:
            return
        headers.add_vary_header("Accept-Encoding")
        encoding = choose_encoding(self._request.get("accept-encoding", "")) if self._whole else ""
        if not encoding:
            return
        self._encoder = _ENCODERS[encoding]()
        headers["Content-Encoding"] = encoding
        for name in ("content-length", "accept-ranges"):
            if name in headers:
                del headers[name]
        if headers.get("etag", "").startswith('"'):
            headers["ETag"] = f"W/{headers['etag']}"

    @staticmethod
    async def _encode_body(encoder: Encoder, message: Message) -> bytes:
        data, last = message.get("body", b""), not message.get("more_body", False)
        if len(data) <= _MAX_INLINE_BYTES:
            return encoder.encode(data, last)
        return await run_in_threadpool(encoder.encode, data, last)
