"""Quoting for ClickHouse SQL: the only way in which text of users gets into SQL."""

from __future__ import annotations

from functools import lru_cache

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "`": "\\`", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
)


@lru_cache(maxsize=4096)  # a query quotes the same columns many times
def quote_identifier(name: str) -> str:
    """Return a name in backquotes."""
    return f"`{name.translate(_ESCAPES)}`"


def quote_string(value: str) -> str:
    """Return a string literal that ClickHouse reads as exactly ``value``."""
    return f"'{value.translate(_ESCAPES)}'"
