"""Expressions, by precedence climbing. Values and conditions share one grammar and are told apart by their nodes.

From loose to tight: OR; AND; NOT; comparisons, BETWEEN, IN, LIKE and IS, which do not chain; | ; ^ ; & ; || ; + - ;
* / ; the signs and ~ ; [ ]. The bitwise operators are extensions; their order is C's, but all bind tighter than
comparisons.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

from adql.errors import AdqlSyntaxError, Fix, Hint, Span
from adql.syntax.cursor import SUBQUERY_LEVELS, Cursor
from adql.syntax.hints.other_dialects import about_function
from adql.syntax.hints.parse_position import replaced
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
QUERY_GOES_ON = frozenset({"UNION", "EXCEPT", "INTERSECT", "ORDER", "OFFSET"})


class OperatorParser(Cursor):
    operands: ClassVar[Mapping[str, Callable[[Any], Expression]]]
    """How to read an operand that begins with a token of this kind; set where they are read."""

    @abstractmethod
    def query(self, first: Query | None = None) -> Query:
        """A select expression; ``first`` is its first operand if that is already read."""

    @abstractmethod
    def parenthesis(self) -> Expression:
        """``( expression )`` or ``( query )``"""

    # --- values and conditions ---

    def condition(self) -> Expression:
        """A search condition."""
        expression = self.expression(OR)
        self.require_condition(expression)
        return expression

    def value(self) -> Expression:
        """A value expression."""
        first = self.at
        expression = self.expression(VALUE)
        self.require_value(expression)
        if self.kinds[self.at] in _PRECEDENCE:  # nothing but the operators of conditions is left
            self.at += 1
            self.no_value(self.span_from(first))
        return expression

    def value_or_condition(self) -> Expression:
        """Where a truth value is as good as another one (extension)."""
        return self.expression(OR)

    def values(self, first: Expression | None = None) -> tuple[Expression, ...]:
        """One or more values with commas between them; ``first`` is the first if it is already read."""
        items = [first or self.value()]
        while self.take(","):
            items.append(self.value())
        return tuple(items)

    def require_value(self, expression: Expression) -> None:
        if expression.__class__ not in _PLAIN_VALUES and is_condition(expression):
            self.no_value(expression.span)

    def no_value(self, span: Span) -> NoReturn:
        raise AdqlSyntaxError(
            "a condition stands where a value is expected", span, "write CASE WHEN condition THEN 1 ELSE 0 END"
        )

    def require_condition(self, expression: Expression) -> None:
        """A predicate, or what may be a boolean: a column, an element, CASE, COALESCE, a function not reserved."""
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
            hint = Hint("compare it with another value; several values are compared by IN (1, 2)")
        raise AdqlSyntaxError("a condition is expected here, this is a value", expression.span, hint)

    # --- operators ---

    def expression(self, least: int, left: Expression | None = None, first: int = -1) -> Expression:
        """An expression whose operators bind at least as tightly as ``least``.

        ``left`` is its first operand if that is already read, and ``first`` the token where it began.
        """
        kinds = self.kinds
        outer = self.height
        if left is None:
            self.height = 0
            first = self.at
            left = self.operands.get(kinds[first], OperatorParser.no_operand)(self)
        compared = 0
        while (precedence := _PRECEDENCE.get(kinds[self.at], 0)) >= least:
            kind = kinds[self.at]
            if kind in _ASSOCIATIVE:
                left = self._chain(left, kind, precedence)
            elif kind == "[":
                left = self._element(left, first)
            elif precedence == PREDICATE:
                self._require_one_comparison(compared)
                self.require_value(left)
                compared = self.at
                left = self._predicate(left, first)
            else:
                self.require_value(left)
                self.at += 1
                right = self.expression(precedence + 1)
                self.require_value(right)
                left = Binary(self.span_from(first), kind, left, right)
            self.grow()
        if outer > self.height:
            self.height = outer
        return left

    def no_operand(self) -> NoReturn:
        kind = self.kinds[self.at]
        if kind in RESERVED and self.kinds[self.at + 1] == "(":
            if kind == "ON":
                self.fail("a value or a column name")
            hint = about_function(kind, self.span_at(self.at))
            self.fail("a value or a column name", hint or f"{kind} is a reserved word and no function of ADQL")
        self.fail("a value or a column name")

    def _chain(self, left: Expression, kind: str, precedence: int) -> Expression:
        """``left op b op c ...`` for an associative operator, as a balanced tree."""
        operands = [left]
        while self.take(kind):
            operands.append(self.expression(precedence + 1))
        require = self.require_condition if precedence < PREDICATE else self.require_value
        for operand in operands:
            require(operand)
        self.grow(math.ceil(math.log2(len(operands))) - 1)
        return _balanced(kind, operands)

    def _element(self, array: Expression, first: int) -> Expression:
        if not isinstance(array, _ARRAYS) or is_condition(array):
            self.fail("an operator", "only an array has elements: array[index]")
        opening = self.at
        self.at += 1
        self.enter()
        index = self.value()
        self.close(opening, levels=0)
        self.depth -= 1
        return Element(self.span_from(first), array, index)

    # --- predicates ---

    def _require_one_comparison(self, compared: int) -> None:
        """``compared``: the operator of the comparison before this one, 0 without one."""
        if not compared:
            return
        hint = Hint("comparisons do not chain: write a < b AND b < c")
        if "||" in self.kinds[compared : self.at]:
            at = self.kinds.index("||", compared)
            hint = Hint("texts are joined by ||; 'or' is OR", (replaced(self, at, at, "OR"),))
        self.fail("AND, OR or the end of the condition", hint)

    def _predicate(self, left: Expression, first: int) -> Expression:
        kind = self.kinds[self.at]
        if kind in _COMPARISONS:
            self.at += 1
            if self.kinds[self.at] in ("ANY", "ALL", "SOME"):
                self.fail("a value", "ADQL has no ANY, ALL or SOME; use IN, EXISTS, MIN or MAX in the subquery")
            operator = self.at - 1
            right = self._bound()
            if isinstance(left, NullLiteral) or isinstance(right, NullLiteral):
                self._fail_null(kind, first, operator, isinstance(right, NullLiteral))
            return Binary(self.span_from(first), "<>" if kind == "!=" else kind, left, right)
        negated = self.take("NOT")
        kind = self.kinds[self.at]
        if kind == "IN":
            return self._in(left, first, negated)
        if kind in ("LIKE", "ILIKE"):
            self.at += 1
            pattern = self._bound()
            return Like(self.span_from(first), left, pattern, negated, kind == "ILIKE")
        if kind == "BETWEEN":
            self.at += 1
            low = self._bound()
            self.expect("AND", "AND between the two bounds of BETWEEN")
            high = self._bound()
            return Between(self.span_from(first), left, low, high, negated)
        if negated:
            self.fail("BETWEEN, IN, LIKE or ILIKE after NOT")
        self.at += 1
        negated = self.take("NOT")
        self.expect("NULL", "NULL" if negated else "NULL or NOT NULL")
        return IsNull(self.span_from(first), left, negated)

    def _fail_null(self, kind: str, first: int, operator: int, is_right: bool) -> NoReturn:
        """ADQL has no NULL as a value; in SQL such a comparison is never true, whatever the other side is."""
        test = "IS NULL" if kind == "=" else "IS NOT NULL"
        span, fix = self.span_from(first), Fix(Span(self.starts[operator], self.ends[self.at - 1]), test)
        if not is_right:
            fix = Fix(span, f"{self.text[self.starts[operator + 1] : span.end]} {test}")
        known = kind in ("=", "<>", "!=")
        hint = Hint(f"write {test}", (fix,)) if known else Hint("NULL is tested by IS NULL and IS NOT NULL")
        raise AdqlSyntaxError(f"a comparison with NULL by {kind} is never true", span, hint)

    def _bound(self) -> Expression:
        """What a value is compared with: a value, after which the condition may go on."""
        expression = self.expression(VALUE)
        self.require_value(expression)
        return expression

    def _in(self, left: Expression, first: int, negated: bool) -> Expression:
        self.at += 1
        opening = self.open(said="( after IN")
        begin = self.at
        item: Expression | None = None
        if self.kinds[begin] in ("SELECT", "WITH"):
            query = self.close_query(opening)
            return InQuery(self.span_from(first), left, query, negated)
        if self.kinds[begin] == "(":
            item = self.parenthesis()
            if isinstance(item, ScalarSubquery) and self.query_ends_or_goes_on():
                query = self.close_query(opening, item.query)
                return InQuery(self.span_from(first), left, query, negated)
            item = self.expression(VALUE, item, begin)
            self.require_value(item)
        elif self.kinds[begin] == ")":
            self.fail("a value or a subquery", "IN takes at least one value")
        items = self.values(item)
        self.close(opening)
        return InList(self.span_from(first), left, items, negated)

    # --- subqueries ---

    def query_ends_or_goes_on(self) -> bool:
        """Whether the query in parentheses just read is all of, or the first part of, a query around it."""
        return self.kinds[self.at] == ")" or self.kinds[self.at] in QUERY_GOES_ON

    def close_query(self, opening: int, first: Query | None = None) -> Query:
        """A query and the bracket that closes it."""
        outer = self.height
        if first is None:
            self.height = 0
        self.enter(SUBQUERY_LEVELS - 1)
        query = self.query(first)
        self.close(opening, SUBQUERY_LEVELS)
        self.height = max(outer, self.height)
        return query

    def subquery(self) -> Query:
        """``( query )``"""
        return self.close_query(self.open())


def is_condition(expression: Expression) -> bool:
    """Whether this is a predicate, or predicates under NOT, AND and OR."""
    if isinstance(expression, Binary):
        return expression.op in _CONDITION_OPERATORS
    if isinstance(expression, Unary):
        return expression.op == "NOT"
    return isinstance(expression, _CONDITIONS)


def _balanced(op: str, operands: Sequence[Expression]) -> Expression:
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    left = _balanced(op, operands[:half])
    right = _balanced(op, operands[half:])
    return Binary(left.span.to(right.span), op, left, right)
