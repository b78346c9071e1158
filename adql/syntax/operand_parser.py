"""Operands: literals, columns, function calls, CAST, CASE and whatever stands in parentheses."""

from __future__ import annotations

from typing import ClassVar

from adql.errors import AdqlSyntaxError, Fix, Hint
from adql.syntax import arity
from adql.syntax.hints.other_dialects import about_function
from adql.syntax.lexer import NAME, NUMBER, STRING, WORD, number_value
from adql.syntax.nodes import (
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
from adql.syntax.operator_parser import NOT, OR, SIGN
from adql.syntax.reserved_functions import ARGUMENTS, SET_FUNCTIONS
from adql.syntax.window_parser import WindowParser
from clickhouse_schema.reserved_words import RESERVED

_NUMBERS = ("SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE")
_TYPES = ("CHAR", "VARCHAR", "TIMESTAMP", *_NUMBERS, "POINT", "CIRCLE", "POLYGON")
_TYPES_SAID = f"a type: {', '.join(_TYPES[:-1])} or {_TYPES[-1]}".replace("DOUBLE", "DOUBLE PRECISION")
_TYPES_ELSEWHERE = {
    **dict.fromkeys(("FLOAT", "NUMERIC", "DECIMAL", "NUMBER", "FLOAT8", "FLOAT64", "MONEY"), "DOUBLE PRECISION"),
    **dict.fromkeys(("INT", "INT4", "INT32", "SIGNED"), "INTEGER"),
    **dict.fromkeys(("TINYINT", "INT2", "INT16"), "SMALLINT"),
    **dict.fromkeys(("LONG", "INT8", "INT64"), "BIGINT"),
    **dict.fromkeys(("FLOAT4", "FLOAT32"), "REAL"),
    **dict.fromkeys(("TEXT", "STRING", "CHARACTER", "VARCHAR2", "NVARCHAR", "NCHAR"), "VARCHAR"),
    **dict.fromkeys(("DATE", "DATETIME", "DATETIME2"), "TIMESTAMP"),
}


class OperandParser(WindowParser):
    # --- literals and columns ---

    def _number(self) -> Expression:
        at = self.at
        self.at = at + 1
        span, text = self.span_at(at), self.texts[at]
        return NumberLiteral(span, number_value(text, span, self.text), text)

    def _string(self) -> Expression:
        """Pieces with blanks, line ends or comments between them are one string (grammar of ADQL 2.0)."""
        first = self.at
        value = self.texts[first][1:-1].replace("''", "'")
        self.at = first + 1
        if self.kinds[self.at] != STRING:
            return StringLiteral(self.span_at(first), value)
        pieces = [value]
        while self.kinds[self.at] == STRING:
            pieces.append(self.texts[self.at][1:-1].replace("''", "'"))
            self.at += 1
        return StringLiteral(self.span_from(first), "".join(pieces))

    def _null(self) -> Expression:
        self.at += 1
        return NullLiteral(self.span_at(self.at - 1))

    def _boolean(self) -> Expression:
        self.at += 1
        return BooleanLiteral(self.span_at(self.at - 1), self.kinds[self.at - 1] == "TRUE")

    def _name(self) -> Expression:
        """A column reference, or the call of a function whose name is not reserved."""
        first = self.at
        name = self.identifier("a column name")
        kinds = self.kinds
        kind = kinds[self.at]
        if kind == "(":
            return self._call(first, name)
        if kind != ".":
            return ColumnRef(name.span, (name,))
        parts = [name]
        while kinds[self.at] == ".":
            self.at += 1
            parts.append(self.identifier("a column name after ."))
        if len(parts) > 4:
            raise AdqlSyntaxError("a column has at most four parts: catalog.schema.table.column", self.span_from(first))
        return ColumnRef(self.span_from(first), tuple(parts))

    # --- calls ---

    def _reserved_function(self) -> Expression:
        first = self.at
        if self.kinds[first + 1] != "(":
            self.no_operand()
        self.at += 1
        return self._call(first, Identifier(self.span_at(first), self.texts[first], False))

    def _call(self, first: int, name: Identifier) -> Expression:
        """The rest of a call, from its bracket."""
        kind = self.kinds[first]
        self._require_function(kind, name)
        opening = self.open()
        args: tuple[Expression, ...] = ()
        distinct = False
        star = kind == "COUNT" and self.take("*")
        if kind in SET_FUNCTIONS and not star:
            distinct = self.take("DISTINCT")
            if not distinct:
                self.take("ALL")
        if not star and (distinct or self.kinds[self.at] != ")"):
            args = self._arguments(name)
        self.close(opening)
        span = self.span_from(first)
        if kind in ARGUMENTS and not star and (wrong := arity.misfit(kind, args)):
            raise AdqlSyntaxError(wrong, span, arity.way_out(kind, args))
        if not (self.is_word("OVER", self.at) and self.kinds[self.at + 1] == "("):
            return FunctionCall(span, name, args, distinct, star)
        if kind in RESERVED and kind not in SET_FUNCTIONS:
            self.fail("an operator", f"{kind} is no window function")
        window = self.window()
        return FunctionCall(self.span_from(first), name, args, distinct, star, window)

    def _arguments(self, name: Identifier) -> tuple[Expression, ...]:
        """Of a function of another dialect the name is the fault, also where the arguments are not ADQL either."""
        try:
            return self.values()
        except AdqlSyntaxError:
            if hint := about_function(name.name, name.span):
                raise AdqlSyntaxError(f"there is no function {name.name}", name.span, hint) from None
            raise

    def _require_function(self, kind: str, name: Identifier) -> None:
        if name.delimited:
            raise AdqlSyntaxError("the name of a function is not put in quotes", name.span)
        if self.functions is not None and kind == WORD and name.name.lower() not in self.functions:
            raise AdqlSyntaxError(f"there is no function {name.name}", name.span)

    def _cast(self) -> Expression:
        first = self.at
        if self.kinds[first + 1] != "(":
            self.no_operand()
        self.at += 1
        opening = self.open()
        operand = self.value()
        self.expect("AS", "AS and a type")
        kind = self.kinds[self.at]
        if kind not in _TYPES:
            known = _TYPES_ELSEWHERE.get(self.texts[self.at].upper())
            fix = Fix(self.span_at(self.at), known or "")
            self.fail(_TYPES_SAID, Hint(f"write {known}", (fix,)) if known else "")
        self.at += 1
        length = None
        if kind == "DOUBLE":
            self.expect("PRECISION", "PRECISION after DOUBLE")
            kind = "DOUBLE PRECISION"
        elif kind in ("CHAR", "VARCHAR") and self.kinds[self.at] == "(":
            bracket = self.open(levels=0)
            length = self.unsigned_integer("a length in characters")
            self.close(bracket, levels=0)
        self.close(opening)
        return Cast(self.span_from(first), operand, kind, length)

    def _case(self) -> Expression:
        first = self.at
        self.at += 1
        self.enter()
        operand = None if self.kinds[self.at] == "WHEN" else self.value()
        whens: list[When] = []
        while self.kinds[self.at] == "WHEN" or not whens:
            start = self.at
            self.expect("WHEN")
            condition = self.condition() if operand is None else self.value()
            self.expect("THEN")
            result = self.value_or_condition()
            whens.append(When(self.span_from(start), condition, result))
        otherwise = self.value_or_condition() if self.take("ELSE") else None
        self.expect("END", "END" if otherwise else "WHEN, ELSE or END")
        self.leave()
        return Case(self.span_from(first), operand, tuple(whens), otherwise)

    # --- prefixes and parentheses ---

    def _sign(self) -> Expression:
        first = self.at
        self.at += 1
        self.enter()
        operand = self.expression(SIGN)
        self.require_value(operand)
        self.leave()
        return Unary(self.span_from(first), self.kinds[first], operand)

    def _not(self) -> Expression:
        first = self.at
        self.at += 1
        self.enter()
        operand = self.expression(NOT)
        self.require_condition(operand)
        self.leave()
        return Unary(self.span_from(first), "NOT", operand)

    def _exists(self) -> Expression:
        first = self.at
        self.at += 1
        query = self.close_query(self.open(said="( after EXISTS"))
        return Exists(self.span_from(first), query)

    def parenthesis(self) -> Expression:
        """Further parentheses may hide which of the two this is: ((SELECT ...) UNION ...), ((SELECT ...) + 1)."""
        opening = self.open()
        begin = self.at
        inner: Expression | None = None
        if self.kinds[begin] in ("SELECT", "WITH"):
            query = self.close_query(opening)
            return ScalarSubquery(self.span_from(opening), query)
        if self.kinds[begin] == "(":
            inner = self.parenthesis()
            if isinstance(inner, ScalarSubquery) and self.query_ends_or_goes_on():
                query = self.close_query(opening, inner.query)
                return ScalarSubquery(self.span_from(opening), query)
        expression = self.expression(OR, inner, begin)
        if self.kinds[self.at] == ",":
            self.fail(") to close the (")
        self.close(opening)
        return expression

    operands: ClassVar = {
        WORD: _name,
        NAME: _name,
        NUMBER: _number,
        STRING: _string,
        "(": parenthesis,
        "+": _sign,
        "-": _sign,
        "~": _sign,
        "NOT": _not,
        "EXISTS": _exists,
        "CASE": _case,
        "CAST": _cast,
        "NULL": _null,
        "TRUE": _boolean,
        "FALSE": _boolean,
        **dict.fromkeys(ARGUMENTS, _reserved_function),
    }
