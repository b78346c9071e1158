"""Where the parser stands when a token does not fit, as the hints see it."""

from __future__ import annotations

from typing import Protocol

from adql.errors import Fix, Span


class ParsePosition(Protocol):
    """``at`` is the token that does not fit, ``depth`` the number of open brackets."""

    text: str
    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]
    at: int
    depth: int

    def span_at(self, at: int) -> Span:
        """Where a token stands in the text."""


def replace_tokens(place: ParsePosition, first: int, last: int, text: str) -> Fix:
    """``text`` in place of the tokens from ``first`` to ``last``; apart from the words beside them, if it is one."""
    start, end = place.starts[first], place.ends[last]
    if text[:1].isalnum() and place.text[start - 1 : start].isalnum():
        text = f" {text}"
    if text[-1:].isalnum() and place.text[end : end + 1].isalnum():
        text = f"{text} "
    return Fix(Span(start, end), text)


def append_to_token(place: ParsePosition, at: int, text: str) -> Fix:
    """``text`` after a token."""
    return Fix(place.span_at(at), place.texts[at] + text)


def delete_tokens(place: ParsePosition, first: int, last: int) -> Fix:
    """The tokens from ``first`` to ``last`` go, and the blanks before them."""
    return Fix(Span(place.ends[first - 1] if first else 0, place.ends[last]), "")


def find_open_bracket(place: ParsePosition, at: int) -> int:
    """The bracket that is open at a token; -1 if there is none."""
    depth = 0
    for token in range(at - 1, -1, -1):
        depth += (place.kinds[token] == ")") - (place.kinds[token] == "(")
        if depth < 0:
            return token
    return -1


def find_kind_before_bracket(place: ParsePosition, at: int) -> str:
    """What stands before the bracket that is open at a token, as the name of a function does."""
    bracket = find_open_bracket(place, at)
    return place.kinds[bracket - 1] if bracket > 0 else ""
