"""The paths of the service's protocols, under which clients may log in.

Scripts of other sites may use all protocols except MCP.
"""

from __future__ import annotations

TAP = "/tap"
CONE_SEARCH = "/scs"
MCP = "/mcp"
HATS = "/hats"

_PREFIXES = (TAP, CONE_SEARCH, HATS, MCP)


def find_protocol(path: str) -> str:
    """Return the prefix of the protocol to which a path belongs, '' for other paths such as pages and metrics."""
    return next((prefix for prefix in _PREFIXES if path == prefix or path.startswith(f"{prefix}/")), "")
