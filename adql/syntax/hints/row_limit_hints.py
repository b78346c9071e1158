"""Hints for LIMIT, FETCH and misplaced TOP, and for a missing FROM."""

from __future__ import annotations

import re

from adql.errors import NO_HINT, Fix, Hint
from adql.syntax.hints.other_dialects import ANY_TABLE, NO_TABLE_HINT, TOP_HINT
from adql.syntax.hints.parse_position import (
    ParsePosition,
    append_to_token,
    delete_tokens,
    find_open_bracket,
    replace_token,
    replace_tokens,
)
from adql.syntax.token_kinds import END, NAME, NUMBER, WORD

_WHOLE = re.compile(r"'?(\d+)(?:\.0*)?'?")
_SET_OPERATORS = ("UNION", "EXCEPT", "INTERSECT")


def find_row_limit_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for LIMIT, FETCH FIRST and a misplaced or malformed TOP."""
    at, kinds = position.at, position.kinds
    for first in (at, at - 1):
        word = position.texts[first].upper()
        if word in ("LIMIT", "FETCH") or (word == "FIRST" and kinds[first + 1] == NUMBER):
            return Hint(TOP_HINT, _make_top_fixes(position, first))
    if kinds[at] == "TOP" and kinds[at + 1] == NUMBER:
        return Hint("TOP goes after SELECT [DISTINCT], before the columns", _make_top_fixes(position, at))
    if kinds[at] == "DISTINCT" and kinds[at - 2] == "TOP":
        swapped = (replace_tokens(position, at - 2, at, f"DISTINCT TOP {position.texts[at - 1]}"),)
        return Hint("DISTINCT goes after SELECT, before TOP", swapped)
    if expected == "a whole number after TOP" and (found := _WHOLE.fullmatch(position.texts[at])):
        return Hint("write it without a point or quotes", (replace_token(position, at, found[1]),))
    if kinds[at] == "(" and kinds[at - 1] == "TOP":
        bare = kinds[at + 1 : at + 3] == [NUMBER, ")"]
        fixes = (replace_tokens(position, at, at + 2, position.texts[at + 1]),) if bare else ()
        return Hint("write TOP 10, without parentheses", fixes)
    return NO_HINT


def _make_top_fixes(position: ParsePosition, first: int) -> tuple[Fix, ...]:
    """Return the fixes that replace the limit at token ``first`` by TOP after its SELECT."""
    kinds, texts = position.kinds, position.texts
    if kinds[first - 1] == "SELECT":
        return (replace_token(position, first, "TOP"),)
    following = range(first + 1, min(first + 5, len(kinds)))
    numbers = [at for at in following if kinds[at] == NUMBER]
    select = _find_select(position, first)
    if not numbers or select is None or not texts[numbers[0]].isdecimal():
        return ()
    last, top, left = numbers[0], texts[numbers[0]], ""
    if kinds[first] == "FETCH":
        while kinds[last] not in ("ONLY", END):
            last += 1
    elif kinds[last + 1 : last + 3] == [",", NUMBER]:
        left, top, last = f" OFFSET {top}", texts[last + 2], last + 2
    return append_to_token(position, select, f" TOP {top}"), delete_tokens(position, first, last)._replace(text=left)


def _find_select(position: ParsePosition, at: int) -> int | None:
    """Return the index of the SELECT, or its DISTINCT, that TOP can follow; None with a TOP or several SELECTs."""
    depth = 0
    for token in range(at - 1, -1, -1):
        kind = position.kinds[token]
        depth += (kind == ")") - (kind == "(")
        if depth < 0 or (depth == 0 and kind in _SET_OPERATORS):
            return None
        if depth == 0 and kind == "SELECT":
            after = token + (position.kinds[token + 1] in ("DISTINCT", "ALL"))
            return None if position.kinds[after + 1] == "TOP" or position.kinds[token - 1] in _SET_OPERATORS else after
    return None


def find_missing_from_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for a missing FROM."""
    at, kinds = position.at, position.kinds
    if expected != "FROM":
        return NO_HINT
    if kinds[at] in (WORD, NAME) and kinds[at - 1] == "*" and kinds[at + 1] != "(":
        name = position.texts[at]
        return Hint(f"is FROM missing before {name}?", (replace_token(position, at, f"FROM {name}"),))
    if kinds[at] not in (*_SET_OPERATORS, END, ";", ")", "WHERE", "GROUP", "HAVING", "ORDER", "OFFSET"):
        return NO_HINT
    bracket = find_open_bracket(position, at)
    if kinds[at] == ")" and bracket < 0:
        return NO_HINT
    select = _find_select(position, at)
    if select is None or kinds[bracket + 1] != "SELECT":
        return Hint("every SELECT needs a FROM")
    if _has_column_names(position, select + 1, at):
        return Hint("every SELECT needs a FROM: the columns are followed by FROM and the table")
    top = append_to_token(position, select, " TOP 1")
    return Hint(NO_TABLE_HINT, (top, append_to_token(position, at - 1, f" FROM {ANY_TABLE}")))


def _has_column_names(position: ParsePosition, first: int, end: int) -> bool:
    """Return whether one of these tokens is the name of a column, not of a function or an alias."""
    kinds = position.kinds
    for at in range(first, end):
        kind, before, after = kinds[at], kinds[at - 1], kinds[at + 1]
        if kind == "*" and before in ("SELECT", "DISTINCT", ",", "."):
            return True
        if kind in (WORD, NAME) and after != "(" and before not in ("AS", ")", NUMBER):
            return True
    return False
