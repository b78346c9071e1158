"""Quoting for ClickHouse SQL: the only way for text of users into SQL."""

from __future__ import annotations

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "`": "\\`", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
)


def quote_identifier(name: str) -> str:
    """Return a name in backquotes."""
    return f"`{name.translate(_ESCAPES)}`"


def quote_string(value: str) -> str:
    """Return a string literal that ClickHouse reads as exactly ``value``."""
    return f"'{value.translate(_ESCAPES)}'"
