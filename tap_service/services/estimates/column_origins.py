"""Trace the columns of derived tables to their origins: stored columns, cubes of a cross-match, ids, radii."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Relation,
    Scan,
    Select,
    evaluate_constant,
    get_operand,
    transform_expr,
    walk_columns,
)
from adql.query_analysis import bound_radius
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.shard_map import SHARD_COLUMN

#: returns the radius in degrees of the circle with the mean area of all circles, for a radius that depends on the rows
#: of a table; None if it is unknown
MeanRadius = Callable[[Scan, Expr], float | None]


class ColumnOrigins:
    """The origins of the columns of a query, whose relations are added from the innermost outwards."""

    def __init__(self) -> None:
        self._outputs: dict[tuple[int, str], Expr] = {}
        self._scans: dict[int, Scan] = {}

    def add_leaf(self, leaf: Scan | Derived) -> None:
        """Add a leaf of a FROM; the relations inside it have been added."""
        if isinstance(leaf, Scan):
            self._scans[leaf.relation] = leaf
            return
        for output in leaf.query.outputs:
            self._outputs[leaf.relation, output.alias] = output.expr

    def find_origin(self, expr: Expr) -> Expr:
        """Return the innermost expression to which a column of a derived table refers, or another expression itself."""
        *_, last = self.walk_origins(expr)
        return last

    def walk_origins(self, expr: Expr) -> Iterator[Expr]:
        """Yield the columns from the outermost to the innermost, then the expression of the innermost column."""
        yield expr
        while isinstance(expr, Column) and (inner := self._find_output(expr)) is not None:
            expr = inner
            yield expr

    def inline_origins(self, expr: Expr) -> Expr:
        """Return an expression with its columns replaced by stored columns."""

        def change(part: Expr) -> Expr:
            inner = self._find_output(part)
            if inner is None:
                return part.args[0] if isinstance(part, Call) and part.name == "CANONICAL" else part
            return self.inline_origins(inner)

        return transform_expr(expr, change)

    def _find_output(self, expr: Expr) -> Expr | None:
        return self._outputs.get((expr.relation, expr.name)) if isinstance(expr, Column) else None

    # --- cross-matches ------------------------------------------------------------------------------------------------

    def is_cube_key(self, condition: Expr) -> bool:
        """Return whether a condition equates the cubes of a cross-match."""
        return self._find_cubes(condition) is not None

    def find_cube_side(self, key: Expr) -> float | None:
        """Return the side of the cubes, in units of the sphere's radius; None if it depends on rows."""
        cubes = self._find_cubes(key)
        return evaluate_constant(get_operand(cubes, "side")) if cubes is not None and cubes.name == "CUBES" else None

    def _find_cubes(self, key: Expr) -> Call | None:
        origins = [self.find_origin(side) for side in key.children]
        return next((each for each in origins if isinstance(each, Call) and each.name.startswith("CUBES")), None)

    def find_radius(self, radius: Expr, find_mean: MeanRadius) -> float | None:
        """Return the value of a radius.

        Parameters
        ----------
        radius : Expr
            The radius, in degrees.
        find_mean : MeanRadius
            Returns the mean of a radius that depends on rows.

        Returns
        -------
        float or None
            The radius or the mean radius in degrees; None if it is unknown.
        """
        if (value := evaluate_constant(radius)) is not None:
            return value
        origin = self.inline_origins(radius)
        used = sorted({column.relation for column in walk_columns(origin)})
        if not used or not all(relation in self._scans for relation in used):
            return None
        if len(used) == 1:
            return find_mean(self._scans[used[0]], origin)
        bounds = bound_radius(origin, frozenset(used[:1]), frozenset(used[1:]))
        if bounds is None or len(used) > 2:
            return None
        parts = [
            0.0 if bound is None else find_mean(self._scans[relation], bound)
            for relation, bound in zip(used, (bounds.left, bounds.right), strict=True)
        ]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    # --- stored columns -----------------------------------------------------------------------------------------------

    def find_stored_column(self, expr: Expr) -> tuple[TableEntry, str] | None:
        """Return the table and the name of the stored column that an expression is; None for other expressions."""
        origin = self.find_origin(expr)
        scan = self._scans.get(origin.relation) if isinstance(origin, Column) else None
        return (scan.entry, origin.name) if scan is not None and isinstance(origin, Column) else None

    def is_shard_number(self, expr: Expr) -> bool:
        """Return whether an expression is the column with the shard of a row."""
        origin = self.find_origin(expr)
        return isinstance(origin, Column) and origin.name == SHARD_COLUMN

    def is_id_column(self, column: Column) -> bool:
        """Return whether a column is the first column of its table's id."""
        origin = self.inline_origins(column)
        scan = self._scans.get(origin.relation) if isinstance(origin, Column) else None
        return scan is not None and isinstance(origin, Column) and origin.name in scan.entry.table.layout.id[:1]

    def is_position(self, lon: Column, lat: Column) -> bool:
        """Return whether two columns are the position of a table."""
        first, second = self.inline_origins(lon), self.inline_origins(lat)
        if not (isinstance(first, Column) and isinstance(second, Column) and first.relation == second.relation):
            return False
        scan = self._scans.get(first.relation)
        return scan is not None and scan.entry.table.layout.position == (first.name, second.name)

    def is_unique_by(self, side: Relation, keys: list[Expr]) -> bool:
        """Return whether ``side`` is a single table, and each value of ``keys`` occurs in at most one of its rows."""
        scan = _find_single_scan(side)
        if scan is None:
            return False
        origins = (self.inline_origins(arg) for key in keys for arg in key.children)
        names = {each.name for each in origins if isinstance(each, Column) and each.relation == scan.relation}
        id_columns = scan.entry.table.layout.id
        return bool(id_columns) and names.issuperset(id_columns)


def _find_single_scan(relation: Relation) -> Scan | None:
    """Return the single table of a relation, through derived tables; None if there are several tables."""
    while isinstance(relation, Derived) and isinstance(relation.query, Select) and not relation.query.is_grouped:
        relation = relation.query.from_
    return relation if isinstance(relation, Scan) else None
