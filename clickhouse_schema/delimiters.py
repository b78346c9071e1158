"""Delimiters and comment characters of text files, as users write them."""

from __future__ import annotations

#: Words for delimiters; 'blanks' stands for any number of blanks
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blanks": " "}


def read_delimiter(value: str) -> str:
    """Return the delimiter that a user has written as a character or a word.

    Parameters
    ----------
    value : str
        An ASCII character, '' for none, 'tab', ``\\t`` or 'blanks'.

    Returns
    -------
    str
        One character, '' for none. A blank stands for any number of blanks.

    Raises
    ------
    ValueError
        It is another word, or a quote, line end or NUL.
    """
    return read_character(_DELIMITERS.get(value, value))


def read_character(value: str) -> str:
    """Return a delimiter or a comment character.

    Parameters
    ----------
    value : str
        The character; '' for none.

    Returns
    -------
    str
        The same text.

    Raises
    ------
    ValueError
        It is longer than a character or not ASCII, or it is a quote, line end or NUL.
    """
    if len(value) > 1 or (value and (not value.isascii() or value in '"\r\n\0')):
        raise ValueError(f"{value[:40]!r} is not one ASCII character, 'tab' or 'blanks'")
    return value
