"""Detect requests that a page of another site made a browser send."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def is_cross_site(headers: Mapping[str, str], own_urls: tuple[str, ...]) -> bool:
    """Return whether a page of another site made a browser send this request.

    Browsers send Sec-Fetch-Site to https URLs and to localhost, and Origin or Referer to other URLs; pages cannot
    change these headers. Programs such as pyvo, TOPCAT and curl send none of the three.

    Parameters
    ----------
    headers : Mapping[str, str]
        The headers of the request, with names in lower case.
    own_urls : tuple of str
        The URLs of the service.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    page = headers.get("origin") or headers.get("referer")
    return bool(page) and _find_origin(page or "") not in [_find_origin(url) for url in own_urls]


def is_unnamed_host(url: str) -> bool:
    """Return whether the host of a URL is a numeric address or localhost, which no name service resolves."""
    found = _find_origin(url)
    if found is None:
        return False
    with suppress(ValueError):
        ip_address(found[1])
        return True
    return found[1] == "localhost"


def _find_origin(url: str) -> tuple[str, str, int | None] | None:
    """Return scheme, host and port; None without a host, as in ``Origin: null``, which no URL of a service equals."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None
