"""What the columns of derived tables are made of: stored columns, cubes of a cross-match, ids, radii."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    Relation,
    Scan,
    Select,
    evaluate_constant,
    split_conjuncts,
    transform_expr,
    walk_columns,
)
from adql.query_analysis import bound_radius
from clickhouse_schema.shard_map import SHARD_COLUMN

#: The radius, in degrees, of as large a circle as those of a table's rows in the mean; None if nobody knows
MeanRadius = Callable[[Scan, Expr], float | None]


class ColumnOrigins:
    """Of the relations that were added, those inside of a derived table before it."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], Expr] = {}
        self._scans: dict[int, Scan] = {}

    def add(self, leaf: Scan | Derived) -> None:
        if isinstance(leaf, Scan):
            self._scans[leaf.relation] = leaf
            return
        for output in leaf.query.outputs:
            self._made[leaf.relation, output.alias] = output.expr

    def is_cubes(self, key: Expr) -> bool:
        return self._cubes(key) is not None

    def _cubes(self, key: Expr) -> Call | None:
        """The CUBES that an equality has on one side."""
        sides = [self.origin(arg) for arg in key.children]
        return next((s for s in sides if isinstance(s, Call) and s.name.startswith("CUBES")), None)

    def side(self, key: Expr) -> float | None:
        """Of the cubes, in radii of the sphere; None if it depends on rows."""
        cubes = self._cubes(key)
        return evaluate_constant(cubes.args[2]) if cubes is not None and cubes.name == "CUBES" else None

    def origin(self, expr: Expr) -> Expr:
        """What a column of a derived table is made of there, or further inside; other expressions as they are."""
        *_, last = self.way(expr)
        return last

    def way(self, expr: Expr) -> Iterator[Expr]:
        """The columns from the outermost to the innermost, and what this one is made of."""
        yield expr
        while isinstance(expr, Column) and (made := self._made.get((expr.relation, expr.name))) is not None:
            expr = made
            yield expr

    def resolved(self, expr: Expr) -> Expr:
        """Of stored columns."""

        def change(part: Expr) -> Expr:
            made = self._made.get((part.relation, part.name)) if isinstance(part, Column) else None
            if made is None:
                return part.args[0] if isinstance(part, Call) and part.name == "ONE ZERO" else part
            return self.resolved(made)

        return transform_expr(expr, change)

    def radius(self, radius: Expr, mean: MeanRadius) -> float | None:
        """Degrees; where it depends on rows, of their ``mean``. None if nobody knows."""
        if (known := evaluate_constant(radius)) is not None:
            return known
        made = self.resolved(radius)
        used = sorted({column.relation for column in walk_columns(made)})
        if not used or not all(relation in self._scans for relation in used):
            return None
        if len(used) == 1:
            return mean(self._scans[used[0]], made)
        limits = bound_radius(made, frozenset(used[:1]), frozenset(used[1:]))
        if limits is None or len(used) > 2:
            return None
        parts = [
            0.0 if part is None else mean(self._scans[relation], part)
            for relation, part in zip(used, (limits.left, limits.right), strict=True)
        ]
        return None if any(part is None for part in parts) else sum(part or 0.0 for part in parts)

    def is_shard(self, expr: Expr) -> bool:
        """Whether it is the number of a row's shard."""
        made = self.origin(expr)
        return isinstance(made, Column) and made.name == SHARD_COLUMN

    def is_id_column(self, column: Column) -> bool:
        """Whether it is the first column of its table's id."""
        made = self.resolved(column)
        scan = self._scans.get(made.relation) if isinstance(made, Column) else None
        return scan is not None and isinstance(made, Column) and made.name in scan.entry.table.layout.id[:1]

    def names_rows(self, side: Relation, keys: list[Expr]) -> bool:
        """Whether ``side`` is one table, and the keys name its rows."""
        if isinstance(side, Join):
            return False
        made = [self.resolved(arg) for key in keys for arg in key.children]
        names: dict[int, set[str]] = {}
        for column in made:
            if isinstance(column, Column):
                names.setdefault(column.relation, set()).add(column.name)
        scans = [self._scans.get(relation) for relation in names if relation in _scans_below(side)]
        ids = [(scan.relation, scan.entry.table.layout.id) for scan in scans if scan is not None]
        return any(bool(id_) and {*id_} <= names[relation] for relation, id_ in ids)


def count_named_ids(select: Select, is_id: Callable[[Column], bool]) -> int:
    """How many ids a condition of WHERE names, 0 if there is none; ``is_id``: of a column that is compared."""
    for condition in split_conjuncts(select.where):
        if not (isinstance(condition, Call) and condition.name in ("=", "IN")):
            continue
        operand, *values = condition.args
        if isinstance(values[0], Column):
            operand, values = values[0], [operand]
        if isinstance(operand, Column) and is_id(operand) and all(_is_constant(value) for value in values):
            return len(values)
    return 0


def _is_constant(value: Expr) -> bool:
    return isinstance(value, Literal) or (isinstance(value, Call) and evaluate_constant(value) is not None)


def _scans_below(relation: Relation) -> set[int]:
    """The table of a leaf, through derived tables of one table each."""
    while isinstance(relation, Derived) and isinstance(relation.query, Select) and not relation.query.is_grouped:
        relation = relation.query.from_
    return {relation.relation} if isinstance(relation, Scan) else set()
