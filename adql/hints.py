"""The way out of the common slips: what to write in place of a token that ADQL does not have there."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Protocol

from adql.errors import NO_HINT, Fix, Hint, Span
from adql.lexer import END, NAME, NUMBER, STRING, WORD
from clickhouse_schema.words import RESERVED


class Place(Protocol):
    """Where the parser stands: ``at`` is the token that does not fit, ``depth`` the number of open brackets."""

    kinds: list[str]
    texts: list[str]
    at: int
    depth: int

    def span_at(self, at: int) -> Span:
        """Where a token stands in the text."""


_ONE_CONDITION = "each JOIN takes one condition, directly after its table; put nested joins in parentheses"
_TOP = "rows are limited by TOP: SELECT TOP 10 ..."
_NO_STORING = "a query returns rows; it cannot store them"
_PATTERNS = "patterns are compared with LIKE or ILIKE"

# Words of other dialects that are names in ADQL, so that the slip may show one token later.
_WORDS = {
    "LIMIT": _TOP,
    "FORMAT": "the format of the result is the parameter RESPONSEFORMAT, not part of the query",
    "SETTINGS": "ADQL has no SETTINGS",
    "OUTFILE": _NO_STORING,
    **dict.fromkeys(("RLIKE", "REGEXP", "SIMILAR", "GLOB"), _PATTERNS),
    "DIV": "whole division is FLOOR(a / b)",
    "QUALIFY": "put the window function in a subquery and its condition in the outer WHERE",
    "MINUS": "the difference of two queries is EXCEPT",
    "RECURSIVE": "ADQL has no recursive WITH",
    "LATERAL": "ADQL has no LATERAL",
    "TABLESAMPLE": "a sample is TABLESAMPLE (percent) [REPEATABLE (seed)], after the alias of the table",
    **dict.fromkeys(("OVER", "WINDOW"), "write the window where it is used: OVER (PARTITION BY ... ORDER BY ...)"),
    "FILTER": "count or sum a CASE: COUNT(CASE WHEN condition THEN 1 END)",
    **dict.fromkeys(("GROUPS", "EXCLUDE"), "a frame is ROWS or RANGE BETWEEN start AND end"),
    "NULLS": "ADQL has no NULLS FIRST or NULLS LAST, and no IGNORE NULLS",
    "IGNORE": "NULLs are values like others to window functions",
    **dict.fromkeys(("ANTI", "SEMI", "ASOF"), "ADQL has no such join; use EXISTS or NOT EXISTS"),
}

_RESERVED_WORDS = {
    "FETCH": _TOP,
    "WITH": "WITH stands once, at the head of the whole query",
    "ESCAPE": "LIKE has no ESCAPE in ADQL",
    "INTO": _NO_STORING,
    "TOP": "TOP stands after SELECT [DISTINCT], before the columns",
    "DISTINCT": "DISTINCT stands after SELECT, before TOP, or first in COUNT, SUM, AVG, MIN or MAX",
    "ORDER": "ORDER BY stands once, after GROUP BY and HAVING and before OFFSET",
    "OFFSET": "OFFSET stands once, at the end: ORDER BY ... OFFSET n",
    "WHERE": "WHERE stands once, after FROM and before GROUP BY; conditions on groups go in HAVING",
    "GROUP": "GROUP BY stands once, after WHERE and before HAVING and ORDER BY",
    "HAVING": "HAVING stands once, after GROUP BY and before ORDER BY",
    "ON": _ONE_CONDITION,
    "USING": _ONE_CONDITION,
    "OVERLAPS": "compare the ends: a.low <= b.high AND b.low <= a.high",
}

_DOUBLED = {
    "=": "equality is a single =",
    "&": "'and' is AND",
    "*": "a power is POWER(a, b)",
    "/": "division is a single /; a comment begins with --",
}
_VERBS = ("INSERT", "UPDATE", "DELETE", "DROP", "CREATE", "ALTER", "GRANT", "EXPLAIN", "SHOW", "DESCRIBE", "TRUNCATE")
_NEVER_NAMES = frozenset(
    {"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "AND", "OR", "NOT", "ON", "USING", "JOIN", "UNION"}
    | {"EXCEPT", "INTERSECT", "AS", "WHEN", "THEN", "IN", "IS"}
)
_MISSPELT = ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "BETWEEN", "UNION", "EXCEPT", "INTERSECT", "OFFSET")
_EXPECTED = {
    "( after IN": "IN takes a list or a subquery: IN (1, 2)",
    "( after EXISTS": "EXISTS takes a subquery: EXISTS (SELECT * FROM ...)",
    "NULL or NOT NULL": "values are compared with = and <>",
}
_ENDS = ("the end of the query", "FROM")
_OPERANDS = frozenset({WORD, NAME, NUMBER, STRING})
_VALUE_ENDS = _OPERANDS | {")", "]", "END", "NULL", "TRUE", "FALSE"}

_CASE = "write CASE WHEN condition THEN a ELSE b END"
_LENGTH = "a length is tested by LIKE '___' or gavo_match('^.{3,5}$', s)"
_FIRST = "the first n characters are CAST(s AS VARCHAR(n))"
_MATCHES = "a regular expression is tested by 1 = gavo_match(pattern, s)"
_NOW = "write the time itself, '2026-01-31T12:00:00'"
_TIMES = "times are compared with texts, t >= '2026-01-31', and ivo_to_mjd(t) is a number of days"
_APART = "write DISTANCE(POINT(ra1, dec1), POINT(ra2, dec2)) < degrees"

#: Functions of other dialects, in upper case -> what does the same here
ELSEWHERE = {
    **dict.fromkeys(("IFNULL", "NVL", "ISNULL"), "write COALESCE(a, b)"),
    **dict.fromkeys(("IF", "IIF", "DECODE"), _CASE),
    "NULLIF": "write CASE WHEN a <> b THEN a END",
    "LN": "the natural logarithm is LOG(x)",
    "LOG2": "write LOG(x) / LOG(2)",
    "POW": "write POWER(x, y)",
    "SQUARE": "write POWER(x, 2)",
    "CONCAT": "texts are joined by ||",
    **dict.fromkeys(("LEN", "LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH"), _LENGTH),
    **dict.fromkeys(("SUBSTR", "SUBSTRING", "LEFT"), _FIRST),
    **dict.fromkeys(("REGEXP_LIKE", "REGEXP_MATCH", "REGEXP_MATCHES", "REGEXP"), _MATCHES),
    **dict.fromkeys(("NOW", "GETDATE", "TODAY", "CURRENT_DATE", "CURRENT_TIMESTAMP"), _NOW),
    **dict.fromkeys(("TIMESTAMP", "TO_TIMESTAMP", "TO_DATE", "DATE"), "write CAST(s AS TIMESTAMP)"),
    **dict.fromkeys(("EXTRACT", "YEAR", "MONTH", "DAY", "DATEDIFF", "DATE_TRUNC", "DATE_PART"), _TIMES),
    **dict.fromkeys(("STRING_AGG", "GROUP_CONCAT", "LISTAGG"), "write ivo_string_agg(s, ', ')"),
    **dict.fromkeys(("QUANTILE", "PERCENTILE", "PERCENTILE_CONT"), "write skyhouse_quantile(x, 0.9)"),
    **dict.fromkeys(("TO_CHAR", "STR"), "write CAST(x AS VARCHAR)"),
    **dict.fromkeys(("Q3C_RADIAL_QUERY", "Q3C_JOIN", "Q3C_DIST"), _APART),
}


def slip(place: Place, expected: str) -> Hint:
    """The hint for the token that stands where ``expected`` should, or nothing."""
    at = place.at
    kind = place.kinds[at]
    before = place.kinds[at - 1] if at else ""
    if at == 0:
        return _about_the_first(place)
    if kind == before and kind in _DOUBLED:
        return Hint(_DOUBLED[kind])
    for neighbour in (at, at - 1):
        if place.kinds[neighbour] == WORD and (word := place.texts[neighbour].upper()) in _WORDS:
            return Hint(_WORDS[word])
    if ";" in (kind, before):
        return Hint("one query at a time, and nothing after its ;")
    for neighbour in (at, at - 1):
        if place.kinds[neighbour] == WORD and (hint := _misspelt(place, neighbour)):
            return hint
    return Hint(
        _about_commas(kind, before, expected) or _about_reserved(place, kind, expected) or _others(place, expected)
    )


def _about_the_first(place: Place) -> Hint:
    word = place.texts[0].upper()
    if word in _VERBS:
        return Hint("ADQL only reads: a query begins with SELECT or WITH")
    if word == "FROM":
        return Hint("the columns come first: SELECT ... FROM ...")
    return _misspelt(place, 0)


def _misspelt(place: Place, at: int) -> Hint:
    word = place.texts[at]
    close = get_close_matches(word.upper(), _MISSPELT, n=1, cutoff=0.74)
    if not close:
        return NO_HINT
    return Hint(f"did you mean {close[0]} in place of {word}?", (Fix(place.span_at(at), close[0]),))


def _about_commas(kind: str, before: str, expected: str) -> str:
    if (before == "," and (kind in _NEVER_NAMES or kind in (")", END))) or (kind == "," and "a value" in expected):
        return "there is a comma too many"
    if before in ("SELECT", "ALL", "DISTINCT") and kind == "FROM":
        return "name the columns after SELECT, or * for all"
    if kind == "," and expected == "the end of the query":
        return "conditions are joined by AND or OR"
    if kind in _OPERANDS and before in _VALUE_ENDS:
        return "is a comma or an operator missing before it?"
    return ""


def _about_reserved(place: Place, kind: str, expected: str) -> str:
    """Names that are reserved words get the quotes they need, unless the word is surely meant as itself."""
    if kind not in RESERVED:
        return ""
    written = place.texts[place.at]
    quoted = f'{written} is a reserved word; to use it as a name put it in double quotes: "{written}"'
    if kind in ("DATE", "TIME", "TIMESTAMP") and place.kinds[place.at + 1] == STRING:
        return "a time is written as text, '2026-01-31T12:00:00', or CAST from it"
    if place.kinds[place.at - 1] == "AS" and kind != "FROM" and "name" in expected:
        return quoted
    if kind in _RESERVED_WORDS and not ("name" in expected and kind in ("TOP", "OFFSET")):
        return _RESERVED_WORDS[kind]
    if kind in _NEVER_NAMES:
        return ""
    return quoted if "name" in expected or expected in _ENDS else ""


def _others(place: Place, expected: str) -> str:
    kind, before = place.kinds[place.at], place.kinds[place.at - 1]
    if (kind == "*" and before == "/") or (kind == "/" and place.kinds[place.at + 1] in ("*", "/")):
        return "a comment begins with --"
    if kind == "[" and expected != "an operator":
        return 'names are quoted with double quotes: "name"'
    if kind == ")" and expected in _ENDS:
        return "every SELECT needs a FROM" if place.depth else "there is no ( for it"
    if kind == "(" and before in (NAME, WORD):
        return "ADQL gives no names to columns here"
    if kind == "*" and before in ("(", "DISTINCT"):
        return "only COUNT(*) takes a *"
    if kind == "AS" and before == "*":
        return "* has no alias"
    if kind == "AS" and before == ")" and "TABLESAMPLE" in (text.upper() for text in place.texts[: place.at]):
        return "the alias of a table stands before TABLESAMPLE"
    if kind in (">", "<") and before == "=":
        return f"type {kind}="
    if expected in _EXPECTED:
        return _EXPECTED[expected]
    if kind == "(" and before == "TOP":
        return "write TOP 10, without parentheses"
    if kind in ("UNION", "EXCEPT", "INTERSECT"):
        return f"a query with ORDER BY or OFFSET stands in parentheses before {kind}"
    if kind == STRING and expected.startswith("a table"):
        return "names are written without quotes, or in double quotes"
    if kind == NUMBER and "name" in expected:
        return "a name that begins with a digit must be put in double quotes"
    return ""
