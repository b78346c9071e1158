"""Kinds of arguments: the values that a parameter takes, and the function that a call's arguments choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adql.functions.function import MAX_PATTERN_CHARACTERS, Function, Parameter
from adql.ir import Call, Expr, Literal, evaluate_constant
from clickhouse_schema.datatypes import CHAR


def is_null(expr: Expr) -> bool:
    """Return whether an expression is a bare NULL, or the text to which a select list converts it.

    Parameters
    ----------
    expr
        The bound expression.

    Returns
    -------
    bool
        False for other expressions that may be NULL.
    """
    if isinstance(expr, Call) and expr.name == "CAST" and expr.type == CHAR:
        expr = expr.args[0]
    return isinstance(expr, Literal) and expr.value is None


def fits_number(expr: Expr) -> bool:
    """Return whether an expression is a number or a bare NULL, which has every type."""
    return expr.type.is_numeric or is_null(expr)


def fits_parameter(parameter: Parameter, arg: Expr) -> bool:
    """Return whether an argument fits a parameter.

    Parameters
    ----------
    parameter
        The parameter.
    arg
        The bound argument.

    Returns
    -------
    bool
        True also for a bare NULL, which has every type, unless a literal is required.
    """
    return _FITS[parameter.kind](arg)


def choose_function(candidates: Sequence[Function], args: Sequence[Expr]) -> Function | None:
    """Choose among functions of the same name by the number of the arguments, then by their kinds.

    Parameters
    ----------
    candidates
        The functions.
    args
        The bound arguments.

    Returns
    -------
    Function or None
        The first function that takes the arguments, else the first that takes as many; None if no function does.
    """
    takers = [f for f in candidates if f.accepts_count(len(args))]
    if len(takers) < 2:
        return takers[0] if takers else None
    parameters = [(f, f.expand_parameters(len(args))) for f in takers]
    return next((f for f, ps in parameters if all(map(fits_parameter, ps, args))), takers[0])


def _is_number_between(low: float, high: float, arg: Expr, *, whole: bool) -> bool:
    value = arg.value if isinstance(arg, Literal) else None
    kinds = (int,) if whole else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high


def _is_pattern(arg: Expr) -> bool:
    text = arg.value if isinstance(arg, Literal) else ""
    return is_null(arg) or (arg.type.is_text and isinstance(text, str) and len(text) <= MAX_PATTERN_CHARACTERS)


_FITS: dict[str, Callable[[Expr], bool]] = {
    "number": fits_number,
    "integer": lambda arg: arg.type.is_integer or is_null(arg),
    "text": lambda arg: arg.type.is_text or is_null(arg),
    "timestamp": lambda arg: arg.type.is_timestamp or is_null(arg),
    "order": lambda arg: _is_number_between(0, 29, arg, whole=True),
    "fraction": lambda arg: _is_number_between(0, 1, arg, whole=False),
    "bound": lambda arg: evaluate_constant(arg) is not None and arg.type.is_numeric,
    "bins": lambda arg: _is_number_between(1, 100_000, arg, whole=True),
    "gaia order": lambda arg: _is_number_between(0, 12, arg, whole=True),
    "pattern": _is_pattern,
    "literal": lambda arg: isinstance(arg, Literal) and isinstance(arg.value, str),
    "point": lambda arg: arg.type.xtype == "point",
    "single": lambda arg: not arg.type.is_array,
    "alike": lambda arg: not arg.type.is_array,
}
