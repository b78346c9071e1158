"""Productions of FROM: tables, derived tables and joins."""

from __future__ import annotations

from typing import NoReturn

from adql.errors import AdqlSyntaxError, Fix, Hint
from adql.syntax.cursor import Cursor
from adql.syntax.expression_grammar import is_query_operand, parse_condition, parse_query_to_bracket
from adql.syntax.hints.other_dialects import find_function_hint
from adql.syntax.lexer import token_to_number
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
from adql.syntax.token_kinds import NAME, NUMBER, WORD
from clickhouse_schema.reserved_words import RESERVED

_JOIN_WORDS = frozenset({"NATURAL", "CROSS", "INNER", "LEFT", "RIGHT", "FULL", "JOIN"})
_ALIAS = (WORD, NAME, "AS")
_NAME_SYMBOLS = ("/", "-", "+")
_NAME_PARTS = (*_NAME_SYMBOLS, ".", WORD, NUMBER)


def parse_tables(cursor: Cursor) -> tuple[TableReference, ...]:
    """Read the table references after FROM."""
    tables = [_parse_table_reference(cursor)]
    while cursor.take(","):
        tables.append(_parse_table_reference(cursor))
    return tuple(tables)


def _parse_table_reference(cursor: Cursor) -> TableReference:
    outer, cursor.height = cursor.height, 0
    first = cursor.at
    table = _parse_joins(cursor, _parse_table(cursor), first)
    cursor.height = max(outer, cursor.height)
    return table


def _parse_joins(cursor: Cursor, left: TableReference, first: int) -> TableReference:
    """Read the joins that follow ``left``, whose first token is ``first``."""
    while cursor.kinds[cursor.at] in _JOIN_WORDS:
        natural = cursor.take("NATURAL")
        kind = "CROSS" if not natural and cursor.take("CROSS") else _parse_join_kind(cursor)
        cursor.expect("JOIN")
        right = _parse_table(cursor)
        on = None
        using: tuple[Identifier, ...] = ()
        if (natural or kind == "CROSS") and cursor.kinds[cursor.at] in ("ON", "USING"):
            _refuse_join_condition(cursor, natural)
        if cursor.take("ON"):
            on = parse_condition(cursor)
        elif cursor.take("USING"):
            using = _parse_using(cursor)
        left = Join(cursor.span_from(first), kind, natural, left, right, on, using)
        cursor.add_height()
    return left


def _parse_join_kind(cursor: Cursor) -> str:
    kind = cursor.kinds[cursor.at]
    if kind == "JOIN":
        kind = "INNER"
    elif kind in ("INNER", "LEFT", "RIGHT", "FULL"):
        cursor.at += 1
        if kind != "INNER":
            cursor.take("OUTER")
    return kind


def _refuse_join_condition(cursor: Cursor, natural: bool) -> NoReturn:
    hint = "CROSS JOIN takes no condition: it pairs all rows; remove CROSS"
    if natural:
        hint = "NATURAL JOIN takes no condition: it joins on all common columns"
    cursor.fail("the next table or clause", hint)


def _parse_using(cursor: Cursor) -> tuple[Identifier, ...]:
    opening = cursor.open_bracket(levels=0, expected="( and the columns of USING")
    columns = [cursor.read_identifier("a column name")]
    while cursor.take(","):
        columns.append(cursor.read_identifier("a column name"))
    cursor.close_bracket(opening, levels=0)
    return tuple(columns)


# --- one table ---


def _parse_table(cursor: Cursor) -> TableReference:
    kind = cursor.kinds[cursor.at]
    if kind in (WORD, NAME):
        return _parse_table_name(cursor)
    if kind == "(":
        return _parse_parenthesised_table(cursor)
    cursor.fail("a table name or a subquery")


def _parse_table_name(cursor: Cursor) -> TableName:
    first = cursor.at
    parts = [cursor.read_identifier("a table name")]
    while cursor.take("."):
        parts.append(cursor.read_identifier("a table name after ."))
    if len(parts) > 3:
        raise AdqlSyntaxError("a table name has at most three parts: catalog.schema.table", cursor.span_from(first))
    if cursor.kinds[cursor.at] == "(":
        hint = find_function_hint(parts[-1].name, parts[-1].span)
        cursor.fail("the next table or clause", hint or "ADQL has no table functions")
    if cursor.kinds[cursor.at] in _NAME_SYMBOLS and _is_glued(cursor, cursor.at):
        _refuse_unquoted_name(cursor, cursor.at - 1)
    alias = None if _is_at_sample(cursor) else _parse_alias(cursor)
    sample = _parse_sample(cursor) if _is_at_sample(cursor) else None
    return TableName(cursor.span_from(first), tuple(parts), alias, sample)


def _is_glued(cursor: Cursor, at: int) -> bool:
    """Return whether the token follows the previous token without a blank."""
    return cursor.starts[at] == cursor.ends[at - 1]


def _is_name_part(kind: str) -> bool:
    return kind in _NAME_PARTS or kind in RESERVED


def _refuse_unquoted_name(cursor: Cursor, first: int) -> NoReturn:
    """Raise the error for an unquoted name such as VizieR's I/239/hip_main, which ends at the next blank."""
    while _is_glued(cursor, cursor.at) and _is_name_part(cursor.kinds[cursor.at]):
        cursor.at += 1
    span = cursor.span_from(first)
    name = cursor.text[span.start : span.end]
    hint = f'a name with characters other than letters, digits and _ must be put in double quotes: "{name}"'
    raise AdqlSyntaxError(f"{name} cannot be a name without quotes", span, Hint(hint, (Fix(span, f'"{name}"'),)))


def _parse_alias(cursor: Cursor) -> Identifier | None:
    if cursor.take("AS") or cursor.kinds[cursor.at] in (WORD, NAME):
        return cursor.read_identifier("an alias (a name)")
    return None


def _is_at_sample(cursor: Cursor) -> bool:
    if not cursor.is_word("TABLESAMPLE", cursor.at):
        return False
    after = cursor.at + 2 if cursor.is_word("BERNOULLI", cursor.at + 1) else cursor.at + 1
    return cursor.kinds[after] == "("


def _parse_sample(cursor: Cursor) -> Sample:
    first = cursor.at
    cursor.at += 2 if cursor.is_word("BERNOULLI", cursor.at + 1) else 1
    opening = cursor.open_bracket(levels=0)
    number = cursor.at
    cursor.expect(NUMBER, "a percentage")
    percent = float(token_to_number(cursor.texts[number], cursor.span_at(number)))
    if not 0 < percent <= 100:
        raise AdqlSyntaxError("the percentage of a sample is more than 0 and at most 100", cursor.span_at(number))
    cursor.close_bracket(opening, levels=0)
    seed = 0
    if cursor.is_word("REPEATABLE", cursor.at) and cursor.kinds[cursor.at + 1] == "(":
        cursor.at += 1
        opening = cursor.open_bracket(levels=0)
        seed = cursor.read_unsigned_integer("a whole number as the seed")
        cursor.close_bracket(opening, levels=0)
    return Sample(cursor.span_from(first), percent, seed)


# --- parentheses ---


def _parse_parenthesised_table(cursor: Cursor) -> TableReference:
    """Read ``(query) AS name``, ``(join)``, or ``(join) AS name``, which has all columns of the join."""
    first = cursor.at
    return _name_table(cursor, _parse_join_or_query(cursor), first)


def _parse_join_or_query(cursor: Cursor) -> Join | Query:
    """Read ``( join )`` or ``( query )``.

    After inner parentheses, only the next token decides which it is: ((SELECT ...) AS q JOIN ...).
    """
    opening = cursor.open_bracket()
    first = cursor.at
    if cursor.kinds[first] in ("SELECT", "WITH"):
        return parse_query_to_bracket(cursor, opening)
    outer, cursor.height = cursor.height, 0
    if cursor.kinds[first] != "(":
        table = _parse_table_reference(cursor)
    else:
        inner = _parse_join_or_query(cursor)
        if isinstance(inner, Query) and is_query_operand(cursor):
            return parse_query_to_bracket(cursor, opening, inner)
        table = _parse_joins(cursor, _name_table(cursor, inner, first), first)
    cursor.close_bracket(opening)
    cursor.height = max(outer, cursor.height)
    if not isinstance(table, Join):
        raise AdqlSyntaxError(
            "only a join or a subquery can be in parentheses", cursor.span_from(opening), "remove the parentheses"
        )
    return table


def _name_table(cursor: Cursor, inner: Join | Query, first: int) -> TableReference:
    if isinstance(inner, Join) and cursor.kinds[cursor.at] not in _ALIAS:
        return inner
    query = inner if isinstance(inner, Query) else select_all(inner)
    alias = _parse_alias(cursor)
    if alias is None:
        cursor.fail("a name for the subquery", "a subquery in FROM needs a name: (SELECT ...) AS q")
    return DerivedTable(cursor.span_from(first), query, alias)


def select_all(table: TableReference) -> Select:
    """Return ``SELECT * FROM table``."""
    star = SelectItem(table.span, Star(table.span), None)
    return Select(
        table.span,
        order_by=(),
        offset=None,
        distinct=False,
        top=None,
        items=(star,),
        from_=(table,),
        where=None,
        group_by=(),
        having=None,
    )
