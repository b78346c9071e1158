"""Binding of window functions (extension), which have the meaning of SQL:2003. Each set function takes OVER, too."""

from __future__ import annotations

from dataclasses import dataclass

from adql.errors import AdqlSemanticError, FormError
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import Expr, Frame, Literal, Order, Windowed, walk_expr
from adql.resolve.binder import Binder
from adql.resolve.scope import suggest_name
from adql.resolve.set_function_binder import bind_set_function
from adql.resolve.type_rules import find_common_type, unify_timestamps
from adql.syntax import nodes
from clickhouse_schema.datatypes import DOUBLE, LONG, ColumnType

#: ClickHouse requires offsets below the greatest 32-bit integer
MAX_ROWS = (1 << 31) - 2

#: Clauses that are computed after GROUP BY and HAVING, which produce the rows of windows
_CLAUSES = ("SELECT", "ORDER BY")

_SUBQUERY = "select it in a subquery: SELECT ... FROM (SELECT ..., {0}(...) OVER (...) AS w FROM ...) AS q WHERE w ..."


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A window function that is not a set function.

    Attributes
    ----------
    usage
        A call of the function, for messages.
    result
        The type of the result; None for the type of the first argument.
    min_args, max_args
        Bounds of the number of arguments.
    count_index
        The index of the argument that must be a literal integer of at least ``min_count``; None without one.
    takes_frame
        Whether the frame of the window matters.
    """

    usage: str
    result: ColumnType | None
    min_args: int = 0
    max_args: int = 0
    count_index: int | None = None
    min_count: int = 1
    takes_frame: bool = False


WINDOW_FUNCTIONS = {
    "ROW_NUMBER": WindowFunction("ROW_NUMBER()", LONG),
    "RANK": WindowFunction("RANK()", LONG),
    "DENSE_RANK": WindowFunction("DENSE_RANK()", LONG),
    "PERCENT_RANK": WindowFunction("PERCENT_RANK()", DOUBLE),
    "CUME_DIST": WindowFunction("CUME_DIST()", DOUBLE),
    "NTILE": WindowFunction("NTILE(n)", LONG, 1, 1, count_index=0),
    "LAG": WindowFunction("LAG(x [, n [, default]])", None, 1, 3, count_index=1, min_count=0),
    "LEAD": WindowFunction("LEAD(x [, n [, default]])", None, 1, 3, count_index=1, min_count=0),
    "FIRST_VALUE": WindowFunction("FIRST_VALUE(x)", None, 1, 1, takes_frame=True),
    "LAST_VALUE": WindowFunction("LAST_VALUE(x)", None, 1, 1, takes_frame=True),
    "NTH_VALUE": WindowFunction("NTH_VALUE(x, n)", None, 2, 2, count_index=1, takes_frame=True),
}


def bind_window(binder: Binder, node: nodes.FunctionCall) -> Expr:
    assert node.over is not None  # noqa: S101  see call_binder
    name = node.name.name.upper()
    if binder.clause not in _CLAUSES:
        raise FormError(
            f"a window function is not allowed in {binder.clause}", node.span, _SUBQUERY.format(node.name.name)
        )
    window = node.over
    partition_by = tuple(binder.bind(term) for term in window.partition_by)
    order_by = tuple(Order(binder.bind(term.expression), term.descending) for term in window.order_by)
    for expr in (*partition_by, *(o.expr for o in order_by)):
        if expr.type.is_array:
            raise AdqlSemanticError(f"OVER takes scalar values; this is {expr.type.adql}", expr.span)
    frame = _bind_frame(window.frame, order_by)
    if name in SET_FUNCTIONS_BY_NAME:
        inner = bind_set_function(binder, node, name, over_groups=True)
        windowed = Windowed(inner.type, name, inner.args, partition_by, order_by, frame, inner.distinct, span=node.span)
    else:
        function = _find_function(node, name)
        kind, args = _bind_arguments(binder, node, function)
        kept = frame if function.takes_frame else None
        windowed = Windowed(kind, name, args, partition_by, order_by, kept, span=node.span)
    for part in walk_expr(windowed):
        if isinstance(part, Windowed) and part is not windowed:
            raise AdqlSemanticError(
                f"{part.name} OVER inside {name} OVER", part.span, "compute the inner function in a subquery"
            )
    return windowed


def _find_function(node: nodes.FunctionCall, name: str) -> WindowFunction:
    function = WINDOW_FUNCTIONS.get(name)
    if function is None:
        hint = suggest_name(name, [*WINDOW_FUNCTIONS, *SET_FUNCTIONS_BY_NAME], node.name.span)
        raise AdqlSemanticError(f"{node.name.name} is not a window function", node.name.span, hint or "remove OVER")
    if not function.min_args <= len(node.args) <= function.max_args:
        raise FormError(f"wrong number of arguments for {name}: {len(node.args)}", node.span, f"write {function.usage}")
    return function


def _bind_arguments(
    binder: Binder, node: nodes.FunctionCall, function: WindowFunction
) -> tuple[ColumnType, tuple[Expr, ...]]:
    """Return the type of the result and the arguments."""
    args = tuple(binder.bind(a) for a in node.args)
    if function.count_index is not None and function.count_index < len(args):
        _check_count(args[function.count_index], function)
    if function.result is not None:
        return function.result, args
    values = unify_timestamps([args[0], *args[2:]])
    for value in values:
        if value.type.is_array:
            raise AdqlSemanticError(f"{function.usage} takes a scalar value; this is {value.type.adql}", value.span)
    kind = find_common_type(values, node.name.name.upper(), node.span)
    first, *default = values
    return kind, (first, *args[1:2], *default)


def _check_count(arg: Expr, function: WindowFunction) -> None:
    fits = isinstance(arg, Literal) and isinstance(arg.value, int) and not isinstance(arg.value, bool)
    if not (fits and function.min_count <= arg.value <= MAX_ROWS):  # type: ignore[attr-defined]
        raise AdqlSemanticError(
            f"in {function.usage}, n is a literal integer from {function.min_count} to {MAX_ROWS}", arg.span
        )


def _bind_frame(node: nodes.Frame | None, order_by: tuple[Order, ...]) -> Frame | None:
    if node is None:
        return None
    offsets = [n for _, n in (node.start, node.end) if n is not None]
    if offsets and max(offsets) > MAX_ROWS:
        raise AdqlSemanticError(f"the offsets of a frame are at most {MAX_ROWS}", node.span)
    if offsets and node.unit == "RANGE":
        _check_range_order(node, order_by)
    if len(offsets) == 2 and node.start[0] == node.end[0]:
        first, last = offsets if node.start[0] == "FOLLOWING" else offsets[::-1]
        if first > last:
            raise AdqlSemanticError("the frame ends before it starts", node.span)
    return Frame(node.unit, node.start, node.end)


def _check_range_order(node: nodes.Frame, order_by: tuple[Order, ...]) -> None:
    if len(order_by) != 1:
        raise AdqlSemanticError(
            "RANGE with an offset takes exactly one ORDER BY expression",
            node.span,
            "the offset is a difference from its value; to count rows, write ROWS",
        )
    key = order_by[0].expr
    if not key.type.is_numeric:
        raise AdqlSemanticError(
            f"RANGE with an offset orders by a number; this is {key.type.adql}", key.span, "to count rows, write ROWS"
        )
