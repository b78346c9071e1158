"""Expressions, by precedence climbing: values and conditions share one grammar and are told apart by their nodes.

From loose to tight: OR; AND; NOT; comparisons, BETWEEN, IN, LIKE and IS (which do not chain); | ; ^ ; & ; || ; + - ; * / ;
the signs and ~ ; [ ]. ADQL leaves the order of the bitwise operators open; theirs is C's, except that all bind tighter than
comparisons.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NoReturn

from adql.errors import AdqlSyntaxError, Span
from adql.lexer import NAME, NUMBER, STRING, WORD
from adql.nodes import (
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
    When,
)
from adql.parser_cursor import SUBQUERY_LEVELS, Cursor
from adql.words import ARGUMENTS, RESERVED

OR, AND, NOT, PREDICATE, VALUE = 1, 2, 3, 4, 5
SIGN = 11

_PRECEDENCE = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys(("=", "<>", "!=", "<", "<=", ">", ">="), PREDICATE),
    **dict.fromkeys(("BETWEEN", "IN", "LIKE", "ILIKE", "IS", "NOT"), PREDICATE),
    "|": 5,
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
_QUERY_GOES_ON = frozenset({"UNION", "EXCEPT", "INTERSECT", "ORDER", "OFFSET"})

A_VALUE = "a value"
A_CONDITION = "a condition"


class ExpressionParser(Cursor):
    """Reads expressions; calls, casts and queries come from its heirs."""

    @abstractmethod
    def query(self, first: Query | None = None) -> Query:
        """A select expression; ``first`` is its first operand if that is already read."""

    @abstractmethod
    def call(self, first: int) -> FunctionCall:
        """A function call, whose name is the token read last."""

    @abstractmethod
    def cast(self) -> Expression:
        """CAST(...); the word itself is read."""

    def condition(self) -> Expression:
        """A search condition."""
        first = self.at
        expression = self.expression(OR)
        self.require_condition(expression, first)
        return expression

    def value(self) -> Expression:
        """A value expression."""
        first = self.at
        expression = self.expression(VALUE)
        if is_condition(expression):
            self.no_value(expression.span)
        if self.kinds[self.at] in _COMPARISONS:
            self.no_value(Span(self.starts[first], self.ends[self.at]))
        return expression

    def expression(self, least: int, left: Expression | None = None) -> Expression:
        """An expression whose operators bind at least as tightly as ``least``; ``left`` is its first operand if read."""
        outer, self.height = self.height, (self.height if left else 0)
        kinds = self.kinds
        first = self.at
        if left is None:
            left = _PREFIX.get(kinds[first], ExpressionParser._no_value_here)(self)
        chained = False
        while (precedence := _PRECEDENCE.get(kinds[self.at], 0)) >= least:
            kind = kinds[self.at]
            if precedence == PREDICATE:
                if chained:
                    self.fail("AND or OR", "comparisons do not chain; write a < b AND b < c")
                self.require_value(left)
                left = self._predicate(left, kind)
                chained = True
            elif kind in _ASSOCIATIVE:
                left = self._chain(left, kind, precedence)
            elif kind == "[":
                left = self._element(left)
            else:
                self.require_value(left)
                self.at += 1
                right = self.expression(precedence + 1)
                self.require_value(right)
                left = Binary(left.span.to(right.span), kind, left, right)
            self.grow()
        if outer > self.height:
            self.height = outer
        return left

    # --- operators ---

    def _chain(self, left: Expression, kind: str, precedence: int) -> Expression:
        """``left op b op c ...`` for an associative operator, as a balanced tree."""
        operands = [left]
        while self.take(kind):
            operands.append(self.expression(precedence + 1))
        for operand in operands:
            if precedence < PREDICATE:
                self.require_condition(operand)
            else:
                self.require_value(operand)
        self.grow(math.ceil(math.log2(len(operands))) - 1)
        return _balanced(kind, operands)

    def _predicate(self, left: Expression, kind: str) -> Expression:
        if kind in _COMPARISONS:
            self.at += 1
            if self.kinds[self.at] in ("ANY", "ALL", "SOME"):
                self.fail(A_VALUE, "ADQL has no ANY, ALL or SOME; use IN, EXISTS, MIN or MAX in the subquery")
            right = self.expression(VALUE)
            self.require_value(right)
            return Binary(left.span.to(right.span), "<>" if kind == "!=" else kind, left, right)
        negated = self.take("NOT")
        kind = self.kinds[self.at]
        if kind == "BETWEEN":
            return self._between(left, negated)
        if kind == "IN":
            return self._in(left, negated)
        if kind in ("LIKE", "ILIKE"):
            self.at += 1
            pattern = self.expression(VALUE)
            self.require_value(pattern)
            return Like(left.span.to(pattern.span), left, pattern, negated, kind == "ILIKE")
        if kind == "IS" and not negated:
            self.at += 1
            negated = self.take("NOT")
            self.expect("NULL", "NULL" if negated else "NULL or NOT NULL")
            return IsNull(Span(left.span.start, self.ends[self.at - 1]), left, negated)
        self.fail("BETWEEN, IN, LIKE or ILIKE after NOT")

    def _between(self, left: Expression, negated: bool) -> Expression:
        self.at += 1
        low = self.expression(VALUE)
        self.require_value(low)
        self.expect("AND", "AND between the two bounds of BETWEEN")
        high = self.expression(VALUE)
        self.require_value(high)
        return Between(left.span.to(high.span), left, low, high, negated)

    def _in(self, left: Expression, negated: bool) -> Expression:
        self.at += 1
        opening = self.at
        self.expect("(", "( after IN")
        self.enter()
        first: Expression | None = None
        if self.kinds[self.at] == "SELECT":
            query = self._subquery(opening)
            return InQuery(Span(left.span.start, self.ends[self.at - 1]), left, query, negated)
        if self.kinds[self.at] == "(":
            at = self.at
            first = self._parenthesis()
            if isinstance(first, ScalarSubquery) and self._query_ends_or_goes_on():
                query = self._subquery(opening, first.query)
                return InQuery(Span(left.span.start, self.ends[self.at - 1]), left, query, negated)
            first = self.expression(VALUE, first)
            self.require_value(first, at)
        elif self.kinds[self.at] == ")":
            self.fail("a value or a subquery", "IN takes at least one value")
        items = self.values(first)
        self.close(opening)
        self.depth -= 1
        return InList(Span(left.span.start, self.ends[self.at - 1]), left, items, negated)

    def values(self, first: Expression | None = None) -> tuple[Expression, ...]:
        """One or more values with commas between them."""
        items = [first or self.value()]
        while self.take(","):
            items.append(self.value())
        return tuple(items)

    def _element(self, array: Expression) -> Expression:
        opening = self.at
        if not isinstance(array, ColumnRef | FunctionCall | Element | ScalarSubquery | Cast | Case):
            self.fail("an operator", "only an array has elements: array[index]")
        self.at += 1
        self.enter()
        index = self.value()
        self.close(opening, "]")
        self.depth -= 1
        return Element(Span(array.span.start, self.ends[self.at - 1]), array, index)

    # --- operands ---

    def _number(self) -> Expression:
        at = self.at
        self.at = at + 1
        start = self.starts[at]
        end = self.ends[at]
        text = self.text[start:end]
        return NumberLiteral(Span(start, end), _number_value(text, Span(start, end)), text)

    def _string(self) -> Expression:
        """Pieces with a line end between them are one string (SQL-92)."""
        first = self.at
        value = self.token_text(first)[1:-1]
        self.at += 1
        while self.kinds[self.at] == STRING:
            if "\n" not in self.text[self.ends[self.at - 1] : self.starts[self.at]]:
                self.fail("an operator", "two strings are joined by ||; a quote inside a string is written twice: ''")
            value += self.token_text(self.at)[1:-1]
            self.at += 1
        return StringLiteral(self.span_from(first), value.replace("''", "'"))

    def _name(self) -> Expression:
        """A column reference or the call of a function whose name is not reserved."""
        first = self.at
        name = self.identifier("a column name")
        kinds = self.kinds
        if kinds[self.at] == "(":
            return self.call(first)
        if kinds[self.at] != ".":
            return ColumnRef(name.span, (name,))
        parts = [name]
        while self.take("."):
            parts.append(self.identifier("a column name after ."))
        if len(parts) > 4:
            raise AdqlSyntaxError(
                "a column has at most four parts: catalog.schema.table.column", self.span_from(first)
            )
        return ColumnRef(self.span_from(first), tuple(parts))

    def _reserved_function(self) -> Expression:
        first = self.at
        if self.kinds[first + 1] != "(":
            self._no_value_here()
        self.at += 1
        return self.call(first)

    def _cast(self) -> Expression:
        if self.kinds[self.at + 1] != "(":
            self._no_value_here()
        return self.cast()

    def _null(self) -> Expression:
        self.at += 1
        return NullLiteral(self.span_from(self.at - 1))

    def _boolean(self) -> Expression:
        self.at += 1
        return BooleanLiteral(self.span_from(self.at - 1), self.kinds[self.at - 1] == "TRUE")

    def _sign(self) -> Expression:
        first = self.at
        self.at += 1
        self.enter()
        operand = self.expression(SIGN)
        self.require_value(operand)
        self.depth -= 1
        self.height += 1
        return Unary(Span(self.starts[first], operand.span.end), self.kinds[first], operand)

    def _not(self) -> Expression:
        first = self.at
        self.at += 1
        self.enter()
        operand = self.expression(NOT)
        self.require_condition(operand)
        self.depth -= 1
        self.height += 1
        return Unary(Span(self.starts[first], operand.span.end), "NOT", operand)

    def _exists(self) -> Expression:
        first = self.at
        self.at += 1
        opening = self.at
        self.expect("(", "( after EXISTS")
        self.enter()
        query = self._subquery(opening)
        return Exists(self.span_from(first), query)

    def _parenthesis(self) -> Expression:
        """``( expression )`` or ``( query )``; further parentheses may hide which: ((SELECT ...) UNION ...)."""
        opening = self.at
        self.at += 1
        self.enter()
        if self.kinds[self.at] in ("SELECT", "WITH"):
            query = self._subquery(opening)
            return ScalarSubquery(self.span_from(opening), query)
        inner: Expression | None = None
        if self.kinds[self.at] == "(":
            inner = self._parenthesis()
            if isinstance(inner, ScalarSubquery) and self._query_ends_or_goes_on():
                query = self._subquery(opening, inner.query)
                return ScalarSubquery(self.span_from(opening), query)
        expression = self.expression(OR, inner)
        if self.kinds[self.at] == ",":
            self.fail(") to close the (", "ADQL has no row values (a, b); compare each value by itself")
        self.close(opening)
        self.depth -= 1
        self.height += 1
        return expression

    def _query_ends_or_goes_on(self) -> bool:
        return self.kinds[self.at] == ")" or self.kinds[self.at] in _QUERY_GOES_ON

    def _subquery(self, opening: int, first: Query | None = None) -> Query:
        """A query up to the bracket that closes the one at ``opening``, for which one level is open."""
        self.enter(SUBQUERY_LEVELS - 1)
        query = self.query(first)
        self.close(opening)
        self.depth -= SUBQUERY_LEVELS
        self.grow(SUBQUERY_LEVELS)
        return query

    def subquery(self) -> Query:
        """``( query )``"""
        opening = self.at
        self.expect("(")
        self.enter()
        return self._subquery(opening)

    def _case(self) -> Expression:
        first = self.at
        self.at += 1
        self.enter()
        operand = None if self.kinds[self.at] == "WHEN" else self.value()
        whens = []
        self.expect("WHEN")
        while True:
            start = self.at - 1
            condition = self.condition() if operand is None else self.value()
            self.expect("THEN")
            result = self.value()
            whens.append(When(self.span_from(start), condition, result))
            if not self.take("WHEN"):
                break
        otherwise = self.value() if self.take("ELSE") else None
        self.expect("END", "WHEN, ELSE or END" if otherwise is None else "END")
        self.depth -= 1
        self.height += 1
        return Case(self.span_from(first), operand, tuple(whens), otherwise)

    # --- values and conditions ---

    def require_value(self, expression: Expression, first: int = -1) -> None:
        if is_condition(expression):
            self.no_value(expression.span)

    def no_value(self, span: Span) -> NoReturn:
        raise AdqlSyntaxError(
            "a condition stands where a value is expected", span, "write CASE WHEN condition THEN 1 ELSE 0 END"
        )

    def require_condition(self, expression: Expression, first: int = -1) -> None:
        """A predicate, or a value that may be a boolean: a column, an element, CASE, COALESCE, a function not reserved."""
        if is_condition(expression) or isinstance(
            expression, ColumnRef | BooleanLiteral | Case | Element | ScalarSubquery
        ):
            return
        hint = "compare it with another value"
        if isinstance(expression, FunctionCall):
            name = expression.name.name.upper()
            if name not in RESERVED or name == "COALESCE":
                return
            if name in ("CONTAINS", "INTERSECTS"):
                hint = f"write 1 = {name}(...)"
        raise AdqlSyntaxError("a condition is expected here, this is a value", expression.span, hint)

    def _no_value_here(self) -> NoReturn:
        kind = self.kinds[self.at]
        if kind in RESERVED and self.kinds[self.at + 1] == "(":
            self.fail("a value", f"{kind} is a reserved word and no function of ADQL")
        self.fail("a value or a column name")


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


MAX_DIGITS = 400


def _number_value(text: str, span: Span) -> int | float:
    if len(text) > MAX_DIGITS:
        raise AdqlSyntaxError(f"this number has more than {MAX_DIGITS} characters", span)
    if text.isdecimal():
        return int(text)
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    value = float(text)
    if math.isinf(value):
        raise AdqlSyntaxError("this number is too large: the greatest is about 1.8e308", span)
    return value


_PREFIX: dict[str, Callable[[ExpressionParser], Expression]] = {
    WORD: ExpressionParser._name,
    NAME: ExpressionParser._name,
    NUMBER: ExpressionParser._number,
    STRING: ExpressionParser._string,
    "(": ExpressionParser._parenthesis,
    "+": ExpressionParser._sign,
    "-": ExpressionParser._sign,
    "~": ExpressionParser._sign,
    "NOT": ExpressionParser._not,
    "EXISTS": ExpressionParser._exists,
    "CASE": ExpressionParser._case,
    "CAST": ExpressionParser._cast,
    "NULL": ExpressionParser._null,
    "TRUE": ExpressionParser._boolean,
    "FALSE": ExpressionParser._boolean,
    **dict.fromkeys(ARGUMENTS, ExpressionParser._reserved_function),
}
