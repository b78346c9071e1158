"""Outer matches that no single cell join can do, made of those that can; before the SELECTs inside are rewritten.

* ``a FULL JOIN b ON near`` is ``a LEFT JOIN b`` and, with NULLs for a, the rows of ``b ANTI JOIN a``.
* A join that keeps the rows of its left side must not repeat them, but has to for a radius that the right side knows:
  it becomes an inner match with the left side's distinct positions, joined to the left side by these.

Each reads a side twice, so a side that might answer differently the second time keeps the plain join: all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adql.ir import (
    Call,
    Column,
    Derived,
    Join,
    NameGenerator,
    Output,
    Relation,
    Select,
    SetOperation,
    combine_conjuncts,
    evaluate_constant,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_leaves,
)
from adql.rewrite.crossmatch import JoinNearness, find_join_nearnesses
from adql.rewrite.derived_tables import (
    find_columns_used_outside,
    make_derived,
    make_null,
    make_select,
    map_outputs,
    relation_numbers,
    rename_columns,
)
from adql.rewrite.join_trees import is_join_equality, replace_relation
from adql.rewrite.repeatable_relations import is_repeatable
from adql.rewrite.small_side_filters import filter_by_small_sides
from clickhouse_schema.datatypes import BOOLEAN


def split_outer_matches(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT."""
    match = _find(select.from_)
    if match is not None and match.join.kind == "SEMI":
        select = filter_by_small_sides(select, fresh)  # afterwards the partners alone would be looked for in few cells
    while (match := _find(select.from_)) is not None:
        select = _of_both(select, match.join, fresh) if match.join.kind == "FULL" else _keyed(select, match, fresh)
    return select


def _find(relation: Relation) -> JoinNearness | None:
    if not isinstance(relation, Join):
        return None
    below = _find(relation.left)
    if below is not None or relation.kind == "INNER":
        return below
    conditions = list(split_conjuncts(relation.condition))
    if any(is_join_equality(c, relation) for c in conditions):
        return None
    found = find_join_nearnesses(relation, conditions)
    if relation.kind == "FULL":
        return found[0] if found and is_repeatable(relation) else None
    if any(evaluate_constant(match.radius) is not None or _is_of_left(match) for match in found):
        return None
    return next((m for m in found if m.bounds is not None and is_repeatable(relation.left)), None)


def _is_of_left(match: JoinNearness) -> bool:
    return match.bounds is not None and match.bounds.right is None


# --- FULL -------------------------------------------------------------------------------------------------------------


def _of_both(select: Select, join: Join, fresh: NameGenerator) -> Select:
    used = find_columns_used_outside(join, select)
    left = relation_numbers(join.left)
    missing = [make_null(c.type) if c.relation in left else c for c in used]
    matched = make_select(Join("LEFT", join.left, join.right, join.condition), used, fresh)
    rest = make_select(Join("ANTI", join.right, join.left, join.condition), missing, fresh)
    number = fresh.new_relation()
    shown = tuple(
        Output(fresh.new_alias(), Column(o.expr.type, number, o.alias, o.field), o.field) for o in matched.outputs
    )
    derived = Derived(fresh.new_relation(), SetOperation("UNION", True, matched, rest, number, shown, (), None, 0))
    return rename_columns(
        replace(select, from_=replace_relation(select.from_, join, derived)), map_outputs(used, derived)
    )


# --- radii of the right side ------------------------------------------------------------------------------------------


def _keyed(select: Select, match: JoinNearness, fresh: NameGenerator) -> Select:
    join = match.join
    left, right = relation_numbers(join.left), relation_numbers(join.right)
    own = [c for c in split_conjuncts(join.condition) if {x.relation for x in walk_columns(c)} <= right]
    others = [c for c in split_conjuncts(join.condition) if c not in own and c != match.near]
    keys = [*dict.fromkeys(c for c in walk_columns(match.near) if c.relation in left)]
    needed = [c for c in find_columns_used_outside(join, select) if c.relation in right]
    needed += [c for other in others for c in walk_columns(other) if c.relation in right]

    positions = Derived(
        fresh.new_relation(), replace(make_select(_source(join.left, keys), keys, fresh), distinct=True)
    )
    of_position = map_outputs(keys, positions)
    near = transform_expr(match.near, lambda part: of_position[part] if part in keys else part)
    pairs = Join("INNER", positions, join.right, combine_conjuncts([near, *own]))
    shown = [*of_position.values(), *dict.fromkeys(needed)]
    matched = make_derived(pairs, shown, fresh)
    names = map_outputs(shown, matched)
    equal = [Call(BOOLEAN, "=", (key, names[of_position[key]])) for key in keys]
    joined = Join(join.kind, join.left, matched, combine_conjuncts([*equal, *others]))
    return rename_columns(replace(select, from_=replace_relation(select.from_, join, joined)), names)


def _source(tree: Relation, keys: Sequence[Column]) -> Relation:
    """The one table of ``tree`` that the columns are of, or all of it."""
    used = {key.relation for key in keys}
    return next((leaf for leaf in walk_leaves(tree) if used == {leaf.relation}), tree)
