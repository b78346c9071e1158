"""ORDER BY, and the windows of functions: OVER (PARTITION BY ... ORDER BY ... frame)."""

from __future__ import annotations

from adql.errors import AdqlSyntaxError
from adql.syntax.lexer import NUMBER
from adql.syntax.nodes import Expression, Frame, OrderTerm, Window
from adql.syntax.operator_parser import OperatorParser

_BOUNDS = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")
_BOUND_SAID = "UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING or UNBOUNDED FOLLOWING"


class WindowParser(OperatorParser):
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
        expression = self.value_or_condition()
        descending = self.take("DESC")
        if not descending:
            self.take("ASC")
        return OrderTerm(self.span_from(first), expression, descending)

    def window(self) -> Window:
        """``OVER (...)``"""
        first = self.at
        self.at += 1
        opening = self.open()
        partition: tuple[Expression, ...] = ()
        if self.is_word("PARTITION", self.at):
            self.at += 1
            self.expect("BY", "BY after PARTITION")
            partition = self.values()
        order = self.order_by()
        frame = self._frame() if self.kinds[self.at] == "ROWS" or self.is_word("RANGE", self.at) else None
        self.close(opening)
        return Window(self.span_from(first), partition, order, frame)

    def _frame(self) -> Frame:
        first = self.at
        unit = self.texts[first].upper()
        self.at += 1
        if self.take("BETWEEN"):
            start = self._frame_bound()
            self.expect("AND", "AND between the two bounds of the frame")
            end = self._frame_bound()
        else:
            start, end = self._frame_bound(), ("CURRENT ROW", None)
        span = self.span_from(first)
        if start[0] == _BOUNDS[-1] or end[0] == _BOUNDS[0] or _BOUNDS.index(start[0]) > _BOUNDS.index(end[0]):
            raise AdqlSyntaxError("the frame ends before it begins", span)
        return Frame(span, unit, start, end)

    def _frame_bound(self) -> tuple[str, int | None]:
        if self.take("CURRENT"):
            self._expect_word("ROW")
            return "CURRENT ROW", None
        if self.is_word("UNBOUNDED", self.at):
            self.at += 1
            return f"UNBOUNDED {self._expect_word('PRECEDING', 'FOLLOWING')}", None
        if self.kinds[self.at] == NUMBER and not self.texts[self.at].isdecimal():
            self.fail(_BOUND_SAID, "n is whole: scale what is ordered by, ORDER BY x * 10 RANGE 5 PRECEDING")
        number = self.unsigned_integer(_BOUND_SAID)
        return self._expect_word("PRECEDING", "FOLLOWING"), number

    def _expect_word(self, *words: str) -> str:
        for word in words:
            if self.is_word(word, self.at):
                self.at += 1
                return word
        self.fail(" or ".join(words))
