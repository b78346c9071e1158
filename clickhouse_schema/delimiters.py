"""Delimiters and comment characters of texts, as their senders write them."""

from __future__ import annotations

#: Words for delimiters; blanks are any number of them
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blanks": " "}


def read_delimiter(value: str) -> str:
    """Return the delimiter of a character or a word. Raises ``ValueError``."""
    return read_character(_DELIMITERS.get(value, value))


def read_character(value: str) -> str:
    """Return a delimiter or a comment character, '' for none. Raises ``ValueError`` for what no text can have."""
    if len(value) > 1 or (value and (not value.isascii() or value in '"\r\n\0')):
        raise ValueError(f"{value[:40]!r} is not one ASCII character, 'tab' or 'blanks'")
    return value
