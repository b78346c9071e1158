"""Matches of shapes: two shapes that have a direction in common are no farther apart than the caps around them reach.

Where CONTAINS or INTERSECTS ties the rows of two tables, that nearness is ANDed to it, so that the join is planned as a
cross-match (``crossmatch``) whose candidates the exact test decides. A cap is a circle around the shape: around the
direction of the sum of its vertices or centres, as wide as needed.
"""

from __future__ import annotations

from dataclasses import replace

from adql.ir import (
    Call,
    Derived,
    Expr,
    Join,
    NameGenerator,
    Relation,
    Scan,
    Select,
    combine_conjuncts,
    read_position,
    split_conjuncts,
    walk_columns,
    walk_leaves,
)
from adql.rewrite.derived_tables import DerivedBuilder
from adql.rewrite.join_trees import replace_relation
from adql.rewrite.match_sizes import find_row_count
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, REGION_XTYPE

_RELATIONS = ("SHAPES CONTAIN", "SHAPES MEET")

#: xtypes of shapes whose cap the emitter computes
_CAPPED = ("circle", "polygon", REGION_XTYPE)

#: Pairs whose tests take longer than it takes the engine to plan a match: about 1 second where one is a point, 10 where
#: neither is, for then both sides have radii of their own. Tables of unknown size are taken for large beside points.
_PAIRS_WITH_POINTS = 1_000_000
_PAIRS_OF_SHAPES = 30_000_000


def add_cap_nearness(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT, before those that plan its matches."""
    if not isinstance(select.from_, Join):
        return select
    tables = _Tables(select, fresh)

    def tree(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        condition = tables.with_caps(relation.condition)
        return replace(relation, left=tree(relation.left), right=tree(relation.right), condition=condition)

    return tables.apply(replace(select, where=tables.with_caps(select.where), from_=tree(select.from_)))


class _Tables:
    """Those of a SELECT's FROM. One that gets caps becomes a derived table, so that they are computed once a row."""

    def __init__(self, select: Select, fresh: NameGenerator) -> None:
        self._select = select
        self._fresh = fresh
        self._leaves = {leaf.relation: leaf for leaf in walk_leaves(select.from_)}
        self._wrapped: dict[int, DerivedBuilder] = {}

    def with_caps(self, condition: Expr | None) -> Expr | None:
        parts = split_conjuncts(condition)
        added = [near for part in parts if (near := self._nearness(part)) is not None]
        return combine_conjuncts([*added, *parts]) if added else condition

    def _nearness(self, condition: Expr) -> Expr | None:
        """Of a relation between shapes of two tables; None of others, and of MOCs."""
        if not (isinstance(condition, Call) and condition.name in _RELATIONS):
            return None
        used = [{column.relation for column in walk_columns(shape)} for shape in condition.args]
        if used[0] == used[1] or any(len(one) != 1 or not one <= self._leaves.keys() for one in used):
            return None
        if any(shape.type.xtype not in ("point", *_CAPPED) for shape in condition.args):
            return None
        if not self._is_worth_while(condition, *(self._leaves[relation] for relation in used[0] | used[1])):
            return None
        (lon1, lat1, *radii), (lon2, lat2, *more) = (self._cap(shape) for shape in condition.args)
        radius = Call(DOUBLE, "+", (*radii, *more)) if radii and more else (*radii, *more)[0]
        return Call(BOOLEAN, "NEAR", (lon1, lat1, lon2, lat2, radius), span=condition.span)

    def _is_worth_while(self, condition: Call, first: Scan | Derived, second: Scan | Derived) -> bool:
        """Whether there are more pairs than may as well be tested one by one."""
        rows, more = find_row_count(first), find_row_count(second)
        if any(shape.type.xtype == "point" for shape in condition.args):
            return rows is None or more is None or rows * more >= _PAIRS_WITH_POINTS
        return rows is not None and more is not None and rows * more >= _PAIRS_OF_SHAPES

    def _cap(self, shape: Expr) -> tuple[Expr, ...]:
        """Longitude and latitude of its centre, and but for a point its radius, as columns."""
        if shape.type.xtype == "point":
            return read_position(shape)
        [relation] = {column.relation for column in walk_columns(shape)}
        if relation not in self._wrapped:
            self._wrapped[relation] = DerivedBuilder(self._leaves[relation], self._select, self._fresh)
        values = tuple(Call(DOUBLE, f"CAP {value}", (shape,)) for value in ("LON", "LAT", "RADIUS"))
        return tuple(self._wrapped[relation].export_expr(value) for value in values)

    def apply(self, select: Select) -> Select:
        for wrapped in self._wrapped.values():
            select = replace(select, from_=replace_relation(select.from_, wrapped.relation, wrapped.build_derived()))
            select = wrapped.rename_select(select)
        return select
