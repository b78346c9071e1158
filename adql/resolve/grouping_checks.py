"""Checks of a bound SELECT: columns of groups, and ORDER BY of DISTINCT rows."""

from __future__ import annotations

from adql.errors import AdqlSemanticError
from adql.ir import (
    Aggregate,
    Column,
    Expr,
    Literal,
    Select,
    SubqueryExpr,
    find_free_columns,
    has_aggregate,
    walk_leaves,
)


def check_groups(select: Select) -> None:
    """Raise AdqlSemanticError for a column of a grouped SELECT outside of GROUP BY and set functions."""
    ordered = any(has_aggregate(o.expr) for o in select.order_by)
    if not select.is_grouped and not ordered:
        return
    grouped = frozenset(select.group_by)
    own = frozenset(leaf.relation for leaf in walk_leaves(select.from_))
    outputs, terms = ([part.expr for part in parts] for parts in (select.outputs, select.order_by))
    for expr in (*outputs, select.having, *terms):
        stray = _find_ungrouped(expr, grouped, own) if expr is not None else None
        if stray is not None:
            name = stray.field.name
            hint = f"add it to GROUP BY or write MIN({name})"
            if select.having is not None and not select.group_by:
                hint = "HAVING selects groups: put conditions on rows in WHERE"
            elif any(isinstance(key, Literal) for key in select.group_by):
                hint = "GROUP BY takes columns, expressions and names of outputs, not their numbers"
            raise AdqlSemanticError(f"column {name} is neither in GROUP BY nor in a set function", stray.span, hint)


def _find_ungrouped(expr: Expr, grouped: frozenset[Expr], own: frozenset[int]) -> Column | None:
    """Return a column of the ``own`` relations outside of groups; columns of queries around are constant in them."""
    if expr in grouped or isinstance(expr, Aggregate):
        return None
    if isinstance(expr, Column):
        return expr if expr.relation in own else None
    inside = find_free_columns(expr.query) if isinstance(expr, SubqueryExpr) else ()
    for child in (*expr.children, *inside):
        stray = _find_ungrouped(child, grouped, own)
        if stray is not None:
            return stray
    return None


def check_distinct(select: Select) -> None:
    outputs = {o.expr for o in select.outputs}
    for order in select.order_by:
        if select.distinct and order.expr not in outputs:
            raise AdqlSemanticError(
                "with SELECT DISTINCT, ORDER BY takes selected columns only", order.expr.span, "select it too"
            )
