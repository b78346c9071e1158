"""Names and literals of ClickHouse SQL: the only way in which text of users gets into SQL."""

from __future__ import annotations

from functools import lru_cache

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "`": "\\`", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
)


@lru_cache(maxsize=4096)  # a query quotes the same columns many times
def quote_identifier(name: str) -> str:
    """Return a name in backquotes, as ClickHouse reads it.

    Parameters
    ----------
    name : str
        Any text, also from users.

    Returns
    -------
    str
        The identifier, in which special characters are escaped.
    """
    return f"`{name.translate(_ESCAPES)}`"


def quote_string(value: str) -> str:
    """Return a string literal.

    Parameters
    ----------
    value : str
        Any text, also from users.

    Returns
    -------
    str
        A literal that ClickHouse reads as exactly ``value``.
    """
    return f"'{value.translate(_ESCAPES)}'"


def quote_table(schema_name: str, base: str, suffix: str = "") -> str:
    """Return the quoted, qualified name of a table in ClickHouse.

    Parameters
    ----------
    schema_name : str
        The name of the schema, which is the database.
    base : str
        The name of the table, from ``Sharding.base_name`` for a published table.
    suffix : str
        The suffix of a part of a sharded table, such as ``LOCAL``; '' for the table that queries read.
    """
    return f"{quote_identifier(schema_name)}.{quote_identifier(base + suffix)}"


def float_literal(value: float) -> str:
    """Return a Float64 literal (ClickHouse reads 0 and 1000 as integers).

    Negative numbers and -0.0 are in parentheses, because ``--`` begins a comment.

    Parameters
    ----------
    value : float
        The number; NaN and infinity become ``nan`` and ``inf``, which are literals of ClickHouse, too.
    """
    text = repr(float(value))
    return text if value >= 0 and not text.startswith("-") else f"({text})"
