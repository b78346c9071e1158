"""Partial groups. Each piece selects the states of its set functions, and another query merges them.

    SELECT mag, AVG(dec) FROM t GROUP BY mag HAVING ...
    each piece:  SELECT mag AS k, STATE(AVG(dec)) AS s FROM t WHERE piece GROUP BY mag
    merged:      SELECT k, MERGED(AVG(dec), s) FROM rows of all pieces GROUP BY k HAVING ...

HAVING, ORDER BY, DISTINCT, TOP and OFFSET apply to complete groups, so only the merging query has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from adql.clickhouse.partial_aggregate_sql import UNBOUNDED, count_states
from adql.ir import (
    SUBQUERIES,
    Aggregate,
    Call,
    Column,
    Expr,
    Literal,
    Order,
    Output,
    Scan,
    Select,
    TranslationContext,
    derive_field,
    has_aggregate,
    walk_expr,
)
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import INT, UNICODE, Field
from clickhouse_schema.schema_model import Column as TableColumn
from clickhouse_schema.schema_model import Schema, Table


def find_merge_obstacle(select: Select) -> str:
    """Return the reason why the groups of pieces cannot be merged; '' if they can be merged."""
    if not select.group_by and not any(has_aggregate(expr) for expr in _walk_group_expressions(select)):
        return "its only group may be computed from no rows"
    for expr in _walk_group_expressions(select):
        for part in walk_expr(expr):
            if isinstance(part, Aggregate) and part.name in UNBOUNDED:
                return f"{part.name} needs all values of a group at once"
            if isinstance(part, SUBQUERIES):
                return "it has a subquery next to set functions"
    if any(key.type.is_array for key in select.group_by):
        return "it groups by arrays"
    return ""


def _walk_group_expressions(select: Select) -> Iterator[Expr]:
    """Yield the expressions that are computed for each group."""
    yield from (output.expr for output in select.outputs)
    yield from (order.expr for order in select.order_by)
    if select.having is not None:
        yield select.having


@dataclass(frozen=True, slots=True)
class PartialGroups:
    """The columns of the rows of pieces.

    Attributes
    ----------
    keys
        Expression of GROUP BY -> its output.
    states
        Set function -> the outputs of its states.
    """

    keys: Mapping[Expr, Output]
    states: Mapping[Aggregate, tuple[Output, ...]]

    @classmethod
    def from_select(cls, select: Select, context: TranslationContext) -> PartialGroups:
        keys = {key: _make_key(key, context) for key in select.group_by}
        parts = (part for expr in _walk_group_expressions(select) for part in walk_expr(expr))
        found = {
            part: tuple(_make_state(part, number, context) for number in range(count_states(part)))
            for part in parts
            if isinstance(part, Aggregate)
        }
        return cls(keys, found)

    def select_states(self, select: Select, *, bare: bool = False) -> Select:
        """Return ``select`` with keys and states as outputs, as text or (``bare``) with the engine's types."""
        outputs = [*self.keys.values(), *(state for each in self.states.values() for state in each)]
        if bare:
            outputs = [replace(output, expr=_make_bare(output.expr)) for output in outputs]
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
        self, select: Select, schema: str, table: str, types: Mapping[str, str], context: TranslationContext
    ) -> Select:
        """Return ``select`` over a table of the rows of all pieces.

        Parameters
        ----------
        select
            The query.
        schema, table
            The names of the table.
        types
            Name of a column -> the engine type of its bare state.
        context
            Generates relation numbers.
        """
        columns = [TableColumn(name=name, datatype="char", arraysize="*") for name in types]
        stored = Table(name=table, columns=tuple(columns))
        scan = Scan(context.names.new_relation(), TableEntry(Schema(name=schema, tables=(stored,)), stored))
        keys = {key: _read_column(scan, output) for key, output in self.keys.items()}

        def change(expr: Expr) -> Expr:
            if expr in keys:
                return keys[expr]
            if isinstance(expr, Aggregate):
                parts = (_read_state(_read_column(scan, each), types[each.alias]) for each in self.states[expr])
                return Aggregate(expr.type, "MERGED", (expr, *parts))
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


def _make_key(expr: Expr, context: TranslationContext) -> Output:
    alias = context.names.new_alias()
    return Output(alias, expr, derive_field(expr, alias))


def _make_state(expr: Aggregate, number: int, context: TranslationContext) -> Output:
    alias = context.names.new_alias()
    state = Call(UNICODE, "STATE", (expr, Literal(INT, number)))
    return Output(alias, state, Field(alias, UNICODE, nullable=False))


def _make_bare(expr: Expr) -> Expr:
    return replace(expr, name="BARE STATE") if isinstance(expr, Call) and expr.name == "STATE" else expr


def _read_column(scan: Scan, output: Output) -> Column:
    return Column(output.expr.type, scan.relation, output.alias, output.field)


def _read_state(column: Column, kind: str) -> Expr:
    return Call(UNICODE, "STORED STATE", (column, Literal(UNICODE, kind)))
