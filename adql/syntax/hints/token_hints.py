"""Hints for common mistakes, found by the unexpected token and what the parser expected instead."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from adql.errors import NO_HINT, Fix, Hint
from adql.syntax.hints import other_dialects
from adql.syntax.hints.parse_position import ParsePosition, append_to_token, delete_tokens, replace_token
from adql.syntax.hints.row_limit_hints import find_missing_from_hint, find_row_limit_hint
from adql.syntax.hints.symbol_hints import (
    find_alias_hint,
    find_bracket_hint,
    find_comma_hint,
    find_number_hint,
    find_operator_hint,
    find_other_hint,
    find_star_hint,
)
from adql.syntax.reserved_functions import ARGUMENTS
from adql.syntax.token_kinds import NAME, NUMBER, STRING, WORD
from clickhouse_schema.reserved_words import RESERVED

_ONE_CONDITION = "each JOIN takes one condition, directly after its table; put nested joins in parentheses"
_RESERVED_WORDS = {
    "WITH": "write WITH once, at the beginning of the query",
    "ESCAPE": "LIKE has no ESCAPE in ADQL",
    "INTO": other_dialects.NO_STORING_HINT,
    "FETCH": other_dialects.TOP_HINT,
    "TOP": "TOP goes after SELECT [DISTINCT], before the columns",
    "DISTINCT": "DISTINCT goes after SELECT, before TOP, or first in COUNT, SUM, AVG, MIN or MAX",
    "ORDER": "write ORDER BY once, after GROUP BY and HAVING and before OFFSET",
    "OFFSET": "write OFFSET once, at the end: ORDER BY ... OFFSET n",
    "WHERE": "write WHERE once, after FROM and before GROUP BY; conditions on groups go in HAVING",
    "GROUP": "write GROUP BY once, after WHERE and before HAVING and ORDER BY",
    "HAVING": "write HAVING once, after GROUP BY and before ORDER BY",
    "ON": _ONE_CONDITION,
    "USING": _ONE_CONDITION,
    "OVERLAPS": "compare the ends: a.low <= b.high AND b.low <= a.high",
}
_AFTER_VALUES = {
    "CONTAINS": "find part of a text with LIKE '%part%', a position with 1 = CONTAINS(point, shape)",
    "MOD": "for the remainder, write MOD(a, b)",
}

_CALLS = {"COUNT": "COUNT(*)", "PI": "PI()", "RAND": "RAND()"}
_VERBS = frozenset(
    {"INSERT", "UPDATE", "DELETE", "DROP", "CREATE", "ALTER", "GRANT", "REVOKE", "EXPLAIN", "SHOW", "DESCRIBE", "DESC"}
    | {"TRUNCATE", "USE", "DECLARE", "SET", "EXEC", "EXECUTE", "MERGE", "CALL", "BEGIN", "COPY"}
)
_MISSPELT = (
    *("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "BETWEEN", "UNION", "EXCEPT", "INTERSECT", "OFFSET"),
    *("DISTINCT", "LIKE", "USING", "NATURAL"),
)
_NEVER_NAMES = frozenset(
    {"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "AND", "OR", "NOT", "ON", "USING", "JOIN", "UNION"}
    | {"EXCEPT", "INTERSECT", "AS", "WHEN", "THEN", "IN", "IS"}
)
_REPEATED = frozenset({"AND", "OR", "NOT", "SELECT", "FROM", "WHERE", "BY", "AS", "ON"})
_ENDS = ("the end of the query", "FROM")
_OPERANDS = frozenset({WORD, NAME, NUMBER, STRING, ")"})


def find_token_hint(position: ParsePosition, expected: str) -> Hint:
    """Return the hint of the first rule that applies.

    Parameters
    ----------
    position
        The parser at the unexpected token.
    expected
        What the parser expected, in the words of its message.

    Returns
    -------
    Hint
        The hint with its fixes; NO_HINT if no rule applies.
    """
    for rule in _RULES:
        if hint := rule(position, expected):
            return hint
    return NO_HINT


def _find_first_token_hint(position: ParsePosition, _expected: str) -> Hint:
    if position.at:
        return NO_HINT
    if position.kinds[0] == "/":
        return Hint("a comment begins with --")
    word = position.texts[0].upper()
    if word in _VERBS:
        return Hint("ADQL can only read data: a query begins with SELECT or WITH")
    if word == "FROM":
        return Hint("the columns come first: SELECT ... FROM ...")
    return _suggest_spelling(position, 0)


def _find_doubled_hint(position: ParsePosition, _expected: str) -> Hint:
    """Find the hint for a doubled keyword."""
    at = position.at
    kind = position.kinds[at]
    if kind != position.kinds[at - 1] or kind not in _REPEATED:
        return NO_HINT
    return Hint(f"{kind} is repeated", (delete_tokens(position, at, at),))


def _find_dialect_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for a word of another dialect, which may be the previous token, read as a name."""
    at = position.at
    left_out = position.kinds[at] == "EXCEPT" or position.kinds[at + 1 : at + 2] == ["("]
    if position.kinds[at - 1] == "*" and expected == "FROM" and left_out:
        return Hint("ADQL cannot exclude columns from *: list the wanted columns")
    if position.kinds[at - 2 : at + 1] == ["SELECT", "DISTINCT", "ON"]:
        return Hint(
            "DISTINCT applies to whole rows; for one row per group, select ROW_NUMBER() OVER"
            " (PARTITION BY a ORDER BY b) = 1 from a subquery"
        )
    for neighbour in (at, at - 1):
        if position.kinds[neighbour] == WORD:
            word = position.texts[neighbour].upper()
            if word in other_dialects.WORD_SYNONYMS:
                replacement = other_dialects.WORD_SYNONYMS[word]
                return Hint(f"in ADQL, write {replacement}", (replace_token(position, neighbour, replacement),))
            if word in other_dialects.WORD_HINTS:
                return Hint(other_dialects.WORD_HINTS[word])
    return NO_HINT


def _find_statement_hint(position: ParsePosition, _expected: str) -> Hint:
    if ";" in (position.kinds[position.at], position.kinds[position.at - 1]):
        return Hint("write one query, and nothing after its ;")
    return NO_HINT


def _find_misspelling_hint(position: ParsePosition, _expected: str) -> Hint:
    return _suggest_spelling(position, position.at) or _suggest_spelling(position, position.at - 1)


def _suggest_spelling(position: ParsePosition, at: int) -> Hint:
    if position.kinds[at] != WORD:
        return NO_HINT
    word = position.texts[at]
    close = get_close_matches(word.upper(), _MISSPELT, n=1, cutoff=0.74)
    if not close:
        return NO_HINT
    return Hint(f"did you mean {close[0]} instead of {word}?", (Fix(position.span_at(at), close[0]),))


def _find_by_hint(position: ParsePosition, expected: str) -> Hint:
    if not expected.startswith("BY after"):
        return NO_HINT
    return Hint(f"write {expected.removeprefix('BY after ')} BY", (append_to_token(position, position.at - 1, " BY"),))


def _find_keyword_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for a keyword that is clearly intended as a keyword."""
    at = position.at
    kind, before, after = position.kinds[at], position.kinds[at - 1], position.kinds[at + 1 : at + 2]
    if kind in ("DATE", "TIME", "TIMESTAMP") and after == [STRING]:
        return Hint(
            "write a time as text, '2026-01-31T12:00:00', or as a CAST of text", (delete_tokens(position, at, at),)
        )
    if kind in _AFTER_VALUES and before in _OPERANDS:
        return Hint(_AFTER_VALUES[kind])
    if kind == "WHERE" and before in ("AND", "OR"):
        return Hint("write WHERE once, before the first condition", (delete_tokens(position, at, at),))
    if kind == "OUTER":
        return Hint("write LEFT, RIGHT or FULL OUTER JOIN")
    if kind == "WITH" and after == ["("]:
        return Hint("ADQL has no table hints")
    if kind == "BETWEEN" and "a value" in expected:
        return Hint("write value BETWEEN a AND b")
    if kind in ARGUMENTS and kind not in _NEVER_NAMES and "a value" in expected:
        call = _CALLS.get(kind, "")
        hint = f"{kind} is a function: {call or f'{kind}(...)'}; to use the word as a name, put it in double quotes"
        return Hint(hint, (replace_token(position, at, call),) if call else ())
    return NO_HINT


def _find_reserved_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for a reserved word that is used as a name or misplaced."""
    at = position.at
    kind = position.kinds[at]
    if kind not in RESERVED:
        return NO_HINT
    written = position.texts[at]
    quoted = Hint(
        f'{written} is a reserved word; to use it as a name, put it in double quotes: "{written}"',
        (replace_token(position, at, f'"{written}"'),),
    )
    if position.kinds[at - 1] == "AS" and kind != "FROM" and "name" in expected:
        return quoted
    if kind in _RESERVED_WORDS and not ("name" in expected and kind in ("TOP", "OFFSET")):
        return Hint(_RESERVED_WORDS[kind])
    if kind in _NEVER_NAMES:
        return NO_HINT
    return quoted if "name" in expected or expected in _ENDS else NO_HINT


_RULES: tuple[Callable[[ParsePosition, str], Hint], ...] = (
    _find_first_token_hint,
    _find_dialect_hint,
    find_missing_from_hint,
    find_row_limit_hint,
    _find_doubled_hint,
    find_operator_hint,
    _find_statement_hint,
    _find_misspelling_hint,
    find_alias_hint,
    find_number_hint,
    find_comma_hint,
    find_bracket_hint,
    _find_by_hint,
    _find_keyword_hint,
    _find_reserved_hint,
    find_star_hint,
    find_other_hint,
)
