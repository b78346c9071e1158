"""The public URL of the service, and the address of the client behind proxies.

The URL comes from ``SKYHOUSE_PUBLIC_URL``, otherwise from the headers of trusted proxies, otherwise from the request.
``SKYHOUSE_PROXY_HEADER`` names the headers that these proxies write: X-Forwarded-*, or Forwarded (RFC 7239). Other
headers are ignored, because proxies pass them on from clients. Each proxy appends an entry to the lists in these
headers, so the rightmost entries come from trusted proxies, and a client may have written the entries to their left.
The lists are read from the right, up to the first address that is not a trusted proxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from itertools import chain, islice

from tap_service.settings.setting_values import Network
from tap_service.settings.site_settings import ProxyHeader

_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~%-]+)*/?")
#: texts without commas, or without semicolons, outside quotes; addresses do not need RFC 7239's escapes in quotes
_BETWEEN_COMMAS = re.compile(r'(?:[^,"]|"[^"]*")++')
_BETWEEN_SEMICOLONS = re.compile(r'(?:[^;"]|"[^"]*")++')
#: maximum number of characters that are read of a header, from the right; trusted proxies write fewer
_MAX_CHARACTERS = 4096
_PORT = re.compile(r"^\[(.*)\](?::\d+)?$|^([^:]*):\d+$")


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The origin of a request.

    Attributes
    ----------
    base_url : str
        The URL of the service for this client: the part before /tap, without a slash at its end.
    address : str
        The nearest address that is not a trusted proxy.
    is_client_known : bool
        Whether ``address`` is the address of the client; False for a request through a proxy that is not trusted, or
        that does not name its client.
    """

    base_url: str
    address: str
    is_client_known: bool = True


def find_origin(
    headers: Mapping[str, str],
    peer: str,
    request_url: str,
    trusted: tuple[Network, ...],
    public_url: str = "",
    counts: ProxyHeader = "x-forwarded",
) -> RequestOrigin:
    """Find the public URL of the service, and the address of the client.

    Parameters
    ----------
    headers : Mapping[str, str]
        The headers of proxies, with names in lower case.
    peer : str
        The address of the connection, '' if it has none.
    request_url : str
        Scheme, host and mount path of the request, without a slash at its end.
    trusted : tuple of Network
        The networks of trusted proxies.
    public_url : str
        The configured URL, '' for none.
    counts : ProxyHeader
        The headers to read.

    Returns
    -------
    RequestOrigin
        ``public_url``, or else the URL from the headers of trusted proxies, or else ``request_url``; and the address.
    """
    if not headers or not is_within(peer, trusted):
        return RequestOrigin(public_url or request_url, peer, not headers)
    lists = {name: value[-_MAX_CHARACTERS:] for name, value in headers.items()}
    elements = _iterate_forwarded(lists.get("forwarded", "")) if counts == "forwarded" else _iterate_x_forwarded(lists)
    element: Mapping[str, str] = {}
    client = ""
    for element in elements:
        client = _parse_address(element.get("for", ""))
        if not is_within(client, trusted):
            break
    return RequestOrigin(public_url or _public_url(element, request_url), client or peer, bool(client))


def _public_url(element: Mapping[str, str], request_url: str) -> str:
    scheme, _, rest = request_url.partition("://")
    host, slash, path = rest.partition("/")
    if element.get("proto", "").lower() in ("http", "https"):
        scheme = element["proto"].lower()
    if _HOST.fullmatch(element.get("host", "")):
        host = element["host"]
    prefix = element.get("prefix", "")
    prefix = prefix.rstrip("/") if _PREFIX.fullmatch(prefix) else ""
    return f"{scheme}://{host}{prefix}{slash}{path}"


def _iterate_forwarded(value: str) -> Iterator[dict[str, str]]:
    """Yield the elements of Forwarded from the right."""
    for element in _split_unquoted(value, _BETWEEN_COMMAS):
        pairs = (pair.partition("=") for pair in reversed([*_split_unquoted(element, _BETWEEN_SEMICOLONS)]))
        yield {key.strip().lower(): text.strip().strip('"') for key, _, text in pairs}


def _split_unquoted(text: str, part: re.Pattern[str]) -> Iterator[str]:
    """Split from the right, in linear time, so that a quote that a client left open affects no entries of proxies."""
    return (found.group()[::-1] for found in part.finditer(text[::-1]))


def _iterate_x_forwarded(headers: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield X-Forwarded-* as elements of Forwarded, from the right.

    A list that is shorter than the list of addresses comes from the first proxy.
    """
    addresses, *others = (
        _split_list(headers.get(f"x-forwarded-{key}", "")) for key in ("for", "proto", "host", "prefix")
    )
    element: dict[str, str] = {}
    for address in chain([next(addresses, "")], addresses):
        items = zip(("proto", "host", "prefix"), others, strict=True)
        element = {**element, "for": address, **{key: item for key, found in items for item in islice(found, 1)}}
        yield element


def _split_list(value: str) -> Iterator[str]:
    """Yield the items of a list from the right."""
    return (item for item in map(str.strip, reversed(value.split(","))) if item)


def _parse_address(node: str) -> str:
    """Return a node of Forwarded or X-Forwarded-For without port and brackets; '' if it is not an address."""
    match = _PORT.match(node)
    bare = (match.group(1) or match.group(2)) if match else node
    try:
        return str(ip_address(bare))
    except ValueError:
        return ""


@lru_cache(4096)
def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """Return whether an address belongs to a network.

    Parameters
    ----------
    address : str
        An IPv4 or IPv6 address without port and brackets, or any other text.
    networks : tuple of Network
        The networks.

    Returns
    -------
    bool
        False for a text that is not an address.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
