"""Names and literals of ClickHouse SQL: the only way in which text of users gets into SQL."""

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


def quote_table(schema_name: str, base: str, suffix: str = "") -> str:
    """Return the quoted name of a table in ClickHouse; ``base`` is from ``Sharding.base_name``."""
    return f"{quote_identifier(schema_name)}.{quote_identifier(base + suffix)}"


def float_literal(value: float) -> str:
    """Return a Float64 literal (ClickHouse reads 0 and 1000 as integers).

    Negative numbers and -0.0 are in parentheses, because ``--`` begins a comment.
    """
    text = repr(float(value))
    return text if value >= 0 and not text.startswith("-") else f"({text})"
