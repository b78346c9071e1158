"""Outer matches that no single cell join can do, made of those that can; before the SELECTs inside are rewritten.

* ``a FULL JOIN b ON near`` is ``a LEFT JOIN b`` and, with NULLs for a, the rows of ``b ANTI JOIN a``.
* A join that keeps the rows of its left side must not repeat them, but has to for a radius that the right side knows:
  it becomes an inner match with the left side's distinct positions, joined to the left side by these.

Each reads a side twice, so a side that might answer differently the second time keeps the plain join: all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adql.bound import (
    UNTYPED,
    Call,
    Column,
    Derived,
    Expr,
    Fresh,
    Join,
    Literal,
    Output,
    Relation,
    Select,
    SetOperation,
    columns,
    conjunction,
    conjuncts,
    map_select,
    relations,
    transform,
)
from adql.metadata import field_of
from adql.resolve.constants import constant
from adql.rewrite.crossmatch import Match, matches
from adql.rewrite.joins import is_equality, replaced
from adql.rewrite.repeatable import is_repeatable
from adql.rewrite.wrap import ONE, used_outside
from clickhouse_schema.datatypes import BOOLEAN


def outer_matches(select: Select, fresh: Fresh) -> Select:
    """The pass for one SELECT."""
    while (match := _find(select.from_)) is not None:
        select = _of_both(select, match.join, fresh) if match.join.kind == "FULL" else _keyed(select, match, fresh)
    return select


def _find(relation: Relation) -> Match | None:
    if not isinstance(relation, Join):
        return None
    below = _find(relation.left)
    if below is not None or relation.kind == "INNER":
        return below
    conditions = list(conjuncts(relation.condition))
    if any(is_equality(c, relation) for c in conditions):
        return None
    found = matches(relation, conditions)
    if relation.kind == "FULL":
        return found[0] if found and is_repeatable(relation) else None
    if any(constant(match.radius) is not None or _is_of_left(match) for match in found):
        return None
    return next((m for m in found if m.bounds is not None and is_repeatable(relation.left)), None)


def _is_of_left(match: Match) -> bool:
    return match.bounds is not None and match.bounds.right is None


# --- FULL -------------------------------------------------------------------------------------------------------------


def _of_both(select: Select, join: Join, fresh: Fresh) -> Select:
    used = used_outside(join, select)
    left = _numbers(join.left)
    missing = [_null(c) if c.relation in left else c for c in used]
    matched = _select(Join("LEFT", join.left, join.right, join.condition), used or [ONE], fresh)
    rest = _select(Join("ANTI", join.right, join.left, join.condition), missing or [ONE], fresh)
    number = fresh.relation()
    shown = _outputs([Column(o.expr.type, number, o.alias, o.field) for o in matched.outputs], fresh)
    derived = Derived(fresh.relation(), SetOperation("UNION", True, matched, rest, number, shown, (), None, 0))
    return _renamed(replace(select, from_=replaced(select.from_, join, derived)), _names(used, derived) if used else {})


def _null(column: Column) -> Expr:
    null = Literal(UNTYPED, None)
    return Call(column.type, "COALESCE", (null,)) if column.type.is_array else null


# --- radii of the right side ------------------------------------------------------------------------------------------


def _keyed(select: Select, match: Match, fresh: Fresh) -> Select:
    join = match.join
    left, right = _numbers(join.left), _numbers(join.right)
    own = [c for c in conjuncts(join.condition) if {x.relation for x in columns(c)} <= right]
    others = [c for c in conjuncts(join.condition) if c not in own and c != match.near]
    keys: list[Expr] = [*dict.fromkeys(c for c in columns(match.near) if c.relation in left)]
    needed = [c for c in used_outside(join, select) if c.relation in right]
    needed += [c for other in others for c in columns(other) if c.relation in right]

    positions = Derived(fresh.relation(), replace(_select(_source(join.left, keys), keys, fresh), distinct=True))
    of_position = _names(keys, positions)
    near = transform(match.near, lambda part: of_position.get(part, part))
    pairs = Join("INNER", positions, join.right, conjunction([near, *own]))
    shown: list[Expr] = [*of_position.values(), *dict.fromkeys(needed)]
    matched = Derived(fresh.relation(), _select(pairs, shown, fresh))
    names = _names(shown, matched)
    equal = [Call(BOOLEAN, "=", (key, names[of_position[key]])) for key in keys]
    joined = Join(join.kind, join.left, matched, conjunction([*equal, *others]))
    return _renamed(replace(select, from_=replaced(select.from_, join, joined)), names)


def _source(tree: Relation, keys: list[Expr]) -> Relation:
    """The one table of ``tree`` that the columns are of, or all of it."""
    used = {c.relation for key in keys for c in columns(key)}
    return next((leaf for leaf in relations(tree) if used == {leaf.relation}), tree)


# --- parts of both ----------------------------------------------------------------------------------------------------


def _numbers(tree: Relation) -> frozenset[int]:
    return frozenset(leaf.relation for leaf in relations(tree))


def _outputs(exprs: Sequence[Expr], fresh: Fresh) -> tuple[Output, ...]:
    aliases = [fresh.alias() for _ in exprs]
    return tuple(Output(alias, expr, field_of(expr, alias)) for alias, expr in zip(aliases, exprs, strict=True))


def _select(from_: Relation, exprs: Sequence[Expr], fresh: Fresh) -> Select:
    return Select(from_, None, (), None, _outputs(exprs, fresh), False, (), None, 0)


def _names(exprs: Sequence[Expr], derived: Derived) -> dict[Expr, Column]:
    """The columns of a derived table by what they are made of."""
    pairs = zip(exprs, derived.query.outputs, strict=True)
    return {expr: Column(o.expr.type, derived.relation, o.alias, o.field) for expr, o in pairs}


def _renamed(select: Select, names: dict[Expr, Column]) -> Select:
    return map_select(select, lambda expr: transform(expr, lambda part: names.get(part, part)))
