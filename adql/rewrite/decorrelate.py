"""Correlated subqueries become joins: the engine's own way with them gives wrong answers (COUNT of nothing is NULL).

subquery                               becomes
WHERE [NOT] EXISTS, IN, NOT IN         a SEMI or ANTI join with whatever ties it to the query around
EXISTS elsewhere                       a LEFT JOIN of its keys; it exists where there is a match
IN elsewhere                           LEFT JOINs of its keys and values, and of its keys with the number of NULLs
a set function without GROUP BY        a LEFT JOIN of it grouped by its keys; without a match, its value of no rows
any other scalar                       a LEFT JOIN of its rows, of which a key may have one
in ON, where WHERE will not do         a column of the table that it uses

A subquery of HAVING or of the outputs of a grouped SELECT is one of a SELECT from the groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from adql.errors import AdqlUnsupported
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
    NameGenerator,
    Output,
    Query,
    Relation,
    Select,
    Subquery,
    SubqueryExpr,
    Windowed,
    combine_conjuncts,
    find_free_columns,
    has_correlated_subquery,
    is_correlated,
    is_correlated_by_where,
    map_select,
    split_conjuncts,
    substitute_in_expr,
    substitute_in_query,
    transform_expr,
    walk_expr,
    walk_join_conditions,
    walk_leaves,
    walk_select_expressions,
    walk_used_columns,
)
from adql.rewrite.derived_tables import ONE, make_derived, make_select, map_outputs, relation_numbers
from adql.rewrite.join_trees import replace_relation
from adql.rewrite.keyed_subqueries import (
    MARK,
    KeyedQuery,
    OuterQuery,
    add_keys,
    evaluate_without_rows,
    is_one_row,
    list_columns,
    make_typed_null,
)
from clickhouse_schema.datatypes import BOOLEAN, LONG

_TRUE, _FALSE = Literal(BOOLEAN, True), Literal(BOOLEAN, False)


def decorrelate_subqueries(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT, which is not correlated itself; it comes before all others."""
    if not any(has_correlated_subquery(expr) for expr in walk_select_expressions(select)):
        return select
    select = _beside_tables(_conditions_in_where(_above_groups(select, fresh)), fresh)
    return _Joining(select, fresh).joined()


# --- where the subqueries stand ---------------------------------------------------------------------------------------


def _above_groups(select: Select, fresh: NameGenerator) -> Select:
    """A SELECT from groups, if correlated subqueries are computed of groups."""
    after = [*(o.expr for o in select.outputs), *(o.expr for o in select.order_by)]
    after += [] if select.having is None else [select.having]
    keys = frozenset(select.group_by)
    if not select.is_grouped or not any(_has_correlated_of_groups(expr, keys) for expr in after):
        return select
    sets = [part for expr in after for part in _outer_aggregates(expr)]
    computed = [*dict.fromkeys([*select.group_by, *sets])] or [Aggregate(LONG, "COUNT", ())]
    groups = make_select(select.from_, computed, fresh)
    groups = replace(groups, where=select.where, group_by=select.group_by, having=None)
    derived = Derived(fresh.new_relation(), groups)
    names = map_outputs(computed, derived)
    return replace(
        select,
        from_=derived,
        where=None if select.having is None else _exchanged(select.having, names),
        group_by=(),
        having=None,
        outputs=tuple(replace(o, expr=_exchanged(o.expr, names)) for o in select.outputs),
        order_by=tuple(replace(o, expr=_exchanged(o.expr, names)) for o in select.order_by),
    )


def _has_correlated_of_groups(expr: Expr, keys: frozenset[Expr]) -> bool:
    """In a set function it would be of rows, and so it is in a key."""
    if isinstance(expr, Aggregate) or expr in keys:
        return False
    return is_correlated(expr) or any(_has_correlated_of_groups(child, keys) for child in expr.children)


def _outer_aggregates(expr: Expr) -> Iterable[Aggregate]:
    if isinstance(expr, Aggregate):
        yield expr
        return
    for child in expr.children:
        yield from _outer_aggregates(child)


def _exchanged(expr: Expr, names: Mapping[Expr, Column]) -> Expr:
    """``expr`` with its greatest parts that have a name exchanged, in subqueries the columns."""
    if expr in names:
        return names[expr]
    if isinstance(expr, SubqueryExpr):
        columns = {part: name for part, name in names.items() if isinstance(part, Column)}
        expr = replace(expr, query=substitute_in_query(expr.query, columns))
    if not expr.children:
        return expr
    return expr.with_children(tuple(_exchanged(child, names) for child in expr.children))


def _conditions_in_where(select: Select) -> Select:
    """Correlated conditions of inner joins are tested in WHERE."""
    moved: list[Expr] = []

    def tree(relation: Relation) -> Relation:
        if not isinstance(relation, Join) or relation.kind == "FULL":
            return relation
        left = tree(relation.left) if relation.kind != "RIGHT" else relation.left
        right = tree(relation.right) if relation.kind != "LEFT" else relation.right
        kept = split_conjuncts(relation.condition)
        if relation.kind == "INNER":
            moved.extend(c for c in kept if has_correlated_subquery(c))
            kept = tuple(c for c in kept if not has_correlated_subquery(c))
        return Join(relation.kind, left, right, combine_conjuncts(kept))

    from_ = tree(select.from_)
    return replace(select, from_=from_, where=combine_conjuncts([*split_conjuncts(select.where), *moved]))


def _beside_tables(select: Select, fresh: NameGenerator) -> Select:
    """Those that are left in ON become columns of the table that they use, which is a derived one from now on."""
    found: dict[int, list[Expr]] = {}
    for part in (part for condition in walk_join_conditions(select.from_) for part in _outermost_correlated(condition)):
        used = {column.relation for column in walk_used_columns(part)}
        if len(used) > 1:
            raise AdqlUnsupported(
                "the ON of an outer join has a subquery that uses more than one of the joined tables",
                part.span,
                "join these in a subquery in FROM, and use its columns",
            )
        found.setdefault(used.pop(), []).append(part)
    for leaf in [leaf for leaf in walk_leaves(select.from_) if leaf.relation in found]:
        used_of_it = (
            c
            for expr in walk_select_expressions(select)
            for c in walk_used_columns(expr)
            if c.relation == leaf.relation
        )
        exports: list[Expr] = [*dict.fromkeys([*used_of_it, *found[leaf.relation]])]
        derived = make_derived(leaf, exports, fresh)
        names = map_outputs(exports, derived)
        select = map_select(select, partial(_exchanged, names=names))
        select = replace(select, from_=replace_relation(select.from_, leaf, derived))
    return select


def _outermost_correlated(expr: Expr) -> Iterator[Expr]:
    if is_correlated(expr):
        yield expr
        return
    for child in expr.children:
        yield from _outermost_correlated(child)


# --- joins instead of them --------------------------------------------------------------------------------------------


class _Joining:
    """Adds joins to the FROM of ``select``, one or two for each correlated subquery."""

    def __init__(self, select: Select, fresh: NameGenerator) -> None:
        self._select = select
        self._fresh = fresh
        filters = [
            c for c in split_conjuncts(select.where) if not any(isinstance(part, SubqueryExpr) for part in walk_expr(c))
        ]
        self._around = OuterQuery(select.from_, tuple(filters))
        self._from = select.from_
        self._values: dict[Expr, Expr] = {}

    def joined(self) -> Select:
        where = [left for c in split_conjuncts(self._select.where) for left in self._filtered(c)]
        select = replace(self._select, where=combine_conjuncts(where))
        select = map_select(select, lambda expr: transform_expr(expr, self._value))
        return replace(select, from_=self._from)

    # WHERE

    def _filtered(self, condition: Expr) -> tuple[Expr, ...]:
        """What is left of a conjunct of WHERE when a join does the rest."""
        negated, inner = False, condition
        while isinstance(inner, Call) and inner.name == "NOT":
            negated, inner = not negated, inner.args[0]
        if not (isinstance(inner, (Exists, InSubquery)) and is_correlated(inner)):
            return (condition,)
        if any(has_correlated_subquery(child) for child in inner.children):
            return (condition,)
        left = self._semi_join(inner, "ANTI" if negated else "SEMI")
        return (condition,) if left is None else left

    def _semi_join(self, inner: Exists | InSubquery, kind: str) -> tuple[Expr, ...] | None:
        """A join in place of EXISTS or IN; None if the subquery is too intricate for it."""
        select = _rows_of(inner.query) if isinstance(inner, Exists) else _values_of(inner.query)
        if select is None or not is_correlated_by_where(select):
            return None
        own = relation_numbers(select.from_)
        parts = split_conjuncts(select.where)
        ties = [c for c in parts if any(column.relation not in own for column in walk_used_columns(c))]
        if any(isinstance(part, SubqueryExpr) for tie in ties for part in walk_expr(tie)):
            return None
        local = [c for c in parts if c not in ties]
        if isinstance(inner, InSubquery):
            ties.append(_membership(inner.operand, select.outputs[0].expr, strict=kind == "SEMI"))
        alone = [tie for tie in ties if all(column.relation not in own for column in walk_used_columns(tie))]
        ties = [tie for tie in ties if tie not in alone]
        used = [*dict.fromkeys(c for tie in ties for c in walk_used_columns(tie) if c.relation in own)]
        # an equality with a column of the right makes a join's condition of one on the left alone
        exports: list[Expr] = [*used, *([_TRUE] if alone and kind == "ANTI" else [])]
        right = make_derived(select.from_, exports, self._fresh, local)
        names = map_outputs(exports, right)
        on = [substitute_in_expr(tie, {c: names[c] for c in used}) for tie in ties]
        if kind == "ANTI":
            on += [Call(BOOLEAN, "=", (c, names[_TRUE])) for c in alone]
        self._from = Join(kind, self._from, right, combine_conjuncts(on))
        return () if kind == "ANTI" else tuple(alone)

    # values

    def _value(self, expr: Expr) -> Expr:
        """A correlated subquery as an expression of joined columns; any other ``expr`` as it is."""
        if not is_correlated(expr):
            return expr
        if expr not in self._values:
            self._values[expr] = self._computed(expr)
        return self._values[expr]

    def _computed(self, expr: Expr) -> Expr:
        if isinstance(expr, Exists):
            return self._existence(expr)
        if isinstance(expr, InSubquery):
            return self._member(expr)
        assert isinstance(expr, Subquery)  # noqa: S101  there are three kinds
        return self._scalar(expr)

    def _existence(self, expr: Exists) -> Expr:
        query = expr.query
        if isinstance(query, Select) and is_one_row(query):
            wanted = _TRUE if query.having is None else Call(BOOLEAN, "COALESCE", (query.having, _FALSE))
            return self._of_one_row(query, wanted, _FALSE)
        query = _bare(query, self._fresh)
        if not find_free_columns(query):
            return replace(expr, query=query)
        found = self._keyed(query, expr)
        return Call(BOOLEAN, "NOT", (Call(BOOLEAN, "IS NULL", (self._mark(found, found.keys),)),))

    def _member(self, expr: InSubquery) -> Expr:
        """True with an equal value, unknown beside NULLs, false without rows."""
        found = self._keyed(expr.query, expr)
        matched = self._mark(found, found.keys + 1, expr.operand)
        rows = Derived(self._fresh.new_relation(), found.query)
        *keys, value = list_columns(rows)
        counts = [Aggregate(LONG, "COUNT", ()), Aggregate(LONG, "COUNT", (value,))]
        counted = replace(make_select(rows, [*keys, *counts], self._fresh), group_by=tuple(keys))
        all_, known = self._left_join(counted, found)
        unknown = make_typed_null(BOOLEAN)
        cases: list[Expr] = [Call(BOOLEAN, "NOT", (Call(BOOLEAN, "IS NULL", (matched,)),)), _TRUE]
        cases += [Call(BOOLEAN, "IS NULL", (all_,)), _FALSE]
        cases += [Call(BOOLEAN, "IS NULL", (expr.operand,)), unknown, Call(BOOLEAN, "<", (known, all_)), unknown]
        return Call(BOOLEAN, "CASE", (*cases, _FALSE))

    def _scalar(self, expr: Subquery) -> Expr:
        query, value = expr.query, expr.query.outputs[0].expr
        if isinstance(query, Select) and is_one_row(query):
            without = make_typed_null(expr.type)
            if query.having is not None:
                value = Call(expr.type, "CASE", (query.having, value, without))
            return self._of_one_row(query, value, without)
        if query.limit is None:
            query = _ordered_no_more(query)
        found = self._keyed(query, expr, exactly=True)
        if query.limit == 1:
            return self._left_join(found.query, found)[0]
        rows = Derived(self._fresh.new_relation(), found.query)
        *keys, column = list_columns(rows)
        only = Call(expr.type, "ONLY ONE", (Aggregate(expr.type, "MIN", (column,)), Aggregate(LONG, "COUNT", ())))
        return self._left_join(replace(make_select(rows, [*keys, only], self._fresh), group_by=tuple(keys)), found)[0]

    def _of_one_row(self, query: Select, value: Expr, without: Expr) -> Expr:
        """``value`` of the one row of set functions without GROUP BY; ``without`` it if TOP or OFFSET take it."""
        if query.limit == 0 or query.offset:
            return without
        if isinstance(value, Literal):
            return value
        without_rows = transform_expr(evaluate_without_rows(value), self._value)
        mark = Output(self._fresh.new_alias(), MARK, query.outputs[0].field)
        shown = (replace(query.outputs[0], expr=value), mark)
        plain = replace(query, outputs=shown, having=None, order_by=(), limit=None, distinct=False)
        found = self._keyed(plain, query.outputs[0].expr, groups=True)
        column, there = self._left_join(found.query, found)
        return Call(value.type, "CASE", (Call(BOOLEAN, "IS NULL", (there,)), without_rows, column))

    # joins

    def _keyed(self, query: Query, expr: Expr, *, exactly: bool = False, groups: bool = False) -> KeyedQuery:
        return add_keys(query, self._around, self._fresh, expr.span, exactly=exactly, groups=groups)

    def _mark(self, found: KeyedQuery, count: int, operand: Expr | None = None) -> Column:
        """A column that is NULL where no row has the keys, and ``operand`` as the value after them if there is one."""
        rows = Derived(self._fresh.new_relation(), found.query)
        columns = list_columns(rows)[:count]
        marked = replace(make_select(rows, [*columns, ONE], self._fresh), distinct=True)
        return self._left_join(marked, found, () if operand is None else (operand,))[0]

    def _left_join(self, query: Query, found: KeyedQuery, values: Sequence[Expr] = ()) -> list[Column]:
        """Join ``query``, whose first outputs are the keys of ``found`` and then ``values``; its other columns."""
        right = Derived(self._fresh.new_relation(), query)
        columns = list_columns(right)
        ties = [*found.ties, *((value, "=") for value in values)]
        on: list[Expr] = [Call(BOOLEAN, op, (value, key)) for (value, op), key in zip(ties, columns, strict=False)]
        self._from = Join("LEFT", self._from, right, combine_conjuncts(on))
        return columns[len(ties) :]


# --- what of a subquery matters ---------------------------------------------------------------------------------------


def _rows_of(query: Query) -> Select | None:
    """A SELECT without groups that has a row whenever ``query`` has one; None if it is not that simple."""
    if not isinstance(query, Select) or query.limit == 0 or query.offset or query.having is not None:
        return None
    if is_one_row(query):
        return None
    return replace(query, group_by=(), outputs=(), distinct=False, order_by=(), limit=None)


def _values_of(query: Query) -> Select | None:
    """A SELECT without groups that has the same set of values; None if it is not that simple."""
    if not isinstance(query, Select) or query.limit is not None or query.offset or query.is_grouped:
        return None
    parts = list(walk_expr(query.outputs[0].expr))
    if any(isinstance(part, (Windowed, *_SUBQUERIES)) for part in parts):
        return None
    return replace(query, distinct=False, order_by=())


_SUBQUERIES = (Subquery, InSubquery, Exists)


def _bare(query: Query, fresh: NameGenerator) -> Query:
    """The query with no more than is needed to see whether it has a row."""
    if query.limit and not query.offset:
        query = replace(query, limit=None)
    if not isinstance(query, Select) or query.limit is not None or query.offset:
        return query
    if query.is_grouped:
        return replace(query, order_by=())
    return replace(make_select(query.from_, (), fresh), where=query.where)


def _ordered_no_more(query: Query) -> Query:
    return query if query.offset else replace(query, order_by=())


def _membership(operand: Expr, value: Expr, *, strict: bool) -> Expr:
    """``operand = value``; beside NULLs true unless ``strict``, for NOT IN is not true there."""
    equal = Call(BOOLEAN, "=", (operand, value))
    if strict or not (_may_be_null(operand) or _may_be_null(value)):
        return equal
    return Call(BOOLEAN, "COALESCE", (equal, _TRUE))


def _may_be_null(expr: Expr) -> bool:
    if isinstance(expr, Column):
        return expr.field.nullable
    if isinstance(expr, Literal):
        return expr.value is None
    return not (isinstance(expr, Call) and expr.name == "CAST" and not _may_be_null(expr.args[0]))
