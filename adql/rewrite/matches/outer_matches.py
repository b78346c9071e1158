"""Split the outer cross-matches that one cube join cannot compute.

    a FULL JOIN b ON near
    (SELECT ... FROM a LEFT JOIN b ON near UNION ALL SELECT NULL, ... FROM b ANTI JOIN a ON near)

    a LEFT JOIN b ON NEAR(a.ra, a.dec, b.ra, b.dec, b.r)
    a LEFT JOIN (SELECT p.ra, p.dec, ... FROM (SELECT DISTINCT ra, dec FROM a) AS p JOIN b ON near) AS m
      ON a.ra = m.ra AND a.dec = m.dec

The second form is for a radius of the right side, for which the left rows would have to be repeated, which an outer
join does not allow. Between large tables it is also for a radius of the left side. Both forms read a side twice, so a
side that may return other rows in the second read keeps the plain join of all pairs.

This pass runs after ``choose_nearest``, which makes nearnesses, and before the passes that filter across joins.
"""

from __future__ import annotations

from collections.abc import Sequence

from adql.ir import (
    Call,
    Column,
    Derived,
    Join,
    Relation,
    Select,
    TranslationContext,
    combine_conjuncts,
    evaluate_constant,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_joins,
    walk_leaves,
)
from adql.node_classes import replace
from adql.rewrite.filters.small_side_filters import filter_by_small_sides
from adql.rewrite.joins.join_trees import has_equality
from adql.rewrite.matches.crossmatch import JoinNearness, find_join_nearnesses
from adql.rewrite.matches.match_sizes import find_row_count
from adql.rewrite.trees.derived_tables import (
    find_columns_used_outside,
    make_derived,
    make_null,
    make_select,
    make_union,
    map_outputs,
    rename_columns,
)
from adql.rewrite.trees.relation_trees import collect_numbers, find_used_relations, replace_relation
from adql.rewrite.trees.repeatable_relations import is_repeatable
from adql.rewrite.trees.rewritten import Rewritten
from clickhouse_schema.datatypes import BOOLEAN

#: With fewer left rows, these select the right rows that are read
_MIN_LEFT_ROWS = 50_000

#: Number of cubes that the ball of a row touches
_CUBES_OF_ROW = 8


def split_outer_matches(select: Select, context: TranslationContext) -> Rewritten[Select]:
    """Replace FULL cross-matches, and cross-matches that keep left rows for a radius of the right side.

    Afterwards no match alone restricts a FULL JOIN, unless a side may return other rows when it is read again. The
    finding is the finding of ``filter_by_small_sides``, which runs first if a SEMI JOIN is split.
    """
    has_id_look_up = False
    match = _find_outer_match(select)
    if match is not None and match.join.kind == "SEMI":
        filtered = filter_by_small_sides(select, context)  # after the split, it would filter only the partners
        select, has_id_look_up = filtered.query, filtered.has_id_look_up
    while (match := _find_outer_match(select)) is not None:
        if match.join.kind == "FULL":
            select = _split_full_join(select, match.join, context)
        else:
            select = _match_distinct_positions(select, match, context)
    return Rewritten(select, has_id_look_up)


def _find_outer_match(select: Select) -> JoinNearness | None:
    matches = (_read_outer_match(join) for join in walk_joins(select.from_) if join.kind != "INNER")
    return next((match for match in matches if match is not None), None)


def _read_outer_match(join: Join) -> JoinNearness | None:
    if has_equality(join):
        return None
    found = find_join_nearnesses(join, [*split_conjuncts(join.condition)])
    if join.kind == "FULL":
        return found[0] if found and is_repeatable(join) else None
    if any(evaluate_constant(match.radius) is not None for match in found):
        return None
    if any(_is_radius_of_left(match) for match in found) and not _is_cheaper_in_two(join):
        return None
    return next((m for m in found if m.bounds is not None and is_repeatable(join.left)), None)


def _is_radius_of_left(match: JoinNearness) -> bool:
    return match.bounds is not None and match.bounds.right is None


def _is_cheaper_in_two(join: Join) -> bool:
    """Return whether a join for a radius of the left side is cheaper in the second form.

    The second form reads the left rows twice; in the first, each right row has up to eight cubes for each level.
    """
    left, right = find_row_count(join.left), find_row_count(join.right)
    return left is not None and right is not None and left >= _MIN_LEFT_ROWS and left <= _CUBES_OF_ROW * right


def _split_full_join(select: Select, join: Join, context: TranslationContext) -> Select:
    used = find_columns_used_outside(join, select)
    left = collect_numbers(join.left)
    with_nulls = [make_null(c.type) if c.relation in left else c for c in used]
    matched = make_select(Join("LEFT", join.left, join.right, join.condition), used, context)
    unmatched = make_select(Join("ANTI", join.right, join.left, join.condition), with_nulls, context)
    derived = make_union(matched, unmatched, context)
    select = replace(select, from_=replace_relation(select.from_, join, derived))
    return rename_columns(select, map_outputs(used, derived))


def _match_distinct_positions(select: Select, match: JoinNearness, context: TranslationContext) -> Select:
    join = match.join
    left, right = collect_numbers(join.left), collect_numbers(join.right)
    in_on = split_conjuncts(join.condition)
    right_only = [c for c in in_on if find_used_relations(c) <= right]
    others = [c for c in in_on if c not in right_only and c != match.condition]
    keys = [*dict.fromkeys(c for c in walk_columns(match.condition) if c.relation in left)]
    needed = [c for c in find_columns_used_outside(join, select) if c.relation in right]
    needed += [c for other in others for c in walk_columns(other) if c.relation in right]

    distinct = replace(make_select(_find_source(join.left, keys), keys, context), distinct=True)
    positions = Derived(context.names.new_relation(), distinct)
    key_columns = map_outputs(keys, positions)
    near = transform_expr(match.condition, lambda part: key_columns[part] if part in keys else part)
    pairs = Join("INNER", positions, join.right, combine_conjuncts([near, *right_only]))
    shown = [*key_columns.values(), *dict.fromkeys(needed)]
    matched = make_derived(pairs, shown, context)
    names = map_outputs(shown, matched)
    equalities = [Call(BOOLEAN, "=", (key, names[key_columns[key]])) for key in keys]
    joined = Join(join.kind, join.left, matched, combine_conjuncts([*equalities, *others]))
    return rename_columns(replace(select, from_=replace_relation(select.from_, join, joined)), names)


def _find_source(tree: Relation, keys: Sequence[Column]) -> Relation:
    """Return the only table of ``tree`` that has the columns, or else all of ``tree``."""
    used = {key.relation for key in keys}
    return next((leaf for leaf in walk_leaves(tree) if used == {leaf.relation}), tree)
