"""The public URL of the service, and the address of the client behind proxies.

The URL comes from ``SKYHOUSE_PUBLIC_URL``, else from the headers Forwarded (RFC 7239) or X-Forwarded-* of trusted
proxies, else from the request. Each proxy appends to the lists in these headers. So the rightmost entries come from
trusted proxies, one for each; the client may have written anything further left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address

from tap_service.settings.site_settings import Network

_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~%-]+)*/?")
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;,"]*)\s*')
_ELEMENT = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+')
_PORT = re.compile(r"^\[(.*)\](?::\d+)?$|^([^:]*):\d+$")


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """``base_url`` ends before /tap, without a slash; ``client`` is the nearest address that is no trusted proxy."""

    base_url: str
    client: str


def find_origin(
    headers: Mapping[str, str], peer: str, request_url: str, trusted: tuple[Network, ...], public_url: str = ""
) -> RequestOrigin:
    """Find the public URL and the client's address.

    ``headers`` have lower-case names; ``peer`` is the address of the connection, '' if it has none. ``request_url``
    is scheme, host and mount path of the request, without a slash at its end.
    """
    if not headers or not is_trusted(peer, trusted):
        return RequestOrigin(public_url or request_url, peer)
    elements = _parse_forwarded(headers.get("forwarded", "")) if "forwarded" in headers else _parse_x_forwarded(headers)
    hops = [_parse_address(element.get("for", "")) for element in elements]
    reached = len(hops) - 1
    while reached > 0 and is_trusted(hops[reached], trusted):
        reached -= 1
    element = elements[max(reached, 0)] if elements else {}
    client = element.get("for", "")
    return RequestOrigin(public_url or _public_url(element, headers, request_url), _parse_address(client) or peer)


def _public_url(element: Mapping[str, str], headers: Mapping[str, str], request_url: str) -> str:
    scheme, _, rest = request_url.partition("://")
    host, slash, path = rest.partition("/")
    if element.get("proto", "").lower() in ("http", "https"):
        scheme = element["proto"].lower()
    if _HOST.fullmatch(element.get("host", "")):
        host = element["host"]
    prefix = element.get("prefix") or _last_item(headers.get("x-forwarded-prefix", ""))
    prefix = prefix.rstrip("/") if _PREFIX.fullmatch(prefix) else ""
    return f"{scheme}://{host}{prefix}{slash}{path}"


def _parse_forwarded(value: str) -> list[dict[str, str]]:
    elements = []
    for element in _ELEMENT.findall(value):
        pairs = ((key.lower(), text.strip().strip('"')) for key, text in _PAIR.findall(element))
        elements.append(dict(pairs))
    return elements


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


def _last_item(value: str) -> str:
    items = _split_list(value)
    return items[-1] if items else ""


def _parse_address(node: str) -> str:
    """Return a node of Forwarded or X-Forwarded-For without port and brackets; '' if it is no address."""
    match = _PORT.match(node)
    bare = (match.group(1) or match.group(2)) if match else node
    try:
        return str(ip_address(bare))
    except ValueError:
        return ""


@lru_cache(4096)
def is_trusted(address: str, trusted: tuple[Network, ...]) -> bool:
    """Return whether an address belongs to a trusted proxy; a text that is no address does not."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in trusted)
