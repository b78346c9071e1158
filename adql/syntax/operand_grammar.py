"""Productions of operands: literals, columns, function calls, CAST, CASE and parentheses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adql.errors import NO_HINT, AdqlSyntaxError, Fix, Hint, join_choices
from adql.syntax.cursor import Cursor
from adql.syntax.expression_grammar import (
    NOT,
    OR,
    SIGN,
    fail_without_operand,
    is_query_operand,
    parse_condition,
    parse_expression,
    parse_query_to_bracket,
    parse_value,
    parse_value_or_condition,
    parse_values,
    require_condition,
    require_value,
)
from adql.syntax.hints.angle_notations import parse_angle_text
from adql.syntax.hints.other_dialects import find_function_hint
from adql.syntax.hints.symbol_hints import DISTINCT_ROWS_HINT
from adql.syntax.lexer import token_to_number
from adql.syntax.nodes import (
    Binary,
    BooleanLiteral,
    Case,
    Cast,
    ColumnRef,
    Exists,
    Expression,
    FunctionCall,
    Identifier,
    NullLiteral,
    NumberLiteral,
    ScalarSubquery,
    StringLiteral,
    Unary,
    When,
)
from adql.syntax.reserved_functions import ARGUMENTS, GEOMETRIES, SET_FUNCTIONS
from adql.syntax.token_kinds import NAME, NUMBER, STRING, WORD
from adql.syntax.window_grammar import parse_window
from clickhouse_schema.reserved_words import RESERVED

_NUMBERS = ("SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE")
_TYPES = ("CHAR", "VARCHAR", "TIMESTAMP", *_NUMBERS, "POINT", "CIRCLE", "POLYGON")
_EXPECTED_TYPE = f"a type: {join_choices(_TYPES)}".replace("DOUBLE", "DOUBLE PRECISION")
_TYPE_SYNONYMS = {
    **dict.fromkeys(("FLOAT", "NUMERIC", "DECIMAL", "NUMBER", "FLOAT8", "FLOAT64", "MONEY"), "DOUBLE PRECISION"),
    **dict.fromkeys(("INT", "INT4", "INT32", "SIGNED"), "INTEGER"),
    **dict.fromkeys(("TINYINT", "INT2", "INT16"), "SMALLINT"),
    **dict.fromkeys(("LONG", "INT8", "INT64"), "BIGINT"),
    **dict.fromkeys(("FLOAT4", "FLOAT32"), "REAL"),
    **dict.fromkeys(("TEXT", "STRING", "CHARACTER", "VARCHAR2", "NVARCHAR", "NCHAR"), "VARCHAR"),
    **dict.fromkeys(("DATE", "DATETIME", "DATETIME2"), "TIMESTAMP"),
}


# --- literals and columns ---


def _parse_number(cursor: Cursor) -> Expression:
    at = cursor.at
    cursor.at = at + 1
    span, text = cursor.span_at(at), cursor.texts[at]
    return NumberLiteral(span, token_to_number(text, span, cursor.text), text)


def _parse_string(cursor: Cursor) -> Expression:
    """Read a string; adjacent strings are concatenated (grammar of ADQL 2.0)."""
    first = cursor.at
    value = cursor.texts[first][1:-1].replace("''", "'")
    cursor.at = first + 1
    if cursor.kinds[cursor.at] != STRING:
        return StringLiteral(cursor.span_at(first), value)
    pieces = [value]
    while cursor.kinds[cursor.at] == STRING:
        pieces.append(cursor.texts[cursor.at][1:-1].replace("''", "'"))
        cursor.at += 1
    return StringLiteral(cursor.span_from(first), "".join(pieces))


def _parse_null(cursor: Cursor) -> Expression:
    cursor.at += 1
    return NullLiteral(cursor.span_at(cursor.at - 1))


def _parse_boolean(cursor: Cursor) -> Expression:
    cursor.at += 1
    return BooleanLiteral(cursor.span_at(cursor.at - 1), cursor.kinds[cursor.at - 1] == "TRUE")


def _parse_name(cursor: Cursor) -> Expression:
    """Read a column reference, or the call of a function with an unreserved name."""
    first = cursor.at
    name = cursor.read_identifier("a column name")
    kinds = cursor.kinds
    kind = kinds[cursor.at]
    if kind == "(":
        return _parse_call(cursor, first, name)
    if kind != ".":
        return ColumnRef(name.span, (name,))
    parts = [name]
    while kinds[cursor.at] == ".":
        cursor.at += 1
        parts.append(cursor.read_identifier("a column name after ."))
    if len(parts) > 4:
        raise AdqlSyntaxError(
            "a column name has at most four parts: catalog.schema.table.column", cursor.span_from(first)
        )
    return ColumnRef(cursor.span_from(first), tuple(parts))


# --- calls ---


def _parse_reserved_function(cursor: Cursor) -> Expression:
    first = cursor.at
    if cursor.kinds[first + 1] != "(":
        fail_without_operand(cursor)
    cursor.at += 1
    return _parse_call(cursor, first, Identifier(cursor.span_at(first), cursor.texts[first], False))


def _parse_call(cursor: Cursor, first: int, name: Identifier) -> Expression:
    """Read the arguments and the window of a call."""
    kind = cursor.kinds[first]
    _require_function(cursor, kind, name)
    opening = cursor.open_bracket()
    args: tuple[Expression, ...] = ()
    distinct = False
    star = kind == "COUNT" and cursor.take("*")
    if kind in SET_FUNCTIONS and not star:
        distinct = cursor.take("DISTINCT")
        if not distinct:
            cursor.take("ALL")
    if not star and (distinct or cursor.kinds[cursor.at] != ")"):
        args = _parse_arguments(cursor, name)
    cursor.close_bracket(opening)
    span = cursor.span_from(first)
    if kind in ARGUMENTS and not star and (wrong := _find_count_error(kind, args)):
        raise AdqlSyntaxError(wrong, span, _find_count_hint(kind, args))
    if not (cursor.is_word("OVER", cursor.at) and cursor.kinds[cursor.at + 1] == "("):
        return FunctionCall(span, name, args, distinct, star)
    if kind in RESERVED and kind not in SET_FUNCTIONS:
        cursor.fail("an operator", f"{kind} is not a window function")
    window = parse_window(cursor)
    return FunctionCall(cursor.span_from(first), name, args, distinct, star, window)


def _parse_arguments(cursor: Cursor, name: Identifier) -> tuple[Expression, ...]:
    """Read arguments; for a syntax error in a function of another dialect, report the function instead."""
    try:
        return parse_values(cursor)
    except AdqlSyntaxError:
        if hint := find_function_hint(name.name, name.span):
            raise AdqlSyntaxError(f"there is no function {name.name}", name.span, hint) from None
        raise


def _require_function(cursor: Cursor, kind: str, name: Identifier) -> None:
    if name.delimited:
        raise AdqlSyntaxError("a function name is written without quotes", name.span)
    if cursor.functions is not None and kind == WORD and name.name.lower() not in cursor.functions:
        raise AdqlSyntaxError(f"there is no function {name.name}", name.span)


def _parse_cast(cursor: Cursor) -> Expression:
    first = cursor.at
    if cursor.kinds[first + 1] != "(":
        fail_without_operand(cursor)
    cursor.at += 1
    opening = cursor.open_bracket()
    operand = parse_value(cursor)
    cursor.expect("AS", "AS and a type")
    kind = cursor.kinds[cursor.at]
    if kind not in _TYPES:
        known = _TYPE_SYNONYMS.get(cursor.texts[cursor.at].upper())
        fix = Fix(cursor.span_at(cursor.at), known or "")
        cursor.fail(_EXPECTED_TYPE, Hint(f"write {known}", (fix,)) if known else "")
    cursor.at += 1
    length = None
    if kind == "DOUBLE":
        cursor.expect("PRECISION", "PRECISION after DOUBLE")
        kind = "DOUBLE PRECISION"
    elif kind in ("CHAR", "VARCHAR") and cursor.kinds[cursor.at] == "(":
        bracket = cursor.open_bracket(levels=0)
        length = cursor.read_unsigned_integer("a length in characters")
        cursor.close_bracket(bracket, levels=0)
    cursor.close_bracket(opening)
    return Cast(cursor.span_from(first), operand, kind, length)


def _parse_case(cursor: Cursor) -> Expression:
    first = cursor.at
    cursor.at += 1
    cursor.enter_levels()
    operand = None if cursor.kinds[cursor.at] == "WHEN" else parse_value(cursor)
    whens: list[When] = []
    while cursor.kinds[cursor.at] == "WHEN" or not whens:
        start = cursor.at
        cursor.expect("WHEN")
        condition = parse_condition(cursor) if operand is None else parse_value(cursor)
        cursor.expect("THEN")
        result = parse_value_or_condition(cursor)
        whens.append(When(cursor.span_from(start), condition, result))
    otherwise = parse_value_or_condition(cursor) if cursor.take("ELSE") else None
    cursor.expect("END", "END" if otherwise else "WHEN, ELSE or END")
    cursor.leave_levels()
    return Case(cursor.span_from(first), operand, tuple(whens), otherwise)


# --- prefixes and parentheses ---


def _parse_sign(cursor: Cursor) -> Expression:
    first = cursor.at
    cursor.at += 1
    cursor.enter_levels()
    operand = parse_expression(cursor, SIGN)
    require_value(operand)
    cursor.leave_levels()
    return Unary(cursor.span_from(first), cursor.kinds[first], operand)


def _parse_not(cursor: Cursor) -> Expression:
    first = cursor.at
    cursor.at += 1
    cursor.enter_levels()
    operand = parse_expression(cursor, NOT)
    require_condition(operand)
    cursor.leave_levels()
    return Unary(cursor.span_from(first), "NOT", operand)


def _parse_exists(cursor: Cursor) -> Expression:
    first = cursor.at
    cursor.at += 1
    query = parse_query_to_bracket(cursor, cursor.open_bracket(expected="( after EXISTS"))
    return Exists(cursor.span_from(first), query)


def _parse_parenthesis(cursor: Cursor) -> Expression:
    """Read ``( expression )`` or ``( query )``.

    After inner parentheses, only the next token decides which it is: ((SELECT ...) UNION ...) or ((SELECT ...) + 1).
    """
    opening = cursor.open_bracket()
    begin = cursor.at
    inner: Expression | None = None
    if cursor.kinds[begin] in ("SELECT", "WITH"):
        query = parse_query_to_bracket(cursor, opening)
        return ScalarSubquery(cursor.span_from(opening), query)
    if cursor.kinds[begin] == "(":
        inner = _parse_parenthesis(cursor)
        if isinstance(inner, ScalarSubquery) and is_query_operand(cursor):
            query = parse_query_to_bracket(cursor, opening, inner.query)
            return ScalarSubquery(cursor.span_from(opening), query)
    expression = parse_expression(cursor, OR, inner, begin)
    if cursor.kinds[cursor.at] == ",":
        cursor.fail(") to close the (")
    cursor.close_bracket(opening)
    return expression


OPERANDS: Mapping[str, Callable[[Cursor], Expression]] = {
    WORD: _parse_name,
    NAME: _parse_name,
    NUMBER: _parse_number,
    STRING: _parse_string,
    "(": _parse_parenthesis,
    "+": _parse_sign,
    "-": _parse_sign,
    "~": _parse_sign,
    "NOT": _parse_not,
    "EXISTS": _parse_exists,
    "CASE": _parse_case,
    "CAST": _parse_cast,
    "NULL": _parse_null,
    "TRUE": _parse_boolean,
    "FALSE": _parse_boolean,
    **dict.fromkeys(ARGUMENTS, _parse_reserved_function),
}
"""Kind of a token -> the production that reads an operand that starts with it."""


# --- numbers of arguments of reserved functions, which ADQL's grammar fixes ---


_NEVER_POINTS = (NumberLiteral, StringLiteral, NullLiteral, Unary, Binary)

_SYSTEM_NAMES = frozenset({"ICRS", "FK5", "FK4", "J2000", "B1950", "GALACTIC", "ECLIPTIC"})

_GEOMETRY_FORMS = {
    "POINT": "POINT([system,] longitude, latitude)",
    "CIRCLE": "CIRCLE([system,] centre, radius) or CIRCLE([system,] longitude, latitude, radius)",
    "BOX": "BOX([system,] centre, width, height) or BOX([system,] longitude, latitude, width, height)",
    "POLYGON": "POLYGON([system,] three or more points) or POLYGON([system,] three or more longitudes and latitudes)",
}


def _find_count_error(name: str, args: Sequence[Expression]) -> str:
    """Return the message about a wrong number of arguments of a reserved function; '' if the number is right."""
    if name in GEOMETRIES:
        if _has_geometry_form(name, args):
            return ""
        return f"these arguments do not fit {_GEOMETRY_FORMS[name]}"
    least, most = ARGUMENTS[name]
    count = len(args)
    if least <= count <= most and not (name == "DISTANCE" and count == 3):
        return ""
    return f"{name} takes {_describe_argument_count(name)}, not {count}"


_LOGARITHM = "LOG is the natural logarithm; for another base, write LOG(x) / LOG(base)"


def _find_count_hint(name: str, args: Sequence[Expression]) -> Hint:
    """Return the hint for a wrong number of arguments."""
    if name == "COUNT":
        return Hint(DISTINCT_ROWS_HINT if args else "COUNT(*) counts rows")
    if name in ("LOG", "LOG10") and len(args) == 2:
        return Hint(_LOGARITHM)
    if name not in GEOMETRIES or not args:
        return NO_HINT
    first = args[0]
    if name == "CIRCLE" and len(args) - isinstance(first, StringLiteral) == 2:
        return Hint("the radius in degrees is missing")
    if isinstance(first, ColumnRef) and (system := first.parts[0].name).upper() in _SYSTEM_NAMES:
        return Hint(f"write the coordinate system as a text: '{system}'", (Fix(first.span, f"'{system}'"),))
    angles = (parse_angle_text(arg.value) for arg in args if isinstance(arg, StringLiteral))
    return Hint(next((angle.hint for angle in angles if angle), ""))


def _describe_argument_count(name: str) -> str:
    least, most = ARGUMENTS[name]
    if name == "DISTANCE":
        return "2 points or 4 coordinates"
    if least == most:
        return {0: "no arguments", 1: "1 argument"}.get(least, f"{least} arguments")
    if most - least == 1:
        return f"{least} or {most} arguments"
    return f"at least {least} argument"


def _has_geometry_form(name: str, args: Sequence[Expression]) -> bool:
    """Return whether the arguments fit one of the two forms: with points or with coordinates."""
    shape = args[1:] if args and isinstance(args[0], StringLiteral | NullLiteral) else args
    count = len(shape)
    if name == "POINT":
        return count == 2
    if name == "POLYGON":
        points = not any(isinstance(arg, _NEVER_POINTS) for arg in shape)
        return (count >= 6 and count % 2 == 0) or (points and count >= 3)
    with_coordinates = 3 if name == "CIRCLE" else 4
    return count == with_coordinates or (count == with_coordinates - 1 and not isinstance(shape[0], _NEVER_POINTS))
