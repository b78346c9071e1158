"""The paths of the service's protocols. Their errors are VOTables, and scripts of other sites may use them."""

from __future__ import annotations

TAP = "/tap"
CONE_SEARCH = "/scs"
HATS = "/hats"

_PREFIXES = (TAP, CONE_SEARCH, HATS)


def find_protocol(path: str) -> str:
    """Return the prefix of the protocol to which a path belongs; '' for pages, metrics and the like."""
    return next((prefix for prefix in _PREFIXES if path == prefix or path.startswith(f"{prefix}/")), "")
