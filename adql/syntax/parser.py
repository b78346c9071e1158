"""ADQL text to the syntax tree: recursive descent over the closed grammar of ADQL 2.1 and Skyhouse's extensions.

Extensions: CROSS JOIN, CASE, window functions, TRUE and FALSE, 0x literals, ~ & | ^, array elements, subqueries as
values, boolean columns as conditions, TABLESAMPLE (percent). One semicolon may end the query.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from adql.errors import AdqlSyntaxError
from adql.syntax.from_parser import TableParser
from adql.syntax.hints.other_dialects import WORDS
from adql.syntax.lexer import END, NAME, WORD
from adql.syntax.nodes import (
    CommonTable,
    DerivedTable,
    Expression,
    Identifier,
    Query,
    Select,
    SelectItem,
    SetOperation,
    Star,
    Statement,
)


def parse(text: str, functions: Collection[str] | None = None) -> Statement:
    """The tree of one query.

    ``functions`` are the names, in lower case, of all functions that are not reserved words; None leaves unknown ones
    to the resolver. Raises AdqlSyntaxError.
    """
    parser = Parser(text, functions)
    try:
        return parser.statement()
    except RecursionError:  # the caller stands deep in the stack already
        raise parser.too_deep() from None


class Parser(TableParser):
    def statement(self) -> Statement:
        if self.kinds[self.at] == END:
            self.fail("a query")
        common = self._with() if self.take("WITH") else ()
        query = self.query()
        span = self.span_from(0)
        self.take(";")
        if self.kinds[self.at] != END:
            self.fail("the end of the query")
        return Statement(span, common, query)

    def _with(self) -> tuple[CommonTable, ...]:
        tables = []
        while True:
            first = self.at
            name = self.identifier("the name of a common table")
            if self.kinds[self.at] == "(":
                self.fail("AS", "name the columns inside, SELECT a AS name")
            self.expect("AS", "AS (SELECT ...)")
            query = self.subquery()
            tables.append(CommonTable(self.span_from(first), name, query))
            if not self.take(","):
                return tuple(tables)

    # --- select expressions ---

    def query(self, first: Query | None = None) -> Query:
        start = first.span if first else self.span_at(self.at)
        enclosed = first is not None or self.kinds[self.at] == "("
        query = self._union(first)
        order = self.order_by()
        offset = self.unsigned_integer("a whole number after OFFSET") if self.take("OFFSET") else None
        if not order and offset is None:
            return query
        limited = query.offset is not None or (isinstance(query, Select) and query.top is not None)
        if enclosed and (query.order_by or limited):
            query = _as_table(query)
        return replace(query, span=start.to(self.span_at(self.at - 1)), order_by=order, offset=offset)

    def _union(self, first: Query | None) -> Query:
        outer = self.height
        if first is None:
            self.height = 0
        left = self._intersect(first)
        while (op := self.kinds[self.at]) in ("UNION", "EXCEPT"):
            self.at += 1
            keep = self._set_quantifier()
            right = self._intersect(None)
            left = SetOperation(left.span.to(right.span), (), None, op, keep, left, right)
            self.grow()
        self.height = max(outer, self.height)
        return left

    def _intersect(self, first: Query | None) -> Query:
        left = first or self._operand()
        while self.take("INTERSECT"):
            keep = self._set_quantifier()
            right = self._operand()
            left = SetOperation(left.span.to(right.span), (), None, "INTERSECT", keep, left, right)
            self.grow()
        return left

    def _set_quantifier(self) -> bool:
        if self.kinds[self.at] == "DISTINCT":
            self.fail("ALL or SELECT", "without ALL duplicates are removed; DISTINCT is not written")
        return self.take("ALL")

    def _operand(self) -> Query:
        if self.kinds[self.at] == "(":
            return self.subquery()
        if self.kinds[self.at] == "SELECT":
            return self._select()
        self.fail("SELECT" if self.at else "SELECT or WITH")

    def _select(self) -> Select:
        first = self.at
        self.at += 1
        distinct = self.take("DISTINCT")
        if not distinct:
            self.take("ALL")
        top = self.unsigned_integer("a whole number after TOP") if self.take("TOP") else None
        items = [self._select_item()]
        while self.take(","):
            items.append(self._select_item())
        self.expect("FROM")
        tables = self.tables()
        where = self.condition() if self.take("WHERE") else None
        group_by: tuple[Expression, ...] = ()
        if self.take("GROUP"):
            self.expect("BY", "BY after GROUP")
            group_by = self._group_terms()
        having = self.condition() if self.take("HAVING") else None
        return Select(self.span_from(first), (), None, distinct, top, tuple(items), tables, where, group_by, having)

    def _group_terms(self) -> tuple[Expression, ...]:
        terms = [self.value_or_condition()]
        while self.take(","):
            terms.append(self.value_or_condition())
        return tuple(terms)

    def _select_item(self) -> SelectItem:
        first = self.at
        if self.take("*"):
            span = self.span_from(first)
            return SelectItem(span, Star(span), None)
        if star := self._qualified_star():
            return SelectItem(star.span, star, None)
        expression = self.value_or_condition()
        alias = None
        if self.is_word("OVER", self.at) and self.kinds[self.at - 1] == ")":
            self.at += 1
            self.fail("the window of OVER", f"{WORDS['OVER']}; a column is called so by AS OVER")
        if self.take("AS") or self.kinds[self.at] in (WORD, NAME):
            alias = self.identifier("a column alias (a name)")
        return SelectItem(self.span_from(first), expression, alias)

    def _qualified_star(self) -> Star | None:
        """``[[catalog.]schema.]table.*``"""
        kinds = self.kinds
        at = first = self.at
        while kinds[at] in (WORD, NAME) and kinds[at + 1] == ".":
            at += 2
        if at == first or kinds[at] != "*":
            return None
        parts: list[Identifier] = []
        while not self.take("*"):
            parts.append(self.identifier("a table name"))
            self.expect(".")
        if len(parts) > 3:
            raise AdqlSyntaxError("a table has at most three parts: catalog.schema.table", self.span_from(first))
        return Star(self.span_from(first), tuple(parts))


def _as_table(query: Query) -> Select:
    """``SELECT * FROM (query)``: a query in parentheses that has its own order or limit, ordered once more."""
    star = SelectItem(query.span, Star(query.span), None)
    table = DerivedTable(query.span, query, Identifier(query.span, "query", True))
    return Select(query.span, (), None, False, None, (star,), (table,), None, (), None)
