"""Join trees as ClickHouse takes them: left-deep, without RIGHT, and with an equality in every outer join's ON."""

from __future__ import annotations

from dataclasses import replace

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
    Query,
    Relation,
    Scan,
    Select,
    Subquery,
    combine_conjuncts,
    split_conjuncts,
    walk_columns,
    walk_expr,
    walk_leaves,
)
from adql.rewrite.derived_tables import ONE, DerivedBuilder
from clickhouse_schema.datatypes import BOOLEAN, INT


def make_left_deep(select: Select, fresh: NameGenerator) -> Select:
    """The pass that comes first: no RIGHT, no join on the right of a join."""
    select = replace(select, from_=turn_right_joins(select.from_))
    while (nested := _nested_right(select.from_)) is not None:
        wrapped = DerivedBuilder(nested, select, fresh)
        select = wrapped.rename_select(
            replace(select, from_=replace_relation(select.from_, nested, wrapped.build_derived()))
        )
    return select


def move_keys_to_on(select: Select, fresh: NameGenerator) -> Select:  # noqa: ARG001  passes are called alike
    """Equalities of WHERE that join tables of inner joins go into their ON, where the engine hashes by them."""
    while (found := _key_of_where(select, select.from_)) is not None:
        join, keys = found
        joined = replace(join, condition=combine_conjuncts([*split_conjuncts(join.condition), *keys]))
        rest = [c for c in split_conjuncts(select.where) if c not in keys]
        select = replace(select, from_=replace_relation(select.from_, join, joined), where=combine_conjuncts(rest))
    return select


def _key_of_where(select: Select, relation: Relation) -> tuple[Join, list[Expr]] | None:
    if not isinstance(relation, Join):
        return None
    if relation.kind == "FULL":
        return None  # to its rows of the right side alone WHERE applies too
    below = _key_of_where(select, relation.left)
    if below is not None or relation.kind != "INNER":
        return below
    here = {leaf.relation for leaf in walk_leaves(relation)}
    keys = [
        c
        for c in split_conjuncts(select.where)
        if is_join_equality(c, relation) and {x.relation for x in walk_columns(c)} <= here
    ]
    return (relation, keys) if keys else None


def add_outer_keys(select: Select, fresh: NameGenerator) -> Select:
    """The pass that comes last: an outer join without an equality gets one that is always true."""
    while (bare := _without_equality(select.from_)) is not None:
        select = add_equality(select, bare, fresh)
    return select


def finish_joins(query: Query, fresh: NameGenerator) -> Select:
    """What ``join_order`` and ``outer_keys`` make of a SELECT that another pass has put together."""
    assert isinstance(query, Select)  # noqa: S101  passes make nothing else
    return add_outer_keys(fix_join_order(query, fresh), fresh)


def add_equality(select: Select, join: Join, fresh: NameGenerator, value: Literal = ONE) -> Select:
    """``select`` with an equality of 1 and ``value`` in the ON of ``join``: without a value it is always true."""
    wrapped = DerivedBuilder(join.right, select, fresh)
    key = wrapped.export_expr(value)
    anchor = _any_column(next(walk_leaves(join.left)))
    # the engine wants an equality of columns of both sides: 1 = 1 in disguise
    equal = Call(BOOLEAN, "=", (Call(INT, "ONE", (anchor,)), key))
    joined = replace(
        join, right=wrapped.build_derived(), condition=combine_conjuncts([equal, *split_conjuncts(join.condition)])
    )
    return wrapped.rename_select(replace(select, from_=replace_relation(select.from_, join, joined)))


def fix_join_order(select: Select, fresh: NameGenerator) -> Select:
    """Tells whether the engine may order the joins anew.

    It merges joined derived tables for that, and fails where a condition in ON has then no side: constant outputs, and
    joins without an equality of both sides.
    """
    if isinstance(select.from_, Join) and not _is_plain(select.from_):
        fresh.keeps_join_order = True
    return select


def _is_plain(relation: Relation) -> bool:
    if isinstance(relation, Scan):
        return True
    if isinstance(relation, Derived):
        return all(_varies(o.expr) for o in relation.query.outputs)
    parts = split_conjuncts(relation.condition)
    keyed = any(is_join_equality(c, relation) for c in parts) and all(_varies(c) for c in parts)
    return keyed and _is_plain(relation.left) and _is_plain(relation.right)


def _varies(expr: Expr) -> bool:
    """Whether surely no constant is left of it when the engine computes what it can beforehand."""
    parts = list(walk_expr(expr))
    unsure = any(
        isinstance(e, (Subquery, Exists, InSubquery)) or (isinstance(e, Literal) and e.value is None) for e in parts
    )
    return not unsure and any(isinstance(e, (Column, Aggregate)) for e in parts)


def turn_right_joins(relation: Relation) -> Relation:
    """``a RIGHT JOIN b`` is ``b LEFT JOIN a``: outputs are named, so the sides' order does not show."""
    if not isinstance(relation, Join):
        return relation
    left, right = turn_right_joins(relation.left), turn_right_joins(relation.right)
    if relation.kind == "RIGHT":
        return Join("LEFT", right, left, relation.condition)
    return replace(relation, left=left, right=right)


def _nested_right(relation: Relation) -> Join | None:
    """A join that stands on the right of another one, the innermost first."""
    if not isinstance(relation, Join):
        return None
    below = _nested_right(relation.left) or _nested_right(relation.right)
    if below is not None:
        return below
    return relation.right if isinstance(relation.right, Join) else None


def _without_equality(relation: Relation) -> Join | None:
    if not isinstance(relation, Join):
        return None
    below = _without_equality(relation.left)
    if below is not None or relation.kind == "INNER":
        return below
    return None if any(is_join_equality(c, relation) for c in split_conjuncts(relation.condition)) else relation


def is_join_equality(condition: Expr, join: Join) -> bool:
    """``f(columns of one side) = g(columns of the other)``, or with NULL the same as NULL"""
    if not (isinstance(condition, Call) and condition.name in ("=", "SAME")):
        return False
    right = {leaf.relation for leaf in walk_leaves(join.right)}
    sides = [{c.relation in right for c in walk_columns(arg)} for arg in condition.args]
    return sides in ([{True}, {False}], [{False}, {True}])


def _any_column(leaf: Scan | Derived) -> Column:
    if isinstance(leaf, Derived):
        output = leaf.query.outputs[0]
        return Column(output.expr.type, leaf.relation, output.alias, output.field)
    column = leaf.entry.table.columns[0]
    return Column(column.type, leaf.relation, column.name, column.field)


def replace_relation(relation: Relation, old: Relation, new: Relation) -> Relation:
    """The join tree with one part of it exchanged."""
    if relation is old:
        return new
    if not isinstance(relation, Join):
        return relation
    return replace(
        relation, left=replace_relation(relation.left, old, new), right=replace_relation(relation.right, old, new)
    )
