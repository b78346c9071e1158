"""LINKs and service descriptors of a result, taken from its tables if the result has their columns unchanged.

Renames, subqueries, joins, groups and set operations leave a column unchanged; computations do not.
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
    """A stored column. Two columns of a result have an equal ``row`` if and only if they come from the same row."""

    entry: TableEntry
    column: str
    row: Hashable


def find_result_links(query: Query, tables: Iterable[TableEntry]) -> ResultLinks:
    """Find the links of a query.

    If a column occurs more than once, links refer to its first occurrence. Each occurrence of a column with a link has
    the link.

    Parameters
    ----------
    query
        The bound query before the passes.
    tables
        The catalogue tables that it reads.

    Returns
    -------
    ResultLinks
        Links of columns and services, with the indexes of the result's columns that they use.
    """
    if not any(entry.table.services or any(column.links for column in entry.table.columns) for entry in tables):
        return NO_LINKS
    found = trace_outputs(query)
    rows: dict[Hashable, _SourceRow] = {}
    for index, origin in enumerate(found):
        if origin is not None:
            if origin.row not in rows:
                rows[origin.row] = _SourceRow(origin.entry.table)
            rows[origin.row].indexes.setdefault(origin.column, index)
    links = [
        link
        for index, origin in enumerate(found)
        if origin is not None
        for link in rows[origin.row].make_links(origin.column, index)
    ]
    services: list[PlacedService] = []
    for row in rows.values():  # a service without columns is the same for each use of the table
        services += [service for service in row.make_services() if service not in services]
    return ResultLinks(tuple(links), tuple(services))


def number_source_rows(query: Query) -> tuple[int | None, ...]:
    """Number the table rows from which the outputs of a query come unchanged.

    Parameters
    ----------
    query
        The bound query before the passes.

    Returns
    -------
    tuple[int or None, ...]
        For each output the number of its row, from 0 in the order of first use; None for a computed output.
    """
    numbers: dict[Hashable, int] = {}
    return tuple(
        None if origin is None else numbers.setdefault(origin.row, len(numbers)) for origin in trace_outputs(query)
    )


class _SourceRow:
    """The columns of one row of ``table`` that a result has, each with its first index in the result."""

    def __init__(self, table: Table) -> None:
        self.indexes: dict[str, int] = {}
        self._services = table.services
        self._links = {column.name: column.links for column in table.columns if column.links}

    def make_links(self, column: str, index: int) -> Iterator[PlacedLink]:
        for link in self._links.get(column, ()):
            indexes = self.indexes | {column: index}
            if all(name in indexes for name in link.columns):
                yield PlacedLink(index, link, {name: indexes[name] for name in link.columns})

    def make_services(self) -> Iterator[PlacedService]:
        for service in self._services:
            if all(name in self.indexes for name in service.columns):
                yield PlacedService(service, {name: self.indexes[name] for name in service.columns})


def trace_outputs(query: Query) -> list[ColumnOrigin | None]:
    """Return the stored column of each output, None for a computed output."""
    if isinstance(query, SetOperation):
        left, right = trace_outputs(query.left), trace_outputs(query.right)
        # EXCEPT and INTERSECT return rows of the left side
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
    """Remove the casts that set operations write and that change no value."""
    while isinstance(expr, Call) and expr.name == "CAST" and len(expr.args) == 1:
        [inner] = expr.args
        if expr.type != inner.type and not (expr.type.is_text and inner.type.is_text):
            break
        expr = inner
    return expr


def _merge_origins(left: ColumnOrigin | None, right: ColumnOrigin | None) -> ColumnOrigin | None:
    """Return the stored column that both sides of a UNION have; its rows come from either side."""
    if left is None or right is None or left.entry is not right.entry or left.column != right.column:
        return None
    return ColumnOrigin(left.entry, left.column, (left.row, right.row))
