"""The passes over the bound query, one or a few to a file.

Every SELECT goes through ``PASSES_BEFORE_INNER``, has its derived tables and subqueries rewritten, and goes through
``PASSES_AFTER_INNER``. On a cluster ``distribute_query`` follows, once for the whole query.

A pass depends only on its arguments: it takes new names from the context. It returns the new SELECT, or a
``Rewritten`` with the SELECT and its finding.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import (
    NEARNESSES,
    SUBQUERIES,
    Aggregate,
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Literal,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    TranslationContext,
    Windowed,
    change_children,
    map_select,
    transform_expr,
    walk_expr,
)
from adql.node_classes import replace
from adql.rewrite.covers.shape_column_covers import SHAPE_CALLS, SHAPE_RELATIONS, use_stored_shapes
from adql.rewrite.covers.spatial_covers import add_covers, may_have_cover
from adql.rewrite.filters.id_look_ups import find_id_look_ups
from adql.rewrite.filters.region_transfer import transfer_regions
from adql.rewrite.filters.small_side_filters import filter_by_small_sides
from adql.rewrite.filters.text_index_filters import TEXT_CONDITIONS, use_text_indexes
from adql.rewrite.groups.groups_of_rows import mark_groups_of_rows
from adql.rewrite.joins.canonical_reals import canonicalize_compared, canonicalize_keys, canonicalize_outputs
from adql.rewrite.joins.constant_conditions import hold_constants
from adql.rewrite.joins.impossible_conditions import empty_impossible_joins
from adql.rewrite.joins.join_trees import (
    add_outer_keys,
    enclose_alternatives,
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
from adql.rewrite.trees.rewritten import Rewritten
from adql.rewrite.trees.select_contents import SelectContents

#: Returns whether a SELECT needs a pass
PassCondition = Callable[[SelectContents], bool]
#: Rewrites one SELECT; the context generates the relation numbers and aliases that it adds
Pass = Callable[[Select, TranslationContext], Select | Rewritten[Select]]


def has_subquery(contents: SelectContents) -> bool:
    return contents.has_kind(SUBQUERIES)


def has_join(contents: SelectContents) -> bool:
    return isinstance(contents.select.from_, Join)


def has_inner_tables(contents: SelectContents) -> bool:
    """Return whether a region may be transferred across a join, into a derived table or out of HAVING."""
    return not isinstance(contents.select.from_, Scan) or contents.select.having is not None


def compares_by_hash(contents: SelectContents) -> bool:
    return has_join(contents) or bool(contents.select.group_by) or contents.select.distinct


def has_groups(contents: SelectContents) -> bool:
    return bool(contents.select.group_by)


def has_call(*names: str) -> PassCondition:
    """Return the condition that a SELECT contains one of these calls."""
    return lambda contents: contents.has_call(names)


def has_condition(*names: str, kinds: tuple[type[Expr], ...] = ()) -> PassCondition:
    """Return the condition that WHERE or an ON contains one of these calls or an expression of one of these classes."""

    def has_part(contents: SelectContents) -> bool:
        parts = contents.conditions
        return not (parts.calls.isdisjoint(names) and parts.kinds.isdisjoint(kinds))

    return has_part


def joins_by_call(*names: str) -> PassCondition:
    """Return the condition that a SELECT has a join and one of these calls."""
    return lambda contents: has_join(contents) and contents.has_call(names)


#: These passes make derived tables or add conditions to them, so they run before the inner SELECTs are rewritten. A
#: pass runs on the SELECTs that satisfy its condition.
PASSES_BEFORE_INNER: tuple[tuple[Pass, PassCondition], ...] = (
    (decorrelate_subqueries, has_subquery),  # before all others: they expect that no subquery is correlated
    (find_id_look_ups, has_condition("=", "IN", kinds=(InSubquery,))),  # anywhere: it changes nothing
    (use_text_indexes, has_condition(*TEXT_CONDITIONS)),  # before a small side's conditions are copied into its filters
    (make_left_deep, has_join),  # before all passes below: they expect leaves on the right of joins, and no RIGHT JOIN
    (empty_impossible_joins, has_join),  # before any join is planned: one that matches nothing needs no plan
    (use_kept_matches, joins_by_call(*NEARNESSES, *CHOICES)),  # before the passes that plan matches
    (add_cap_nearness, joins_by_call(*SHAPE_RELATIONS)),  # adds the nearnesses of shapes, which the passes below read
    (choose_nearest, has_call(*CHOICES)),  # turns skyhouse_nearest into a nearness inside a derived table
    (split_outer_matches, joins_by_call(*NEARNESSES)),  # settles which joins are outer before filters cross them
    (
        transfer_regions,
        has_inner_tables,
    ),  # makes inner joins of outer joins, so that the next pass may filter both sides
    (filter_by_small_sides, has_join),  # last: the conditions added above make more sides small
)

#: These passes change the SELECT when its derived tables have their final columns
PASSES_AFTER_INNER: tuple[tuple[Pass, PassCondition], ...] = (
    (use_stored_shapes, has_call(*SHAPE_CALLS)),  # before covers: its conditions are next to the exact tests of shapes
    (add_covers, may_have_cover),  # removes the ImpliedWithin of transfer_regions, which must not be emitted
    (move_keys_to_on, has_join),  # before cross-matches: a join with a key is not planned by cubes
    (
        merge_matches,
        joins_by_call(*NEARNESSES),
    ),  # before the passes that plan hash joins, which take the matches that it leaves
    (count_matches, joins_by_call(*NEARNESSES)),  # before cross-matches: counting a match tests fewer pairs
    (plan_cross_matches, joins_by_call(*NEARNESSES)),  # adds the equality of cubes
    (add_outer_keys, has_join),  # after every pass that may add a real key
    (enclose_alternatives, has_join),  # after the last condition of an ON
    (hold_constants, has_join),  # after the last pass that adds conditions to an ON
    (canonicalize_keys, compares_by_hash),  # after all keys that are compared by hash
    (mark_groups_of_rows, has_groups),  # last: the passes above compare set functions
)


def rewrite_query(query: Query, context: TranslationContext) -> Rewritten[Query]:
    """Apply the passes to a bound query and to every query inside it.

    Parameters
    ----------
    query
        The bound query as the binder returns it.
    context
        Generates the relation numbers and aliases that the passes add.

    Returns
    -------
    Rewritten[Query]
        A query with the same result, for the emitter or ``distribute_query``, and the findings of the passes.

    Raises
    ------
    AdqlUnsupported
        If a correlated subquery cannot become a join, or a shape does not come unchanged from the table that stores it.
    AdqlSemanticError
        If ``skyhouse_nearest`` or ``skyhouse_mutual`` is outside a join's ON, or does not fit the join.
    """
    rewriter = _Rewriter(context)
    return Rewritten(rewriter.rewrite(query), rewriter.has_id_look_up)


#: The classes of most expressions, which contain no query and compare no zeros
_PLAIN = frozenset((Call, Column, Literal))


class _Rewriter:
    """Applies the passes to the SELECTs of one query, and collects what they find."""

    def __init__(self, context: TranslationContext) -> None:
        self.has_id_look_up = False
        self._context = context

    def rewrite(self, query: Query) -> Query:
        if isinstance(query, SetOperation):
            return self._rewrite_set_operation(query)
        contents = SelectContents(query)
        contents = self._apply_passes(PASSES_BEFORE_INNER, contents)
        contents = contents.update(self._rewrite_inner_queries(contents))
        return self._apply_passes(PASSES_AFTER_INNER, contents).select

    def _apply_passes(self, passes: tuple[tuple[Pass, PassCondition], ...], contents: SelectContents) -> SelectContents:
        for apply_pass, is_needed in passes:
            if is_needed(contents):
                result = apply_pass(contents.select, self._context)
                if isinstance(result, Rewritten):
                    self.has_id_look_up = self.has_id_look_up or result.has_id_look_up
                    result = result.query
                contents = contents.update(result)
        return contents

    def _rewrite_set_operation(self, query: SetOperation) -> SetOperation:
        left, right = self.rewrite(query.left), self.rewrite(query.right)
        if query.op != "UNION" or not query.all:
            left, right = canonicalize_outputs(left), canonicalize_outputs(right)
        return replace(query, left=left, right=right)

    def _rewrite_inner_queries(self, contents: SelectContents) -> Select:
        select = contents.select.with_from(self._rewrite_relation(contents.select.from_))
        return map_select(select, self._rewrite_expr) if contents.has_other_kinds else select

    def _rewrite_relation(self, relation: Relation) -> Relation:
        if isinstance(relation, Join):
            return relation.with_sides(self._rewrite_relation(relation.left), self._rewrite_relation(relation.right))
        if isinstance(relation, Scan):
            return relation
        return Derived(relation.relation, self.rewrite(relation.query))

    def _rewrite_expr(self, expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.name == "AND":
            return change_children(expr, self._rewrite_expr)
        return expr if _PLAIN.issuperset(map(type, walk_expr(expr))) else transform_expr(expr, self._rewrite_part)

    def _rewrite_part(self, expr: Expr) -> Expr:
        if isinstance(expr, (Subquery, InSubquery, Exists)):
            expr = replace(expr, query=self.rewrite(expr.query))
        return canonicalize_compared(expr) if isinstance(expr, (Aggregate, Windowed, InSubquery)) else expr
