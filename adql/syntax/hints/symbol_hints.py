"""Hints for unexpected commas, brackets, operators, numbers and other symbols."""

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
    replace_token,
    replace_tokens,
)
from adql.syntax.reserved_functions import GEOMETRIES
from adql.syntax.token_kinds import END, NAME, NUMBER, STRING, WORD
from clickhouse_schema.reserved_words import RESERVED, name_to_adql

DISTINCT_ROWS_HINT = "count distinct rows by SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM ...) AS q"

_OPERANDS = frozenset({WORD, NAME, NUMBER, STRING})
_VALUE_ENDS = _OPERANDS | {")", "]", "END", "NULL", "TRUE", "FALSE"}
_CLAUSES = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "ON", "JOIN", "AND", "OR"}
    | {"AS", ";", END}
)
_ENDS = ("the end of the query", "FROM")


def find_number_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for an angle with a unit or in minutes and seconds, or for a name that begins with a digit."""
    at = position.at
    if position.kinds[at] == NUMBER and "name" in expected:
        name, point, rest = position.texts[at].partition(".")
        hint = f'a name that begins with a digit must be put in double quotes: "{name}"'
        return Hint(hint, (replace_token(position, at, f'"{name}"{point}{rest}'),))
    if position.kinds[at - 1] == NUMBER and position.kinds[at] in _OPERANDS:
        called = find_kind_before_bracket(position, at)
        if called == "IN":
            return Hint("is a comma missing before it?", (append_to_token(position, at - 1, ","),))
        found = find_angle_at(position.text, position.starts[at - 1])
        if found and (position.kinds[at] != NUMBER or called in GEOMETRIES) and found.end >= position.ends[at]:
            return found.make_hint(Span(position.starts[at - 1], found.end))
    return NO_HINT


def find_alias_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for an alias in single quotes, with or without AS."""
    at = position.at
    follows = expected in _ENDS and position.kinds[at - 1] in (WORD, NAME, ")")
    if position.kinds[at] != STRING or not ("(a name)" in expected or follows):
        return NO_HINT
    name = name_to_adql(position.texts[at][1:-1].replace("''", "'"))
    return Hint("write an alias without quotes, or in double quotes", (replace_token(position, at, name),))


def find_comma_hint(position: ParsePosition, expected: str) -> Hint:
    at, kinds = position.at, position.kinds
    kind, before = kinds[at], kinds[at - 1]
    if expected.startswith("AND between") and kind in (",", "TO"):
        return Hint("write BETWEEN a AND b", (replace_token(position, at, "AND" if kind == "TO" else " AND"),))
    if before == "," and (
        kind in _CLAUSES or kind in (")", "SELECT", "BY", "NOT", "USING", "WHEN", "THEN", "IN", "IS")
    ):
        return Hint("there is an extra comma", (delete_tokens(position, at - 1, at - 1),))
    if kind == "," and "a value" in expected:
        return Hint("there is an extra comma", (delete_tokens(position, at, at),))
    if before in ("SELECT", "ALL", "DISTINCT") and kind == "FROM":
        return Hint("list the columns after SELECT, or write * for all columns")
    if kind == "," and expected == "AS and a type":
        return Hint("write CAST(value AS type)", (replace_token(position, at, " AS"),))
    if kind == "," and expected == "the end of the query":
        return Hint("join conditions with AND or OR")
    if kind in _OPERANDS and before in _VALUE_ENDS:
        return Hint("is a comma or an operator missing before it?")
    return NO_HINT


def find_bracket_hint(position: ParsePosition, expected: str) -> Hint:
    at, kinds = position.at, position.kinds
    kind = kinds[at]
    if expected == "( after IN":
        return _find_in_hint(position)
    if kind == "[" and expected != "an operator":
        name = kinds[at + 1 : at + 3]
        quoted = len(name) == 2 and name[1] == "]" and (name[0] in (WORD, NAME) or name[0] in RESERVED)
        fix = (replace_tokens(position, at, at + 2, name_to_adql(position.texts[at + 1])),) if quoted else ()
        return Hint('put names in double quotes: "name"', fix)
    if expected.startswith(") to close") and kind in _CLAUSES:
        return Hint("is a ) missing?", (append_to_token(position, at - 1, ")"),))
    if kind == "," and expected == ") to close the (":
        return _find_row_value_hint(position)
    if kind == ")" and expected in _ENDS and not position.depth:
        return Hint("it has no matching (", (delete_tokens(position, at, at),))
    if kind == "(" and kinds[at + 1] == "+":
        return Hint("write an outer join as a LEFT JOIN b ON condition")
    if kind == "(" and kinds[at - 1] in (NAME, WORD):
        return Hint("ADQL has no list of column names here")
    return NO_HINT


def _find_row_value_hint(position: ParsePosition) -> Hint:
    """Find the hint for ``(a, b)`` instead of a value."""
    at, kinds = position.at, position.kinds
    bracket = find_open_bracket(position, at)
    if operator := {"=": "IN", "<>": "NOT IN", "!=": "NOT IN"}.get(kinds[bracket - 1]):
        fix = replace_token(position, bracket - 1, operator)
        return Hint(f"to compare with several values, write {operator} (a, b)", (fix,))
    if kinds[bracket - 1] == "DISTINCT":
        return Hint(DISTINCT_ROWS_HINT)
    if kinds[bracket - 1] != "BETWEEN":
        return Hint("ADQL has no row values (a, b): compare the values one by one")
    closing = at + 2 if kinds[at + 2 : at + 3] == [")"] else 0
    bounds = position.text[position.ends[bracket] : position.starts[at]], position.texts[at + 1]
    fixes = (replace_tokens(position, bracket, closing, " AND ".join(bounds)),) if closing else ()
    return Hint("write BETWEEN a AND b", fixes)


def _find_in_hint(position: ParsePosition) -> Hint:
    hint, at = "IN takes a list or a subquery: IN (1, 2)", position.at
    if position.kinds[at] == "[" and "]" in position.kinds[at:]:
        end = position.kinds.index("]", at)
        return Hint(hint, (replace_token(position, at, "("), replace_token(position, end, ")")))
    last = at
    while position.kinds[last] in (NUMBER, STRING) and position.kinds[last + 1] == ",":
        last += 2
    if position.kinds[last] not in (NUMBER, STRING):
        return Hint(hint)
    span = Span(position.starts[at], position.ends[last])
    return Hint(hint, (Fix(span, f"({position.text[span.start : span.end]})"),))


_DOUBLED = {
    "=": ("write equality as a single =", "="),
    "&": ("'and' is AND", "AND"),
    "*": ("write a power as POWER(a, b)", ""),
    "/": ("write division as a single /", ""),
}
_PAIRS = {"=>": ">=", "=<": "<=", "><": "<>"}


def find_operator_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for operators and comments of other languages."""
    at = position.at
    kind, before = position.kinds[at], position.kinds[at - 1] if at else ""
    if _is_in_comment(position):
        return Hint("a comment begins with --")
    if kind == before and kind in _DOUBLED:
        hint, operator = _DOUBLED[kind]
        return Hint(hint, (replace_tokens(position, at - 1, at, operator),) if operator else ())
    if pair := _PAIRS.get(before + kind):
        return Hint(f"write {pair}", (replace_tokens(position, at - 1, at, pair),))
    if kind == "~":
        return Hint("match a regular expression with 1 = gavo_match(pattern, text)")
    if kind == before == ".":
        return Hint("one dot separates the parts of a name", (delete_tokens(position, at, at),))
    if before + kind == "<=>":
        return Hint("write equality as =; test for NULL with IS NULL")
    return _find_is_hint(position, expected)


def _find_is_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for a token after IS or NOT that is neither NULL nor an operator."""
    at = position.at
    kind, before = position.kinds[at], position.kinds[at - 1]
    if expected == "NULL" and kind in ("IN", "LIKE", "ILIKE", "BETWEEN"):
        return Hint(f"write NOT {kind}", (replace_tokens(position, at - 2, at - 1, "NOT"),))
    if expected.startswith("NULL") and kind in _OPERANDS | {"TRUE", "FALSE"}:
        first, operator = (at - 2, "<>") if before == "NOT" else (at - 1, "=")
        return Hint("compare values with = and <>", (replace_tokens(position, first, at - 1, operator),))
    if not expected.startswith("BETWEEN, IN"):
        return NO_HINT
    if kind in ("IS", "NULL"):
        last = at if kind == "IS" else at - 1
        return Hint("write IS NOT NULL", (replace_tokens(position, at - 1, last, "IS NOT"),))
    if kind == "=":
        return Hint("write 'not equal' as <>", (replace_tokens(position, at - 1, at, "<>"),))
    return NO_HINT


def _is_in_comment(position: ParsePosition) -> bool:
    """Return whether the token belongs to ``/*`` or ``//``."""
    return any(
        first >= 0
        and position.kinds[first] == "/"
        and position.kinds[first + 1] in ("*", "/")
        and position.starts[first + 1] == position.ends[first]
        for first in (position.at - 1, position.at)
    )


def find_star_hint(position: ParsePosition, expected: str) -> Hint:
    """Find the hint for a ``*`` that is not a column list, a product or COUNT(*)."""
    at, kinds, texts = position.at, position.kinds, position.texts
    kind, before = kinds[at], kinds[at - 1]
    if kind == "*" and before in ("(", "DISTINCT"):
        return _find_star_argument_hint(position)
    if before == "*" and kinds[at - 2] == WORD and kinds[at - 3] in ("LIKE", "ILIKE"):
        pattern = f"'{texts[at - 2]}%'"
        return Hint(
            f"write a pattern in single quotes, with % for any characters: {pattern}",
            (replace_tokens(position, at - 2, at - 1, pattern),),
        )
    if kind == "AS" and before == "*":
        return Hint("* cannot have an alias")
    if kind == "*" and "table name" in expected:
        return Hint("write the name of a table")
    return NO_HINT


def find_other_hint(position: ParsePosition, expected: str) -> Hint:
    at, kinds, texts = position.at, position.kinds, position.texts
    kind = kinds[at]
    if kind == "AS" and kinds[at - 1] == ")" and "TABLESAMPLE" in (text.upper() for text in texts[:at]):
        return Hint("write the alias of a table before TABLESAMPLE")
    if expected.startswith("( and the columns") and kind in (WORD, NAME):
        return Hint("write USING (column)", (replace_token(position, at, f"({texts[at]})"),))
    if expected == "( after EXISTS":
        return Hint("EXISTS takes a subquery: EXISTS (SELECT * FROM ...)")
    if expected == "PRECISION after DOUBLE":
        return Hint("write DOUBLE PRECISION", (append_to_token(position, at - 1, " PRECISION"),))
    if kind in ("UNION", "EXCEPT", "INTERSECT"):
        return Hint(f"put a query with ORDER BY or OFFSET in parentheses before {kind}")
    if kind == STRING and expected.startswith("a table"):
        parts = texts[at][1:-1].replace("''", "'").split(".")
        name = ".".join(map(name_to_adql, parts))
        return Hint("write names without quotes, or in double quotes", (replace_token(position, at, name),))
    if kind == END and "a value" in expected:
        return Hint(f"the query ends after {texts[at - 1]}: is a part missing?")
    if expected.endswith("END") and kind in _CLAUSES:
        return Hint("CASE ends with END", (append_to_token(position, at - 1, " END"),))
    return NO_HINT


def _find_star_argument_hint(position: ParsePosition) -> Hint:
    at = max(0, find_open_bracket(position, position.at) - 1)
    name = position.texts[at]
    if position.kinds[at] == WORD and get_close_matches(name.upper(), ["COUNT"], cutoff=0.7):
        return Hint("did you mean COUNT?", (replace_token(position, at, "COUNT"),))
    hint = other_dialects.find_function_hint(name, position.span_at(at))
    return hint or Hint("only COUNT(*) takes a *")
