"""FROM: tables, derived tables and joins."""

from __future__ import annotations

from typing import NoReturn

from adql.errors import AdqlSyntaxError, Fix, Hint
from adql.syntax.hints.other_dialects import about_function
from adql.syntax.lexer import NAME, NUMBER, WORD, number_value
from adql.syntax.nodes import (
    DerivedTable,
    Identifier,
    Join,
    Query,
    Sample,
    Select,
    SelectItem,
    Star,
    TableName,
    TableReference,
)
from adql.syntax.operand_parser import OperandParser
from clickhouse_schema.reserved_words import RESERVED

_JOIN_WORDS = frozenset({"NATURAL", "CROSS", "INNER", "LEFT", "RIGHT", "FULL", "JOIN"})
_ALIAS = (WORD, NAME, "AS")
_IN_NAMES = ("/", "-", "+")


class TableParser(OperandParser):
    def tables(self) -> tuple[TableReference, ...]:
        """The table references after FROM."""
        tables = [self._table_reference()]
        while self.take(","):
            tables.append(self._table_reference())
        return tuple(tables)

    def _table_reference(self) -> TableReference:
        outer, self.height = self.height, 0
        first = self.at
        table = self._joins(self._table(), first)
        self.height = max(outer, self.height)
        return table

    def _joins(self, left: TableReference, first: int) -> TableReference:
        """``left``, which began at token ``first``, with the joins that follow it, from the left."""
        while self.kinds[self.at] in _JOIN_WORDS:
            natural = self.take("NATURAL")
            kind = "CROSS" if not natural and self.take("CROSS") else self._join_kind()
            self.expect("JOIN")
            right = self._table()
            on = None
            using: tuple[Identifier, ...] = ()
            if (natural or kind == "CROSS") and self.kinds[self.at] in ("ON", "USING"):
                self._fail_with_condition(natural)
            if self.take("ON"):
                on = self.condition()
            elif self.take("USING"):
                using = self._using()
            left = Join(self.span_from(first), kind, natural, left, right, on, using)
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
        return kind

    def _fail_with_condition(self, natural: bool) -> NoReturn:
        hint = "CROSS JOIN takes no condition: it pairs all rows; leave CROSS out"
        if natural:
            hint = "NATURAL JOIN takes no condition: it joins on all common columns"
        self.fail("the next table or clause", hint)

    def _using(self) -> tuple[Identifier, ...]:
        opening = self.open(levels=0, said="( and the columns of USING")
        columns = [self.identifier("a column name")]
        while self.take(","):
            columns.append(self.identifier("a column name"))
        self.close(opening, levels=0)
        return tuple(columns)

    # --- one table ---

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
            hint = about_function(parts[-1].name, parts[-1].span)
            self.fail("the next table or clause", hint or "ADQL has no table functions")
        if self.kinds[self.at] in _IN_NAMES and self._is_glued(self.at):
            self._fail_unquoted(self.at - 1)
        alias = None if self._at_sample() else self._alias()
        sample = self._sample() if self._at_sample() else None
        return TableName(self.span_from(first), tuple(parts), alias, sample)

    def _is_glued(self, at: int) -> bool:
        """Whether no blank stands before the token."""
        return self.starts[at] == self.ends[at - 1]

    def _fail_unquoted(self, first: int) -> NoReturn:
        """A name as VizieR's I/239/hip_main: all that follows its first word without a blank belongs to it."""
        while (self.kinds[self.at] in (*_IN_NAMES, ".", WORD, NUMBER) or self.kinds[self.at] in RESERVED) and (
            self._is_glued(self.at)
        ):
            self.at += 1
        span = self.span_from(first)
        name = self.text[span.start : span.end]
        hint = f'a name with other characters than letters, digits and _ must be put in double quotes: "{name}"'
        raise AdqlSyntaxError(f"{name} is no name without quotes", span, Hint(hint, (Fix(span, f'"{name}"'),)))

    def _alias(self) -> Identifier | None:
        if self.take("AS") or self.kinds[self.at] in (WORD, NAME):
            return self.identifier("an alias (a name)")
        return None

    def _at_sample(self) -> bool:
        if not self.is_word("TABLESAMPLE", self.at):
            return False
        after = self.at + 2 if self.is_word("BERNOULLI", self.at + 1) else self.at + 1
        return self.kinds[after] == "("

    def _sample(self) -> Sample:
        first = self.at
        self.at += 2 if self.is_word("BERNOULLI", self.at + 1) else 1
        opening = self.open(levels=0)
        number = self.at
        self.expect(NUMBER, "a percentage")
        percent = float(number_value(self.texts[number], self.span_at(number)))
        if not 0 < percent <= 100:
            raise AdqlSyntaxError("a sample is more than 0 and at most 100 percent", self.span_at(number))
        self.close(opening, levels=0)
        seed = 0
        if self.is_word("REPEATABLE", self.at) and self.kinds[self.at + 1] == "(":
            self.at += 1
            opening = self.open(levels=0)
            seed = self.unsigned_integer("a whole number as the seed")
            self.close(opening, levels=0)
        return Sample(self.span_from(first), percent, seed)

    # --- parentheses ---

    def _parenthesised_table(self) -> TableReference:
        """``(query) AS name``, ``(join)``, or ``(join) AS name``, which has all columns of the join."""
        first = self.at
        return self._named(self._join_or_query(), first)

    def _join_or_query(self) -> Join | Query:
        """What is in parentheses. Further parentheses may hide which of the two it is: ((SELECT ...) AS q JOIN ...)."""
        opening = self.open()
        first = self.at
        if self.kinds[first] in ("SELECT", "WITH"):
            return self.close_query(opening)
        outer, self.height = self.height, 0
        if self.kinds[first] != "(":
            table = self._table_reference()
        else:
            inner = self._join_or_query()
            if isinstance(inner, Query) and self.query_ends_or_goes_on():
                return self.close_query(opening, inner)
            table = self._joins(self._named(inner, first), first)
        self.close(opening)
        self.height = max(outer, self.height)
        if not isinstance(table, Join):
            raise AdqlSyntaxError(
                "only a join or a subquery stands in parentheses", self.span_from(opening), "leave the parentheses out"
            )
        return table

    def _named(self, inner: Join | Query, first: int) -> TableReference:
        if isinstance(inner, Join) and self.kinds[self.at] not in _ALIAS:
            return inner
        query = inner if isinstance(inner, Query) else self._all_columns(inner)
        alias = self._alias()
        if alias is None:
            self.fail("a name for the subquery", "a subquery in FROM needs a name: (SELECT ...) AS q")
        return DerivedTable(self.span_from(first), query, alias)

    def _all_columns(self, join: Join) -> Select:
        """``SELECT * FROM join``"""
        star = SelectItem(join.span, Star(join.span), None)
        return Select(join.span, (), None, False, None, (star,), (join,), None, (), None)
