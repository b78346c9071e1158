"""HTTP/1.1 as the service speaks it: uvicorn's protocol over httptools, with limits and our own words for refusals."""

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

from tap_service.constants import LINGER_SECONDS, MAX_REQUEST_HEAD, PRODUCT, RETRY_AFTER_SECONDS
from tap_service.documents.error_document import CONTENT_TYPE, error_document
from tap_service.http_server.open_connections import OpenConnections, TooManyConnections

_NOT_HTTP = (
    "this is not a valid HTTP request, or its address and headers are longer than "
    f"{MAX_REQUEST_HEAD} bytes: send a long query by POST"
)
#: how long a client beyond the limits waits for its answer: many that connect again at once take the loop's time
_REFUSAL_SECONDS = 2.0
#: for SO_LINGER
_RESET = struct.pack("ii", 1, 0)


class _HostMissing(Exception):
    """A request of HTTP/1.1 must have one Host header (RFC 9112, section 3.2)."""


class SkyhouseProtocol(HttpToolsProtocol):
    """One connection.

    A refused request is answered with an error document, and the rest of it is read and dropped for a while: closing at
    once would reset the connection before the client has read the error.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        app: Any = self.config.app
        self._open: OpenConnections = app.state.open_connections
        self.timeout_keep_alive = self._open.settings.idle_seconds
        self._refused = False
        #: when the head began that is not complete, and its bytes
        self._head_since: float | None = None
        self._head_bytes = 0
        self._received_at = 0.0
        #: since when the client has read nothing, and what waited for it then
        self._unread_since: float | None = None
        self._unread_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set TCP_NODELAY, without which some pieces wait 40 ms; asyncio does it only for sockets of proto TCP."""
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
        if self._refused:
            return
        self._received_at = self.loop.time()
        super().data_received(data)
        if self._head_since is not None and not self._refused:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_REQUEST_HEAD:
                self._refuse(400, _NOT_HTTP)

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head_since is None:
            self._head_since = self.loop.time()

    def on_headers_complete(self) -> None:
        self._head_since, self._head_bytes = None, 0
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts != 1 and (hosts or self.parser.get_http_version() == "1.1"):
            raise _HostMissing
        super().on_headers_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Answer as if no upgrade was asked for; httptools reads no further request of this connection."""
        self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's signature)
        self._refuse(400, _NOT_HTTP)

    def close_if_late(self, now: float) -> None:
        """Close the connection if its client is too slow with the head or the body of a request, or reads nothing."""
        settings = self._open.settings
        if self._head_since is not None and now - self._head_since > settings.head_seconds:
            if self._head_bytes:
                self._refuse(
                    408, f"the request's address and headers did not arrive within {settings.head_seconds:g} s"
                )
            else:
                self.transport.close()
        elif self._waits_for_body() and now - self._received_at > settings.body_silence_seconds:
            self._refuse(
                408, f"the request's body paused for {settings.body_silence_seconds:g} s, the limit. Send it again"
            )
            self.cycle.disconnected = True  # for the application
            self.cycle.message_event.set()
        self._close_unread(now)

    def _waits_for_body(self) -> bool:
        cycle = self.cycle
        return not (
            cycle is None or self._refused or not cycle.more_body or cycle.response_started or self.flow.read_paused
        )

    def _close_unread(self, now: float) -> None:
        """Abort the connection if none of the bytes that wait for the client went to it for too long."""
        unread = self._count_unread()
        if self._unread_since is None or unread < self._unread_bytes:
            self._unread_since = now
        self._unread_bytes = unread
        if not unread:
            self._unread_since = None
        elif now - self._unread_since > self._open.settings.unread_seconds:
            # a reset: the kernel drops what it holds for the client
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()

    def _count_unread(self) -> int:
        """Return the bytes that wait here and in the kernel, which takes more only when a third of its own has gone."""
        queued = bytes(4)
        with suppress(OSError, ValueError):  # the socket has just been closed
            queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, queued)
        return self.transport.get_write_buffer_size() + int.from_bytes(queued, sys.byteorder)

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        self._open.count_refusal(status)
        body = error_document(message)
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"content-type: {CONTENT_TYPE}", f"server: {PRODUCT}"]
        if status in (429, 503):
            head.append(f"retry-after: {RETRY_AFTER_SECONDS}")
        head += ["access-control-allow-origin: *", f"content-length: {len(body)}", "connection: close", "", ""]
        self._refused = True
        self._head_since = None
        self.transport.write("\r\n".join(head).encode() + body)
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


#: for uvicorn.Config: the service itself evaluates headers of proxies and sets the header Server
SERVER: dict[str, Any] = {
    "http": SkyhouseProtocol,
    "ws": "none",
    "server_header": False,
    "proxy_headers": False,
    "access_log": False,
}
