"""Types, conversions and checks that several settings share."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

Network = IPv4Network | IPv6Network


def split_list(value: str) -> tuple[str, ...]:
    """Split a value at its commas; empty parts are dropped."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def check_host_and_port(value: str) -> str:
    """Return an address such as ``127.0.0.1:9808`` or ``[::1]:9808``; empty stays empty. Raises ValueError."""
    parts = urlsplit(f"//{value}")
    if value and (not parts.hostname or not parts.port or parts.netloc != value or parts.username is not None):
        raise ValueError("give host and port, such as 127.0.0.1:9808")
    return value


def check_server_url(value: str) -> str:
    """Return an http or https URL without its final slash.

    Raises
    ------
    ValueError
        It has no host, or it contains a user, a password or a query.
    """
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError("give an address such as http://ch1:8123")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("give only the address; user and password are separate settings")
    return value.rstrip("/")


def check_public_folder(value: str) -> str:
    """Return an http or https URL with a slash at its end, of characters that a header can hold. Raises ValueError."""
    if not re.fullmatch(r"https?://[\w.:\[\]-]+(/[\w.~%+@-]+)*/?", value, re.ASCII):
        raise ValueError(f"give an address such as https://example.org/surveys/red, not {value!r}")
    return value.rstrip("/") + "/"
