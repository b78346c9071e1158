"""The way out of the common slips: what to write in place of a token that ADQL does not have there."""

from __future__ import annotations

from typing import Protocol

from adql.lexer import NAME, NUMBER, STRING, WORD
from adql.words import RESERVED


class Place(Protocol):
    """Where the parser stands: ``at`` is the token that does not fit."""

    kinds: list[str]
    at: int

    def token_text(self, at: int) -> str: ...


A_NAME = "name"

_BY_WORD = {
    "LIMIT": "ADQL limits rows with TOP: SELECT TOP 10 ...",
    "FORMAT": "the format of the result is the parameter RESPONSEFORMAT, not part of the query",
    "SETTINGS": "ADQL has no SETTINGS",
    "OUTFILE": "the result goes where the client says, not the query",
    "INTO": "a query returns rows; it cannot store them",
    "RLIKE": "patterns are compared with LIKE or ILIKE",
    "REGEXP": "patterns are compared with LIKE or ILIKE",
    "SIMILAR": "patterns are compared with LIKE or ILIKE",
    "GLOB": "patterns are compared with LIKE or ILIKE",
    "DIV": "whole division is FLOOR(a / b)",
    "QUALIFY": "put the window function in a subquery and its condition in the outer WHERE",
    "MINUS": "the set difference is EXCEPT",
    "RECURSIVE": "ADQL has no recursive WITH",
    "LATERAL": "ADQL has no LATERAL",
    "TABLESAMPLE": "a sample is TABLESAMPLE (percent), after the table's alias",
    "WINDOW": "write the window where it is used: OVER (...)",
}

_BY_KIND = {
    ";": "one query at a time",
    "FETCH": "ADQL limits rows with TOP: SELECT TOP 10 ...",
    "CROSS": "a product is written with a comma, FROM a, b, or as a JOIN b",
    "WITH": "WITH stands once, at the head of the whole query",
    "ESCAPE": "LIKE has no ESCAPE in ADQL",
    "INTO": "a query returns rows; it cannot store them",
    "COLLATE": "ADQL has no COLLATE",
    "FOR": "ADQL has no FOR here",
    "TOP": "TOP stands after SELECT [DISTINCT], before the columns",
    "DISTINCT": "DISTINCT stands directly after SELECT, before TOP",
    "ORDER": "ORDER BY stands once, after GROUP BY and HAVING, before OFFSET",
    "OFFSET": "OFFSET stands last: ORDER BY ... OFFSET n",
    "WHERE": "WHERE stands once, after FROM and before GROUP BY; after GROUP BY conditions go in HAVING",
    "HAVING": "HAVING stands after GROUP BY and before ORDER BY",
    "GROUP": "GROUP BY stands after WHERE and before HAVING and ORDER BY",
    "ON": "each JOIN takes one condition, directly after its table; put nested joins in parentheses",
    "USING": "each JOIN takes one condition, directly after its table; put nested joins in parentheses",
}

_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN", "LIKE", "ILIKE", "IS"})


def slip(place: Place, expected: str) -> str:
    """The hint for the token that stands where ``expected`` should, or nothing."""
    kind = place.kinds[place.at]
    before = place.kinds[place.at - 1] if place.at else ""
    word = place.token_text(place.at).upper() if kind == WORD else ""
    word_before = place.token_text(place.at - 1).upper() if before == WORD else ""
    if kind == before and kind in "=&*":
        return {"=": "equality is a single =", "&": "'and' is AND", "*": "a power is POWER(a, b)"}[kind]
    if kind == ")" and not expected.startswith(")") and "(" in expected:
        return ""
    if A_NAME in expected and kind in RESERVED:
        written = place.token_text(place.at)
        return f'{written} is a reserved word; to use it as a name put it in double quotes: "{written}"'
    if word in _BY_WORD or word_before in _BY_WORD:
        return _BY_WORD.get(word) or _BY_WORD[word_before]
    if kind in _BY_KIND and kind != expected:
        return _BY_KIND[kind]
    return _by_neighbours(kind, before, expected)


def _by_neighbours(kind: str, before: str, expected: str) -> str:
    if kind == "[":
        return 'names are quoted with double quotes: "name"'
    if before == "," and kind in ("FROM", ")", "WHERE"):
        return "a comma too many"
    if kind == ")" and expected in ("the end of the query", "FROM"):
        return "there is no ( for it"
    if kind in (WORD, NAME, NUMBER, STRING) and before in (WORD, NAME, NUMBER, STRING, ")"):
        return "is a comma or an operator missing before it?"
    if kind in _COMPARISONS:
        return "a condition is no value in ADQL; write CASE WHEN condition THEN 1 ELSE 0 END"
    return ""
