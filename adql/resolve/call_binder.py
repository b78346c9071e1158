"""Function calls and set functions: which function a name and its arguments mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adql.errors import AdqlSemanticError, FormError
from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME, Function
from adql.functions.argument_kinds import choose_function
from adql.ir import (
    UNTYPED,
    Aggregate,
    Call,
    Expr,
    Literal,
    UnitFault,
    Windowed,
    derive_unit,
    evaluate_constant,
    find_conversion,
    has_aggregate,
    walk_expr,
)
from adql.resolve.geometry_binder import BOUND_HERE, bind_geometry
from adql.resolve.object_name_binder import bind_named_position
from adql.resolve.scope import suggestion
from adql.resolve.type_rules import as_timestamp, check_argument, common_type, in_type, with_instants
from adql.syntax import nodes
from adql.syntax.hints.other_dialects import find_function_hint
from adql.syntax.reserved_functions import ARGUMENTS
from clickhouse_schema.datatypes import DOUBLE, LONG, TIMESTAMP, UNICODE

if TYPE_CHECKING:
    from adql.resolve.expression_binder import Binder


def bind_call(binder: Binder, node: nodes.FunctionCall) -> Expr:
    name = node.name.name.upper()
    if name in SET_FUNCTIONS_BY_NAME:
        return set_function(binder, node, name)
    if name in BOUND_HERE:
        return bind_geometry(binder, node, name)
    if name == "COALESCE":
        return _coalesce(binder, node)
    if name == "IVO_SIMBADPOINT":
        return bind_named_position(binder, node)
    if name == "IN_UNIT":
        return _in_unit(binder, node)
    candidates = FUNCTIONS.get(name)
    if candidates is None:
        hint = find_function_hint(name, node.name.span) or suggestion(name, _known_functions(), node.name.span)
        raise AdqlSemanticError(
            f"there is no function {node.name.name}", node.name.span, hint or "/capabilities lists the functions"
        )
    return _known(binder, node, candidates)


def _known_functions() -> list[str]:
    """The names of all functions as they are published, the reserved ones in upper case."""
    own = [f.name for functions in (*FUNCTIONS.values(), SET_FUNCTIONS_BY_NAME.values()) for f in functions]
    return [*ARGUMENTS, *own]


def _known(binder: Binder, node: nodes.FunctionCall, candidates: tuple[Function, ...]) -> Expr:
    if not any(f.accepts_count(len(node.args)) for f in candidates):
        usages = " or ".join(f.usage for f in candidates)
        raise FormError(f"{node.name.name} does not take {len(node.args)} arguments", node.span, f"it is {usages}")
    args = tuple(binder.bind(a) for a in node.args)
    function = choose_function(candidates, args)
    assert function is not None  # noqa: S101  one takes as many arguments
    parameters = function.expand_parameters(len(args))
    args = tuple(
        as_timestamp(a, TIMESTAMP) if p.kind == "timestamp" else a for p, a in zip(parameters, args, strict=True)
    )
    for parameter, arg in zip(parameters, args, strict=True):
        check_argument(function, parameter, arg)
    if parameters and parameters[0].kind == "alike":
        args = _alike(args, function.name, node)
    if function.expand is not None:
        return function.expand(args, node.span)
    return Call(function.infer_result_type(tuple(a.type for a in args)), function.name.upper(), args, span=node.span)


def _alike(args: tuple[Expr, ...], name: str, node: nodes.FunctionCall) -> tuple[Expr, ...]:
    """The values in their common type."""
    args = tuple(with_instants(args))
    kind = common_type(args, name, node.span)
    if kind == UNTYPED:
        return args
    return tuple(a if a.type == kind else in_type(a, kind) for a in args)


def set_function(binder: Binder, node: nodes.FunctionCall, name: str, *, over_groups: bool = False) -> Aggregate:
    """``over_groups``: of a window, whose rows may be groups with set functions of their own."""
    if not binder.aggregates:
        hint = ""
        if binder.clause == "WHERE":
            hint = f"conditions on groups stand in HAVING; to compare with all rows write (SELECT {name}(...) FROM ...)"
        raise FormError(f"{name} cannot stand in {binder.clause}", node.span, hint)
    if node.star:
        return Aggregate(LONG, "COUNT", (), span=node.span)
    function = SET_FUNCTIONS_BY_NAME[name]
    if not function.accepts_count(len(node.args)):
        raise FormError(
            f"{node.name.name} does not take {len(node.args)} arguments", node.span, f"it is {function.usage}"
        )
    args = tuple(binder.bind(a) for a in node.args)
    for arg in args:
        _check_inside(arg, name, over_groups=over_groups)
        if binder.scope.is_around(arg):
            raise AdqlSemanticError(
                f"{name} of the query around this subquery", arg.span, "compute it there, in a subquery of its FROM"
            )
    for parameter, arg in zip(function.parameters, args, strict=True):
        check_argument(function, parameter, arg)
    if name == "IVO_HISTOGRAM":
        _check_bounds(args)
    return Aggregate(function.infer_result_type(tuple(a.type for a in args)), name, args, node.distinct, span=node.span)


def _check_bounds(args: tuple[Expr, ...]) -> None:
    lower, upper = evaluate_constant(args[1]), evaluate_constant(args[2])
    if lower is not None and upper is not None and lower >= upper:
        raise AdqlSemanticError(
            f"the histogram ends at {upper:g}, where it begins or before", args[2].span, "lower comes before upper"
        )


def _check_inside(arg: Expr, name: str, *, over_groups: bool) -> None:
    if over_groups:
        return
    for part in walk_expr(arg):
        if isinstance(part, Windowed):
            raise AdqlSemanticError(f"{part.name} OVER inside of {name}", part.span, "compute it in a subquery")
    if has_aggregate(arg):
        raise AdqlSemanticError(f"{name} of a set function", arg.span, "compute the inner one in a subquery")


def _coalesce(binder: Binder, node: nodes.FunctionCall) -> Expr:
    args = tuple(with_instants([binder.bind(a) for a in node.args]))
    return Call(common_type(args, "COALESCE", node.span), "COALESCE", args, span=node.span)


def _in_unit(binder: Binder, node: nodes.FunctionCall) -> Expr:
    """The value times a constant factor; the unit goes along for the result's metadata."""
    value = binder.number(node.args[0], "IN_UNIT")
    target = node.args[1]
    if not isinstance(target, nodes.StringLiteral):
        raise AdqlSemanticError("IN_UNIT takes the unit as a text", target.span, "write IN_UNIT(x, 'arcsec/yr')")
    source = derive_unit(value)
    if not source:
        hint = "TAP_SCHEMA.columns has the units"
        if isinstance(value, Call) and value.name in ("*", "/"):
            hint = "a number has no unit, so of its product or quotient with a column none is known: convert the column"
        raise AdqlSemanticError("IN_UNIT takes a value whose unit is known; this one has none", value.span, hint)
    try:
        unit, factor = find_conversion(source, target.value)
    except UnitFault as fault:
        hint = "units are written as VOUnits: mas.yr**-1, km/s, Jy"
        raise AdqlSemanticError(str(fault), target.span, hint) from fault
    return Call(DOUBLE, "IN_UNIT", (value, Literal(DOUBLE, factor), Literal(UNICODE, unit)), span=node.span)
