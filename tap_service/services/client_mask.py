"""What logs show of clients: their addresses and names whole, cut, hashed, or not at all."""

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

#: prefixes of cut addresses: what a provider gives one site or more
_IPV4_BITS, _IPV6_BITS = 24, 48

#: a key lives longer than its day, for clocks that differ
KEY_SECONDS = 25 * 3600.0

#: returns the key of a name for so many seconds, the same in all processes, or raises an error if it cannot
FindKey = Callable[[str, float], bytes]


class ClientMask:
    """``addresses`` and ``users`` are the settings ``log_addresses`` and ``log_users``."""

    def __init__(self, addresses: str, users: str, find_key: FindKey) -> None:
        hide: dict[str, Callable[[str], str]] = {
            "full": str,
            "cut": cut_address,
            "hashed": self._hash,
            "none": lambda _: "",
        }
        self._address, self._user = hide[addresses], hide[users]
        self._is_plain = addresses == users == "full"
        self._find_key = find_key
        self._day = ""
        self._key = b""

    def mask_record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Mask the keys ``client`` and ``user`` where they are set."""
        if self._is_plain:
            return record
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
            _log.warning("lines of other processes will have other hashes today: no common key can be had: %s", error)
            return secrets.token_bytes(32)


def cut_address(address: str) -> str:
    """Return the network of an address; '' for what is no address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        parsed = parsed.ipv4_mapped or parsed
    bits = _IPV6_BITS if isinstance(parsed, IPv6Address) else _IPV4_BITS
    rest = parsed.max_prefixlen - bits
    return str(ip_network((int(parsed) >> rest << rest, bits)))
