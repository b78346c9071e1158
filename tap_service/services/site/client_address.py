"""The public URL of the service, and the address of the client behind proxies.

The URL comes from ``SKYHOUSE_PUBLIC_URL``, else from the headers of trusted proxies, else from the request.
``SKYHOUSE_PROXY_HEADER`` says which headers those proxies write: X-Forwarded-*, or Forwarded (RFC 7239). The others
are ignored, for a proxy passes on what a client wrote there. Each proxy appends to the lists in these headers. So the
rightmost entries come from trusted proxies, one for each; the client may have written anything further left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address

from tap_service.settings.site_settings import Network, ProxyHeader

_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~%-]+)*/?")
#: what has no comma, or no semicolon, outside quotes; no address needs the escapes that RFC 7239 allows in quotes
_BETWEEN_COMMAS = re.compile(r'(?:[^,"]|"[^"]*")++')
_BETWEEN_SEMICOLONS = re.compile(r'(?:[^;"]|"[^"]*")++')
_PORT = re.compile(r"^\[(.*)\](?::\d+)?$|^([^:]*):\d+$")


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """``base_url`` ends before /tap, without a slash; ``client`` is the nearest address that is no trusted proxy.

    ``is_client_known`` is false for a request through a proxy that is not trusted, or does not say for whom it asks:
    ``client`` is then the proxy.
    """

    base_url: str
    client: str
    is_client_known: bool = True


def find_origin(
    headers: Mapping[str, str],
    peer: str,
    request_url: str,
    trusted: tuple[Network, ...],
    public_url: str = "",
    counts: ProxyHeader = "x-forwarded",
) -> RequestOrigin:
    """Find the public URL and the client's address.

    ``headers`` have lower-case names; ``peer`` is the address of the connection, '' if it has none. ``request_url``
    is scheme, host and mount path of the request, without a slash at its end. ``counts`` says which headers are read.
    """
    if not headers or not is_within(peer, trusted):
        return RequestOrigin(public_url or request_url, peer, not headers)
    elements = _parse_forwarded(headers.get("forwarded", "")) if counts == "forwarded" else _parse_x_forwarded(headers)
    hops = [_parse_address(element.get("for", "")) for element in elements]
    reached = len(hops) - 1
    while reached > 0 and is_within(hops[reached], trusted):
        reached -= 1
    element = elements[max(reached, 0)] if elements else {}
    client = _parse_address(element.get("for", ""))
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


def _parse_forwarded(value: str) -> list[dict[str, str]]:
    elements = []
    for element in _split_unquoted(value, _BETWEEN_COMMAS):
        pairs = (pair.partition("=") for pair in _split_unquoted(element, _BETWEEN_SEMICOLONS))
        elements.append({key.strip().lower(): text.strip().strip('"') for key, _, text in pairs})
    return elements


def _split_unquoted(text: str, part: re.Pattern[str]) -> list[str]:
    """Split from the right, in linear time: a quote that a client left open takes nothing of what a proxy appended."""
    return [found[::-1] for found in part.findall(text[::-1])][::-1]


def _parse_x_forwarded(headers: Mapping[str, str]) -> list[dict[str, str]]:
    """Convert X-Forwarded-* to elements of Forwarded. A list shorter than the addresses' comes from the first proxy."""
    addresses = _split_list(headers.get("x-forwarded-for", "")) or [""]
    columns = {key: _split_list(headers.get(f"x-forwarded-{key}", "")) for key in ("proto", "host", "prefix")}
    elements = []
    for index, address in enumerate(addresses):
        from_right = len(addresses) - index
        element = {"for": address}
        for key, items in columns.items():
            if items:
                element[key] = items[-from_right] if from_right <= len(items) else items[0]
        elements.append(element)
    return elements


def _split_list(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]


def _parse_address(node: str) -> str:
    """Return a node of Forwarded or X-Forwarded-For without port and brackets; '' if it is no address."""
    match = _PORT.match(node)
    bare = (match.group(1) or match.group(2)) if match else node
    try:
        return str(ip_address(bare))
    except ValueError:
        return ""


@lru_cache(4096)
def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """Return whether an address belongs to one of the networks; a text that is no address does not."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
