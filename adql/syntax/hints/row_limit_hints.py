"""Hints about TOP, in place of the LIMIT and FETCH of others, and about a FROM that is missing."""

from __future__ import annotations

import re

from adql.errors import NO_HINT, Fix, Hint
from adql.syntax.hints.other_dialects import ANY_TABLE, NO_TABLE_HINT, TOP_HINT
from adql.syntax.hints.parse_position import (
    ParsePosition,
    append_to_token,
    delete_tokens,
    find_open_bracket,
    replace_tokens,
)
from adql.syntax.token_kinds import END, NAME, NUMBER, WORD

_WHOLE = re.compile(r"'?(\d+)(?:\.0*)?'?")
_SET_OPERATORS = ("UNION", "EXCEPT", "INTERSECT")


def find_row_limit_hint(place: ParsePosition, expected: str) -> Hint:
    """LIMIT, FETCH FIRST and a TOP in the wrong place."""
    at, kinds = place.at, place.kinds
    for first in (at, at - 1):
        word = place.texts[first].upper()
        if word in ("LIMIT", "FETCH") or (word == "FIRST" and kinds[first + 1] == NUMBER):
            return Hint(TOP_HINT, _make_top_fixes(place, first))
    if kinds[at] == "TOP" and kinds[at + 1] == NUMBER:
        return Hint("TOP stands after SELECT [DISTINCT], before the columns", _make_top_fixes(place, at))
    if kinds[at] == "DISTINCT" and kinds[at - 2] == "TOP":
        swapped = (replace_tokens(place, at - 2, at, f"DISTINCT TOP {place.texts[at - 1]}"),)
        return Hint("DISTINCT stands after SELECT, before TOP", swapped)
    if expected == "a whole number after TOP" and (found := _WHOLE.fullmatch(place.texts[at])):
        return Hint("write it without a point or quotes", (replace_tokens(place, at, at, found[1]),))
    if kinds[at] == "(" and kinds[at - 1] == "TOP":
        bare = kinds[at + 1 : at + 3] == [NUMBER, ")"]
        return Hint(
            "write TOP 10, without parentheses",
            (replace_tokens(place, at, at + 2, place.texts[at + 1]),) if bare else (),
        )
    return NO_HINT


def _make_top_fixes(place: ParsePosition, first: int) -> tuple[Fix, ...]:
    """TOP after the SELECT that the limit at token ``first`` is of, in place of the limit."""
    kinds, texts = place.kinds, place.texts
    if kinds[first - 1] == "SELECT":
        return (replace_tokens(place, first, first, "TOP"),)
    numbers = [at for at in range(first + 1, first + 5) if at < len(kinds) and kinds[at] == NUMBER]
    select = _find_select(place, first)
    if not numbers or select is None or not texts[numbers[0]].isdecimal():
        return ()
    last, top, left = numbers[0], texts[numbers[0]], ""
    if kinds[first] == "FETCH":
        while kinds[last] not in ("ONLY", END):
            last += 1
    elif kinds[last + 1 : last + 3] == [",", NUMBER]:
        left, top, last = f" OFFSET {top}", texts[last + 2], last + 2
    return append_to_token(place, select, f" TOP {top}"), delete_tokens(place, first, last)._replace(text=left)


def _find_select(place: ParsePosition, at: int) -> int | None:
    """SELECT or its DISTINCT, after which TOP stands; None if there is a TOP, or several SELECTs."""
    depth = 0
    for token in range(at - 1, -1, -1):
        kind = place.kinds[token]
        depth += (kind == ")") - (kind == "(")
        if depth < 0 or (depth == 0 and kind in _SET_OPERATORS):
            return None
        if depth == 0 and kind == "SELECT":
            after = token + (place.kinds[token + 1] in ("DISTINCT", "ALL"))
            return None if place.kinds[after + 1] == "TOP" or place.kinds[token - 1] in _SET_OPERATORS else after
    return None


def find_missing_from_hint(place: ParsePosition, expected: str) -> Hint:
    """A FROM that is missing."""
    at, kinds = place.at, place.kinds
    if expected != "FROM":
        return NO_HINT
    if kinds[at] in (WORD, NAME) and kinds[at - 1] == "*" and kinds[at + 1] != "(":
        return Hint(
            f"is FROM missing before {place.texts[at]}?", (replace_tokens(place, at, at, f"FROM {place.texts[at]}"),)
        )
    if kinds[at] not in (*_SET_OPERATORS, END, ";", ")", "WHERE", "GROUP", "HAVING", "ORDER", "OFFSET"):
        return NO_HINT
    bracket = find_open_bracket(place, at)
    if kinds[at] == ")" and bracket < 0:
        return NO_HINT
    select = _find_select(place, at)
    if select is None or kinds[bracket + 1] != "SELECT":
        return Hint("every SELECT needs a FROM")
    if _has_column_names(place, select + 1, at):
        return Hint("every SELECT needs a FROM: the columns are followed by FROM and the table")
    return Hint(
        NO_TABLE_HINT, (append_to_token(place, select, " TOP 1"), append_to_token(place, at - 1, f" FROM {ANY_TABLE}"))
    )


def _has_column_names(place: ParsePosition, first: int, end: int) -> bool:
    """Whether there are columns among these tokens: names of no functions and no aliases."""
    kinds = place.kinds
    for at in range(first, end):
        if kinds[at] == "*" and kinds[at - 1] in ("SELECT", "DISTINCT", ",", "."):
            return True
        if kinds[at] in (WORD, NAME) and kinds[at + 1] != "(" and kinds[at - 1] not in ("AS", ")", NUMBER):
            return True
    return False
