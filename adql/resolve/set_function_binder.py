"""Binding of set functions, as aggregates and over windows."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, FormError
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import Aggregate, Expr, Windowed, evaluate_constant, has_aggregate, walk_expr
from adql.resolve.binder import Binder
from adql.resolve.type_rules import check_argument
from adql.syntax import nodes
from clickhouse_schema.datatypes import LONG


def bind_set_function(binder: Binder, node: nodes.FunctionCall, name: str, *, over_groups: bool = False) -> Aggregate:
    """Bind a set function; ``over_groups`` if it is over a window, whose rows may be groups with set functions."""
    if not binder.allows_set_functions:
        hint = ""
        if binder.clause == "WHERE":
            hint = f"put conditions on groups in HAVING; to compare with all rows, write (SELECT {name}(...) FROM ...)"
        raise FormError(f"{name} is not allowed in {binder.clause}", node.span, hint)
    if node.star:
        return Aggregate(LONG, "COUNT", (), span=node.span)
    function = SET_FUNCTIONS_BY_NAME[name]
    if not function.accepts_count(len(node.args)):
        raise FormError(
            f"wrong number of arguments for {node.name.name}: {len(node.args)}", node.span, f"write {function.usage}"
        )
    args = tuple(binder.bind(a) for a in node.args)
    for arg in args:
        if not over_groups:
            _refuse_nested_functions(arg, name)
        if binder.scope.is_outer(arg):
            raise AdqlSemanticError(
                f"{name} of columns of the outer query", arg.span, "compute it in a subquery in FROM of the outer query"
            )
    for parameter, arg in zip(function.parameters, args, strict=True):
        check_argument(function, parameter, arg)
    if name == "IVO_HISTOGRAM":
        _check_histogram_bounds(args)
    kind = function.infer_result_type(tuple(a.type for a in args))
    return Aggregate(kind, name, args, node.distinct, span=node.span)


def _check_histogram_bounds(args: tuple[Expr, ...]) -> None:
    lower, upper = evaluate_constant(args[1]), evaluate_constant(args[2])
    if lower is not None and upper is not None and lower >= upper:
        raise AdqlSemanticError(
            f"the histogram ends at {upper:g} but begins at {lower:g}", args[2].span, "lower must be less than upper"
        )


def _refuse_nested_functions(arg: Expr, name: str) -> None:
    for part in walk_expr(arg):
        if isinstance(part, Windowed):
            raise AdqlSemanticError(f"{part.name} OVER inside {name}", part.span, "compute it in a subquery")
    if has_aggregate(arg):
        raise AdqlSemanticError(f"{name} of a set function", arg.span, "compute the inner function in a subquery")
