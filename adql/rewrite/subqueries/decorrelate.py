"""Replace correlated subqueries by joins, because ClickHouse's decorrelation returns wrong results.

subquery                               becomes
WHERE [NOT] EXISTS, IN, NOT IN         a SEMI or ANTI join on the conditions that tie it to the outer query
EXISTS elsewhere                       a LEFT JOIN of its keys; it is true where a key matches
IN elsewhere                           LEFT JOINs of its keys with values, and of its keys with the number of NULLs
a set function without GROUP BY        a LEFT JOIN of it, grouped by its keys; without a match, its value for no rows
any other scalar                       a LEFT JOIN of its rows, of which each key may have one
in ON, if WHERE would change it        a column of the table that it uses

    SELECT a.id, (SELECT COUNT(*) FROM b WHERE b.a = a.id) FROM a
    SELECT a.id, CASE WHEN k.n IS NULL THEN 0 ELSE k.n END
    FROM a LEFT JOIN (SELECT a, COUNT(*) AS n FROM b GROUP BY a) AS k ON a.id = k.a

This pass runs before all other passes. This module moves the subqueries to WHERE, to the outputs and below groups;
``subquery_joins`` makes the joins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from adql.errors import AdqlUnsupported
from adql.ir import (
    SUBQUERIES,
    Aggregate,
    Column,
    Derived,
    Expr,
    Join,
    Relation,
    Select,
    TranslationContext,
    combine_conjuncts,
    has_correlated_subquery,
    is_correlated,
    map_select,
    split_conjuncts,
    substitute_in_query,
    walk_join_conditions,
    walk_leaves,
    walk_select_expressions,
    walk_used_columns,
)
from adql.node_classes import replace
from adql.rewrite.subqueries.subquery_joins import join_subqueries
from adql.rewrite.trees.derived_tables import make_derived, make_select, map_outputs
from adql.rewrite.trees.relation_trees import replace_relation
from clickhouse_schema.datatypes import LONG


def decorrelate_subqueries(select: Select, context: TranslationContext) -> Select:
    """Replace all correlated subqueries of a SELECT that is not correlated itself.

    Raises
    ------
    AdqlUnsupported
        If a subquery cannot become a join: in the ON of an outer join it uses columns of several tables, an outer or
        nested join inside it uses columns of the outer query, or the outer query must be read twice and may return
        other rows then.
    """
    if not any(has_correlated_subquery(expr) for expr in walk_select_expressions(select)):
        return select
    select = _select_from_groups(select, context)
    select = _move_conditions_to_where(select)
    select = _compute_in_tables(select, context)
    return join_subqueries(select, context)


def _select_from_groups(select: Select, context: TranslationContext) -> Select:
    """Select from a derived table of the groups, if HAVING, outputs or ORDER BY have correlated subqueries."""
    after = [*(o.expr for o in select.outputs), *(o.expr for o in select.order_by)]
    after += [] if select.having is None else [select.having]
    keys = frozenset(select.group_by)
    if not select.is_grouped or not any(_has_correlated_by_group(expr, keys) for expr in after):
        return select
    aggregates = [part for expr in after for part in _find_outermost_aggregates(expr)]
    computed = [*dict.fromkeys([*select.group_by, *aggregates])] or [Aggregate(LONG, "COUNT", ())]
    groups = make_select(select.from_, computed, context)
    groups = replace(groups, where=select.where, group_by=select.group_by, having=None)
    derived = Derived(context.names.new_relation(), groups)
    names = map_outputs(computed, derived)
    return replace(
        select,
        from_=derived,
        where=None if select.having is None else _replace_parts(select.having, names),
        group_by=(),
        having=None,
        outputs=tuple(replace(o, expr=_replace_parts(o.expr, names)) for o in select.outputs),
        order_by=tuple(replace(o, expr=_replace_parts(o.expr, names)) for o in select.order_by),
    )


def _has_correlated_by_group(expr: Expr, keys: frozenset[Expr]) -> bool:
    """Return whether a correlated subquery is outside set functions and keys, which are computed per row."""
    if isinstance(expr, Aggregate) or expr in keys:
        return False
    return is_correlated(expr) or any(_has_correlated_by_group(child, keys) for child in expr.children)


def _find_outermost_aggregates(expr: Expr) -> Iterator[Aggregate]:
    if isinstance(expr, Aggregate):
        yield expr
        return
    for child in expr.children:
        yield from _find_outermost_aggregates(child)


def _replace_parts(expr: Expr, names: Mapping[Expr, Column]) -> Expr:
    """Replace the largest parts of ``expr`` that have a name; in subqueries, replace columns."""
    if expr in names:
        return names[expr]
    if isinstance(expr, SUBQUERIES):
        columns = {part: name for part, name in names.items() if isinstance(part, Column)}
        expr = replace(expr, query=substitute_in_query(expr.query, columns))
    if not expr.children:
        return expr
    return expr.with_children(tuple(_replace_parts(child, names) for child in expr.children))


def _move_conditions_to_where(select: Select) -> Select:
    """Move the correlated conditions of inner joins to WHERE."""
    moved: list[Expr] = []

    def change(relation: Relation) -> Relation:
        if not isinstance(relation, Join) or relation.kind == "FULL":
            return relation
        left = change(relation.left) if relation.kind != "RIGHT" else relation.left
        right = change(relation.right) if relation.kind != "LEFT" else relation.right
        kept = split_conjuncts(relation.condition)
        if relation.kind == "INNER":
            moved.extend(c for c in kept if has_correlated_subquery(c))
            kept = tuple(c for c in kept if not has_correlated_subquery(c))
        return Join(relation.kind, left, right, combine_conjuncts(kept))

    from_ = change(select.from_)
    return replace(select, from_=from_, where=combine_conjuncts([*split_conjuncts(select.where), *moved]))


def _compute_in_tables(select: Select, context: TranslationContext) -> Select:
    """Make the remaining correlated subqueries of ON columns of derived tables around the tables that they use."""
    found: dict[int, list[Expr]] = {}
    in_on = (part for on in walk_join_conditions(select.from_) for part in _find_outermost_correlated(on))
    for part in in_on:
        used = {column.relation for column in walk_used_columns(part)}
        if len(used) > 1:
            raise AdqlUnsupported(
                "a subquery in the ON of an outer join uses columns of several joined tables",
                part.span,
                "join these tables in a subquery in FROM, and use its columns",
            )
        found.setdefault(used.pop(), []).append(part)
    for leaf in [leaf for leaf in walk_leaves(select.from_) if leaf.relation in found]:
        columns = [c for expr in walk_select_expressions(select) for c in walk_used_columns(expr)]
        own_columns = [c for c in columns if c.relation == leaf.relation]
        exports: list[Expr] = [*dict.fromkeys([*own_columns, *found[leaf.relation]])]
        derived = make_derived(leaf, exports, context)
        select = map_select(select, partial(_replace_parts, names=map_outputs(exports, derived)))
        select = replace(select, from_=replace_relation(select.from_, leaf, derived))
    return select


def _find_outermost_correlated(expr: Expr) -> Iterator[Expr]:
    if is_correlated(expr):
        yield expr
        return
    for child in expr.children:
        yield from _find_outermost_correlated(child)
