"""Replace correlated subqueries in WHERE and in expressions by joins (see ``decorrelate``)."""

from __future__ import annotations

from collections.abc import Sequence

from adql.ir import (
    Aggregate,
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Literal,
    Output,
    Query,
    Select,
    Subquery,
    TranslationContext,
    Windowed,
    combine_conjuncts,
    find_free_columns,
    has_correlated_subquery,
    is_correlated,
    is_correlated_by_where,
    map_select,
    split_conjuncts,
    substitute_in_expr,
    transform_expr,
    walk_expr,
    walk_used_columns,
)
from adql.node_classes import replace
from adql.rewrite.subqueries.keyed_subqueries import KeyedQuery, OuterQuery, add_keys, add_keys_per_group
from adql.rewrite.subqueries.single_group_queries import GROUP_MARK, evaluate_without_rows, is_one_row, make_typed_null
from adql.rewrite.trees.derived_tables import ONE, list_columns, make_derived, make_select, map_outputs
from adql.rewrite.trees.relation_trees import collect_numbers, has_subquery
from clickhouse_schema.datatypes import BOOLEAN, LONG

_TRUE, _FALSE = Literal(BOOLEAN, True), Literal(BOOLEAN, False)


def join_subqueries(select: Select, context: TranslationContext) -> Select:
    """Return ``select`` with one or two joins instead of each correlated subquery.

    Parameters
    ----------
    select
        A SELECT with correlated subqueries only in WHERE, HAVING, outputs, groups and ORDER BY.
    context
        Generates relation numbers and aliases.

    Raises
    ------
    AdqlUnsupported
        If a subquery cannot become a join: an outer or nested join inside it uses columns of the outer query, or the
        outer query must be read twice and may return other rows then.
    """
    return _SubqueryJoiner(select, context).join_all()


class _SubqueryJoiner:
    """Adds joins to the FROM of ``select``, one or two for each correlated subquery."""

    def __init__(self, select: Select, context: TranslationContext) -> None:
        self._select = select
        self._context = context
        filters = [c for c in split_conjuncts(select.where) if not has_subquery(c)]
        self._outer = OuterQuery(select.from_, tuple(filters))
        self._from = select.from_
        self._values: dict[Expr, Expr] = {}

    def join_all(self) -> Select:
        where = [left for c in split_conjuncts(self._select.where) for left in self._join_condition(c)]
        select = replace(self._select, where=combine_conjuncts(where))
        select = map_select(select, lambda expr: transform_expr(expr, self._replace_subquery))
        return replace(select, from_=self._from)

    # --- conditions of WHERE ------------------------------------------------------------------------------------------

    def _join_condition(self, condition: Expr) -> tuple[Expr, ...]:
        """Return the conditions that replace a conjunct of WHERE, together with a join."""
        is_negated, inner = False, condition
        while isinstance(inner, Call) and inner.name == "NOT":
            is_negated, inner = not is_negated, inner.args[0]
        if not (isinstance(inner, (Exists, InSubquery)) and is_correlated(inner)):
            return (condition,)
        if any(has_correlated_subquery(child) for child in inner.children):
            return (condition,)
        left = self._join_semi(inner, "ANTI" if is_negated else "SEMI")
        return (condition,) if left is None else left

    def _join_semi(self, inner: Exists | InSubquery, kind: str) -> tuple[Expr, ...] | None:
        """Join for EXISTS or IN; return the conditions on only the left side, or None for a complex subquery."""
        select = _reduce_to_rows(inner.query) if isinstance(inner, Exists) else _reduce_to_values(inner.query)
        if select is None or not is_correlated_by_where(select):
            return None
        own = collect_numbers(select.from_)
        parts = split_conjuncts(select.where)
        ties = [c for c in parts if any(column.relation not in own for column in walk_used_columns(c))]
        if any(has_subquery(tie) for tie in ties):
            return None
        local = [c for c in parts if c not in ties]
        if isinstance(inner, InSubquery):
            ties.append(_compare_member(inner.operand, select.outputs[0].expr, is_strict=kind == "SEMI"))
        left_only = [tie for tie in ties if all(column.relation not in own for column in walk_used_columns(tie))]
        ties = [tie for tie in ties if tie not in left_only]
        used = [*dict.fromkeys(c for tie in ties for c in walk_used_columns(tie) if c.relation in own)]
        # a condition on only the left side must equal a column of the right side to be a condition of the join
        exports: list[Expr] = [*used, *([_TRUE] if left_only and kind == "ANTI" else [])]
        right = make_derived(select.from_, exports, self._context, local)
        names = map_outputs(exports, right)
        on = [substitute_in_expr(tie, {c: names[c] for c in used}) for tie in ties]
        if kind == "ANTI":
            on += [Call(BOOLEAN, "=", (c, names[_TRUE])) for c in left_only]
        self._from = Join(kind, self._from, right, combine_conjuncts(on))
        return () if kind == "ANTI" else tuple(left_only)

    # --- values -------------------------------------------------------------------------------------------------------

    def _replace_subquery(self, expr: Expr) -> Expr:
        """Return a correlated subquery as an expression of joined columns, and other expressions unchanged."""
        if not is_correlated(expr):
            return expr
        if expr not in self._values:
            self._values[expr] = self._compute_value(expr)
        return self._values[expr]

    def _compute_value(self, expr: Expr) -> Expr:
        if isinstance(expr, Exists):
            return self._compute_exists(expr)
        if isinstance(expr, InSubquery):
            return self._compute_in(expr)
        assert isinstance(expr, Subquery)  # noqa: S101  there are three kinds
        return self._compute_scalar(expr)

    def _compute_exists(self, expr: Exists) -> Expr:
        query = expr.query
        if isinstance(query, Select) and is_one_row(query):
            has_row = _TRUE if query.having is None else Call(BOOLEAN, "COALESCE", (query.having, _FALSE))
            return self._compute_of_one_row(query, has_row, _FALSE)
        query = _reduce_to_existence(query, self._context)
        if not find_free_columns(query):
            return replace(expr, query=query)
        found = self._add_keys(query, expr)
        return _is_not_null(self._join_mark(found, len(found.ties)))

    def _compute_in(self, expr: InSubquery) -> Expr:
        """Return TRUE if a value is equal, else NULL if a value is NULL, else FALSE."""
        found = self._add_keys(expr.query, expr)
        matched = self._join_mark(found, len(found.ties) + 1, expr.operand)
        rows = Derived(self._context.names.new_relation(), found.query)
        *keys, value = list_columns(rows)
        counts = [Aggregate(LONG, "COUNT", ()), Aggregate(LONG, "COUNT", (value,))]
        counted = replace(make_select(rows, [*keys, *counts], self._context), group_by=tuple(keys))
        row_count, value_count = self._join_left(counted, found)
        unknown = make_typed_null(BOOLEAN)
        cases: list[Expr] = [_is_not_null(matched), _TRUE]
        cases += [_is_null(row_count), _FALSE]
        cases += [_is_null(expr.operand), unknown]
        cases += [Call(BOOLEAN, "<", (value_count, row_count)), unknown]
        return Call(BOOLEAN, "CASE", (*cases, _FALSE))

    def _compute_scalar(self, expr: Subquery) -> Expr:
        query, value = expr.query, expr.query.outputs[0].expr
        if isinstance(query, Select) and is_one_row(query):
            if_absent = make_typed_null(expr.type)
            if query.having is not None:
                value = Call(expr.type, "CASE", (query.having, value, if_absent))
            return self._compute_of_one_row(query, value, if_absent)
        if query.limit is None and not query.offset:
            query = replace(query, order_by=())
        found = add_keys(query, self._outer, self._context, expr.span, is_exact=True)
        if query.limit == 1:
            return self._join_left(found.query, found)[0]
        rows = Derived(self._context.names.new_relation(), found.query)
        *keys, column = list_columns(rows)
        least, count = Aggregate(expr.type, "MIN", (column,)), Aggregate(LONG, "COUNT", ())
        only = Call(expr.type, "ONLY ONE", (least, count))  # raises an error if there are more rows
        grouped = replace(make_select(rows, [*keys, only], self._context), group_by=tuple(keys))
        return self._join_left(grouped, found)[0]

    def _compute_of_one_row(self, query: Select, value: Expr, if_absent: Expr) -> Expr:
        """Return ``value`` of the row of set functions without GROUP BY; ``if_absent`` if TOP or OFFSET removes it."""
        if query.limit == 0 or query.offset:
            return if_absent
        if isinstance(value, Literal):
            return value
        if_no_rows = transform_expr(evaluate_without_rows(value), self._replace_subquery)
        mark = Output(self._context.names.new_alias(), GROUP_MARK, query.outputs[0].field)
        outputs = (replace(query.outputs[0], expr=value), mark)
        plain = replace(query, outputs=outputs, having=None, order_by=(), limit=None, distinct=False)
        found = add_keys_per_group(plain, self._outer, self._context, query.outputs[0].expr.span)
        column, group_mark = self._join_left(found.query, found)
        return Call(value.type, "CASE", (_is_null(group_mark), if_no_rows, column))

    # --- joins --------------------------------------------------------------------------------------------------------

    def _add_keys(self, query: Query, expr: Expr) -> KeyedQuery:
        return add_keys(query, self._outer, self._context, expr.span)

    def _join_mark(self, found: KeyedQuery, count: int, operand: Expr | None = None) -> Column:
        """Join the distinct keys, and ``operand`` with the value after them; the column is NULL without a match."""
        rows = Derived(self._context.names.new_relation(), found.query)
        columns = list_columns(rows)[:count]
        marked = replace(make_select(rows, [*columns, ONE], self._context), distinct=True)
        return self._join_left(marked, found, () if operand is None else (operand,))[0]

    def _join_left(self, query: Query, found: KeyedQuery, values: Sequence[Expr] = ()) -> list[Column]:
        """Join ``query`` by its first outputs, the keys of ``found`` and then ``values``; return the other columns."""
        right = Derived(self._context.names.new_relation(), query)
        columns = list_columns(right)
        ties = [*found.ties, *((value, "=") for value in values)]
        on: list[Expr] = [Call(BOOLEAN, op, (value, key)) for (value, op), key in zip(ties, columns, strict=False)]
        self._from = Join("LEFT", self._from, right, combine_conjuncts(on))
        return columns[len(ties) :]


# --- reduced subqueries -----------------------------------------------------------------------------------------------


def _reduce_to_rows(query: Query) -> Select | None:
    """Return a SELECT without groups that has a row if and only if ``query`` has; None if ``query`` is too complex."""
    if not isinstance(query, Select) or query.limit == 0 or query.offset or query.having is not None:
        return None
    if is_one_row(query):
        return None
    return replace(query, group_by=(), outputs=(), distinct=False, order_by=(), limit=None)


def _reduce_to_values(query: Query) -> Select | None:
    """Return a SELECT without groups that has the same set of values; None if ``query`` is too complex."""
    if not isinstance(query, Select) or query.limit is not None or query.offset or query.is_grouped:
        return None
    value = query.outputs[0].expr
    if has_subquery(value) or any(isinstance(part, Windowed) for part in walk_expr(value)):
        return None
    return replace(query, distinct=False, order_by=())


def _reduce_to_existence(query: Query, context: TranslationContext) -> Query:
    """Return the query without the parts that are irrelevant to whether it has a row."""
    if query.limit and not query.offset:
        query = replace(query, limit=None)
    if not isinstance(query, Select) or query.limit is not None or query.offset:
        return query
    if query.is_grouped:
        return replace(query, order_by=())
    return replace(make_select(query.from_, (), context), where=query.where)


# --- expressions ------------------------------------------------------------------------------------------------------


def _compare_member(operand: Expr, value: Expr, *, is_strict: bool) -> Expr:
    """Return ``operand = value``; for a NULL, it is true unless ``is_strict``, so that NOT IN is not true."""
    equal = Call(BOOLEAN, "=", (operand, value))
    if is_strict or not (_may_be_null(operand) or _may_be_null(value)):
        return equal
    return Call(BOOLEAN, "COALESCE", (equal, _TRUE))


def _may_be_null(expr: Expr) -> bool:
    if isinstance(expr, Column):
        return expr.field.nullable
    if isinstance(expr, Literal):
        return expr.value is None
    return not (isinstance(expr, Call) and expr.name == "CAST" and not _may_be_null(expr.args[0]))


def _is_null(expr: Expr) -> Expr:
    return Call(BOOLEAN, "IS NULL", (expr,))


def _is_not_null(expr: Expr) -> Expr:
    return Call(BOOLEAN, "NOT", (_is_null(expr),))
