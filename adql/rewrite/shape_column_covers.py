"""Columns of shapes: what is stored beside them is found, and a constant region near them selects by their covers.

A text of a region or MOC is computed with by the shapes that its table keeps; below derived tables these become hidden
outputs. A stored cover (``clickhouse_schema.shape_cover``) is ANDed to its predicate at positive polarity only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adql.errors import AdqlUnsupported
from adql.ir import (
    Call,
    Column,
    Covered,
    Derived,
    Expr,
    Literal,
    NameGenerator,
    Output,
    Relation,
    Scan,
    Select,
    evaluate_region,
    map_select,
    transform_expr,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
)
from adql.regions.cover_ranges import footprints
from clickhouse_schema.datatypes import BOOLEAN, LONG, ColumnType, Field
from clickhouse_schema.shape_cover import cover_column, has_cover, is_read, shape_column

_RELATIONS = ("SHAPES CONTAIN", "SHAPES MEET")

#: Whose arguments are shapes
_TAKE_SHAPES = (*_RELATIONS, "MOC UNION", "MOC INTERSECTION", "AREA", "CAP LON", "CAP LAT", "CAP RADIUS")


def use_stored_shapes(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT."""
    if not any(
        _is_shape_column(a) for e in walk_select_expressions(select) for p in walk_expr(e) for a in _shapes_of(p)
    ):
        return select
    beside = _Beside(select, fresh)
    where = None if select.where is None else _pruned(select.where, beside)
    select = replace(select, where=where, from_=_pruned_joins(select.from_, beside))
    return beside.finish(map_select(select, lambda expr: transform_expr(expr, lambda part: _read(part, beside))))


def _shapes_of(expr: Expr) -> tuple[Expr, ...]:
    return expr.args if isinstance(expr, Call) and expr.name in _TAKE_SHAPES else ()


def _is_shape_column(expr: Expr) -> bool:
    return isinstance(expr, Column) and has_cover(expr.type)


def _read(expr: Expr, beside: _Beside) -> Expr:
    """``expr`` with what is stored in place of the texts of regions."""
    shapes = _shapes_of(expr)
    if not any(isinstance(a, Column) and is_read(a.type) for a in shapes):
        return expr
    return expr.with_children(tuple([_stored(a, beside) for a in shapes]))


def _stored(expr: Expr, beside: _Beside) -> Expr:
    if not (isinstance(expr, Column) and is_read(expr.type)):
        return expr
    datatype = "long" if expr.type.xtype == "moc" else "double"
    found = beside.column(expr, shape_column, ColumnType(datatype, "*"))
    if found is None:
        raise AdqlUnsupported(
            f"the region {expr.field.name} of combined or computed rows is not supported",
            expr.span,
            "put the condition into the subquery that reads the table",
        )
    return Call(expr.type, "STORED", (found,), span=expr.span)


# --- pruning ----------------------------------------------------------------------------------------------------------


def _pruned(expr: Expr, beside: _Beside) -> Expr:
    if not isinstance(expr, Call):
        return expr
    if expr.name in ("AND", "OR"):
        return expr.with_children(tuple([_pruned(a, beside) for a in expr.args]))
    if expr.name not in _RELATIONS:
        return expr
    parts: list[Expr] = []
    for shape, other in (expr.args, expr.args[::-1]):
        region = evaluate_region(other) if _is_shape_column(shape) else None
        if region is not None and isinstance(shape, Column):
            number = beside.column(shape, cover_column, LONG)
            if number is not None:
                parts.append(Covered(BOOLEAN, number, footprints(region)))
    if not parts:
        return expr
    # the engine would order the conditions by the size of their columns, and test every shape first
    test = Call(BOOLEAN, "CASE", (parts[0], expr, Literal(BOOLEAN, False)), span=expr.span)
    return Call(BOOLEAN, "AND", (*parts, test), span=expr.span)


def _pruned_joins(relation: Relation, beside: _Beside) -> Relation:
    if isinstance(relation, (Scan, Derived)):
        return relation
    condition = None if relation.condition is None else _pruned(relation.condition, beside)
    left, right = _pruned_joins(relation.left, beside), _pruned_joins(relation.right, beside)
    return replace(relation, left=left, right=right, condition=condition)


class _Beside:
    """Finds the columns that tables keep beside a column of shapes, through derived tables.

    Those get them as hidden outputs, when ``finish`` rebuilds the FROM clause. The hidden column is a function of the
    shown one, so DISTINCT and GROUP BY take it along.
    """

    def __init__(self, select: Select, fresh: NameGenerator) -> None:
        self._leaves = {leaf.relation: leaf for leaf in walk_leaves(select.from_)}
        self._exports: dict[int, Derived] = {}
        self._fresh = fresh

    def column(self, shape: Column, name_of: Callable[[str], str], kind: ColumnType) -> Column | None:
        """The column ``name_of(name)`` of the table that ``shape`` comes from; None if it comes from none."""
        leaf = self._exports.get(shape.relation) or self._leaves.get(shape.relation)
        if isinstance(leaf, Scan):
            name = name_of(shape.name)
            return Column(kind, leaf.relation, name, Field(name, kind, nullable=False))
        if isinstance(leaf, Derived) and isinstance(leaf.query, Select):
            return self._through(leaf, leaf.query, shape, name_of, kind)
        return None

    def _through(
        self, leaf: Derived, query: Select, shape: Column, name_of: Callable[[str], str], kind: ColumnType
    ) -> Column | None:
        shown = next(o.expr for o in query.outputs if o.alias == shape.name)
        if not isinstance(shown, Column) or (query.is_grouped and shown not in query.group_by):
            return None
        inner = _Beside(query, self._fresh)
        found = inner.column(shown, name_of, kind)
        if found is None:
            return None
        alias = next((o.alias for o in query.outputs if o.expr == found), "")
        if not alias:
            alias = self._fresh.new_alias()
            query = replace(inner.finish(query), outputs=(*query.outputs, Output(alias, found, found.field)))
            if query.is_grouped:
                query = replace(query, group_by=(*query.group_by, found))
            self._exports[leaf.relation] = Derived(leaf.relation, query)
        return Column(kind, leaf.relation, alias, found.field)

    def finish(self, select: Select) -> Select:
        """``select`` with the hidden outputs that were asked for."""
        return replace(select, from_=self._rebuilt(select.from_)) if self._exports else select

    def _rebuilt(self, relation: Relation) -> Relation:
        if isinstance(relation, (Scan, Derived)):
            return self._exports.get(relation.relation, relation)
        return replace(relation, left=self._rebuilt(relation.left), right=self._rebuilt(relation.right))
