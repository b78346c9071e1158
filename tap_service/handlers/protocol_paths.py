"""The paths of the service's protocols, whose callers may log in.

Scripts of other sites may use TAP and cone searches, whose errors are VOTables.
"""

from __future__ import annotations

TAP = "/tap"
CONE_SEARCH = "/scs"
MCP = "/mcp"

_PREFIXES = (TAP, CONE_SEARCH, MCP)


def find_protocol(path: str) -> str:
    """Return the prefix of the protocol to which a path belongs; '' for pages, metrics and the like."""
    return next((prefix for prefix in _PREFIXES if path == prefix or path.startswith(f"{prefix}/")), "")
