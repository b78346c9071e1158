"""Passes over the bound query, one file each. Every SELECT goes through them in this order, the innermost first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adql.ir import (
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Literal,
    NameGenerator,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    map_select,
    transform_expr,
)
from adql.rewrite.constant_conditions import hold_constants
from adql.rewrite.crossmatch import plan_cross_matches
from adql.rewrite.decorrelate import decorrelate_subqueries
from adql.rewrite.impossible_conditions import empty_impossible_joins
from adql.rewrite.join_trees import add_outer_keys, fix_join_order, make_left_deep, move_keys_to_on
from adql.rewrite.nearest_neighbours import choose_nearest
from adql.rewrite.negative_zeros import unify_compared_zeros, unify_output_zeros, unify_zeros
from adql.rewrite.outer_matches import split_outer_matches
from adql.rewrite.region_transfer import transfer_regions
from adql.rewrite.shape_column_covers import use_stored_shapes
from adql.rewrite.shape_matches import add_cap_nearness
from adql.rewrite.small_side_filters import filter_by_small_sides
from adql.rewrite.spatial_covers import add_covers

Pass = Callable[[Select, NameGenerator], Select]

#: Before the SELECTs inside, which they make or add to
PASSES_BEFORE_INNER: tuple[Pass, ...] = (
    make_left_deep,
    empty_impossible_joins,
    add_cap_nearness,
    choose_nearest,
    split_outer_matches,
    transfer_regions,
    filter_by_small_sides,
)

#: After them
PASSES_AFTER_INNER: tuple[Pass, ...] = (
    use_stored_shapes,
    add_covers,
    move_keys_to_on,
    plan_cross_matches,
    fix_join_order,
    add_outer_keys,
    hold_constants,
    unify_zeros,
)


def rewrite_query(query: Query, fresh: NameGenerator) -> Query:
    if isinstance(query, SetOperation):
        left, right = rewrite_query(query.left, fresh), rewrite_query(query.right, fresh)
        if query.op != "UNION" or not query.all:
            left, right = unify_output_zeros(left), unify_output_zeros(right)
        return replace(query, left=left, right=right)

    def inner(expr: Expr) -> Expr:
        if isinstance(expr, (Call, Column, Literal)):  # nearly all
            return expr
        if isinstance(expr, (Subquery, InSubquery, Exists)):
            expr = replace(expr, query=rewrite_query(expr.query, fresh))
        return unify_compared_zeros(expr)

    def tree(relation: Relation) -> Relation:
        if isinstance(relation, Join):
            return replace(relation, left=tree(relation.left), right=tree(relation.right))
        return (
            relation if isinstance(relation, Scan) else Derived(relation.relation, rewrite_query(relation.query, fresh))
        )

    select = decorrelate_subqueries(query, fresh) if fresh.is_correlated else query
    for each in PASSES_BEFORE_INNER:
        select = each(select, fresh)
    select = map_select(replace(select, from_=tree(select.from_)), lambda expr: transform_expr(expr, inner))
    for each in PASSES_AFTER_INNER:
        select = each(select, fresh)
    return select
