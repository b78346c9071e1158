"""Connections to other servers by urllib3, with time limits that a server cannot extend by sending single bytes.

``open_response`` sends one request within a deadline, also to addresses that users give; ``open_pool`` keeps
connections for many requests.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import BinaryIO
from urllib.parse import urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from tap_service.constants import MAX_ADDRESSES, PRODUCT
from tap_service.deadline import Deadline
from tap_service.public_addresses import AddressInfo, find_addresses, split_host

#: errors of requests and of reading answers; ValueError for an invalid URL
CONNECTION_ERRORS = (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError, ValueError)


class _CompleteHeadResponse(http.client.HTTPResponse):
    """A response with complete headers: ``http.client`` takes the end of a connection for the end of the headers."""

    def begin(self) -> None:
        lines, self.fp = self.fp, _LastLine(self.fp)  # type: ignore[assignment]
        try:
            super().begin()
            if self.fp.line not in (b"\r\n", b"\n"):  # type: ignore[attr-defined]
                raise http.client.IncompleteRead(b"")
        finally:
            self.fp = lines


class _LastLine:
    """Reads the lines of response headers, and keeps the last line."""

    def __init__(self, lines: BinaryIO) -> None:
        self._lines = lines
        self.line = b""

    def readline(self, limit: int) -> bytes:
        self.line = self._lines.readline(limit)
        return self.line

    def close(self) -> None:
        self._lines.close()


class _LimitedHead(HTTPConnection):
    response_class = _CompleteHeadResponse

    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override]  # urllib3 overrides it in the same way
        """Raise TimeoutError unless the complete response headers arrive within the read timeout."""
        assert self.timeout is not None  # noqa: S101  ``open_pool`` sets it
        with Deadline(self.timeout) as deadline, deadline.cut_connection(self.sock):
            try:
                return super().getresponse()
            finally:
                if deadline.has_passed:  # a head that was cut may look complete
                    raise TimeoutError


class _LimitedHeadTls(_LimitedHead, HTTPSConnection):
    pass


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _LimitedHead


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _LimitedHeadTls


def open_pool(
    max_connections: int, connect_seconds: float, silence_seconds: float, headers: Mapping[str, str] | None = None
) -> urllib3.PoolManager:
    """Return a pool of connections, which does not repeat requests, and requests bodies without compression.

    Parameters
    ----------
    max_connections : int
        Maximum number of connections to one server to keep.
    connect_seconds : float
        Time limit for a connection.
    silence_seconds : float
        Time limit for the complete response headers, and between two pieces of the body.
    headers : Mapping[str, str], optional
        Headers to send with each request, in addition to User-Agent and Accept-Encoding.
    """
    pool = urllib3.PoolManager(
        maxsize=max_connections,
        retries=False,
        timeout=urllib3.Timeout(connect=connect_seconds, read=silence_seconds),
        headers={"User-Agent": PRODUCT, "Accept-Encoding": "identity", **(headers or {})},
    )
    pool.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return pool


@contextmanager
def open_response(
    method: str,
    url: str,
    deadline: Deadline,
    *,
    hosts: Collection[str] | None,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> Iterator[urllib3.HTTPResponse]:
    """Send one request over a separate connection, and yield the response with its headers read.

    Redirects are not followed.

    Parameters
    ----------
    method : str
        The method, such as ``GET``.
    url : str
        An http or https URL.
    deadline : Deadline
        Cuts the connection when it passes, also while the body is read: check it after reading.
    hosts : Collection[str] or None
        Hosts, as ``name`` or ``name:port``, that may have private addresses; all other hosts must be public. None
        allows all addresses, for URLs that the operator gives.
    headers : Mapping[str, str], optional
        Headers to send in addition to User-Agent, Accept-Encoding and Connection.
    body : bytes, optional
        The body of the request.

    Yields
    ------
    urllib3.HTTPResponse
        The response, whose headers have been read.

    Raises
    ------
    NotPublic
        The host has no public address.
    OSError, http.client.HTTPException, urllib3.exceptions.HTTPError, ValueError
        As in ``CONNECTION_ERRORS``: the server is unreachable or does not speak HTTP, or ``url`` is invalid. Reading an
        incomplete body raises them too.
    """
    parts = urlsplit(url)
    host, port = split_host(parts)
    with ExitStack() as stack:
        addresses = find_addresses(host, port, hosts)[:MAX_ADDRESSES]
        plain = stack.enter_context(_open_connection(addresses, deadline))
        connection = HTTPConnection(host, port)
        connection.response_class = _CompleteHeadResponse
        is_safe = parts.scheme.lower() == "https"
        secure = _tls().wrap_socket(plain, server_hostname=host) if is_safe else plain
        connection.sock = stack.enter_context(secure)
        stack.enter_context(deadline.cut_connection(secure))
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        sent = {"User-Agent": PRODUCT, "Accept-Encoding": "identity", "Connection": "close", **(headers or {})}
        connection.request(method, path, body, sent, preload_content=False, decode_content=False)
        response = connection.getresponse()
        stack.callback(response.close)
        yield response


def read_body(response: urllib3.HTTPResponse, max_bytes: int) -> bytes:
    """Read a body, or the start of a long one.

    Parameters
    ----------
    response : urllib3.HTTPResponse
        A response of ``open_response``.
    max_bytes : int
        Maximum number of bytes to read.

    Returns
    -------
    bytes
        The bytes.

    Raises
    ------
    OSError, http.client.HTTPException, urllib3.exceptions.HTTPError
        The body ends too early.
    """
    body = bytearray()
    # not ``read``, which takes a chunk of length -1 for an endless chunk and stores it in memory
    while len(body) < max_bytes and (piece := response.read1(max_bytes - len(body))):
        body += piece
    return bytes(body)


@contextmanager
def _open_connection(found: Sequence[AddressInfo], deadline: Deadline) -> Iterator[socket.socket]:
    """Connect to the first address that accepts a connection."""
    last = OSError("no address")
    for number, (family, kind, protocol, _, address) in enumerate(found):
        with socket.socket(family, kind, protocol) as connection:
            connection.settimeout(deadline.seconds_left / (len(found) - number))
            try:
                connection.connect(address)
            except OSError as error:
                last = error
                continue
            connection.settimeout(deadline.seconds_left)
            with deadline.cut_connection(connection):
                yield connection
            return
    raise last


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
