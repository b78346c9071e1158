"""Fetches files from other servers, with limits of time and size, and never from this service's own network.

Otherwise a client could make the service read addresses that only the service can reach. ``open_response`` is for other
requests to addresses that users give. Each host name is resolved
here, and the connection goes to the checked address; redirects are checked again. A name that resolves to another
address later gains nothing.
"""

from __future__ import annotations

import socket
import ssl
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import SplitResult, urljoin, urlsplit

from tap_service.constants import MAX_ADDRESSES, MAX_REDIRECTS, PRODUCT
from tap_service.deadline import Deadline
from tap_service.models.upload_parameter import is_fetchable
from tap_service.service_errors import ServiceUnavailable, UploadError

_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
_PIECE_BYTES = 1 << 18
_HEADERS = {"User-Agent": PRODUCT, "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}

#: global unicast addresses of IPv6 (RFC 4291); all others are local or map IPv4 addresses
_UNICAST = ip_network("2000::/3")

#: Not public although ``is_global`` of some Python versions is true: protocol assignments (RFC 6890; used by clouds),
#: relays and tunnels of IPv6 over IPv4 (RFC 7526, 3056, 4380), documentation (RFC 9637), and Azure's WireServer, which
#: stands for the host's own network.
_NOT_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",
        "2001::/23",
        "2002::/16",
        "3fff::/20",
    )
)

#: Domains without public hosts: RFC 6761, 6762, 7686, 8375, 9476, ICANN's ``internal``, where clouds keep metadata, and
#: what many networks use for themselves, which will never be delegated
_LOCAL_DOMAINS = (
    *("localhost", "local", "internal", "home.arpa", "test", "invalid", "onion", "alt"),
    *("localdomain", "localdomain6", "lan", "home", "corp", "intranet", "private"),
)

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


class NotPublic(Exception):
    """The host has no public address; users read the message."""


class _WholeHead(HTTPResponse):
    """A response whose head has arrived completely: ``http.client`` takes the end of a connection for its end."""

    def begin(self) -> None:
        lines, self.fp = self.fp, _LastLine(self.fp)  # type: ignore[assignment]
        try:
            super().begin()
            if self.fp.line not in (b"\r\n", b"\n"):  # type: ignore[attr-defined]
                raise IncompleteRead(b"")
        finally:
            self.fp = lines


class _LastLine:
    """The lines of a head, and the last one that was read."""

    def __init__(self, lines: BinaryIO) -> None:
        self._lines = lines
        self.line = b""

    def readline(self, limit: int) -> bytes:
        self.line = self._lines.readline(limit)
        return self.line

    def close(self) -> None:
        self._lines.close()


class UrlFetcher:
    """``hosts``, names or ``name:port``, may have private addresses; ``seconds`` is the limit for one file with all
    redirects. Thread-safe.
    """

    def __init__(self, directory: Path, hosts: Collection[str], max_bytes: int, seconds: float) -> None:
        self._directory = directory
        self._hosts = hosts
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._tls = ssl.create_default_context()

    @contextmanager
    def fetched_file(self, address: str) -> Iterator[tuple[BinaryIO, str]]:
        """Fetch the file at an http or https address; return it with its Content-Type.

        Raises UploadError, and ServiceUnavailable if the disk is full.
        """
        with tempfile.TemporaryFile(dir=self._directory) as file:
            with Deadline(self._seconds) as deadline:
                try:
                    content_type = self._fetch_into(address, file, deadline)
                except (OSError, HTTPException, ValueError) as error:
                    if deadline.has_passed:
                        raise _fetch_error(address, f"it takes longer than {self._seconds:g} seconds") from error
                    raise _fetch_error(address, "the server cannot be reached, or does not speak HTTP") from error
            file.seek(0)
            yield file, content_type

    def _fetch_into(self, address: str, file: BinaryIO, deadline: Deadline) -> str:
        at = address
        for _ in range(MAX_REDIRECTS + 1):
            with self._open_response(urlsplit(at), address, deadline) as response:
                if response.status not in _REDIRECTS:
                    self._save_body(response, file, address, deadline)
                    return response.getheader("Content-Type", "")
                at = urljoin(at, response.getheader("Location", ""))
            if not is_fetchable(at):
                raise _fetch_error(address, "it redirects to an address that is not http or https")
        raise _fetch_error(address, f"it redirects more than {MAX_REDIRECTS} times")

    @contextmanager
    def _open_response(self, parts: SplitResult, address: str, deadline: Deadline) -> Iterator[HTTPResponse]:
        """Connect, send the request, and return the response with its headers read."""
        try:
            with open_response(parts, self._hosts, self._tls, deadline, "GET", _HEADERS) as response:
                yield response
        except NotPublic as error:
            raise _fetch_error(address, str(error)) from error

    def _save_body(self, response: HTTPResponse, file: BinaryIO, address: str, deadline: Deadline) -> None:
        """Copy the body. A passed deadline or a short body raises no error by itself: check both at the end."""
        if response.status != 200:
            raise _fetch_error(address, f"the server answers {response.status}")
        if response.length is not None and response.length > self._max_bytes:
            raise _fetch_error(address, f"it has more than {self._max_bytes} bytes")
        length = 0
        piece = bytearray(_PIECE_BYTES)
        # not ``read``, which takes a chunk of length -1 for an endless one and holds it in memory
        while count := _read_into(response, piece, address, deadline):
            length += count
            if length > self._max_bytes:
                raise _fetch_error(address, f"it has more than {self._max_bytes} bytes")
            try:
                file.write(memoryview(piece)[:count])
            except OSError as error:
                raise _no_room_error() from error
        if deadline.has_passed:
            raise TimeoutError
        if response.length:
            raise _fetch_error(address, "the connection ended before the file")
        try:
            file.flush()
        except OSError as error:
            raise _no_room_error() from error


@contextmanager
def open_response(
    parts: SplitResult,
    hosts: Collection[str],
    tls: ssl.SSLContext,
    deadline: Deadline,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
) -> Iterator[HTTPResponse]:
    """Connect to a public address or one of ``hosts``, send a request, and return the response with its headers read.

    Raises NotPublic, OSError, HTTPException; ValueError for an address that is none.
    """
    host, port = _split_host(parts)
    usable = _resolve_host(host, port, hosts)
    connection = HTTPConnection(host, port)
    connection.response_class = _WholeHead
    with _open_connection(usable[:MAX_ADDRESSES], deadline) as plain:
        is_safe = parts.scheme.lower() == "https"
        connection.sock = tls.wrap_socket(plain, server_hostname=host) if is_safe else plain
        with connection.sock, deadline.cut_connection(connection.sock):
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, body, headers)
            with connection.getresponse() as response:
                yield response


def refuse_private_host(parts: SplitResult, hosts: Collection[str]) -> None:
    """Raise NotPublic for names of the local network and addresses in numbers that are not public.

    Those in ``hosts`` pass. Other names count when the connection is made.
    """
    host, port = _split_host(parts)
    try:
        _resolve_host(host, port, hosts, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):  # a name
        is_local = "." not in host or host.endswith(tuple(f".{domain}" for domain in _LOCAL_DOMAINS))
        if is_local and not _is_named(host, port, hosts):
            raise NotPublic(_not_public(host)) from None


def _split_host(parts: SplitResult) -> tuple[str, int]:
    """Return the host, without the dot that ends an absolute name, and the port."""
    return (parts.hostname or "").rstrip("."), parts.port or _PORTS[parts.scheme.lower()]


def _is_named(host: str, port: int, hosts: Collection[str]) -> bool:
    return host in hosts or f"{f'[{host}]' if ':' in host else host}:{port}" in hosts


def _not_public(host: str) -> str:
    return f"{host} is no address of the public internet"


def _resolve_host(host: str, port: int, hosts: Collection[str], flags: int = 0) -> Sequence[AddressInfo]:
    """Return the addresses of a host to which the service may connect. Raises NotPublic and OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    is_named = _is_named(host, port, hosts)
    usable = [entry for entry in found if is_named or is_public(entry)]
    if not usable:
        raise NotPublic(_not_public(host))
    return usable


def _read_into(response: HTTPResponse, piece: bytearray, address: str, deadline: Deadline) -> int:
    try:
        return response.readinto(piece)
    except HTTPException as error:
        if deadline.has_passed:
            raise
        raise _fetch_error(address, "the connection ended before the file") from error


def is_public(found: AddressInfo) -> bool:
    """Return whether a resolved address is public and belongs to another host."""
    ip = ip_address(str(found[4][0]).partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        elif ip not in _UNICAST:
            return False
    if not ip.is_global or ip.is_multicast or any(ip in network for network in _NOT_PUBLIC):
        return False
    return not _is_own(found)


def _is_own(found: AddressInfo) -> bool:
    """Return whether an address is this host's: services behind its firewall would answer the host itself."""
    family, _, _, _, address = found
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(address)  # sends nothing
        except OSError:  # no route
            return False
        return bool(probe.getsockname()[0] == address[0])


@contextmanager
def _open_connection(found: Sequence[AddressInfo], deadline: Deadline) -> Iterator[socket.socket]:
    """Connect to the first address that accepts. Raises OSError."""
    last: OSError = OSError("no address")
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


def _fetch_error(address: str, reason: str) -> UploadError:
    return UploadError(f"a table cannot be fetched from {address[:200]}: {reason}")


def _no_room_error() -> ServiceUnavailable:
    return ServiceUnavailable("the service has no room on its disk for a fetched table. Try again later")
