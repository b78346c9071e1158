"""HTTP/1.1 as the service speaks it: uvicorn's protocol over httptools, with limits and its own error documents."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import sys
import termios
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tap_service.constants import (
    BODY_BYTES_PER_SECOND,
    BODY_SECONDS,
    LINGER_SECONDS,
    MAX_BODY_FRAMING,
    MAX_DISCARDED_BYTES,
    MAX_PIPELINED,
    MAX_REQUEST_HEAD,
    MAX_REQUEST_HEADERS,
    PRODUCT,
    RETRY_AFTER_SECONDS,
)
from tap_service.documents.error_document import CONTENT_TYPE, error_document
from tap_service.http_server.open_connections import OpenConnections, TooManyConnections

_NOT_HTTP = (
    "this is not a valid HTTP request, or its address and headers are longer than "
    f"{MAX_REQUEST_HEAD} bytes: send a long query by POST"
)
_TOO_MUCH_FRAMING = (
    f"the sizes, extensions and trailers of the body's chunks exceed {MAX_BODY_FRAMING} bytes: "
    "send the body in larger chunks, or with Content-Length"
)
#: bytes that the parser gets at once, which is the precision of the counts
_PIECE_BYTES = 16_384
#: seconds after which a client beyond the limits is answered; clients that reconnect at once would take up the loop
_REFUSAL_SECONDS = 2.0
#: for SO_LINGER
_RESET = struct.pack("ii", 1, 0)


class _HeadError(Exception):
    """The head of a request is refused, with this status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class SkyhouseProtocol(HttpToolsProtocol):
    """One connection.

    A refused request is answered with an error document, and the rest of it is read and discarded for a while: closing
    at once would reset the connection before the client has read the error. If earlier requests wait for their answers,
    they get them first, and then the connection is closed.

    Only bodies have no limit here: ``_framing_bytes`` counts everything else that a client sends. In a head this is
    everything, including empty lines before it. In a body it is the sizes, extensions and trailers of chunks; each byte
    of the body reduces it by one, so that a long body may have many chunks, but not many nearly empty ones.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        app: Any = self.config.app
        self._open: OpenConnections = app.state.open_connections
        self.timeout_keep_alive = self._open.settings.idle_seconds
        self._refused = False
        #: when the current, incomplete head started
        self._head_since: float | None = None
        self._framing_bytes = 0
        #: whether a head is complete but its body is not, the bytes of this body, and when the last one arrived
        self._is_in_body = False
        self._body_bytes = 0
        self._body_at = 0.0
        #: chunks of the current piece: passing on each small chunk separately takes 5 us, ten times as long
        self._chunks: list[bytes] = []
        self._answered_at = 0.0
        #: since when the client has read nothing, and how many bytes waited for it then
        self._unread_since: float | None = None
        self._unread_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set TCP_NODELAY, without which some pieces wait 40 ms; asyncio sets it only for sockets of proto TCP."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head_since = self.loop.time()
        try:
            self._open.admit_connection(self, self.client[0] if self.client else "", self.loop)
        except TooManyConnections as error:
            self._refused = True
            if self._open.hold_refused(self):
                self.loop.call_later(_REFUSAL_SECONDS, self._refuse, error.status, str(error))
            else:
                self._open.count_refusal(error.status)
                self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.forget_connection(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE_BYTES):
            if self._refused:
                return
            if not self._is_in_body and self._head_since is None:
                self._start_head()
            piece = data[start : start + _PIECE_BYTES]
            self._framing_bytes += len(piece)
            super().data_received(piece)
            self._pass_on_body()
            if self._is_in_body and self._framing_bytes > MAX_BODY_FRAMING:
                self._refuse(400, _TOO_MUCH_FRAMING)
            elif self._framing_bytes > MAX_REQUEST_HEAD:
                self._refuse(400, _NOT_HTTP)

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._start_head()

    def _start_head(self) -> None:
        if self._head_since is None:
            self._head_since = self.loop.time()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Drop trailers, which must not become headers (RFC 9110, section 6.5.1)."""
        if not self._is_in_body:
            super().on_header(name, value)
            if len(self.headers) > MAX_REQUEST_HEADERS:
                raise _HeadError(431, f"the request has more than {MAX_REQUEST_HEADERS} headers: send fewer")

    def on_headers_complete(self) -> None:
        version = self.parser.get_http_version()
        self._check_headers(version)
        if version == "1.0":
            self.expect_100_continue = False  # RFC 9110, section 10.1.1
        super().on_headers_complete()
        self._head_since, self._framing_bytes = None, 0
        self._is_in_body, self._body_bytes, self._body_at = True, 0, self.loop.time()

    def _check_headers(self, version: str) -> None:
        """Raise _HeadError if the headers are not acceptable."""
        if len(self.pipeline) >= MAX_PIPELINED:
            raise _HeadError(429, f"more than {MAX_PIPELINED} requests on this connection wait for an answer")
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts != 1 and (hosts or version == "1.1"):
            raise _HeadError(400, "the request must have one Host header")
        codings = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            raise _HeadError(501, "the only transfer coding that this service supports is chunked")

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)

    def _pass_on_body(self) -> None:
        if self._chunks:
            body = b"".join(self._chunks)
            self._chunks.clear()
            self._body_bytes += len(body)
            self._body_at = self.loop.time()
            self._framing_bytes = max(0, self._framing_bytes - 2 * len(body))
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._pass_on_body()
        super().on_message_complete()
        self._is_in_body, self._framing_bytes = False, 0
        if self.cycle.response_complete:
            self._start_head()  # of the next request, if any: its time is the only limit of what follows now

    def on_response_complete(self) -> None:
        self._answered_at = self.loop.time()
        if self._head_since is not None:
            self._head_since = self._answered_at  # until now, the next request had to wait
        is_last = self._refused and not self.pipeline
        super().on_response_complete()
        if is_last:
            self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Answer as if no upgrade was requested; httptools reads no further request of this connection."""
        self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's signature)
        """Refuse what the parser, or a method that it calls, does not accept."""
        error = sys.exc_info()[1]
        cause = error.__context__ if error is not None else None
        if isinstance(cause, _HeadError):
            self._refuse(cause.status, str(cause))
        else:
            self._refuse(400, _NOT_HTTP)

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def close_if_late(self, now: float) -> None:
        """Close the connection if its client sends a head or a body too slowly, or reads nothing."""
        settings = self._open.settings
        if self._refused:
            pass
        elif self._head_since is not None:
            if not self._is_answering and now - self._head_since > settings.head_seconds:
                if self._framing_bytes:
                    self._refuse(
                        408, f"the request's address and headers did not arrive within {settings.head_seconds:g} s"
                    )
                else:
                    self.transport.close()
        elif self.flow.read_paused:
            self._body_at = now
        elif self._is_in_body and not self._is_answering:
            self._close_dropped_body(now)
        elif self._waits_for_body() and now - self._body_at > settings.body_silence_seconds:
            self._refuse(
                408, f"the request's body paused for {settings.body_silence_seconds:g} s, the limit. Send it again"
            )
        self._close_unread(now)

    def _waits_for_body(self) -> bool:
        return self._is_in_body and not self.cycle.response_started

    def _close_dropped_body(self, now: float) -> None:
        """Close the connection if the body of an answered request is too long, or too slow."""
        seconds = BODY_SECONDS + self._body_bytes / BODY_BYTES_PER_SECOND
        if self._body_bytes > MAX_DISCARDED_BYTES or now - self._answered_at > seconds:
            self.transport.close()

    def _close_unread(self, now: float) -> None:
        """Abort the connection if the client has read none of the waiting bytes for too long."""
        unread = self._count_unread()
        if self._unread_since is None or unread < self._unread_bytes:
            self._unread_since = now
        self._unread_bytes = unread
        if not unread:
            self._unread_since = None
        elif now - self._unread_since > self._open.settings.unread_seconds:
            # a reset: the kernel discards what it holds for the client
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()

    def _count_unread(self) -> int:
        """Return the bytes that wait here and in the kernel, which takes more when a third of its buffer is free."""
        queued = bytes(4)
        with suppress(OSError, ValueError):  # the socket has just been closed
            queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, queued)
        return self.transport.get_write_buffer_size() + int.from_bytes(queued, sys.byteorder)

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        self._open.count_refusal(status)
        self._refused = True
        self._head_since = None
        if self._is_answering:
            if not self._is_in_body:
                return  # earlier requests are answered first: see on_response_complete
            if self.pipeline:
                self.pipeline.popleft()  # the refused request, which has not started
                return
            self.cycle.disconnected = True  # for the application
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
        body = error_document(message)
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"content-type: {CONTENT_TYPE}", f"server: {PRODUCT}"]
        if status in (429, 503):
            head.append(f"retry-after: {RETRY_AFTER_SECONDS}")
        head += ["access-control-allow-origin: *", f"content-length: {len(body)}", "connection: close", "", ""]
        self.transport.write("\r\n".join(head).encode() + body)
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


#: for uvicorn.Config: the service itself evaluates proxy headers and sets the Server header
SERVER: dict[str, Any] = {
    "http": SkyhouseProtocol,
    "ws": "none",
    "server_header": False,
    "proxy_headers": False,
    "access_log": False,
}
