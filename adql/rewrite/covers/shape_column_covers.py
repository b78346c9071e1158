"""Use the shapes and shape covers that a table stores for its columns of shapes.

* A range, or a text of a region or MOC, is read as the shapes that its table stores, which derived tables get as hidden
  outputs.
* A condition with a constant region, unless it is negated, is preceded by a test of the shape covers near the region:

    1 = INTERSECTS(t.region, R)
    (t.region's cover IN covers near R) AND CASE WHEN (t.region's cover IN ...) THEN exact test ELSE FALSE END

The CASE keeps ClickHouse from testing all shapes first, because it orders conjuncts by the size of their columns.
This pass runs before ``add_covers``.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.errors import AdqlUnsupported
from adql.ir import (
    Call,
    Column,
    Covered,
    Derived,
    Expr,
    Join,
    Literal,
    Output,
    Relation,
    Scan,
    Select,
    TranslationContext,
    evaluate_region,
    map_select,
    transform_expr,
    walk_expr,
    walk_select_expressions,
)
from adql.node_classes import replace
from adql.regions.region import find_shape_covers
from adql.rewrite.trees.relation_trees import collect_leaves, map_conditions
from clickhouse_schema.datatypes import BOOLEAN, LONG, ColumnType, Field
from clickhouse_schema.shape_cover import cover_column, has_cover, shape_column

#: Conditions on two shapes
SHAPE_RELATIONS = ("SHAPES CONTAIN", "SHAPES MEET")

#: Calls whose operands are shapes
SHAPE_CALLS = (*SHAPE_RELATIONS, "MOC UNION", "MOC INTERSECTION", "AREA", "CAP LON", "CAP LAT", "CAP RADIUS")


def use_stored_shapes(select: Select, context: TranslationContext) -> Select:
    """Read stored shapes for ranges and texts, and prune relations with constant regions by shape covers.

    Derived tables get the hidden columns that this needs, so it runs after their own passes.

    Raises
    ------
    AdqlUnsupported
        If a range, or the text of a region or MOC, does not come unchanged from a stored table.
    """
    parts = (part for expr in walk_select_expressions(select) for part in walk_expr(expr))
    if not any(_is_shape_column(operand) for part in parts for operand in _list_shapes(part)):
        return select
    hidden = _HiddenColumns(select, context)
    where = None if select.where is None else _prune_by_covers(select.where, hidden)

    def prune_join(join: Join) -> Expr | None:
        return None if join.condition is None else _prune_by_covers(join.condition, hidden)

    select = replace(select, where=where, from_=map_conditions(select.from_, prune_join))
    select = map_select(select, lambda expr: transform_expr(expr, lambda part: _read_shapes(part, hidden)))
    return hidden.add_outputs(select)


def _list_shapes(expr: Expr) -> tuple[Expr, ...]:
    return expr.args if isinstance(expr, Call) and expr.name in SHAPE_CALLS else ()


def _is_shape_column(expr: Expr) -> bool:
    return isinstance(expr, Column) and has_cover(expr.type)


def _read_shapes(expr: Expr, hidden: _HiddenColumns) -> Expr:
    """Replace ranges and texts among the operands of ``expr`` by the stored shapes."""
    shapes = _list_shapes(expr)
    if not any(isinstance(a, Column) and a.type.has_stored_shapes for a in shapes):
        return expr
    return expr.with_children(tuple([_read_shape(a, hidden) for a in shapes]))


def _read_shape(expr: Expr, hidden: _HiddenColumns) -> Expr:
    if not (isinstance(expr, Column) and expr.type.has_stored_shapes):
        return expr
    datatype = "long" if expr.type.xtype == "moc" else "double"
    found = hidden.find_column(expr, shape_column, ColumnType(datatype, "*"))
    if found is None:
        raise AdqlUnsupported(
            f"the {expr.type.adql} {expr.field.name} of combined or computed rows is not supported",
            expr.span,
            "put the condition into the subquery that reads the table",
        )
    return Call(expr.type, "STORED", (found,), span=expr.span)


def _prune_by_covers(expr: Expr, hidden: _HiddenColumns) -> Expr:
    if not isinstance(expr, Call):
        return expr
    if expr.name in ("AND", "OR"):
        return expr.with_children(tuple([_prune_by_covers(a, hidden) for a in expr.args]))
    if expr.name not in SHAPE_RELATIONS:
        return expr
    parts: list[Expr] = []
    for shape, other in (expr.args, expr.args[::-1]):
        region = evaluate_region(other) if _is_shape_column(shape) else None
        if region is not None and isinstance(shape, Column):
            number = hidden.find_column(shape, cover_column, LONG)
            if number is not None:
                parts.append(Covered(BOOLEAN, number, find_shape_covers(region)))
    if not parts:
        return expr
    test = Call(BOOLEAN, "CASE", (parts[0], expr, Literal(BOOLEAN, False)), span=expr.span)
    return Call(BOOLEAN, "AND", (*parts, test), span=expr.span)


class _HiddenColumns:
    """Finds the columns that tables store for a column of shapes, through derived tables.

    ``add_outputs`` adds them to derived tables as hidden outputs. A hidden column is a function of the shown column, so
    it changes neither DISTINCT nor GROUP BY.
    """

    def __init__(self, select: Select, context: TranslationContext) -> None:
        self._leaves = collect_leaves(select.from_)
        self._changed: dict[int, Derived] = {}
        self._context = context

    def find_column(self, shape: Column, name_of: Callable[[str], str], kind: ColumnType) -> Column | None:
        """Return the column ``name_of(name)`` of the table from which ``shape`` comes; None without such a table."""
        leaf = self._changed.get(shape.relation) or self._leaves.get(shape.relation)
        if isinstance(leaf, Scan):
            name = name_of(shape.name)
            return Column(kind, leaf.relation, name, Field(name, kind, nullable=False))
        if isinstance(leaf, Derived) and isinstance(leaf.query, Select):
            return self._find_in_derived(leaf, leaf.query, shape, name_of, kind)
        return None

    def _find_in_derived(
        self, leaf: Derived, query: Select, shape: Column, name_of: Callable[[str], str], kind: ColumnType
    ) -> Column | None:
        shown = next(o.expr for o in query.outputs if o.alias == shape.name)
        if not isinstance(shown, Column) or (query.is_grouped and shown not in query.group_by):
            return None
        inner = _HiddenColumns(query, self._context)
        found = inner.find_column(shown, name_of, kind)
        if found is None:
            return None
        alias = next((o.alias for o in query.outputs if o.expr == found), "")
        if not alias:
            alias = self._context.names.new_alias()
            outputs = (*query.outputs, Output(alias, found, found.field))
            query = replace(inner.add_outputs(query), outputs=outputs)
            if query.is_grouped:
                query = replace(query, group_by=(*query.group_by, found))
            self._changed[leaf.relation] = Derived(leaf.relation, query)
        return Column(kind, leaf.relation, alias, found.field)

    def add_outputs(self, select: Select) -> Select:
        """Return ``select`` with the hidden outputs in its derived tables."""
        return replace(select, from_=self._replace_leaves(select.from_)) if self._changed else select

    def _replace_leaves(self, relation: Relation) -> Relation:
        if isinstance(relation, (Scan, Derived)):
            return self._changed.get(relation.relation, relation)
        return replace(relation, left=self._replace_leaves(relation.left), right=self._replace_leaves(relation.right))
