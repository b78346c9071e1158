"""Hints about commas, brackets, operators, numbers and other symbols that do not fit."""

from __future__ import annotations

from difflib import get_close_matches

from adql.errors import NO_HINT, Fix, Hint, Span
from adql.syntax.hints import other_dialects
from adql.syntax.hints.angle_notations import find_angle_at
from adql.syntax.hints.parse_position import (
    ParsePosition,
    append_to_token,
    delete_tokens,
    find_kind_before_bracket,
    find_open_bracket,
    replace_tokens,
)
from adql.syntax.reserved_functions import GEOMETRIES
from adql.syntax.token_kinds import END, NAME, NUMBER, STRING, WORD
from clickhouse_schema.reserved_words import RESERVED, name_to_adql

_OPERANDS = frozenset({WORD, NAME, NUMBER, STRING})
_VALUE_ENDS = _OPERANDS | {")", "]", "END", "NULL", "TRUE", "FALSE"}
_CLAUSES = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "ON", "JOIN", "AND", "OR"}
    | {"AS", ";", END}
)
_ENDS = ("the end of the query", "FROM")


def find_number_hint(place: ParsePosition, expected: str) -> Hint:
    """Angles with units or in parts; names that begin with a digit."""
    at = place.at
    if place.kinds[at] == NUMBER and "name" in expected:
        name, point, rest = place.texts[at].partition(".")
        hint = f'a name that begins with a digit must be put in double quotes: "{name}"'
        return Hint(hint, (replace_tokens(place, at, at, f'"{name}"{point}{rest}'),))
    if place.kinds[at - 1] == NUMBER and place.kinds[at] in _OPERANDS:
        called = find_kind_before_bracket(place, at)
        if called == "IN":
            return Hint("is a comma missing before it?", (append_to_token(place, at - 1, ","),))
        found = find_angle_at(place.text, place.starts[at - 1])
        if found and (place.kinds[at] != NUMBER or called in GEOMETRIES) and found.end >= place.ends[at]:
            return found.make_hint(Span(place.starts[at - 1], found.end))
    return NO_HINT


def find_alias_hint(place: ParsePosition, expected: str) -> Hint:
    """Names in single quotes, after AS or without it."""
    at = place.at
    follows = expected in _ENDS and place.kinds[at - 1] in (WORD, NAME, ")")
    if place.kinds[at] != STRING or not ("(a name)" in expected or follows):
        return NO_HINT
    name = name_to_adql(place.texts[at][1:-1].replace("''", "'"))
    return Hint("an alias is written without quotes, or in double quotes", (replace_tokens(place, at, at, name),))


def find_comma_hint(place: ParsePosition, expected: str) -> Hint:
    at, kinds = place.at, place.kinds
    kind, before = kinds[at], kinds[at - 1]
    if expected.startswith("AND between") and kind in (",", "TO"):
        return Hint("write BETWEEN a AND b", (replace_tokens(place, at, at, "AND" if kind == "TO" else " AND"),))
    if before == "," and (
        kind in _CLAUSES or kind in (")", "SELECT", "BY", "NOT", "USING", "WHEN", "THEN", "IN", "IS")
    ):
        return Hint("there is a comma too many", (delete_tokens(place, at - 1, at - 1),))
    if kind == "," and "a value" in expected:
        return Hint("there is a comma too many", (delete_tokens(place, at, at),))
    if before in ("SELECT", "ALL", "DISTINCT") and kind == "FROM":
        return Hint("name the columns after SELECT, or * for all")
    if kind == "," and expected == "AS and a type":
        return Hint("write CAST(value AS type)", (replace_tokens(place, at, at, " AS"),))
    if kind == "," and expected == "the end of the query":
        return Hint("conditions are joined by AND or OR")
    if kind in _OPERANDS and before in _VALUE_ENDS:
        return Hint("is a comma or an operator missing before it?")
    return NO_HINT


def find_bracket_hint(place: ParsePosition, expected: str) -> Hint:
    at, kinds = place.at, place.kinds
    kind = kinds[at]
    if expected == "( after IN":
        return _find_in_hint(place)
    if kind == "[" and expected != "an operator":
        name = kinds[at + 1 : at + 3]
        quoted = len(name) == 2 and name[1] == "]" and (name[0] in (WORD, NAME) or name[0] in RESERVED)
        fix = (replace_tokens(place, at, at + 2, name_to_adql(place.texts[at + 1])),) if quoted else ()
        return Hint('names are quoted with double quotes: "name"', fix)
    if expected.startswith(") to close") and kind in _CLAUSES:
        return Hint("is a ) missing?", (append_to_token(place, at - 1, ")"),))
    if kind == "," and expected == ") to close the (":
        return _find_row_value_hint(place)
    if kind == ")" and expected in _ENDS and not place.depth:
        return Hint("there is no ( for it", (delete_tokens(place, at, at),))
    if kind == "(" and kinds[at + 1] == "+":
        return Hint("an outer join is written a LEFT JOIN b ON condition")
    if kind == "(" and kinds[at - 1] in (NAME, WORD):
        return Hint("ADQL gives no names to columns here")
    return NO_HINT


def _find_row_value_hint(place: ParsePosition) -> Hint:
    """``(a, b)`` where a value stands."""
    at, kinds = place.at, place.kinds
    bracket = find_open_bracket(place, at)
    if operator := {"=": "IN", "<>": "NOT IN", "!=": "NOT IN"}.get(kinds[bracket - 1]):
        fix = replace_tokens(place, bracket - 1, bracket - 1, operator)
        return Hint(f"a value is compared with several by {operator} (a, b)", (fix,))
    if kinds[bracket - 1] == "DISTINCT":
        return Hint("rows that differ are counted by SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM ...) AS q")
    if kinds[bracket - 1] != "BETWEEN":
        return Hint("ADQL has no row values (a, b): compare each value by itself")
    closing = at + 2 if kinds[at + 2 : at + 3] == [")"] else 0
    bounds = place.text[place.ends[bracket] : place.starts[at]], place.texts[at + 1]
    fixes = (replace_tokens(place, bracket, closing, " AND ".join(bounds)),) if closing else ()
    return Hint("write BETWEEN a AND b", fixes)


def _find_in_hint(place: ParsePosition) -> Hint:
    hint, at = "IN takes a list or a subquery: IN (1, 2)", place.at
    if place.kinds[at] == "[" and "]" in place.kinds[at:]:
        end = place.kinds.index("]", at)
        return Hint(hint, (replace_tokens(place, at, at, "("), replace_tokens(place, end, end, ")")))
    last = at
    while place.kinds[last] in (NUMBER, STRING) and place.kinds[last + 1] == ",":
        last += 2
    if place.kinds[last] not in (NUMBER, STRING):
        return Hint(hint)
    return Hint(
        hint, (Fix(Span(place.starts[at], place.ends[last]), f"({place.text[place.starts[at] : place.ends[last]]})"),)
    )


_DOUBLED = {
    "=": ("equality is a single =", "="),
    "&": ("'and' is AND", "AND"),
    "*": ("a power is POWER(a, b)", ""),
    "/": ("division is a single /", ""),
}
_PAIRS = {"=>": ">=", "=<": "<=", "><": "<>"}


def find_operator_hint(place: ParsePosition, expected: str) -> Hint:
    """Operators that are written otherwise, and what stands for a comment elsewhere."""
    at = place.at
    kind, before = place.kinds[at], place.kinds[at - 1] if at else ""
    if _is_in_comment(place):
        return Hint("a comment begins with --")
    if kind == before and kind in _DOUBLED:
        hint, operator = _DOUBLED[kind]
        return Hint(hint, (replace_tokens(place, at - 1, at, operator),) if operator else ())
    if pair := _PAIRS.get(before + kind):
        return Hint(f"type {pair}", (replace_tokens(place, at - 1, at, pair),))
    if kind == "~":
        return Hint("a regular expression is tested by 1 = gavo_match(pattern, text)")
    if kind == before == ".":
        return Hint("one point stands between the parts of a name", (delete_tokens(place, at, at),))
    if before + kind == "<=>":
        return Hint("equality is =; NULL is tested by IS NULL")
    if expected == "NULL" and kind in ("IN", "LIKE", "ILIKE", "BETWEEN"):
        return Hint(f"write NOT {kind}", (replace_tokens(place, at - 2, at - 1, "NOT"),))
    if expected.startswith("NULL") and kind in _OPERANDS | {"TRUE", "FALSE"}:
        first, operator = (at - 2, "<>") if before == "NOT" else (at - 1, "=")
        return Hint("values are compared with = and <>", (replace_tokens(place, first, at - 1, operator),))
    if expected.startswith("BETWEEN, IN"):
        if kind == "NULL":
            return Hint("write IS NOT NULL", (replace_tokens(place, at - 1, at - 1, "IS NOT"),))
        if kind == "IS":
            return Hint("write IS NOT NULL", (replace_tokens(place, at - 1, at, "IS NOT"),))
        if kind == "=":
            return Hint("'unequal' is <>", (replace_tokens(place, at - 1, at, "<>"),))
    return NO_HINT


def _is_in_comment(place: ParsePosition) -> bool:
    """Whether the token is in a ``/*`` or ``//``."""
    return any(
        first >= 0
        and place.kinds[first] == "/"
        and place.kinds[first + 1] in ("*", "/")
        and place.starts[first + 1] == place.ends[first]
        for first in (place.at - 1, place.at)
    )


def find_other_hint(place: ParsePosition, expected: str) -> Hint:
    at, kinds, texts = place.at, place.kinds, place.texts
    kind, before = kinds[at], kinds[at - 1]
    if kind == "*" and before in ("(", "DISTINCT"):
        return _find_star_hint(place)
    if before == "*" and kinds[at - 2] == WORD and kinds[at - 3] in ("LIKE", "ILIKE"):
        pattern = f"'{texts[at - 2]}%'"
        return Hint(
            f"a pattern stands in single quotes, % for any characters: {pattern}",
            (replace_tokens(place, at - 2, at - 1, pattern),),
        )
    if kind == "AS" and before == "*":
        return Hint("* has no alias")
    if kind == "AS" and before == ")" and "TABLESAMPLE" in (text.upper() for text in texts[:at]):
        return Hint("the alias of a table stands before TABLESAMPLE")
    if kind == "*" and "table name" in expected:
        return Hint("a query reads tables by their names")
    if expected.startswith("( and the columns") and kind in (WORD, NAME):
        return Hint("write USING (column)", (replace_tokens(place, at, at, f"({texts[at]})"),))
    if expected == "( after EXISTS":
        return Hint("EXISTS takes a subquery: EXISTS (SELECT * FROM ...)")
    if expected == "PRECISION after DOUBLE":
        return Hint("write DOUBLE PRECISION", (append_to_token(place, at - 1, " PRECISION"),))
    if kind in ("UNION", "EXCEPT", "INTERSECT"):
        return Hint(f"a query with ORDER BY or OFFSET stands in parentheses before {kind}")
    if kind == STRING and expected.startswith("a table"):
        name = ".".join(map(name_to_adql, texts[at][1:-1].replace("''", "'").split(".")))
        return Hint("names are written without quotes, or in double quotes", (replace_tokens(place, at, at, name),))
    if kind == END and "a value" in expected:
        return Hint(f"the query ends after {texts[at - 1]}: is a part missing?")
    if expected.endswith("END") and kind in _CLAUSES:
        return Hint("a CASE ends with END", (append_to_token(place, at - 1, " END"),))
    return NO_HINT


def _find_star_hint(place: ParsePosition) -> Hint:
    called = max(0, find_open_bracket(place, place.at) - 1)
    if place.kinds[called] == WORD and get_close_matches(place.texts[called].upper(), ["COUNT"], cutoff=0.7):
        return Hint("did you mean COUNT?", (replace_tokens(place, called, called, "COUNT"),))
    return other_dialects.find_function_hint(place.texts[called], place.span_at(called)) or Hint(
        "only COUNT(*) takes a *"
    )
