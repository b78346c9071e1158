"""Delimiters and comment characters of text files, as users write them."""

from __future__ import annotations

#: Words for delimiters; 'blanks' stands for any number of blanks
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blanks": " "}


def read_delimiter(value: str) -> str:
    """Return the delimiter for a character or a word. Raises ``ValueError`` for others."""
    return read_character(_DELIMITERS.get(value, value))


def read_character(value: str) -> str:
    """Return a delimiter or a comment character, '' for none. Raises ``ValueError`` if it cannot be one."""
    if len(value) > 1 or (value and (not value.isascii() or value in '"\r\n\0')):
        raise ValueError(f"{value[:40]!r} is not one ASCII character, 'tab' or 'blanks'")
    return value
