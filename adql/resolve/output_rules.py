"""Rules for outputs: their names, and what ORDER BY, GROUP BY and DISTINCT allow."""

from __future__ import annotations

from adql.errors import AdqlSemanticError
from adql.ir import (
    SUBQUERIES,
    Aggregate,
    Column,
    Expr,
    Literal,
    Output,
    Select,
    find_free_columns,
    has_aggregate,
    walk_leaves,
)
from adql.node_classes import replace
from adql.resolve.scope import is_same_name, parts_to_text
from adql.syntax import nodes


def find_output_name(item: nodes.SelectItem) -> str:
    """Return the alias, or the column's name as written, or '' if a name must be generated."""
    if item.alias is not None:
        return item.alias.name
    return item.expression.parts[-1].name if isinstance(item.expression, nodes.ColumnRef) else ""


def name_outputs(outputs: list[Output], stems: dict[str, str]) -> list[Output]:
    """Give each unnamed output a unique regular identifier, made of the name of its function and its number.

    ``stems``: alias of an output -> name of its function.
    """
    if all(o.field.name for o in outputs):
        return outputs
    used = {o.field.name.lower() for o in outputs}
    named = []
    for number, output in enumerate(outputs, 1):
        if not output.field.name:
            name = f"{stems.get(output.alias, 'col')}_{number}"
            while name in used:
                name += "_"
            used.add(name)
            output = replace(output, field=replace(output.field, name=name))
        named.append(output)
    return named


def find_output(expression: nodes.Expression, outputs: list[Output]) -> Output | None:
    """Return the output to which an ORDER BY term refers by name or number; None for other expressions."""
    if isinstance(expression, nodes.NumberLiteral):
        number = expression.value
        if not isinstance(number, int) or not 1 <= number <= len(outputs):
            raise AdqlSemanticError(
                f"ORDER BY {expression.text}: the result has columns 1 to {len(outputs)}",
                expression.span,
                "a number is the position of a selected column",
            )
        return outputs[number - 1]
    if isinstance(expression, nodes.ColumnRef) and len(expression.parts) == 1:
        named = [o for o in outputs if is_same_name(expression.parts[0], o.field.name)]
        if len(named) > 1 and any(o.expr != named[0].expr for o in named):
            raise AdqlSemanticError(
                f"ORDER BY {parts_to_text(expression.parts)}: {len(named)} output columns have this name",
                expression.span,
            )
        return named[0] if named else None
    return None


def check_groups(select: Select) -> None:
    """Raise AdqlSemanticError for a column of a grouped SELECT outside GROUP BY and set functions."""
    ordered = any(has_aggregate(o.expr) for o in select.order_by)
    if not select.is_grouped and not ordered:
        return
    grouped = frozenset(select.group_by)
    own = frozenset(leaf.relation for leaf in walk_leaves(select.from_))
    for expr in (*(o.expr for o in select.outputs), select.having, *(o.expr for o in select.order_by)):
        stray = _find_ungrouped(expr, grouped, own) if expr is not None else None
        if stray is not None:
            name = stray.field.name
            hint = f"add it to GROUP BY, or write MIN({name})"
            if select.having is not None and not select.group_by:
                hint = "HAVING selects groups: put conditions on rows in WHERE"
            elif any(isinstance(key, Literal) for key in select.group_by):
                hint = "GROUP BY takes columns, expressions and names of outputs, not their numbers"
            raise AdqlSemanticError(f"column {name} is neither in GROUP BY nor in a set function", stray.span, hint)


def _find_ungrouped(expr: Expr, grouped: frozenset[Expr], own: frozenset[int]) -> Column | None:
    """Return a column of the ``own`` relations outside groups; columns of outer queries are constant in a group."""
    if expr in grouped or isinstance(expr, Aggregate):
        return None
    if isinstance(expr, Column):
        return expr if expr.relation in own else None
    inside = find_free_columns(expr.query) if isinstance(expr, SUBQUERIES) else ()
    for child in (*expr.children, *inside):
        stray = _find_ungrouped(child, grouped, own)
        if stray is not None:
            return stray
    return None


def check_distinct(select: Select) -> None:
    if not select.distinct:
        return
    outputs = {o.expr for o in select.outputs}
    for order in select.order_by:
        if order.expr not in outputs:
            raise AdqlSemanticError(
                "with SELECT DISTINCT, ORDER BY takes selected columns only", order.expr.span, "select it too"
            )
