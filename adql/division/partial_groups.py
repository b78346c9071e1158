"""Groups of a query in pieces: each piece gives the states of its set functions, and another query puts them together.

HAVING, ORDER BY, DISTINCT, TOP and OFFSET are left to the latter, for they are of whole groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from adql.clickhouse.partial_aggregate_sql import UNBOUNDED, states
from adql.ir import (
    Aggregate,
    Call,
    Column,
    Exists,
    Expr,
    InSubquery,
    Literal,
    NameGenerator,
    Order,
    Output,
    Scan,
    Select,
    Subquery,
    derive_field,
    has_aggregate,
    walk_expr,
)
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import INT, UNICODE, Field
from clickhouse_schema.schema_model import Column as TableColumn
from clickhouse_schema.schema_model import Schema, Table


def find_merge_obstacle(select: Select) -> str:
    """Why groups cannot be made of those of pieces, '' if they can."""
    if not select.group_by and not any(has_aggregate(expr) for expr in _of_groups(select)):
        return "its one group has nothing of its rows"
    for expr in _of_groups(select):
        for part in walk_expr(expr):
            if isinstance(part, Aggregate) and part.name in UNBOUNDED:
                return f"{part.name} needs all values of a group at once"
            if isinstance(part, (Subquery, InSubquery, Exists)):
                return "a subquery stands beside set functions"
    if any(key.type.is_array for key in select.group_by):
        return "the groups are made by arrays"
    return ""


def _of_groups(select: Select) -> Iterator[Expr]:
    """The expressions that are computed for each group."""
    yield from (output.expr for output in select.outputs)
    yield from (order.expr for order in select.order_by)
    if select.having is not None:
        yield select.having


@dataclass(frozen=True, slots=True)
class PartialGroups:
    """``keys`` and ``states`` are the columns of the pieces' rows, by what they hold; a set function has several."""

    keys: Mapping[Expr, Output]
    states: Mapping[Aggregate, tuple[Output, ...]]

    @classmethod
    def from_select(cls, select: Select, fresh: NameGenerator) -> PartialGroups:
        keys = {key: _output(key, fresh) for key in select.group_by}
        found = {
            part: tuple(_state(part, number, fresh) for number in range(states(part)))
            for expr in _of_groups(select)
            for part in walk_expr(expr)
            if isinstance(part, Aggregate)
        }
        return cls(keys, found)

    def select_states(self, select: Select, *, bare: bool = False) -> Select:
        """The groups of the rows that ``select`` reads: keys and states; ``bare`` states have the engine's types."""
        outputs = [*self.keys.values(), *(state for each in self.states.values() for state in each)]
        if bare:
            outputs = [replace(output, expr=_bare(output.expr)) for output in outputs]
        return replace(
            select,
            outputs=tuple(outputs),
            having=None,
            order_by=(),
            distinct=False,
            limit=None,
            offset=0,
        )

    def merge_states(
        self, select: Select, schema: str, table: str, types: Mapping[str, str], fresh: NameGenerator
    ) -> Select:
        """The groups of all pieces, whose rows are in a table; ``types``: those of bare states, by column."""
        columns = [TableColumn(name=name, datatype="char", arraysize="*") for name in types]
        stored = Table(name=table, columns=tuple(columns))
        scan = Scan(fresh.new_relation(), TableEntry(Schema(name=schema, tables=(stored,)), stored))
        keys = {key: _column(scan, output) for key, output in self.keys.items()}

        def change(expr: Expr) -> Expr:
            if expr in keys:
                return keys[expr]
            if isinstance(expr, Aggregate):
                of_it = (_stored(_column(scan, output), types[output.alias]) for output in self.states[expr])
                return Aggregate(expr.type, "MERGED", (expr, *of_it))
            return expr.with_children(tuple(map(change, expr.children))) if expr.children else expr

        return replace(
            select,
            from_=scan,
            where=None,
            group_by=tuple(keys[key] for key in select.group_by),
            having=None if select.having is None else change(select.having),
            outputs=tuple(replace(output, expr=change(output.expr)) for output in select.outputs),
            order_by=tuple(Order(change(order.expr), order.descending) for order in select.order_by),
        )


def _output(expr: Expr, fresh: NameGenerator) -> Output:
    alias = fresh.new_alias()
    return Output(alias, expr, derive_field(expr, alias))


def _state(expr: Aggregate, number: int, fresh: NameGenerator) -> Output:
    alias = fresh.new_alias()
    return Output(alias, Call(UNICODE, "STATE", (expr, Literal(INT, number))), Field(alias, UNICODE, nullable=False))


def _bare(expr: Expr) -> Expr:
    return replace(expr, name="BARE STATE") if isinstance(expr, Call) and expr.name == "STATE" else expr


def _column(scan: Scan, output: Output) -> Column:
    return Column(output.expr.type, scan.relation, output.alias, output.field)


def _stored(column: Column, kind: str) -> Expr:
    return Call(UNICODE, "STORED STATE", (column, Literal(UNICODE, kind)))
