"""The parser: recursive descent over the closed grammar of ADQL 2.1 and Skyhouse's extensions.

Extensions: CROSS JOIN, CASE, window functions, TRUE and FALSE, 0x literals, ~ & | ^, array elements, subqueries as
values, boolean columns as conditions, TABLESAMPLE (percent). One semicolon may end the query.
"""

from __future__ import annotations

from collections.abc import Collection

from adql.errors import AdqlSyntaxError
from adql.node_classes import replace
from adql.syntax.cursor import Cursor
from adql.syntax.expression_grammar import parse_condition, parse_order_by, parse_subquery, parse_value_or_condition
from adql.syntax.from_grammar import parse_tables, select_all
from adql.syntax.hints.other_dialects import WORD_HINTS
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
from adql.syntax.operand_grammar import OPERANDS
from adql.syntax.token_kinds import END, NAME, WORD


def parse(text: str, functions: Collection[str] | None = None) -> Statement:
    """Parse one query.

    Parameters
    ----------
    text
        The query.
    functions
        The names, in lower case, of all functions that are not reserved words; None to leave unknown functions to the
        resolver.

    Returns
    -------
    Statement
        The syntax tree.

    Raises
    ------
    AdqlSyntaxError
        If the text does not follow the grammar, is too long or is too deeply nested.
    """
    cursor = Cursor(text, functions, OPERANDS, _parse_query)
    try:
        return _parse_statement(cursor)
    except RecursionError:  # the caller has used up most of the stack
        raise cursor.make_depth_error() from None


def check_condition(text: str) -> None:
    """Check that a text is one search condition, as after WHERE.

    Parameters
    ----------
    text
        The condition.

    Raises
    ------
    AdqlSyntaxError
        If it is not.
    """
    cursor = Cursor(text, None, OPERANDS, _parse_query)
    try:
        parse_condition(cursor)
    except RecursionError:  # the caller has used up most of the stack
        raise cursor.make_depth_error() from None
    if cursor.kinds[cursor.at] != END:
        cursor.fail("the end of the condition")


def _parse_statement(cursor: Cursor) -> Statement:
    if cursor.kinds[cursor.at] == END:
        cursor.fail("a query")
    common = _parse_common_tables(cursor) if cursor.take("WITH") else ()
    query = _parse_query(cursor, None)
    span = cursor.span_from(0)
    cursor.take(";")
    if cursor.kinds[cursor.at] != END:
        cursor.fail("the end of the query")
    return Statement(span, common, query)


def _parse_common_tables(cursor: Cursor) -> tuple[CommonTable, ...]:
    tables = []
    while True:
        first = cursor.at
        name = cursor.read_identifier("the name of a common table")
        if cursor.kinds[cursor.at] == "(":
            cursor.fail("AS", "name the columns in the subquery: SELECT a AS name")
        cursor.expect("AS", "AS (SELECT ...)")
        query = parse_subquery(cursor)
        tables.append(CommonTable(cursor.span_from(first), name, query))
        if not cursor.take(","):
            return tuple(tables)


# --- select expressions ---


def _parse_query(cursor: Cursor, first: Query | None) -> Query:
    start = first.span if first else cursor.span_at(cursor.at)
    enclosed = first is not None or cursor.kinds[cursor.at] == "("
    query = _parse_union(cursor, first)
    order = parse_order_by(cursor)
    offset = cursor.read_unsigned_integer("a whole number after OFFSET") if cursor.take("OFFSET") else None
    if not order and offset is None:
        return query
    limited = query.offset is not None or (isinstance(query, Select) and query.top is not None)
    if enclosed and (query.order_by or limited):
        query = _wrap_query(query)
    span = start.extend_to(cursor.span_at(cursor.at - 1))
    return replace(query, span=span, order_by=order, offset=offset)


def _parse_union(cursor: Cursor, first: Query | None) -> Query:
    outer = cursor.height
    if first is None:
        cursor.height = 0
    left = _parse_intersection(cursor, first)
    while (op := cursor.kinds[cursor.at]) in ("UNION", "EXCEPT"):
        cursor.at += 1
        keep = _parse_set_quantifier(cursor)
        right = _parse_intersection(cursor, None)
        left = SetOperation(left.span.extend_to(right.span), (), None, op, keep, left, right)
        cursor.add_height()
    cursor.height = max(outer, cursor.height)
    return left


def _parse_intersection(cursor: Cursor, first: Query | None) -> Query:
    left = first or _parse_query_operand(cursor)
    while cursor.take("INTERSECT"):
        keep = _parse_set_quantifier(cursor)
        right = _parse_query_operand(cursor)
        left = SetOperation(left.span.extend_to(right.span), (), None, "INTERSECT", keep, left, right)
        cursor.add_height()
    return left


def _parse_set_quantifier(cursor: Cursor) -> bool:
    if cursor.kinds[cursor.at] == "DISTINCT":
        cursor.fail("ALL or SELECT", "remove DISTINCT: duplicates are removed by default")
    return cursor.take("ALL")


def _parse_query_operand(cursor: Cursor) -> Query:
    if cursor.kinds[cursor.at] == "(":
        return parse_subquery(cursor)
    if cursor.kinds[cursor.at] == "SELECT":
        return _parse_select(cursor)
    cursor.fail("SELECT" if cursor.at else "SELECT or WITH")


def _parse_select(cursor: Cursor) -> Select:
    first = cursor.at
    cursor.at += 1
    distinct = cursor.take("DISTINCT")
    if not distinct:
        cursor.take("ALL")
    top = cursor.read_unsigned_integer("a whole number after TOP") if cursor.take("TOP") else None
    items = [_parse_select_item(cursor)]
    while cursor.take(","):
        items.append(_parse_select_item(cursor))
    cursor.expect("FROM")
    tables = parse_tables(cursor)
    where = parse_condition(cursor) if cursor.take("WHERE") else None
    group_by: tuple[Expression, ...] = ()
    if cursor.take("GROUP"):
        cursor.expect("BY", "BY after GROUP")
        group_by = _parse_group_terms(cursor)
    having = parse_condition(cursor) if cursor.take("HAVING") else None
    span = cursor.span_from(first)
    return Select(span, (), None, distinct, top, tuple(items), tables, where, group_by, having)


def _parse_group_terms(cursor: Cursor) -> tuple[Expression, ...]:
    terms = [parse_value_or_condition(cursor)]
    while cursor.take(","):
        terms.append(parse_value_or_condition(cursor))
    return tuple(terms)


def _parse_select_item(cursor: Cursor) -> SelectItem:
    first = cursor.at
    if cursor.take("*"):
        span = cursor.span_from(first)
        return SelectItem(span, Star(span), None)
    if star := _parse_qualified_star(cursor):
        return SelectItem(star.span, star, None)
    expression = parse_value_or_condition(cursor)
    alias = None
    if cursor.is_word("OVER", cursor.at) and cursor.kinds[cursor.at - 1] == ")":
        cursor.at += 1
        cursor.fail("the window of OVER", f"{WORD_HINTS['OVER']}; to name a column OVER, write AS OVER")
    if cursor.take("AS") or cursor.kinds[cursor.at] in (WORD, NAME):
        alias = cursor.read_identifier("a column alias (a name)")
    return SelectItem(cursor.span_from(first), expression, alias)


def _parse_qualified_star(cursor: Cursor) -> Star | None:
    """Read ``[[catalog.]schema.]table.*`` if it follows."""
    kinds = cursor.kinds
    at = first = cursor.at
    while kinds[at] in (WORD, NAME) and kinds[at + 1] == ".":
        at += 2
    if at == first or kinds[at] != "*":
        return None
    parts: list[Identifier] = []
    while not cursor.take("*"):
        parts.append(cursor.read_identifier("a table name"))
        cursor.expect(".")
    if len(parts) > 3:
        raise AdqlSyntaxError("a table name has at most three parts: catalog.schema.table", cursor.span_from(first))
    return Star(cursor.span_from(first), tuple(parts))


def _wrap_query(query: Query) -> Select:
    """Return ``SELECT * FROM (query)``, for a parenthesised query with its own order or limit."""
    return select_all(DerivedTable(query.span, query, Identifier(query.span, "query", True)))
