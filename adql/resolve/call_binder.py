"""Binding of function calls."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, FormError
from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME, Function
from adql.functions.argument_kinds import choose_function
from adql.ir import UNTYPED, Call, Expr, Literal, UnitError, derive_unit, find_conversion
from adql.resolve.binder import Binder, BindFunctions
from adql.resolve.geometry_binder import GEOMETRY_BINDERS, bind_geometry
from adql.resolve.scope import suggest_name
from adql.resolve.set_function_binder import bind_set_function
from adql.resolve.type_rules import cast_exactly, check_argument, find_common_type, text_to_timestamp, unify_timestamps
from adql.resolve.window_binder import WINDOW_FUNCTIONS, bind_window
from adql.syntax import nodes
from adql.syntax.hints.other_dialects import find_function_hint
from adql.syntax.reserved_functions import ARGUMENTS
from clickhouse_schema.datatypes import DOUBLE, POINT, TIMESTAMP, UNICODE


def _bind_call(binder: Binder, node: nodes.FunctionCall) -> Expr:
    name = node.name.name.upper()
    if node.over is not None:
        return bind_window(binder, node)
    if name in WINDOW_FUNCTIONS:
        raise AdqlSemanticError(
            f"{node.name.name} is a window function",
            node.span,
            f"write {WINDOW_FUNCTIONS[name].usage} OVER (PARTITION BY ... ORDER BY ...)",
        )
    if name in SET_FUNCTIONS_BY_NAME:
        return bind_set_function(binder, node, name)
    if name in GEOMETRY_BINDERS:
        return bind_geometry(binder, node, name)
    if name in _SPECIAL_FUNCTIONS:
        return _SPECIAL_FUNCTIONS[name](binder, node)
    if name in FUNCTIONS:
        return _bind_function(binder, node, FUNCTIONS[name])
    hint = find_function_hint(name, node.name.span) or suggest_name(name, _list_function_names(), node.name.span)
    raise AdqlSemanticError(
        f"there is no function {node.name.name}", node.name.span, hint or "/capabilities lists the functions"
    )


def _list_function_names() -> list[str]:
    """Return the published names of all functions, reserved names in upper case."""
    own = [f.name for functions in (*FUNCTIONS.values(), SET_FUNCTIONS_BY_NAME.values()) for f in functions]
    return [*ARGUMENTS, *own]


def _bind_function(binder: Binder, node: nodes.FunctionCall, candidates: tuple[Function, ...]) -> Expr:
    if not any(f.accepts_count(len(node.args)) for f in candidates):
        usages = " or ".join(f.usage for f in candidates)
        raise FormError(
            f"wrong number of arguments for {node.name.name}: {len(node.args)}", node.span, f"write {usages}"
        )
    args = tuple(binder.bind(a) for a in node.args)
    function = choose_function(candidates, args)
    assert function is not None  # noqa: S101  checked above
    parameters = function.expand_parameters(len(args))
    pairs = zip(parameters, args, strict=True)
    args = tuple(text_to_timestamp(a, TIMESTAMP) if p.kind == "timestamp" else a for p, a in pairs)
    for parameter, arg in zip(parameters, args, strict=True):
        check_argument(function, parameter, arg)
    if parameters and parameters[0].kind == "alike":
        args = _cast_to_common_type(args, function.name, node)
    if function.expand is not None:
        return function.expand(args, node.span)
    kind = function.infer_result_type(tuple(a.type for a in args))
    return Call(kind, function.name.upper(), args, span=node.span)


def _cast_to_common_type(args: tuple[Expr, ...], name: str, node: nodes.FunctionCall) -> tuple[Expr, ...]:
    args = tuple(unify_timestamps(args))
    kind = find_common_type(args, name, node.span)
    if kind == UNTYPED:
        return args
    return tuple(a if a.type == kind else cast_exactly(a, kind) for a in args)


def _bind_coalesce(binder: Binder, node: nodes.FunctionCall) -> Expr:
    args = tuple(unify_timestamps([binder.bind(a) for a in node.args]))
    return Call(find_common_type(args, "COALESCE", node.span), "COALESCE", args, span=node.span)


def _bind_in_unit(binder: Binder, node: nodes.FunctionCall) -> Expr:
    """Bind the product of the value and a constant factor; the third operand is the unit of the result."""
    value = binder.bind_number(node.args[0], "IN_UNIT")
    target = node.args[1]
    if not isinstance(target, nodes.StringLiteral):
        raise AdqlSemanticError("IN_UNIT takes a literal text as unit", target.span, "write IN_UNIT(x, 'arcsec/yr')")
    source = derive_unit(value)
    if not source:
        hint = "TAP_SCHEMA.columns lists the units"
        if isinstance(value, Call) and value.name in ("*", "/"):
            hint = "a number has no unit, so its product or quotient has no known unit: convert the column"
        raise AdqlSemanticError("IN_UNIT takes a value with a known unit; this value has none", value.span, hint)
    try:
        unit, factor = find_conversion(source, target.value)
    except UnitError as error:
        hint = "write units as VOUnits: mas.yr**-1, km/s, Jy"
        raise AdqlSemanticError(str(error), target.span, hint) from error
    operands = (value, Literal(DOUBLE, factor), Literal(UNICODE, unit))
    return Call(DOUBLE, "IN_UNIT", operands, span=node.span)


def _bind_named_position(binder: Binder, node: nodes.FunctionCall) -> Expr:
    """Bind skyhouse_resolve('name') as a constant POINT, which passes and the emitter treat like any other."""
    if len(node.args) != 1 or not isinstance(node.args[0], nodes.StringLiteral):
        function = node.name.name.lower()
        raise AdqlSemanticError(f"{function} takes one literal text", node.span, f"write {function}('M 31')")
    argument = node.args[0]
    name = " ".join(argument.value.split())
    position = binder.resolution.positions.find_position(name, argument.span)
    lon, lat = (Literal(DOUBLE, float(degrees), span=node.span) for degrees in position)
    return Call(POINT, "POINT", (lon, lat), span=node.span)


_SPECIAL_FUNCTIONS = {
    "COALESCE": _bind_coalesce,
    "IN_UNIT": _bind_in_unit,
    "IVO_SIMBADPOINT": _bind_named_position,
    "SKYHOUSE_RESOLVE": _bind_named_position,
}

CALL_BINDERS: BindFunctions = {nodes.FunctionCall: _bind_call}
