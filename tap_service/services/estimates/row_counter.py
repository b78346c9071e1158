"""Count the rows of a query's result from the rows of its tables, as far as conditions, joins and groups allow."""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Literal,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Within,
    get_operand,
    split_conjuncts,
)
from adql.query_analysis import find_confinements
from adql.regions import Region
from clickhouse_schema.catalogue import TableEntry
from tap_service.models.work_class import Precision, ResultRows

#: from the best to the worst
_PRECISIONS: tuple[Precision, ...] = ("exact", "about", "at most")

#: calls that may confine a position to a region
_CONFINING = frozenset({"AND", "OR", "NOT", "NEAR", "NEARER", "<", "<=", ">", ">=", "=", "BETWEEN"})


class RowCounter:
    """Counts the rows of bound queries to which no pass was applied.

    Parameters
    ----------
    count_table : Callable[[TableEntry], float]
        Returns the number of rows of a table.
    count_region : Callable[[TableEntry, Region], float]
        Returns the approximate number of rows of a table in a region.
    """

    def __init__(
        self, count_table: Callable[[TableEntry], float], count_region: Callable[[TableEntry, Region], float]
    ) -> None:
        self._count_table = count_table
        self._count_region = count_region

    def count_rows(self, query: Query) -> ResultRows | None:
        """Return the number of rows of a query; None if nothing is known, as for a join by equality."""
        found = self._count_combined(query) if isinstance(query, SetOperation) else self._count_select(query)
        if found is None:
            return None if query.limit is None else ResultRows(query.limit, "at most")
        rows = max(found.rows - query.offset, 0)
        return ResultRows(rows if query.limit is None else min(rows, query.limit), found.precision)

    def _count_combined(self, query: SetOperation) -> ResultRows | None:
        left, right = self.count_rows(query.left), self.count_rows(query.right)
        if query.op == "UNION":
            both = None if left is None or right is None else _combine_rows(left, right, left.rows + right.rows)
            return both if query.all or both is None else _make_bound(both)
        if query.op == "INTERSECT" and right is not None:
            return ResultRows(right.rows if left is None else min(left.rows, right.rows), "at most")
        return None if left is None else _make_bound(left)

    def _count_select(self, select: Select) -> ResultRows | None:
        if select.is_grouped and not select.group_by:
            return ResultRows(1, "exact" if select.having is None else "at most")
        found = self._count_filtered(select)
        if found is not None and (select.group_by or select.distinct):
            return _make_bound(found)
        return found

    def _count_filtered(self, select: Select) -> ResultRows | None:
        found = self._count_joined(select.from_)
        if found is None or select.where is None:
            return found
        if not isinstance(select.from_, Scan):
            return _make_bound(found)
        part = _find_sampled_part(select.where)
        if part is not None:
            return ResultRows(round(found.rows * part), "about")
        entry = select.from_.entry
        region = _find_region(select.where, entry.table.layout.position)
        if region is None:
            return _make_bound(found)
        return ResultRows(round(self._count_region(entry, region)), "about")

    def _count_joined(self, relation: Relation) -> ResultRows | None:
        if isinstance(relation, Scan):
            return ResultRows(round(self._count_table(relation.entry)), "exact")
        if isinstance(relation, Derived):
            return self.count_rows(relation.query)
        if relation.kind != "INNER" or relation.condition is not None:
            return None
        left, right = self._count_joined(relation.left), self._count_joined(relation.right)
        return None if left is None or right is None else _combine_rows(left, right, left.rows * right.rows)


def _make_bound(found: ResultRows) -> ResultRows:
    return ResultRows(found.rows, "at most")


def _combine_rows(one: ResultRows, other: ResultRows, rows: int) -> ResultRows:
    """Return ``rows`` with the worse of two precisions."""
    return ResultRows(rows, max(one.precision, other.precision, key=_PRECISIONS.index))


def _find_sampled_part(where: Expr) -> float | None:
    """Return the fraction of a table's rows that TABLESAMPLE selects; None if there are other conditions."""
    (condition, *others) = split_conjuncts(where)
    if others or not (isinstance(condition, Call) and condition.name == "SAMPLED"):
        return None
    percent = get_operand(condition, "percent")
    return float(percent.value or 0) / 100 if isinstance(percent, Literal) else None


def _find_region(where: Expr, position: tuple[str, str] | None) -> Region | None:
    """Return the region in which a condition is true; None if it does not depend on the position alone."""
    if position is None or not _uses_position_only(where, position):
        return None
    found = find_confinements(where, lambda lon, lat: (lon.name, lat.name) == position)
    regions = (each.region for (lon, lat), each in found.items() if (lon.name, lat.name) == position)
    return next(regions, None)


def _uses_position_only(condition: Expr, position: tuple[str, str]) -> bool:
    if isinstance(condition, Column):
        return condition.name in position
    if isinstance(condition, Call) and condition.name not in _CONFINING:
        return False
    if not isinstance(condition, (Call, Within, Literal)):
        return False
    return all(_uses_position_only(part, position) for part in condition.children)
