"""Productions of expressions, by precedence climbing. Values and conditions share one grammar and differ by node.

From lowest to highest precedence: OR; AND; NOT; comparisons, BETWEEN, IN, LIKE and IS, which do not chain; | ; ^ ; & ;
|| ; + - ; * / ; the signs and ~ ; [ ]. The bitwise operators are extensions in C's order, but bind tighter than
comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from adql.errors import AdqlSyntaxError, Fix, Hint, Span
from adql.syntax.cursor import SUBQUERY_LEVELS, Cursor
from adql.syntax.hints.other_dialects import find_function_hint
from adql.syntax.hints.parse_position import replace_token
from adql.syntax.nodes import (
    Between,
    Binary,
    BooleanLiteral,
    Case,
    Cast,
    ColumnRef,
    Element,
    Exists,
    Expression,
    FunctionCall,
    InList,
    InQuery,
    IsNull,
    Like,
    NullLiteral,
    NumberLiteral,
    OrderTerm,
    Query,
    ScalarSubquery,
    StringLiteral,
    Unary,
)
from clickhouse_schema.reserved_words import RESERVED

OR, AND, NOT, PREDICATE, VALUE, SIGN = 1, 2, 3, 4, 5, 11

_PRECEDENCE = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys(("=", "<>", "!=", "<", "<=", ">", ">="), PREDICATE),
    **dict.fromkeys(("BETWEEN", "IN", "LIKE", "ILIKE", "IS", "NOT"), PREDICATE),
    "|": VALUE,
    "^": 6,
    "&": 7,
    "||": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "[": 12,
}
_ASSOCIATIVE = frozenset({"OR", "AND", "|", "^", "&", "||"})
_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})
_CONDITION_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "AND", "OR"})
_CONDITIONS = (Between, InList, InQuery, Like, IsNull, Exists)
_PLAIN_VALUES = frozenset({ColumnRef, NumberLiteral, StringLiteral, FunctionCall})
_PERHAPS_BOOLEAN = (ColumnRef, BooleanLiteral, Case, Element, ScalarSubquery)
_ARRAYS = (ColumnRef, FunctionCall, Element, ScalarSubquery, Case, Cast, Binary, Unary)
_QUERY_CONTINUES = frozenset({"UNION", "EXCEPT", "INTERSECT", "ORDER", "OFFSET"})


# --- values and conditions ---


def parse_condition(cursor: Cursor) -> Expression:
    """Read a search condition."""
    expression = parse_expression(cursor, OR)
    require_condition(expression)
    return expression


def parse_value(cursor: Cursor) -> Expression:
    """Read a value expression."""
    first = cursor.at
    expression = parse_expression(cursor, VALUE)
    require_value(expression)
    if cursor.kinds[cursor.at] in _PRECEDENCE:  # only an operator of conditions can follow here
        cursor.at += 1
        refuse_condition(cursor.span_from(first))
    return expression


def parse_value_or_condition(cursor: Cursor) -> Expression:
    """Read an expression where a truth value is allowed as a value (extension)."""
    return parse_expression(cursor, OR)


def parse_values(cursor: Cursor, first: Expression | None = None) -> tuple[Expression, ...]:
    """Read one or more values separated by commas; ``first`` is the first value if it is already read."""
    items = [first or parse_value(cursor)]
    while cursor.take(","):
        items.append(parse_value(cursor))
    return tuple(items)


def parse_order_by(cursor: Cursor) -> tuple[OrderTerm, ...]:
    """Read ``ORDER BY ...`` if it follows."""
    if not cursor.take("ORDER"):
        return ()
    cursor.expect("BY", "BY after ORDER")
    terms = [_parse_order_term(cursor)]
    while cursor.take(","):
        terms.append(_parse_order_term(cursor))
    return tuple(terms)


def _parse_order_term(cursor: Cursor) -> OrderTerm:
    first = cursor.at
    expression = parse_value_or_condition(cursor)
    descending = cursor.take("DESC")
    if not descending:
        cursor.take("ASC")
    return OrderTerm(cursor.span_from(first), expression, descending)


def require_value(expression: Expression) -> None:
    if expression.__class__ not in _PLAIN_VALUES and is_condition(expression):
        refuse_condition(expression.span)


def refuse_condition(span: Span) -> NoReturn:
    raise AdqlSyntaxError("expected a value, found a condition", span, "write CASE WHEN condition THEN 1 ELSE 0 END")


def require_condition(expression: Expression) -> None:
    """Raise AdqlSyntaxError for a value that cannot be boolean.

    A column, an element, a subquery, CASE, COALESCE and an unreserved function may be boolean.
    """
    if is_condition(expression) or isinstance(expression, _PERHAPS_BOOLEAN):
        return
    hint = Hint("compare it with another value")
    if isinstance(expression, FunctionCall):
        name = expression.name.name.upper()
        if name not in RESERVED or name == "COALESCE":
            return
        if name in ("CONTAINS", "INTERSECTS"):
            span = expression.name.span
            hint = Hint(f"write 1 = {name}(...)", (Fix(span, f"1 = {expression.name.name}"),))
    elif isinstance(expression, NumberLiteral):
        hint = Hint("compare it with another value, or with several values: IN (1, 2)")
    raise AdqlSyntaxError("expected a condition, found a value", expression.span, hint)


# --- operators ---


def parse_expression(cursor: Cursor, least: int, left: Expression | None = None, first: int = -1) -> Expression:
    """Read an expression whose operators bind at least as tightly as ``least``.

    ``left`` is its first operand if it is already read, and ``first`` the index of the first token of ``left``.
    """
    kinds = cursor.kinds
    outer = cursor.height
    if left is None:
        cursor.height = 0
        first = cursor.at
        left = cursor.operands.get(kinds[first], fail_without_operand)(cursor)
    compared = 0
    while (precedence := _PRECEDENCE.get(kind := kinds[cursor.at], 0)) >= least:
        if kind in _ASSOCIATIVE:
            left = _parse_chain(cursor, left, kind, precedence)
        elif kind == "[":
            left = _parse_element(cursor, left, first)
        elif precedence == PREDICATE:
            _refuse_chained_comparison(cursor, compared)
            require_value(left)
            compared = cursor.at
            left = _parse_predicate(cursor, left, first)
        else:
            require_value(left)
            cursor.at += 1
            right = parse_expression(cursor, precedence + 1)
            require_value(right)
            left = Binary(cursor.span_from(first), kind, left, right)
        cursor.add_height()
    if outer > cursor.height:
        cursor.height = outer
    return left


def fail_without_operand(cursor: Cursor) -> NoReturn:
    kind = cursor.kinds[cursor.at]
    if kind in RESERVED and cursor.kinds[cursor.at + 1] == "(":
        if kind == "ON":
            cursor.fail("a value or a column name")
        hint = find_function_hint(kind, cursor.span_at(cursor.at))
        cursor.fail("a value or a column name", hint or f"{kind} is a reserved word, not a function of ADQL")
    cursor.fail("a value or a column name")


def _parse_chain(cursor: Cursor, left: Expression, kind: str, precedence: int) -> Expression:
    """Read ``left op b op c ...`` with an associative operator into a balanced tree."""
    operands = [left]
    while cursor.take(kind):
        operands.append(parse_expression(cursor, precedence + 1))
    require = require_condition if precedence < PREDICATE else require_value
    for operand in operands:
        require(operand)
    cursor.add_height(math.ceil(math.log2(len(operands))) - 1)
    return _balance_chain(kind, operands)


def _parse_element(cursor: Cursor, array: Expression, first: int) -> Expression:
    if not isinstance(array, _ARRAYS) or is_condition(array):
        cursor.fail("an operator", "only an array has elements: array[index]")
    opening = cursor.at
    cursor.at += 1
    cursor.enter_levels()
    index = parse_value(cursor)
    cursor.close_bracket(opening, levels=0)
    cursor.depth -= 1
    return Element(cursor.span_from(first), array, index)


# --- predicates ---


def _refuse_chained_comparison(cursor: Cursor, compared: int) -> None:
    """Raise AdqlSyntaxError for a second comparison; ``compared`` is the operator token of the first one, or 0."""
    if not compared:
        return
    hint = Hint("comparisons cannot be chained: write a < b AND b < c")
    if "||" in cursor.kinds[compared : cursor.at]:
        at = cursor.kinds.index("||", compared)
        hint = Hint("join texts with ||; 'or' is OR", (replace_token(cursor, at, "OR"),))
    cursor.fail("AND, OR or the end of the condition", hint)


def _parse_predicate(cursor: Cursor, left: Expression, first: int) -> Expression:
    kind = cursor.kinds[cursor.at]
    if kind in _COMPARISONS:
        cursor.at += 1
        if cursor.kinds[cursor.at] in ("ANY", "ALL", "SOME"):
            cursor.fail("a value", "ADQL has no ANY, ALL or SOME; use IN, EXISTS, MIN or MAX in the subquery")
        operator = cursor.at - 1
        right = _parse_comparand(cursor)
        if isinstance(left, NullLiteral) or isinstance(right, NullLiteral):
            _refuse_null_comparison(cursor, kind, first, operator, isinstance(right, NullLiteral))
        return Binary(cursor.span_from(first), "<>" if kind == "!=" else kind, left, right)
    negated = cursor.take("NOT")
    kind = cursor.kinds[cursor.at]
    if kind == "IN":
        return _parse_in(cursor, left, first, negated)
    if kind in ("LIKE", "ILIKE"):
        cursor.at += 1
        pattern = _parse_comparand(cursor)
        return Like(cursor.span_from(first), left, pattern, negated, kind == "ILIKE")
    if kind == "BETWEEN":
        cursor.at += 1
        low = _parse_comparand(cursor)
        cursor.expect("AND", "AND between the two bounds of BETWEEN")
        high = _parse_comparand(cursor)
        return Between(cursor.span_from(first), left, low, high, negated)
    if negated:
        cursor.fail("BETWEEN, IN, LIKE or ILIKE after NOT")
    cursor.at += 1
    negated = cursor.take("NOT")
    cursor.expect("NULL", "NULL" if negated else "NULL or NOT NULL")
    return IsNull(cursor.span_from(first), left, negated)


def _refuse_null_comparison(cursor: Cursor, kind: str, first: int, operator: int, is_right: bool) -> NoReturn:
    """Raise AdqlSyntaxError for a comparison with NULL, which is not a value in ADQL and never compares as true."""
    test = "IS NULL" if kind == "=" else "IS NOT NULL"
    span = cursor.span_from(first)
    if is_right:
        fix = Fix(cursor.span_from(operator), test)
    else:
        right = cursor.text[cursor.starts[operator + 1] : span.end]
        fix = Fix(span, f"{right} {test}")
    known = kind in ("=", "<>", "!=")
    hint = Hint(f"write {test}", (fix,)) if known else Hint("test for NULL with IS NULL or IS NOT NULL")
    raise AdqlSyntaxError(f"a comparison with NULL by {kind} is never true", span, hint)


def _parse_comparand(cursor: Cursor) -> Expression:
    """Read the right side of a comparison; the condition may continue after it."""
    expression = parse_expression(cursor, VALUE)
    require_value(expression)
    return expression


def _parse_in(cursor: Cursor, left: Expression, first: int, negated: bool) -> Expression:
    cursor.at += 1
    opening = cursor.open_bracket(expected="( after IN")
    begin = cursor.at
    item: Expression | None = None
    if cursor.kinds[begin] in ("SELECT", "WITH"):
        query = parse_query_to_bracket(cursor, opening)
        return InQuery(cursor.span_from(first), left, query, negated)
    if cursor.kinds[begin] == "(":
        item = cursor.operands["("](cursor)
        if isinstance(item, ScalarSubquery) and is_query_operand(cursor):
            query = parse_query_to_bracket(cursor, opening, item.query)
            return InQuery(cursor.span_from(first), left, query, negated)
        item = parse_expression(cursor, VALUE, item, begin)
        require_value(item)
    elif cursor.kinds[begin] == ")":
        cursor.fail("a value or a subquery", "IN takes at least one value")
    items = parse_values(cursor, item)
    cursor.close_bracket(opening)
    return InList(cursor.span_from(first), left, items, negated)


# --- subqueries ---


def is_query_operand(cursor: Cursor) -> bool:
    """Return whether the parenthesised query just read is all of an outer query, or its first operand."""
    return cursor.kinds[cursor.at] == ")" or cursor.kinds[cursor.at] in _QUERY_CONTINUES


def parse_query_to_bracket(cursor: Cursor, opening: int, first: Query | None = None) -> Query:
    """Read a query and the bracket that closes the bracket at ``opening``."""
    outer = cursor.height
    if first is None:
        cursor.height = 0
    cursor.enter_levels(SUBQUERY_LEVELS - 1)
    query = cursor.parse_query(cursor, first)
    cursor.close_bracket(opening, SUBQUERY_LEVELS)
    cursor.height = max(outer, cursor.height)
    return query


def parse_subquery(cursor: Cursor) -> Query:
    """Read ``( query )``."""
    return parse_query_to_bracket(cursor, cursor.open_bracket())


def is_condition(expression: Expression) -> bool:
    """Return whether an expression is a predicate, or predicates joined by NOT, AND and OR."""
    if isinstance(expression, Binary):
        return expression.op in _CONDITION_OPERATORS
    if isinstance(expression, Unary):
        return expression.op == "NOT"
    return isinstance(expression, _CONDITIONS)


def _balance_chain(op: str, operands: Sequence[Expression]) -> Expression:
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    left = _balance_chain(op, operands[:half])
    right = _balance_chain(op, operands[half:])
    return Binary(left.span.extend_to(right.span), op, left, right)
