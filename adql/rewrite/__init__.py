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
from adql.rewrite.crossmatch import cross_match
from adql.rewrite.decorrelate import decorrelate
from adql.rewrite.impossible_conditions import empty_joins
from adql.rewrite.join_trees import join_order, keys_of_where, left_deep, outer_keys
from adql.rewrite.nearest_neighbours import nearest_matches
from adql.rewrite.negative_zeros import one_zero, with_one_zero, with_one_zero_inside
from adql.rewrite.outer_matches import outer_matches
from adql.rewrite.region_transfer import carry
from adql.rewrite.shape_column_covers import stored_shapes
from adql.rewrite.shape_matches import match_caps
from adql.rewrite.small_side_filters import small_sides
from adql.rewrite.spatial_covers import add_covers

Pass = Callable[[Select, NameGenerator], Select]

#: Before the SELECTs inside, which they make or add to
PASSES_BEFORE: tuple[Pass, ...] = (
    left_deep,
    empty_joins,
    match_caps,
    nearest_matches,
    outer_matches,
    carry,
    small_sides,
)

#: After them
PASSES: tuple[Pass, ...] = (
    stored_shapes,
    add_covers,
    keys_of_where,
    cross_match,
    join_order,
    outer_keys,
    hold_constants,
    one_zero,
)


def rewrite(query: Query, fresh: NameGenerator) -> Query:
    if isinstance(query, SetOperation):
        left, right = rewrite(query.left, fresh), rewrite(query.right, fresh)
        if query.op != "UNION" or not query.all:
            left, right = with_one_zero(left), with_one_zero(right)
        return replace(query, left=left, right=right)

    def inner(expr: Expr) -> Expr:
        if isinstance(expr, (Call, Column, Literal)):  # nearly all
            return expr
        if isinstance(expr, (Subquery, InSubquery, Exists)):
            expr = replace(expr, query=rewrite(expr.query, fresh))
        return with_one_zero_inside(expr)

    def tree(relation: Relation) -> Relation:
        if isinstance(relation, Join):
            return replace(relation, left=tree(relation.left), right=tree(relation.right))
        return relation if isinstance(relation, Scan) else Derived(relation.relation, rewrite(relation.query, fresh))

    select = decorrelate(query, fresh) if fresh.is_correlated else query
    for each in PASSES_BEFORE:
        select = each(select, fresh)
    select = map_select(replace(select, from_=tree(select.from_)), lambda expr: transform_expr(expr, inner))
    for each in PASSES:
        select = each(select, fresh)
    return select
