"""Rules for URLs that users give (against server-side request forgery): only public hosts are allowed.

Otherwise a client could make the service read addresses that only the service can reach. ``find_addresses`` resolves a
host name and checks the result. The connection goes to the checked address, so a name that later resolves to another
address gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult

_PORTS = {"http": 80, "https": 443}

#: global unicast addresses of IPv6 (RFC 4291); all others are local or map IPv4 addresses
_UNICAST = ip_network("2000::/3")

#: not public although ``is_global`` is true in some versions of Python: protocol assignments (RFC 6890; used by
#: clouds), relays and tunnels of IPv6 over IPv4 (RFC 7526, 3056, 4380), documentation (RFC 9637), and Azure's
#: WireServer, which is in the host's own network
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

#: domains without public hosts: RFC 6761, 6762, 7686, 8375, 9476, ICANN's ``internal``, in which clouds serve metadata,
#: and domains that many networks use internally, which will never be delegated
_LOCAL_DOMAINS = (
    *("localhost", "local", "internal", "home.arpa", "test", "invalid", "onion", "alt"),
    *("localdomain", "localdomain6", "lan", "home", "corp", "intranet", "private"),
)

#: an entry of ``socket.getaddrinfo``: family, kind, protocol, canonical name, socket address
AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


class NotPublic(Exception):
    """The host has no public address; the message is for users."""


def split_host(parts: SplitResult) -> tuple[str, int]:
    """Return the host and the port of a URL.

    Parameters
    ----------
    parts : SplitResult
        An http or https URL.

    Returns
    -------
    tuple[str, int]
        The host, without the dot that ends an absolute name, and the port, by default the scheme's.
    """
    return (parts.hostname or "").rstrip("."), parts.port or _PORTS[parts.scheme.lower()]


def find_addresses(host: str, port: int, hosts: Collection[str] | None, flags: int = 0) -> Sequence[AddressInfo]:
    """Resolve a host, and return the addresses to which the service may connect.

    Parameters
    ----------
    host, port : str, int
        As ``split_host`` returns them.
        hosts
        Hosts, names or ``name:port``, that may have private addresses; None for all hosts.
    flags : int
        Of ``socket.getaddrinfo``.

    Raises
    ------
    NotPublic
        No address is public.
    OSError, UnicodeError
        The name cannot be resolved.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    is_exempt = hosts is None or _is_named(host, port, hosts)
    usable = [entry for entry in found if is_exempt or is_public(entry)]
    if not usable:
        raise NotPublic(_not_public(host))
    return usable


def refuse_private_host(parts: SplitResult, hosts: Collection[str]) -> None:
    """Refuse URLs with names of local networks, or with numeric addresses that are not public.

    Other names are checked when a connection is made.

    Parameters
    ----------
    parts : SplitResult
        The URL.
    hosts : Collection[str]
        Hosts that are exempt, as ``name`` or ``name:port``.

    Raises
    ------
    NotPublic
        The host is not public.
    """
    host, port = split_host(parts)
    try:
        find_addresses(host, port, hosts, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):  # a name
        is_local = "." not in host or host.endswith(tuple(f".{domain}" for domain in _LOCAL_DOMAINS))
        if is_local and not _is_named(host, port, hosts):
            raise NotPublic(_not_public(host)) from None


def is_public(found: AddressInfo) -> bool:
    """Return whether a resolved address is public, and is not an address of this host."""
    ip = ip_address(str(found[4][0]).partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        elif ip not in _UNICAST:
            return False
    if not ip.is_global or ip.is_multicast or any(ip in network for network in _NOT_PUBLIC):
        return False
    return not _is_own(found)


def _is_named(host: str, port: int, hosts: Collection[str]) -> bool:
    return host in hosts or f"{f'[{host}]' if ':' in host else host}:{port}" in hosts


def _not_public(host: str) -> str:
    return f"{host} is not an address of the public internet"


def _is_own(found: AddressInfo) -> bool:
    """Return whether an address belongs to this host: services behind its firewall would answer the host itself."""
    family, _, _, _, address = found
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(address)  # sends nothing
        except OSError:  # no route
            return False
        return bool(probe.getsockname()[0] == address[0])
