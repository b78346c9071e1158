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
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import SplitResult, urljoin, urlsplit

from tap_service.constants import MOST_ADDRESSES, MOST_REDIRECTS, PRODUCT
from tap_service.exceptions import UploadFault
from tap_service.models.uploads import is_fetchable

_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
_PIECE = 1 << 18

#: Networks of IPv6 that hold addresses of IPv4: what is behind them is not to be told by ``is_global``
_TRANSLATED = tuple(ip_network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))


class Fetcher:
    """``hosts``: whose addresses may be of any kind; ``seconds``: for one file, redirects and all."""

    def __init__(self, directory: Path, hosts: Collection[str], most_bytes: int, seconds: float) -> None:
        self._directory = directory
        self._hosts = hosts
        self._most = most_bytes
        self._seconds = seconds
        self._tls = ssl.create_default_context()

    @contextmanager
    def fetched(self, address: str) -> Iterator[tuple[BinaryIO, str]]:
        """The file at an http or https address, and its Content-Type. Raises UploadFault."""
        with tempfile.TemporaryFile(dir=self._directory) as file:
            try:
                content_type = self._fetch(address, file)
            except (OSError, HTTPException, ValueError) as error:
                raise _refused(address, "the server cannot be reached, or does not speak HTTP") from error
            file.seek(0)
            yield file, content_type

    def _fetch(self, address: str, file: BinaryIO) -> str:
        late = threading.Event()
        with ExitStack() as stack:
            at = address
            for _ in range(MOST_REDIRECTS + 1):
                connection = stack.enter_context(closing(self._connected(urlsplit(at), address)))
                stack.enter_context(cut_off(connection, self._seconds, late))
                response = stack.enter_context(closing(_asked(connection, urlsplit(at))))
                if response.status not in _REDIRECTS:
                    self._save(response, file, address)
                    if late.is_set():
                        raise _refused(address, f"it takes longer than {self._seconds:g} seconds")
                    return response.getheader("Content-Type", "")
                at = urljoin(at, response.getheader("Location", ""))
                if not is_fetchable(at):
                    raise _refused(address, "it redirects to what is no http or https address")
        raise _refused(address, f"it redirects more than {MOST_REDIRECTS} times")

    def _connected(self, parts: SplitResult, address: str) -> HTTPConnection:
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme.lower()]
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        usable = [entry for entry in found if host.lower() in self._hosts or is_public(str(entry[4][0]))]
        if not usable:
            raise _refused(address, f"{host} is no address of the public internet")
        connection = HTTPConnection(host, port, timeout=self._seconds)
        plain = _first_connection(usable[:MOST_ADDRESSES], self._seconds)
        is_safe = parts.scheme.lower() == "https"
        connection.sock = self._tls.wrap_socket(plain, server_hostname=host) if is_safe else plain
        return connection

    def _save(self, response: HTTPResponse, file: BinaryIO, address: str) -> None:
        if response.status != 200:
            raise _refused(address, f"the server answers {response.status}")
        length = 0
        while piece := response.read(_PIECE):
            length += len(piece)
            if length > self._most:
                raise _refused(address, f"it has more than {self._most} bytes")
            file.write(piece)
        if response.length:
            raise _refused(address, "the connection ended before the file")
        file.flush()


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        elif any(ip in network for network in _TRANSLATED):
            return False
    return ip.is_global and not ip.is_multicast


@contextmanager
def cut_off(connection: HTTPConnection, seconds: float, late: threading.Event) -> Iterator[None]:
    """Close the connection after a time, and set ``late``: a limit of each read alone would let it drip for ever."""

    def cut() -> None:
        late.set()
        with suppress(OSError):  # it may have been closed just now
            if connection.sock is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)

    watch = threading.Timer(seconds, cut)
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


Found = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


def _first_connection(found: Sequence[Found], seconds: float) -> socket.socket:
    """To the first of these addresses that takes one. Raises OSError."""
    last: OSError = OSError("no address")
    for family, kind, protocol, _, address in found:
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(seconds)
        try:
            connection.connect(address)
            return connection
        except OSError as error:
            connection.close()
            last = error
    raise last


def _asked(connection: HTTPConnection, parts: SplitResult) -> HTTPResponse:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"User-Agent": PRODUCT, "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


def _refused(address: str, reason: str) -> UploadFault:
    return UploadFault(f"a table cannot be fetched from {address[:200]}: {reason}")
