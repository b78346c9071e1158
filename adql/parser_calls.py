"""Function calls with their windows, and CAST."""

from __future__ import annotations

from adql import arity
from adql.errors import AdqlSyntaxError
from adql.lexer import NUMBER
from adql.nodes import Cast, Expression, Frame, FunctionCall, Identifier, OrderTerm, Window
from adql.parser_expressions import ExpressionParser
from adql.words import ARGUMENTS, RESERVED, SET_FUNCTIONS

_CAST_TARGETS = frozenset({"CHAR", "VARCHAR", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "TIMESTAMP"}) | {
    "POINT",
    "CIRCLE",
    "POLYGON",
}
_CAST_SAID = "CHAR, VARCHAR, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, TIMESTAMP, POINT, CIRCLE or POLYGON"
_CAST_HINTS = {
    **dict.fromkeys(("FLOAT", "NUMERIC", "DECIMAL", "FLOAT8", "FLOAT64"), "write DOUBLE PRECISION"),
    **dict.fromkeys(("INT", "INT4", "INT32"), "write INTEGER"),
    **dict.fromkeys(("LONG", "INT8", "INT64"), "write BIGINT"),
    **dict.fromkeys(("TEXT", "STRING", "CHARACTER"), "write VARCHAR"),
    **dict.fromkeys(("DATE", "DATETIME"), "write TIMESTAMP"),
}

_BOUNDS = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")
_BOUND_SAID = "UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING or UNBOUNDED FOLLOWING"


class CallParser(ExpressionParser):
    def call(self, first: int) -> FunctionCall:
        kind = self.kinds[first]
        name = self._function_name(first)
        opening = self.at
        self.at += 1
        self.enter()
        args: tuple[Expression, ...] = ()
        distinct = star = False
        if kind == "COUNT" and self.take("*"):
            star = True
        elif kind in SET_FUNCTIONS:
            distinct = self.take("DISTINCT")
            if not distinct:
                self.take("ALL")
            args = self.values()
        elif self.kinds[self.at] != ")":
            args = self.values()
        self.close(opening)
        self.depth -= 1
        self.height += 1
        span = self.span_from(first)
        if kind in ARGUMENTS and not star and (wrong := arity.misfit(kind, args)):
            raise AdqlSyntaxError(wrong, span)
        over = None
        if self.is_word("OVER", self.at) and self.kinds[self.at + 1] == "(":
            over = self._window(kind)
            span = self.span_from(first)
        return FunctionCall(span, name, args, distinct, star, over)

    def _function_name(self, first: int) -> Identifier:
        """The name at token ``first``; it must be known if the parser was told which functions are."""
        start, end = self.starts[first], self.ends[first]
        name = Identifier(self.span_from(first), self.text[start:end], False)
        if self.text[start] == '"':
            raise AdqlSyntaxError("the name of a function is not quoted", name.span)
        if self.functions is not None and self.kinds[first] not in RESERVED and name.name.lower() not in self.functions:
            raise AdqlSyntaxError(f"there is no function {name.name}", name.span)
        return name

    # --- windows ---

    def _window(self, kind: str) -> Window:
        first = self.at
        if kind in RESERVED and kind not in SET_FUNCTIONS:
            self.fail("an operator", f"{kind} is no window function")
        opening = first + 1
        self.at += 2
        self.enter()
        partition: tuple[Expression, ...] = ()
        if self.is_word("PARTITION", self.at):
            self.at += 1
            self.expect("BY", "BY after PARTITION")
            partition = self.values()
        order = self.order_by()
        frame = self._frame() if self.kinds[self.at] == "ROWS" or self.is_word("RANGE", self.at) else None
        self.close(opening)
        self.depth -= 1
        self.height += 1
        return Window(self.span_from(first), partition, order, frame)

    def order_by(self) -> tuple[OrderTerm, ...]:
        """``ORDER BY ...``, or nothing."""
        if not self.take("ORDER"):
            return ()
        self.expect("BY", "BY after ORDER")
        terms = [self._order_term()]
        while self.take(","):
            terms.append(self._order_term())
        return tuple(terms)

    def _order_term(self) -> OrderTerm:
        first = self.at
        expression = self.value()
        descending = self.take("DESC")
        if not descending:
            self.take("ASC")
        if self.is_word("NULLS", self.at):
            self.fail("the next term", "ADQL has no NULLS FIRST or NULLS LAST")
        return OrderTerm(self.span_from(first), expression, descending)

    def _frame(self) -> Frame:
        first = self.at
        unit = self.token_text(first).upper()
        self.at += 1
        if self.take("BETWEEN"):
            start = self._bound()
            self.expect("AND", "AND between the two bounds of the frame")
            end = self._bound()
        else:
            start, end = self._bound(), ("CURRENT ROW", None)
        span = self.span_from(first)
        if start[0] == _BOUNDS[-1] or end[0] == _BOUNDS[0] or _BOUNDS.index(start[0]) > _BOUNDS.index(end[0]):
            raise AdqlSyntaxError("the frame ends before it begins", span)
        return Frame(span, unit, start, end)

    def _bound(self) -> tuple[str, int | None]:
        if self.take("CURRENT"):
            if not self.is_word("ROW", self.at):
                self.fail("ROW after CURRENT")
            self.at += 1
            return "CURRENT ROW", None
        number = None
        prefix = ""
        if self.is_word("UNBOUNDED", self.at):
            self.at += 1
            prefix = "UNBOUNDED "
        elif self.kinds[self.at] == NUMBER:
            number = self.unsigned_integer("ROWS or RANGE")
        else:
            self.fail(_BOUND_SAID)
        for side in ("PRECEDING", "FOLLOWING"):
            if self.is_word(side, self.at):
                self.at += 1
                return prefix + side, number
        self.fail("PRECEDING or FOLLOWING")

    # --- CAST ---

    def cast(self) -> Expression:
        first = self.at
        opening = first + 1
        self.at += 2
        self.enter()
        operand = self.value()
        self.expect("AS", "AS and a type")
        kind = self.kinds[self.at]
        if kind not in _CAST_TARGETS:
            self.fail(f"a type: {_CAST_SAID}", _CAST_HINTS.get(self.token_text(self.at).upper(), ""))
        self.at += 1
        length = None
        if kind == "DOUBLE":
            self.expect("PRECISION", "PRECISION after DOUBLE")
            kind = "DOUBLE PRECISION"
        elif kind in ("CHAR", "VARCHAR") and self.kinds[self.at] == "(":
            bracket = self.at
            self.at += 1
            length = self.unsigned_integer(f"{kind}(")
            self.close(bracket)
        self.close(opening)
        self.depth -= 1
        self.height += 1
        return Cast(self.span_from(first), operand, kind, length)
