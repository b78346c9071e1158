"""Passes that bring join trees into the form that ClickHouse accepts.

* ``make_left_deep``: ``a RIGHT JOIN b`` becomes ``b LEFT JOIN a``, and a join on the right of a join a derived table.
* ``move_keys_to_on``: ``FROM a, b WHERE a.id = b.id`` becomes ``FROM a JOIN b ON a.id = b.id``, which is hashed.
* ``add_outer_keys``: an outer join without an equality of both sides, which ClickHouse refuses, gets an equality that
  is always true.
* ``enclose_alternatives``: ``ON key AND (f OR g)`` becomes ``ON key AND NOT (NOT (f OR g))``, a join by one key.
"""

from __future__ import annotations

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    Relation,
    Select,
    TranslationContext,
    combine_conjuncts,
    split_conjuncts,
    walk_joins,
    walk_leaves,
)
from adql.node_classes import replace
from adql.rewrite.trees.derived_tables import ONE, DerivedBuilder, wrap_relation
from adql.rewrite.trees.relation_trees import (
    EqualitySides,
    Leaf,
    collect_numbers,
    find_equality_sides,
    is_across,
    is_join_equality,
    joins_both_sides,
    replace_relation,
)
from clickhouse_schema.datatypes import BOOLEAN, INT

_Equality = tuple[Expr, EqualitySides]


def make_left_deep(select: Select, context: TranslationContext) -> Select:
    """Replace RIGHT JOINs, and make derived tables of joins on the right of joins.

    Afterwards the right side of each join is a leaf, and no join is a RIGHT JOIN, which other passes expect.
    """
    select = select.with_from(turn_right_joins(select.from_))
    while True:
        nested = next((j.right for j in walk_joins(select.from_) if isinstance(j.right, Join)), None)
        if nested is None:
            return select
        select = wrap_relation(select, nested, context)


def turn_right_joins(relation: Relation) -> Relation:
    """Replace ``a RIGHT JOIN b`` by ``b LEFT JOIN a`` at all depths of a join tree.

    Parameters
    ----------
    relation
        The join tree. Outputs have names, so they are independent of the order of the sides.

    Returns
    -------
    Relation
        The join tree without RIGHT JOINs; the same if it had none.
    """
    if not isinstance(relation, Join):
        return relation
    left, right = turn_right_joins(relation.left), turn_right_joins(relation.right)
    if relation.kind == "RIGHT":
        return Join("LEFT", right, left, relation.condition)
    return relation.with_sides(left, right)


def move_keys_to_on(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Move the equalities of WHERE that join two sides of an INNER JOIN into its ON.

    Expects left-deep joins. Each equality goes to the innermost such join.
    """
    conditions = split_conjuncts(select.where)
    equalities = [(c, sides) for c in conditions if (sides := find_equality_sides(c)) is not None]
    from_, left = _take_keys(select.from_, equalities)
    if len(left) == len(equalities):
        return select
    taken = {id(c) for c, _ in equalities} - {id(c) for c, _ in left}
    return replace(select, from_=from_, where=combine_conjuncts([c for c in conditions if id(c) not in taken]))


def _take_keys(relation: Relation, equalities: list[_Equality]) -> tuple[Relation, list[_Equality]]:
    """Return the join tree in which ON has the equalities of both sides, and the remaining equalities.

    An equality goes to the innermost join for which it is an equality of both sides.
    """
    if not isinstance(relation, Join) or relation.kind == "FULL":
        return relation, equalities  # WHERE also applies to the unmatched right rows of a FULL JOIN
    below, equalities = _take_keys(relation.left, equalities)
    keys: list[Expr] = []
    if relation.kind == "INNER" and equalities:
        right, numbers = collect_numbers(relation.right), collect_numbers(relation)
        keys = [c for c, (one, other) in equalities if is_across(one, other, right) and one | other <= numbers]
    if keys:
        taken = {id(key) for key in keys}
        equalities = [each for each in equalities if id(each[0]) not in taken]
        condition = combine_conjuncts([*split_conjuncts(relation.condition), *keys])
        return replace(relation, left=below, condition=condition), equalities
    return relation.with_sides(below, relation.right), equalities


def add_outer_keys(select: Select, context: TranslationContext) -> Select:
    """Add an equality that is always true to each outer, SEMI or ANTI join without an equality of both sides.

    The right side becomes a derived table. This runs after all passes that add real equalities.
    """
    while True:
        outer = (join for join in walk_joins(select.from_) if join.kind != "INNER")
        join = next((j for j in outer if not has_equality(j)), None)
        if join is None:
            return select
        select = add_equality(select, join, context)


def has_equality(join: Join) -> bool:
    """Return whether the ON of a join has an equality of both sides among its conjuncts."""
    return any(is_join_equality(c, join) for c in split_conjuncts(join.condition))


def add_equality(select: Select, join: Join, context: TranslationContext, value: Literal = ONE) -> Select:
    """Add ``1 = value`` to the ON of a join, as an equality of columns of both sides.

    Parameters
    ----------
    select
        The SELECT of the join.
    join
        A join without an equality.
    context
        Generates relation numbers and aliases.
    value
        1, or another number for a join that matches nothing.

    Returns
    -------
    Select
        The changed SELECT, in which the right side is a derived table.
    """
    builder = DerivedBuilder(join.right, select, context)
    key = builder.export_expr(value)
    anchor = _find_any_column(next(walk_leaves(join.left)))
    equality = Call(BOOLEAN, "=", (Call(INT, "ONE", (anchor,)), key))
    condition = combine_conjuncts([equality, *split_conjuncts(join.condition)])
    keyed = replace(join, right=builder.build_derived(), condition=condition)
    return builder.rename_select(replace(select, from_=replace_relation(select.from_, join, keyed)))


def _find_any_column(leaf: Leaf) -> Column:
    if isinstance(leaf, Derived):
        output = leaf.query.outputs[0]
        return Column(output.expr.type, leaf.relation, output.alias, output.field)
    column = leaf.entry.table.columns[0]
    return Column(column.type, leaf.relation, column.name, column.field)


def enclose_alternatives(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001
    """Enclose each OR of both sides in an ON that has a key.

    ClickHouse would join by several keys, and such a join cannot spill to disk. An OR is not enclosed if there is no
    key, or if its alternatives are keys, because it finds the partners then.
    """
    return select.with_from(_enclose_in(select.from_))


def _enclose_in(relation: Relation) -> Relation:
    if not isinstance(relation, Join):
        return relation
    relation = relation.with_sides(_enclose_in(relation.left), relation.right)
    if not has_equality(relation):
        return relation
    conditions = [_enclose(c, relation) for c in split_conjuncts(relation.condition)]
    return replace(relation, condition=combine_conjuncts(conditions))


def _enclose(condition: Expr, join: Join) -> Expr:
    if not (isinstance(condition, Call) and condition.name == "OR" and joins_both_sides(condition, join)):
        return condition
    if all(is_join_equality(part, join) for part in condition.args):
        return condition
    return Call(BOOLEAN, "NOT", (Call(BOOLEAN, "NOT", (condition,)),))
