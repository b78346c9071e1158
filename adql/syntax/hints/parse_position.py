"""The position of the parser at an unexpected token, and fixes of the surrounding text."""

from __future__ import annotations

from typing import Protocol

from adql.errors import Fix, Span


class ParsePosition(Protocol):
    """The tokens of a query, of which the token with the index ``at`` is unexpected.

    Attributes
    ----------
    text
        The query.
    kinds, texts, starts, ends
        The tokens (``adql.syntax.lexer.Tokens``).
    at
        The index of the unexpected token.
    depth
        The number of open brackets.
    """

    text: str
    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]
    at: int
    depth: int

    def span_at(self, at: int) -> Span:
        """Return the span of a token."""


def replace_tokens(position: ParsePosition, first: int, last: int, text: str) -> Fix:
    """Return the fix that replaces the tokens ``first`` to ``last`` by ``text``, separated from adjacent words."""
    start, end = position.starts[first], position.ends[last]
    if text[:1].isalnum() and position.text[start - 1 : start].isalnum():
        text = f" {text}"
    if text[-1:].isalnum() and position.text[end : end + 1].isalnum():
        text = f"{text} "
    return Fix(Span(start, end), text)


def replace_token(position: ParsePosition, at: int, text: str) -> Fix:
    """Return the fix that replaces a token, separated from adjacent words.

    Parameters
    ----------
    position
        The tokens of the query.
    at
        Index of the token.
    text
        The ADQL that replaces it.

    Returns
    -------
    Fix
        A fix of the text of the query.
    """
    return replace_tokens(position, at, at, text)


def append_to_token(position: ParsePosition, at: int, text: str) -> Fix:
    """Return the fix that inserts ``text`` after a token."""
    return Fix(position.span_at(at), position.texts[at] + text)


def delete_tokens(position: ParsePosition, first: int, last: int) -> Fix:
    """Return the fix that deletes the tokens ``first`` to ``last`` and the blanks before them."""
    return Fix(Span(position.ends[first - 1] if first else 0, position.ends[last]), "")


def find_open_bracket(position: ParsePosition, at: int) -> int:
    """Return the index of the innermost bracket that is open at a token; -1 without one."""
    depth = 0
    for token in range(at - 1, -1, -1):
        depth += (position.kinds[token] == ")") - (position.kinds[token] == "(")
        if depth < 0:
            return token
    return -1


def find_kind_before_bracket(position: ParsePosition, at: int) -> str:
    """Return the kind of the token before the innermost open bracket, such as a function name; '' without one."""
    bracket = find_open_bracket(position, at)
    return position.kinds[bracket - 1] if bracket > 0 else ""
