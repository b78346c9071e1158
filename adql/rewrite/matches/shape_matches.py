"""Add a nearness of caps to CONTAINS or INTERSECTS between two tables, so that the join is planned as a cross-match.

The separation of two shapes that have a direction in common is at most the sum of the radii of their caps. A cap is a
circle that contains the shape; its centre is the direction of the sum of the shape's vertices or centres.

    a JOIN b ON 1 = INTERSECTS(a.shape, b.shape)
    a JOIN b ON NEAR(centres of both caps, sum of their radii) AND 1 = INTERSECTS(a.shape, b.shape)

This pass runs before the passes that read nearnesses.
"""

from __future__ import annotations

from adql.ir import Call, Expr, Select, TranslationContext, combine_conjuncts, read_position, split_conjuncts
from adql.node_classes import replace
from adql.rewrite.covers.shape_column_covers import SHAPE_RELATIONS
from adql.rewrite.matches.match_sizes import find_row_count
from adql.rewrite.trees.derived_tables import DerivedBuilder
from adql.rewrite.trees.relation_trees import (
    Leaf,
    collect_leaves,
    find_used_relations,
    map_conditions,
    replace_relation,
)
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, REGION_TEXTS

#: The xtypes of shapes whose cap the emitter computes
_CAPPED_XTYPES = ("circle", "range", "polygon", *REGION_TEXTS)

#: Number of pairs from which testing all pairs takes longer than a planned match: about 1 second if one shape is a
#: point, and 10 seconds otherwise, because both sides have radii then. With points, a table of unknown size counts as
#: large.
_MIN_PAIRS_WITH_POINTS = 1_000_000
_MIN_PAIRS_OF_SHAPES = 30_000_000


def add_cap_nearness(select: Select, context: TranslationContext) -> Select:
    """Add the nearness of caps to each relation between shapes of two tables in WHERE or ON.

    The relation is kept as the exact test. Nothing is added where testing all pairs is fast, or for MOCs.
    """
    caps = _CapColumns(select, context)
    where = caps.add_nearness(select.where)
    from_ = map_conditions(select.from_, lambda join: caps.add_nearness(join.condition))
    return caps.wrap_tables(replace(select, where=where, from_=from_))


class _CapColumns:
    """The caps of the shapes in FROM, as columns of derived tables, which compute them once per row."""

    def __init__(self, select: Select, context: TranslationContext) -> None:
        self._select = select
        self._context = context
        self._leaves = collect_leaves(select.from_)
        self._builders: dict[int, DerivedBuilder] = {}

    def add_nearness(self, condition: Expr | None) -> Expr | None:
        parts = split_conjuncts(condition)
        added = [near for part in parts if (near := self._make_nearness(part)) is not None]
        return combine_conjuncts([*added, *parts]) if added else condition

    def _make_nearness(self, condition: Expr) -> Expr | None:
        """Return the nearness for a relation between shapes of two tables; None for MOCs and other conditions."""
        if not (isinstance(condition, Call) and condition.name in SHAPE_RELATIONS):
            return None
        first, second = (find_used_relations(shape) for shape in condition.args)
        if first == second or any(len(used) != 1 or not used <= self._leaves.keys() for used in (first, second)):
            return None
        if any(shape.type.xtype not in ("point", *_CAPPED_XTYPES) for shape in condition.args):
            return None
        if not _is_worth_planning(condition, *(self._leaves[relation] for relation in first | second)):
            return None
        (lon1, lat1, *radii1), (lon2, lat2, *radii2) = (self._export_cap(shape) for shape in condition.args)
        radii = (*radii1, *radii2)
        radius = Call(DOUBLE, "+", radii) if len(radii) == 2 else radii[0]
        return Call(BOOLEAN, "NEAR", (lon1, lat1, lon2, lat2, radius), span=condition.span)

    def _export_cap(self, shape: Expr) -> tuple[Expr, ...]:
        """Return columns with longitude and latitude of a cap's centre and with its radius; a point has no radius."""
        if shape.type.xtype == "point":
            return read_position(shape)
        [relation] = find_used_relations(shape)
        if relation not in self._builders:
            self._builders[relation] = DerivedBuilder(self._leaves[relation], self._select, self._context)
        values = (Call(DOUBLE, f"CAP {value}", (shape,)) for value in ("LON", "LAT", "RADIUS"))
        return tuple(map(self._builders[relation].export_expr, values))

    def wrap_tables(self, select: Select) -> Select:
        """Return ``select`` with derived tables around the tables whose caps are used."""
        for builder in self._builders.values():
            from_ = replace_relation(select.from_, builder.relation, builder.build_derived())
            select = builder.rename_select(replace(select, from_=from_))
        return select


def _is_worth_planning(condition: Call, first: Leaf, second: Leaf) -> bool:
    """Return whether there are too many pairs to test them all."""
    first_rows, second_rows = find_row_count(first), find_row_count(second)
    is_known = first_rows is not None and second_rows is not None
    pairs = (first_rows or 0) * (second_rows or 0)
    if any(shape.type.xtype == "point" for shape in condition.args):
        return not is_known or pairs >= _MIN_PAIRS_WITH_POINTS
    return is_known and pairs >= _MIN_PAIRS_OF_SHAPES
