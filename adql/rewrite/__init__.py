"""The passes over the bound query, one or a few to a file.

Every SELECT is decorrelated, goes through ``PASSES_BEFORE_INNER``, has its derived tables and subqueries rewritten, and
goes through ``PASSES_AFTER_INNER``. On a cluster ``distribute_query`` follows, once for the whole query.
"""

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
from adql.rewrite.covers.shape_column_covers import use_stored_shapes
from adql.rewrite.covers.spatial_covers import add_covers
from adql.rewrite.filters.region_transfer import transfer_regions
from adql.rewrite.filters.small_side_filters import filter_by_small_sides
from adql.rewrite.joins.constant_conditions import hold_constants
from adql.rewrite.joins.impossible_conditions import empty_impossible_joins
from adql.rewrite.joins.join_trees import add_outer_keys, fix_join_order, make_left_deep, move_keys_to_on
from adql.rewrite.joins.negative_zeros import unify_compared_zeros, unify_output_zeros, unify_zeros
from adql.rewrite.matches.crossmatch import plan_cross_matches
from adql.rewrite.matches.nearest_neighbours import choose_nearest
from adql.rewrite.matches.outer_matches import split_outer_matches
from adql.rewrite.matches.shape_matches import add_cap_nearness
from adql.rewrite.subqueries.decorrelate import decorrelate_subqueries

Pass = Callable[[Select, NameGenerator], Select]

#: These make derived tables or add conditions to them, so they come before the SELECTs inside are rewritten.
PASSES_BEFORE_INNER: tuple[Pass, ...] = (
    make_left_deep,  # first: all others expect leaves on the right of joins, and no RIGHT JOIN
    empty_impossible_joins,  # before any join is planned: one that matches nothing needs no plan
    add_cap_nearness,  # adds the nearnesses of shapes, which the passes below read
    choose_nearest,  # turns skyhouse_nearest into a nearness inside a derived table
    split_outer_matches,  # makes derived tables, which the next passes filter
    transfer_regions,  # turns outer joins into inner ones where it may, so that the next pass can filter both sides
    filter_by_small_sides,  # last: the kinds of all joins are settled
)

#: These change the SELECT itself, once its derived tables have their final columns.
PASSES_AFTER_INNER: tuple[Pass, ...] = (
    use_stored_shapes,  # first: finds columns in the tables of FROM, which cross-matches wrap
    add_covers,  # before cross-matches, which move the covers of a side inside it
    move_keys_to_on,  # before cross-matches: a join with a key is not planned by cubes
    plan_cross_matches,  # adds the equality of cubes
    fix_join_order,  # after cross-matches, which make derived tables; before keys that are always true
    add_outer_keys,  # after every pass that may add a real key
    hold_constants,  # after the last pass that adds conditions to an ON
    unify_zeros,  # last: all keys that are compared by hash are there
)


def rewrite_query(query: Query, fresh: NameGenerator) -> Query:
    """Apply the passes to a bound query and to every query inside it.

    Parameters
    ----------
    query
        The bound query as the binder returns it.
    fresh
        The generator of relation numbers and aliases of this translation. The passes record in it whether the engine
        must keep the order of joins.

    Returns
    -------
    Query
        A query with the same result that the emitter, or ``distribute_query`` before it, can take.

    Raises
    ------
    AdqlUnsupported
        If a correlated subquery cannot become a join.
    AdqlSemanticError
        If ``skyhouse_nearest`` or ``skyhouse_mutual`` stands outside of a join's ON.
    """
    if isinstance(query, SetOperation):
        return _rewrite_set_operation(query, fresh)
    select = decorrelate_subqueries(query, fresh) if fresh.is_correlated else query
    for apply_pass in PASSES_BEFORE_INNER:
        select = apply_pass(select, fresh)
    select = _rewrite_inner_queries(select, fresh)
    for apply_pass in PASSES_AFTER_INNER:
        select = apply_pass(select, fresh)
    return select


def _rewrite_set_operation(query: SetOperation, fresh: NameGenerator) -> SetOperation:
    left, right = rewrite_query(query.left, fresh), rewrite_query(query.right, fresh)
    if query.op != "UNION" or not query.all:
        left, right = unify_output_zeros(left), unify_output_zeros(right)
    return replace(query, left=left, right=right)


def _rewrite_inner_queries(select: Select, fresh: NameGenerator) -> Select:
    def change_part(expr: Expr) -> Expr:
        if isinstance(expr, (Call, Column, Literal)):  # nearly all
            return expr
        if isinstance(expr, (Subquery, InSubquery, Exists)):
            expr = replace(expr, query=rewrite_query(expr.query, fresh))
        return unify_compared_zeros(expr)

    def change_tree(relation: Relation) -> Relation:
        if isinstance(relation, Join):
            return replace(relation, left=change_tree(relation.left), right=change_tree(relation.right))
        if isinstance(relation, Scan):
            return relation
        return Derived(relation.relation, rewrite_query(relation.query, fresh))

    select = replace(select, from_=change_tree(select.from_))
    return map_select(select, lambda expr: transform_expr(expr, change_part))
