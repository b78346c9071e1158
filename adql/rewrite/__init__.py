"""The passes over the bound query, one or a few to a file.

Every SELECT is decorrelated, goes through ``PASSES_BEFORE_INNER``, has its derived tables and subqueries rewritten, and
goes through ``PASSES_AFTER_INNER``. On a cluster ``distribute_query`` follows, once for the whole query.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import (
    NEARNESSES,
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
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    Windowed,
    change_children,
    map_select,
    transform_expr,
    walk_expr,
)
from adql.node_classes import replace
from adql.rewrite.covers.shape_column_covers import SHAPE_CALLS, SHAPE_RELATIONS, use_stored_shapes
from adql.rewrite.covers.spatial_covers import add_covers, may_have_cover
from adql.rewrite.filters.id_look_ups import may_look_up, record_look_ups
from adql.rewrite.filters.region_transfer import transfer_regions
from adql.rewrite.filters.small_side_filters import filter_by_small_sides
from adql.rewrite.filters.text_index_filters import may_search_texts, use_text_indexes
from adql.rewrite.groups.groups_of_rows import mark_groups_of_rows
from adql.rewrite.joins.canonical_reals import canonicalize_compared, canonicalize_keys, canonicalize_outputs
from adql.rewrite.joins.constant_conditions import hold_constants
from adql.rewrite.joins.impossible_conditions import empty_impossible_joins
from adql.rewrite.joins.join_trees import (
    add_outer_keys,
    enclose_alternatives,
    fix_join_order,
    make_left_deep,
    move_keys_to_on,
)
from adql.rewrite.matches.counted_matches import count_matches
from adql.rewrite.matches.crossmatch import plan_cross_matches
from adql.rewrite.matches.kept_matches import use_kept_matches
from adql.rewrite.matches.merged_matches import merge_matches
from adql.rewrite.matches.nearest_neighbours import CHOICES, choose_nearest
from adql.rewrite.matches.outer_matches import split_outer_matches
from adql.rewrite.matches.shape_matches import add_cap_nearness
from adql.rewrite.subqueries.decorrelate import decorrelate_subqueries
from adql.rewrite.trees.select_contents import SelectContents

PassCondition = Callable[[SelectContents], bool]
Pass = Callable[[Select, NameGenerator], Select]


def has_join(contents: SelectContents) -> bool:
    return isinstance(contents.select.from_, Join)


def has_inner_tables(contents: SelectContents) -> bool:
    """Return whether a region may be transferred: across a join, into a derived table or out of HAVING."""
    return not isinstance(contents.select.from_, Scan) or contents.select.having is not None


def compares_by_hash(contents: SelectContents) -> bool:
    return has_join(contents) or bool(contents.select.group_by) or contents.select.distinct


def has_groups(contents: SelectContents) -> bool:
    return bool(contents.select.group_by)


def has_call(*names: str) -> PassCondition:
    """Return the condition that a SELECT contains one of these calls."""
    return lambda contents: contents.has_call(names)


def joins_by_call(*names: str) -> PassCondition:
    """Return the condition that a SELECT has a join and one of these calls."""
    return lambda contents: has_join(contents) and contents.has_call(names)


def is_any(contents: SelectContents) -> bool:  # noqa: ARG001  every condition has this signature
    return True


#: These make derived tables or add conditions to them, so they come before the SELECTs inside are rewritten. Each pass
#: runs on the SELECTs that satisfy its condition.
PASSES_BEFORE_INNER: tuple[tuple[Pass, PassCondition], ...] = (
    (record_look_ups, may_look_up),  # at any place: it changes nothing
    (use_text_indexes, may_search_texts),  # before a small side's conditions are copied into its filters
    (make_left_deep, has_join),  # first: all others expect leaves on the right of joins, and no RIGHT JOIN
    (empty_impossible_joins, is_any),  # before any join is planned: one that matches nothing needs no plan
    (use_kept_matches, joins_by_call(*NEARNESSES, *CHOICES)),  # before the passes that plan matches
    (add_cap_nearness, joins_by_call(*SHAPE_RELATIONS)),  # adds the nearnesses of shapes, which the passes below read
    (choose_nearest, has_call(*CHOICES)),  # turns skyhouse_nearest into a nearness inside a derived table
    (split_outer_matches, joins_by_call(*NEARNESSES)),  # settles which joins are outer before filters cross them
    (transfer_regions, has_inner_tables),  # turns outer joins into inner ones: the next pass may filter both sides
    (filter_by_small_sides, has_join),  # last: the fewer rows the conditions above leave, the more sides are small
)

#: These change the SELECT itself, once its derived tables have their final columns.
PASSES_AFTER_INNER: tuple[tuple[Pass, PassCondition], ...] = (
    (use_stored_shapes, has_call(*SHAPE_CALLS)),  # before covers: its conditions stand beside the exact tests of shapes
    (add_covers, may_have_cover),  # removes the ImpliedWithin of transfer_regions, which must not be emitted
    (move_keys_to_on, has_join),  # before cross-matches: a join with a key is not planned by cubes
    (merge_matches, joins_by_call(*NEARNESSES)),  # before the plans by hash tables, which take what it leaves
    (count_matches, joins_by_call(*NEARNESSES)),  # before cross-matches: a match that is only counted tests fewer pairs
    (plan_cross_matches, joins_by_call(*NEARNESSES)),  # adds the equality of cubes
    (fix_join_order, has_join),  # after cross-matches, which make derived tables; before keys that are always true
    (add_outer_keys, has_join),  # after every pass that may add a real key
    (enclose_alternatives, has_join),  # after the last condition of an ON
    (hold_constants, has_join),  # after the last change of an ON
    (canonicalize_keys, compares_by_hash),  # after all keys that are compared by hash
    (mark_groups_of_rows, has_groups),  # last: the passes above compare set functions
)


def rewrite_query(query: Query, fresh: NameGenerator) -> Query:
    """Apply the passes to a bound query and to every query inside it.

    Parameters
    ----------
    query
        The bound query as the binder returns it.
    fresh
        The generator of relation numbers and aliases of this translation. The passes record in it whether the engine
        must keep the order of joins, and whether rows are looked up by id.

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
    contents = SelectContents(decorrelate_subqueries(query, fresh) if fresh.is_correlated else query)
    contents = _apply_passes(PASSES_BEFORE_INNER, contents, fresh)
    contents = _update_contents(contents, _rewrite_inner_queries(contents, fresh))
    return _apply_passes(PASSES_AFTER_INNER, contents, fresh).select


def _apply_passes(
    passes: tuple[tuple[Pass, PassCondition], ...], contents: SelectContents, fresh: NameGenerator
) -> SelectContents:
    for apply_pass, is_needed in passes:
        if is_needed(contents):
            contents = _update_contents(contents, apply_pass(contents.select, fresh))
    return contents


def _update_contents(contents: SelectContents, select: Select) -> SelectContents:
    return contents if select is contents.select else SelectContents(select)


def _rewrite_set_operation(query: SetOperation, fresh: NameGenerator) -> SetOperation:
    left, right = rewrite_query(query.left, fresh), rewrite_query(query.right, fresh)
    if query.op != "UNION" or not query.all:
        left, right = canonicalize_outputs(left), canonicalize_outputs(right)
    return replace(query, left=left, right=right)


#: Expressions that hold no query and compare no zeros: nearly all
_PLAIN = frozenset((Call, Column, Literal))


def _rewrite_inner_queries(contents: SelectContents, fresh: NameGenerator) -> Select:
    select = contents.select

    def change_expr(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.name == "AND":
            return change_children(expr, change_expr)
        return expr if _PLAIN.issuperset(map(type, walk_expr(expr))) else transform_expr(expr, change_part)

    def change_part(expr: Expr) -> Expr:
        if isinstance(expr, (Subquery, InSubquery, Exists)):
            expr = replace(expr, query=rewrite_query(expr.query, fresh))
        return canonicalize_compared(expr) if isinstance(expr, (Aggregate, Windowed, InSubquery)) else expr

    def change_tree(relation: Relation) -> Relation:
        if isinstance(relation, Join):
            return relation.with_sides(change_tree(relation.left), change_tree(relation.right))
        if isinstance(relation, Scan):
            return relation
        return Derived(relation.relation, rewrite_query(relation.query, fresh))

    select = select.with_from(change_tree(select.from_))
    return map_select(select, change_expr) if contents.conditions.kinds or contents.others.kinds else select
