"""Write reals in a canonical form where ClickHouse compares their bits: GROUP BY, DISTINCT, joins, IN, PARTITION BY.

SQL has one zero and, in groups, one NaN. ClickHouse's hashes of -0.0 and 0.0 differ, and so do the hashes of the NaN
with a sign that the processor returns for SQRT(-1) and the NaN of LOG(-1) or of a file. ``CANONICAL`` returns one zero
and one NaN.

    SELECT x FROM t GROUP BY x
    SELECT if(isNaN(x), nan, x + 0.0) FROM t GROUP BY if(isNaN(x), nan, x + 0.0)

This pass runs after all passes that add keys.
"""

from __future__ import annotations

from adql.ir import (
    Aggregate,
    Call,
    Expr,
    InSubquery,
    Join,
    Query,
    Select,
    TranslationContext,
    Windowed,
    combine_conjuncts,
    map_select,
    split_conjuncts,
)
from adql.node_classes import replace
from adql.rewrite.trees.relation_trees import is_join_equality, map_conditions
from clickhouse_schema.datatypes import COMPLEX, FLOATS, LONG


def canonicalize_keys(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Write join keys, group keys and the outputs of a SELECT DISTINCT in the canonical form.

    In a join key of an integer and a real, the real is compared as the integer that it equals.
    """
    if isinstance(select.from_, Join):
        select = select.with_from(map_conditions(select.from_, _unify_in_join))
    keys = {e: _call_canonical(e) for e in select.group_by if _has_reals(e)}
    if keys:
        select = map_select(select, lambda expr: _replace_keys(expr, keys))
    if not select.distinct:
        return select
    order_by = tuple(replace(o, expr=_make_canonical(o.expr)) for o in select.order_by)
    return replace(select, outputs=canonicalize_outputs(select).outputs, order_by=order_by)


def canonicalize_outputs(query: Query) -> Query:
    """Write the outputs of a query in the canonical form.

    Parameters
    ----------
    query
        A query whose rows are compared, such as a side of UNION or the query of IN.

    Returns
    -------
    Query
        The changed query; ``query`` if no output is a real or an array of reals.
    """
    if not any(_has_reals(o.expr) for o in query.outputs):
        return query
    return replace(query, outputs=tuple(replace(o, expr=_make_canonical(o.expr)) for o in query.outputs))


def canonicalize_compared(expr: Expr) -> Expr:
    """Write the values that an expression compares by hash in the canonical form.

    Parameters
    ----------
    expr
        The expression: COUNT(DISTINCT x), a window function with PARTITION BY x, or x IN (SELECT ...). Others are
        returned unchanged.
    """
    if isinstance(expr, Windowed):
        expr = replace(expr, partition_by=tuple(map(_make_canonical, expr.partition_by)))
    if isinstance(expr, (Aggregate, Windowed)) and expr.distinct and _has_reals(expr.args[0]):
        return replace(expr, args=(_call_canonical(expr.args[0]),))
    if isinstance(expr, InSubquery) and _has_reals(expr.operand):
        return replace(expr, operand=_call_canonical(expr.operand), query=canonicalize_outputs(expr.query))
    return expr


def _replace_keys(expr: Expr, keys: dict[Expr, Expr]) -> Expr:
    """Replace the largest parts of ``expr`` that are keys."""
    if expr in keys:
        return keys[expr]
    if isinstance(expr, Aggregate) or not expr.children:
        return expr
    return expr.with_children(tuple(_replace_keys(child, keys) for child in expr.children))


def _unify_in_join(join: Join) -> Expr | None:
    return combine_conjuncts([_unify_in_condition(c, join) for c in split_conjuncts(join.condition)])


def _unify_in_condition(condition: Expr, join: Join) -> Expr:
    if isinstance(condition, Call) and condition.name in ("AND", "OR"):
        return condition.with_children(tuple([_unify_in_condition(part, join) for part in condition.args]))
    if not (isinstance(condition, Call) and is_join_equality(condition, join)):
        return condition
    left, right = condition.children
    if left.type.is_mixed_with(right.type):
        return condition.with_children(tuple([_cast_to_integer(side) for side in (left, right)]))
    if not _is_real(left):
        return condition
    if condition.name == "=":
        right = Call(right.type, "NO NAN", (right,), span=right.span)
    return condition.with_children((_call_canonical(left), _call_canonical(right)))


def _cast_to_integer(expr: Expr) -> Expr:
    """Return a real as the integer that it equals, since no ClickHouse type can hold all BIGINT and DOUBLE values."""
    return Call(LONG, "EXACT OR NULL", (expr,), span=expr.span) if _is_real(expr) else expr


def _is_real(expr: Expr) -> bool:
    return expr.type.is_numeric and not expr.type.is_integer


def _has_reals(expr: Expr) -> bool:
    """Return whether a value is a real or an array of reals; shapes and intervals contain no NaN."""
    kind = expr.type
    return _is_real(expr) or (kind.is_array and not kind.xtype and kind.datatype in (*FLOATS, *COMPLEX))


def _make_canonical(expr: Expr) -> Expr:
    return _call_canonical(expr) if _has_reals(expr) else expr


def _call_canonical(expr: Expr) -> Expr:
    if isinstance(expr, Call) and expr.name == "CANONICAL":
        return expr
    return Call(expr.type, "CANONICAL", (expr,), span=expr.span)
