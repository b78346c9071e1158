"""Elements of arrays, and arithmetic on arrays of numbers (extension), element by element or with one number."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, Span
from adql.functions.argument_kinds import fits_number
from adql.ir import Call, Expr
from adql.resolve.binder import Binder, BindFunctions
from adql.resolve.type_rules import make_number_hint, require_integer
from adql.syntax import nodes
from clickhouse_schema.datatypes import DOUBLE, FLOATS, LONG, NUMBERS, ColumnType


def is_vector(expr: Expr) -> bool:
    """Return whether a value is an array of plain numbers, such as an INTERVAL but not a POINT."""
    kind = expr.type
    return kind.is_array and kind.datatype in NUMBERS and kind.xtype in ("", "interval", "multiinterval")


def bind_vector_operation(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Bind an operation such as ``v + w``, ``v * 2`` or ``1 / v``, of which at least one side is a vector."""
    for side in (left, right):
        if not (is_vector(side) or fits_number(side)):
            raise AdqlSemanticError(
                f"'{op}' takes numbers; this is {side.type.adql}", side.span, make_number_hint(side)
            )
    real = op == "/" or left.type.datatype in FLOATS or right.type.datatype in FLOATS
    element = DOUBLE if real else LONG
    kind = ColumnType(element.datatype, _find_size(op, left, right, span))
    return Call(kind, f"VECTOR {op}", (left, right), span=span)


def negate_vector(operand: Expr, span: Span) -> Expr:
    element = DOUBLE if operand.type.datatype in FLOATS else LONG
    kind = ColumnType(element.datatype, operand.type.arraysize)
    return Call(kind, "VECTOR NEG", (operand,), span=span)


def _find_size(op: str, left: Expr, right: Expr, span: Span) -> str:
    sizes = [side.type.arraysize for side in (left, right) if is_vector(side)]
    if len(set(sizes)) == 1:
        return sizes[0]
    if not any("*" in size for size in sizes):
        raise AdqlSemanticError(
            f"'{op}' takes arrays of the same length; these have {' and '.join(sizes)} elements", span
        )
    return "*"


def _bind_element(binder: Binder, node: nodes.Element) -> Expr:
    array = binder.bind(node.array)
    if not array.type.is_array:
        raise AdqlSemanticError(f"[ ] takes an array; this is {array.type.adql}", node.span)
    index = binder.bind_number(node.index, "an index")
    require_integer(index, "[ ]")
    element = ColumnType(array.type.stored_type.datatype)
    return Call(element, "ELEMENT", (array, index), span=node.span)


ARRAY_BINDERS: BindFunctions = {nodes.Element: _bind_element}
