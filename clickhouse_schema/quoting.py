"""Names and texts as ClickHouse SQL writes them: the only place where a character of a user's enters SQL."""

from __future__ import annotations

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "`": "\\`", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
)


def quote_identifier(name: str) -> str:
    """A name in backquotes."""
    return f"`{name.translate(_ESCAPES)}`"


def quote_string(value: str) -> str:
    """A text in single quotes, byte for byte what ``value`` is."""
    return f"'{value.translate(_ESCAPES)}'"
