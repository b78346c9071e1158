"""LINKs and service descriptors of a result: those of its tables whose columns are all in it as they are stored.

A column stays what it is through renames, subqueries, joins, groups and set operations; what is computed is another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from adql.ir import Call, Column, Expr, Query, Scan, SetOperation, walk_leaves
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.column_links import NO_LINKS, PlacedLink, PlacedService, ResultLinks
from clickhouse_schema.schema_model import Table


@dataclass(frozen=True, slots=True)
class ColumnOrigin:
    """Column ``column`` of a table; ``row`` is equal for those that come from one row of it, and only for them."""

    entry: TableEntry
    column: str
    row: Hashable


def find_result_links(query: Query, tables: Iterable[TableEntry]) -> ResultLinks:
    """Of the query before the passes, which reads ``tables``.

    Where a column is there more than once, the first one is referred to, but a link's own column is the one it is of.
    """
    if not any(entry.table.services or any(column.links for column in entry.table.columns) for entry in tables):
        return NO_LINKS
    found = trace_outputs(query)
    rows: dict[Hashable, _SourceRow] = {}
    for place, origin in enumerate(found):
        if origin is not None:
            if origin.row not in rows:
                rows[origin.row] = _SourceRow(origin.entry.table)
            rows[origin.row].places.setdefault(origin.column, place)
    links = [
        link
        for place, origin in enumerate(found)
        if origin is not None
        for link in rows[origin.row].place_links(origin.column, place)
    ]
    services: list[PlacedService] = []
    for row in rows.values():  # one that takes no column is the same for each use of the table
        services += [service for service in row.place_services() if service not in services]
    return ResultLinks(tuple(links), tuple(services))


class _SourceRow:
    """The columns of one row of ``table`` that a result has, and the first place of each."""

    def __init__(self, table: Table) -> None:
        self.places: dict[str, int] = {}
        self._services = table.services
        self._links = {column.name: column.links for column in table.columns if column.links}

    def place_links(self, column: str, place: int) -> Iterator[PlacedLink]:
        for link in self._links.get(column, ()):
            places = self.places | {column: place}
            if all(name in places for name in link.columns):
                yield PlacedLink(place, link, {name: places[name] for name in link.columns})

    def place_services(self) -> Iterator[PlacedService]:
        for service in self._services:
            if all(name in self.places for name in service.columns):
                yield PlacedService(service, {name: self.places[name] for name in service.columns})


def trace_outputs(query: Query) -> list[ColumnOrigin | None]:
    """Where each output comes from; None for what is computed."""
    if isinstance(query, SetOperation):
        left, right = trace_outputs(query.left), trace_outputs(query.right)
        # EXCEPT and INTERSECT leave rows of the left
        return [_merge_origins(*pair) for pair in zip(left, right, strict=True)] if query.op == "UNION" else left
    stored: dict[int, TableEntry] = {}
    derived: dict[tuple[int, str], ColumnOrigin | None] = {}
    for leaf in walk_leaves(query.from_):
        if isinstance(leaf, Scan):
            stored[leaf.relation] = leaf.entry
        else:
            inner = zip(leaf.query.outputs, trace_outputs(leaf.query), strict=True)
            derived |= {(leaf.relation, output.alias): origin for output, origin in inner}

    def origin(expr: Expr) -> ColumnOrigin | None:
        column = _strip_neutral_casts(expr)
        if not isinstance(column, Column):
            return None
        if column.relation in stored:
            return ColumnOrigin(stored[column.relation], column.name, column.relation)
        return derived.get((column.relation, column.name))

    return [origin(output.expr) for output in query.outputs]


def _strip_neutral_casts(expr: Expr) -> Expr:
    """Without casts that leave each value as it is: set operations write them."""
    while isinstance(expr, Call) and expr.name == "CAST" and len(expr.args) == 1:
        [inner] = expr.args
        if expr.type != inner.type and not (expr.type.is_text and inner.type.is_text):
            break
        expr = inner
    return expr


def _merge_origins(left: ColumnOrigin | None, right: ColumnOrigin | None) -> ColumnOrigin | None:
    """The rows are of one table on both sides: each of the pair of rows is one of them."""
    if left is None or right is None or left.entry is not right.entry or left.column != right.column:
        return None
    return ColumnOrigin(left.entry, left.column, (left.row, right.row))
