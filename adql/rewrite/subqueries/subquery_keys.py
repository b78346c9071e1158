"""Add keys before the outputs of a subquery, so that one query answers for all outer rows.

SELECT TOP 2 x FROM b ORDER BY y                       for each b.a
SELECT a, x FROM (SELECT a, x, ROW_NUMBER() OVER (PARTITION BY a ORDER BY y) AS n FROM b) WHERE n <= 2
"""

from __future__ import annotations

from collections.abc import Sequence

from adql.ir import (
    Call,
    Derived,
    Expr,
    Literal,
    Output,
    Query,
    Select,
    TranslationContext,
    Windowed,
    derive_field,
    transform_expr,
)
from adql.node_classes import replace
from adql.rewrite.trees.derived_tables import list_columns, make_select
from clickhouse_schema.datatypes import BOOLEAN, LONG


def prepend_keys(select: Select, keys: Sequence[Expr], context: TranslationContext) -> Query:
    """Return ``select`` with the keys as first outputs, and with groups, windows and TOP per key."""

    def partition_by_keys(expr: Expr) -> Expr:
        if isinstance(expr, Windowed):
            return replace(expr, partition_by=(*keys, *expr.partition_by))
        return expr

    key_outputs = tuple(Output(alias := context.names.new_alias(), key, derive_field(key, alias)) for key in keys)
    outputs = tuple(replace(o, expr=transform_expr(o.expr, partition_by_keys)) for o in select.outputs)
    order_by = tuple(replace(o, expr=transform_expr(o.expr, partition_by_keys)) for o in select.order_by)
    group_by = (*keys, *select.group_by) if select.is_grouped else ()
    outputs = (*key_outputs, *outputs)
    plain = replace(select, group_by=group_by, outputs=outputs, order_by=(), limit=None, offset=0)
    return limit_per_key(plain, replace(select, order_by=order_by), len(keys), context)


def limit_per_key(plain: Query, limited: Query, keys: int, context: TranslationContext) -> Query:
    """Return the rows of ``plain`` that ORDER BY, TOP and OFFSET of ``limited`` leave for each key.

    ``keys``: the number of first outputs of ``plain`` that are keys.
    """
    if limited.limit is None and not limited.offset:
        return plain
    shown = len(plain.outputs)
    plain, order_indices = _output_order(plain, limited, context)
    rows = Derived(context.names.new_relation(), plain)
    columns = list_columns(rows)
    order_by = tuple(replace(o, expr=columns[i]) for o, i in zip(limited.order_by, order_indices, strict=True))
    number = Windowed(LONG, "ROW_NUMBER", (), tuple(columns[:keys]), order_by)
    numbered = Derived(context.names.new_relation(), make_select(rows, [*columns[:shown], number], context))
    *columns, number_column = list_columns(numbered)
    wanted: list[Expr] = [Call(BOOLEAN, ">", (number_column, Literal(LONG, limited.offset)))]
    if limited.limit is not None:
        wanted.append(Call(BOOLEAN, "<=", (number_column, Literal(LONG, limited.offset + limited.limit))))
    return rename_outputs(make_select(numbered, columns, context, wanted), [o.alias for o in plain.outputs[:shown]])


def _output_order(plain: Query, limited: Query, context: TranslationContext) -> tuple[Query, list[int]]:
    """Return ``plain`` with outputs for all ORDER BY expressions of ``limited``, and the indexes of these outputs."""
    indices = []
    for order in limited.order_by:
        index = next((i for i, output in enumerate(plain.outputs) if output.expr == order.expr), None)
        if index is None:
            index = len(plain.outputs)
            alias = context.names.new_alias()
            output = Output(alias, order.expr, derive_field(order.expr, alias))
            plain = replace(plain, outputs=(*plain.outputs, output))
        indices.append(index)
    return plain, indices


def rename_outputs(select: Select, aliases: Sequence[str]) -> Select:
    outputs = zip(select.outputs, aliases, strict=True)
    return replace(select, outputs=tuple(replace(output, alias=alias) for output, alias in outputs))
