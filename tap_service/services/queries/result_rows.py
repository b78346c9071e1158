"""How many rows a query gives: from the rows of its tables, as far as conditions, joins and groups let it be known."""

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
    split_conjuncts,
)
from adql.query_analysis import find_confinements
from adql.regions import Region
from clickhouse_schema.catalogue import TableEntry
from tap_service.models.work_class import Precision, ResultRows

#: from what is known best to what is known least
_PRECISIONS: tuple[Precision, ...] = ("exact", "about", "at most")

#: comparisons and combinations that confine a position to a region
_CONFINING = frozenset({"AND", "OR", "NOT", "NEAR", "NEARER", "<", "<=", ">", ">=", "=", "BETWEEN"})


class RowCounter:
    """Counts the rows of resolved queries. ``stored``: the rows of a table; ``covered``: about how many in a region."""

    def __init__(self, stored: Callable[[TableEntry], float], covered: Callable[[TableEntry, Region], float]) -> None:
        self._stored = stored
        self._covered = covered

    def count_rows(self, query: Query) -> ResultRows | None:
        """None where nothing is known, such as of a join on equality."""
        found = self._combined(query) if isinstance(query, SetOperation) else self._selected(query)
        if found is None:
            return None if query.limit is None else ResultRows(query.limit, "at most")
        rows = max(found.rows - query.offset, 0)
        return ResultRows(rows if query.limit is None else min(rows, query.limit), found.precision)

    def _combined(self, query: SetOperation) -> ResultRows | None:
        left, right = self.count_rows(query.left), self.count_rows(query.right)
        if query.op == "UNION":
            both = None if left is None or right is None else _together(left, right, left.rows + right.rows)
            return both if query.all or both is None else _at_most(both)
        if query.op == "INTERSECT" and right is not None:
            return ResultRows(right.rows if left is None else min(left.rows, right.rows), "at most")
        return None if left is None else _at_most(left)

    def _selected(self, select: Select) -> ResultRows | None:
        if select.is_grouped and not select.group_by:
            return ResultRows(1, "exact" if select.having is None else "at most")
        found = self._filtered(select)
        if found is not None and (select.group_by or select.distinct):
            return _at_most(found)
        return found

    def _filtered(self, select: Select) -> ResultRows | None:
        found = self._joined(select.from_)
        if found is None or select.where is None:
            return found
        if not isinstance(select.from_, Scan):
            return _at_most(found)
        if (part := _sampled(select.where)) is not None:
            return ResultRows(round(found.rows * part), "about")
        region = _region(select.where, select.from_.entry.table.layout.position)
        return (
            _at_most(found) if region is None else ResultRows(round(self._covered(select.from_.entry, region)), "about")
        )

    def _joined(self, relation: Relation) -> ResultRows | None:
        if isinstance(relation, Scan):
            return ResultRows(round(self._stored(relation.entry)), "exact")
        if isinstance(relation, Derived):
            return self.count_rows(relation.query)
        if relation.kind != "INNER" or relation.condition is not None:
            return None
        left, right = self._joined(relation.left), self._joined(relation.right)
        return None if left is None or right is None else _together(left, right, left.rows * right.rows)


def _at_most(found: ResultRows) -> ResultRows:
    return ResultRows(found.rows, "at most")


def _together(one: ResultRows, other: ResultRows, rows: int) -> ResultRows:
    """``rows`` of both, known as well as the one that is known worse."""
    return ResultRows(rows, max(one.precision, other.precision, key=_PRECISIONS.index))


def _sampled(where: Expr) -> float | None:
    """The part of a table's rows that TABLESAMPLE takes."""
    (condition, *others) = split_conjuncts(where)
    if others or not (isinstance(condition, Call) and condition.name == "SAMPLED"):
        return None
    percent = condition.args[0]
    return float(percent.value or 0) / 100 if isinstance(percent, Literal) else None


def _region(where: Expr, position: tuple[str, str] | None) -> Region | None:
    """Where the condition is true, if it asks for nothing but the place of the row."""
    if position is None or not _asks_place(where, position):
        return None
    found = find_confinements(where, lambda lon, lat: (lon.name, lat.name) == position)
    return next((said.region for (lon, lat), said in found.items() if (lon.name, lat.name) == position), None)


def _asks_place(condition: Expr, position: tuple[str, str]) -> bool:
    if isinstance(condition, Column):
        return condition.name in position
    if isinstance(condition, Call) and condition.name not in _CONFINING:
        return False
    if not isinstance(condition, (Call, Within, Literal)):
        return False
    return all(_asks_place(part, position) for part in condition.children)
