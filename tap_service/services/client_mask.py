"""Mask clients in logs: their addresses and names are complete, cut, hashed or omitted."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

_log = logging.getLogger("skyhouse")

#: prefix lengths of cut addresses: a provider assigns networks of this size to one or several sites
_IPV4_BITS, _IPV6_BITS = 24, 48

#: a key lives longer than its day because clocks differ
KEY_SECONDS = 25 * 3600.0

#: returns the random key with a name, the same in all processes; it expires after a number of seconds
FindKey = Callable[[str, float], bytes]


class ClientMask:
    """Masks addresses and names of users.

    Parameters
    ----------
    addresses, users : str
        The settings ``log_addresses`` and ``log_users``.
    find_key : FindKey
        Returns the keys of hashes.
    """

    def __init__(self, addresses: str, users: str, find_key: FindKey) -> None:
        hide: dict[str, Callable[[str], str]] = {
            "full": str,
            "cut": cut_address,
            "hashed": self._hash,
            "none": lambda _: "",
        }
        self._address, self._user = hide[addresses], hide[users]
        self._find_key = find_key
        self._day = ""
        self._key = b""

    def mask_record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its keys ``client`` and ``user`` masked, if they are set."""
        hidden = {}
        if record.get("client"):
            hidden["client"] = self._address(record["client"])
        if record.get("user"):
            hidden["user"] = self._user(record["user"])
        return record | hidden

    def _hash(self, text: str) -> str:
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        if day != self._day:
            self._key, self._day = self._read_key(day), day
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:16]

    def _read_key(self, day: str) -> bytes:
        try:
            return self._find_key(f"log {day}", KEY_SECONDS)
        except Exception as error:
            _log.warning("hashes in logs will differ between processes today: the common key is unavailable: %s", error)
            return secrets.token_bytes(32)


def cut_address(address: str) -> str:
    """Return the network of an address; '' if the text is not an address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        parsed = parsed.ipv4_mapped or parsed
    bits = _IPV6_BITS if isinstance(parsed, IPv6Address) else _IPV4_BITS
    rest = parsed.max_prefixlen - bits
    return str(ip_network((int(parsed) >> rest << rest, bits)))
