"""Who a request counts for: a user, or everybody at one address."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

#: the owner of anonymous jobs in a filter; no user can have this name
ANONYMOUS = "-"

#: how the keys of anonymous clients begin; a name of a user has no blanks
ANONYMOUS_PREFIX = "anonymous at "


def find_client_key(owner: str | None, address: str) -> str:
    """Return the name of a user, or of the anonymous clients at an address; without an address they are one client.

    An IPv6 address counts as its /64 network, which belongs to one client.
    """
    return f"{ANONYMOUS_PREFIX}{find_network(address)}" if owner is None else owner


@lru_cache(maxsize=1000)
def find_network(client: str) -> str:
    """Return the addresses that count as one client: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if not isinstance(address, IPv6Address):
        return client
    return str(address.ipv4_mapped or ip_network((int(address) >> 64 << 64, 64)))
