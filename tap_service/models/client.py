"""The client of a request, with its limits: a user, or the anonymous clients at one address."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from tap_service.settings.client_limits import ClientLimit

#: the owner of anonymous jobs in a filter; no user can have this name
ANONYMOUS = "-"

#: prefix of the keys of anonymous clients; names of users contain no blanks
ANONYMOUS_PREFIX = "anonymous at "


@dataclass(frozen=True, slots=True)
class Client:
    """The sender of a request.

    Attributes
    ----------
    address : str
        The address, '' if it is unknown.
    name : str or None
        The user; None for an anonymous client.
    user_class : str
        The class that the operator has given the user, such as ``@survey``; '' without one.
    limits : ClientLimit
        The limits of the client's requests.
    """

    address: str
    name: str | None
    user_class: str
    limits: ClientLimit

    @property
    def key(self) -> str:
        """The name under which the requests of the client are counted together."""
        return find_client_key(self.name, self.address)

    @property
    def label(self) -> str:
        """The user, or the address of an anonymous client, for lists."""
        return self.name or self.address


def find_client_key(owner: str | None, address: str) -> str:
    """Return the key under which the requests of a client are counted.

    Parameters
    ----------
    owner : str or None
        The name of a user; None for anonymous clients.
    address : str
        The address; anonymous clients with an unknown address, '', count as one client.

    Returns
    -------
    str
        The name of the user, or a text with the address. An IPv6 address counts as its /64 network.
    """
    return f"{ANONYMOUS_PREFIX}{find_network(address)}" if owner is None else owner


@lru_cache(maxsize=1000)
def find_network(address: str) -> str:
    """Return the network whose addresses count as one client.

    Parameters
    ----------
    address : str
        An IPv4 or IPv6 address, or another text, such as the '' of an unknown client.

    Returns
    -------
    str
        An IPv4 address, also for an IPv4-mapped IPv6 address; the /64 network of an IPv6 address; another text
        unchanged.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed) >> 64 << 64, 64)))
