"""Files from other servers: bounded in time and size, and never from this service's own network by accident.

Who may upload a table by its address could otherwise make the service ask what only the service can reach. So each
address is looked up here, checked, and connected to as it was checked, and after each redirect anew: a name whose
answer changes in between gains nothing.
"""

from __future__ import annotations

import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import SplitResult, urljoin, urlsplit

from tap_service.constants import MAX_ADDRESSES, MAX_REDIRECTS, PRODUCT
from tap_service.models.upload_parameter import is_fetchable
from tap_service.service_errors import ServiceUnavailable, UploadFault

_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
_PIECE = 1 << 18

#: The unicast addresses of IPv6 (RFC 4291): what is outside is for one network or host, or for addresses of IPv4
_UNICAST = ip_network("2000::/3")

#: Not public whatever ``is_global`` says, which grows with Python's versions: networks for protocols (RFC 6890; clouds
#: use them), for relays and tunnels of IPv6 over IPv4 (RFC 7526, 3056, 4380), for examples (RFC 9637), and the address
#: that means the host's own network in a large cloud (Azure's WireServer).
_SPECIAL = tuple(
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

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


class UrlFetcher:
    """``hosts``: whose addresses may be of any kind; ``seconds``: for one file, redirects and all.

    Safe to use from several threads.
    """

    def __init__(self, directory: Path, hosts: Collection[str], most_bytes: int, seconds: float) -> None:
        self._directory = directory
        self._hosts = hosts
        self._most = most_bytes
        self._seconds = seconds
        self._tls = ssl.create_default_context()

    @contextmanager
    def fetched_file(self, address: str) -> Iterator[tuple[BinaryIO, str]]:
        """The file at an http or https address, and its Content-Type.

        Raises UploadFault, ServiceUnavailable where there is no room for it.
        """
        with tempfile.TemporaryFile(dir=self._directory) as file:
            with Deadline(self._seconds) as deadline:
                try:
                    content_type = self._fetch_into(address, file, deadline)
                except (OSError, HTTPException, ValueError) as error:
                    if deadline.has_passed:
                        raise _fetch_fault(address, f"it takes longer than {self._seconds:g} seconds") from error
                    raise _fetch_fault(address, "the server cannot be reached, or does not speak HTTP") from error
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
                raise _fetch_fault(address, "it redirects to what is no http or https address")
        raise _fetch_fault(address, f"it redirects more than {MAX_REDIRECTS} times")

    @contextmanager
    def _open_response(self, parts: SplitResult, address: str, deadline: Deadline) -> Iterator[HTTPResponse]:
        """The beginning of the answer."""
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme.lower()]
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        usable = [entry for entry in found if host.lower() in self._hosts or is_public(entry)]
        if not usable:
            raise _fetch_fault(address, f"{host} is no address of the public internet")
        connection = HTTPConnection(host, port)
        with _open_connection(usable[:MAX_ADDRESSES], deadline) as plain:
            is_safe = parts.scheme.lower() == "https"
            connection.sock = self._tls.wrap_socket(plain, server_hostname=host) if is_safe else plain
            with connection.sock, deadline.cut_connection(connection.sock):
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                headers = {"User-Agent": PRODUCT, "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}
                connection.request("GET", path, headers=headers)
                with connection.getresponse() as response:
                    yield response

    def _save_body(self, response: HTTPResponse, file: BinaryIO, address: str, deadline: Deadline) -> None:
        """The body; at its end the time and the length that was told are looked at: neither is an error of reading."""
        if response.status != 200:
            raise _fetch_fault(address, f"the server answers {response.status}")
        if response.length is not None and response.length > self._most:
            raise _fetch_fault(address, f"it has more than {self._most} bytes")
        length = 0
        piece = bytearray(_PIECE)
        # not ``read``, which takes a chunk of the length -1 for all that ever comes, and holds it
        while count := _read_into(response, piece, address, deadline):
            length += count
            if length > self._most:
                raise _fetch_fault(address, f"it has more than {self._most} bytes")
            try:
                file.write(memoryview(piece)[:count])
            except OSError as error:
                raise _no_room_fault() from error
        if deadline.has_passed:
            raise TimeoutError
        if response.length:
            raise _fetch_fault(address, "the connection ended before the file")
        try:
            file.flush()
        except OSError as error:
            raise _no_room_fault() from error


def _read_into(response: HTTPResponse, piece: bytearray, address: str, deadline: Deadline) -> int:
    try:
        return response.readinto(piece)
    except HTTPException as error:
        if deadline.has_passed:
            raise
        raise _fetch_fault(address, "the connection ended before the file") from error


def is_public(found: AddressInfo) -> bool:
    """Whether an address that was looked up is one of the public internet, and of another host than this one."""
    ip = ip_address(str(found[4][0]).partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        elif ip not in _UNICAST:
            return False
    if not ip.is_global or ip.is_multicast or any(ip in network for network in _SPECIAL):
        return False
    return not _is_own(found)


def _is_own(found: AddressInfo) -> bool:
    """Whether an address is this host's: what it keeps from others behind a firewall would answer the host itself."""
    family, _, _, _, address = found
    with socket.socket(family, socket.SOCK_DGRAM) as way:
        try:
            way.connect(address)  # sends nothing
        except OSError:  # no way there
            return False
        return bool(way.getsockname()[0] == address[0])


class Deadline:
    """Cuts a connection off when the time is up: a limit of each read alone would let it drip for ever."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._watch = threading.Timer(seconds, self._shut_connection)
        self._watch.daemon = True

    def __enter__(self) -> Deadline:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.cancel()

    @property
    def has_passed(self) -> bool:
        return time.monotonic() >= self._end

    @property
    def seconds_left(self) -> float:
        """Seconds. Raises TimeoutError where there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    @contextmanager
    def cut_connection(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            before, self._socket = self._socket, connection
        try:
            if self.has_passed:
                raise TimeoutError
            yield
        finally:
            with self._lock:
                self._socket = before

    def _shut_connection(self) -> None:
        with self._lock:
            if self._socket is not None:
                with suppress(OSError):  # the other side may have closed it just now
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # of TLS too: without last words


@contextmanager
def _open_connection(found: Sequence[AddressInfo], deadline: Deadline) -> Iterator[socket.socket]:
    """To the first of these addresses that takes one. Raises OSError."""
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


def _fetch_fault(address: str, reason: str) -> UploadFault:
    return UploadFault(f"a table cannot be fetched from {address[:200]}: {reason}")


def _no_room_fault() -> ServiceUnavailable:
    return ServiceUnavailable("the service has no room for a table that is fetched. Ask again later")
