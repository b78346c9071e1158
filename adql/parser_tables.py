"""FROM: tables, derived tables and joins."""

from __future__ import annotations

from adql.errors import AdqlSyntaxError, Span
from adql.lexer import NAME, NUMBER, WORD
from adql.nodes import (
    DerivedTable,
    Identifier,
    Join,
    Query,
    ScalarSubquery,
    Select,
    SelectItem,
    Star,
    TableName,
    TableReference,
)
from adql.parser_calls import CallParser
from adql.parser_cursor import SUBQUERY_LEVELS
from adql.parser_expressions import _QUERY_GOES_ON

_JOIN_WORDS = frozenset({"NATURAL", "INNER", "LEFT", "RIGHT", "FULL", "JOIN"})


class TableParser(CallParser):
    def tables(self) -> tuple[TableReference, ...]:
        """The table references after FROM."""
        tables = [self._table_reference()]
        while self.take(","):
            tables.append(self._table_reference())
        return tuple(tables)

    def _table_reference(self) -> TableReference:
        """A table with the joins that follow it, from the left."""
        return self._joins(self._table())

    def _joins(self, left: TableReference) -> TableReference:
        while self.kinds[self.at] in _JOIN_WORDS:
            natural = self.take("NATURAL")
            kind = self._join_kind()
            right = self._table()
            on = None
            using: tuple[Identifier, ...] = ()
            if not natural and self.take("ON"):
                on = self.condition()
            elif not natural and self.take("USING"):
                using = self._using()
            elif natural and self.kinds[self.at] in ("ON", "USING"):
                self.fail("the next table or clause", "NATURAL JOIN takes no condition: it joins on all common columns")
            left = Join(Span(left.span.start, self.ends[self.at - 1]), kind, natural, left, right, on, using)
            self.grow()
        return left

    def _join_kind(self) -> str:
        kind = self.kinds[self.at]
        if kind == "JOIN":
            kind = "INNER"
        elif kind in ("INNER", "LEFT", "RIGHT", "FULL"):
            self.at += 1
            if kind != "INNER":
                self.take("OUTER")
        self.expect("JOIN")
        return kind

    def _using(self) -> tuple[Identifier, ...]:
        opening = self.at
        self.expect("(", "( and the columns of USING")
        columns = [self.identifier("a column name")]
        while self.take(","):
            columns.append(self.identifier("a column name"))
        self.close(opening)
        return tuple(columns)

    def _table(self) -> TableReference:
        kind = self.kinds[self.at]
        if kind in (WORD, NAME):
            return self._table_name()
        if kind == "(":
            return self._parenthesised_table()
        self.fail("a table name or a subquery")

    def _table_name(self) -> TableName:
        first = self.at
        parts = [self.identifier("a table name")]
        while self.take("."):
            parts.append(self.identifier("a table name after ."))
        if len(parts) > 3:
            raise AdqlSyntaxError("a table has at most three parts: catalog.schema.table", self.span_from(first))
        if self.kinds[self.at] == "(":
            self.fail("the next table or clause", "ADQL has no table functions")
        alias = self._alias()
        sample = self._sample()
        return TableName(self.span_from(first), tuple(parts), alias, sample)

    def _alias(self) -> Identifier | None:
        if self.take("AS"):
            return self.identifier("a table alias (a name)")
        if self.kinds[self.at] == NAME or self.kinds[self.at] == WORD and not self._at_sample():
            return self.identifier("a table alias (a name)")
        return None

    def _at_sample(self) -> bool:
        return self.kinds[self.at] == WORD and self.kinds[self.at + 1] == "(" and self.is_word("TABLESAMPLE", self.at)

    def _sample(self) -> float | None:
        if not self._at_sample():
            return None
        opening = self.at + 1
        self.at += 2
        first = self.at
        self.expect(NUMBER, "a percentage")
        percent = float(self.token_text(first))
        if not 0 < percent <= 100:
            raise AdqlSyntaxError("a sample is more than 0 and at most 100 percent", self.span_from(first))
        self.close(opening)
        return percent

    def _parenthesised_table(self) -> TableReference:
        """``(query) AS name``, ``(join)``, or ``(join) AS name``, which is all columns of the join."""
        opening = self.at
        inner = self._table_or_query()
        if isinstance(inner, Join) and self.kinds[self.at] not in (WORD, NAME, "AS"):
            return inner
        query = inner if isinstance(inner, Query) else self._all_columns(inner)
        alias = self._alias()
        if alias is None:
            self.fail("a name for the subquery", "a subquery in FROM needs a name: (SELECT ...) AS q")
        return DerivedTable(self.span_from(opening), query, alias)

    def _table_or_query(self) -> TableReference | Query:
        """What is in parentheses. Which of the two it is may show only after further parentheses."""
        opening = self.at
        self.at += 1
        self.enter(SUBQUERY_LEVELS)
        inner: TableReference | Query
        if self.kinds[self.at] in ("SELECT", "WITH"):
            inner = self.query()
        elif self.kinds[self.at] == "(":
            first = self.at
            inner = self._table_or_query()
            if isinstance(inner, Query) and self.kinds[self.at] in _QUERY_GOES_ON:
                inner = self.query(inner)
            elif isinstance(inner, Query) and self.kinds[self.at] != ")" or self.kinds[self.at] in (WORD, NAME, "AS"):
                inner = self._joins(self._named(inner, first))
            elif isinstance(inner, TableReference):
                inner = self._joins(inner)
        else:
            inner = self._table_reference()
        self.close(opening)
        if isinstance(inner, TableReference) and not isinstance(inner, Join):
            raise AdqlSyntaxError("only joins and subqueries stand in parentheses", self.span_from(opening))
        self.depth -= SUBQUERY_LEVELS
        self.grow(SUBQUERY_LEVELS)
        return inner

    def _named(self, inner: TableReference | Query, first: int) -> DerivedTable:
        query = inner if isinstance(inner, Query) else self._all_columns(inner)
        alias = self._alias()
        if alias is None:
            self.fail("a name for the subquery", "a subquery in FROM needs a name: (SELECT ...) AS q")
        return DerivedTable(self.span_from(first), query, alias)

    def _all_columns(self, table: TableReference) -> Select:
        """``SELECT * FROM table``"""
        star = SelectItem(table.span, Star(table.span), None)
        return Select(table.span, (), None, False, None, (star,), (table,), None, (), None)
