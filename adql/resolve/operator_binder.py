"""Literals, columns and operators."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, Fix, Hint
from adql.functions.argument_kinds import is_null
from adql.ir import UNTYPED, Call, Expr, Literal
from adql.resolve.array_binder import bind_vector_operation, is_vector, negate_vector
from adql.resolve.binder import Binder, BindFunctions, require_number
from adql.resolve.boolean_chains import join_conditions, walk_operands
from adql.resolve.comparison_binder import COMPARISONS, compare
from adql.resolve.identifiers import parts_to_text
from adql.resolve.type_rules import require_integer
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG, UNICODE

_ARITHMETIC = ("+", "-", "*", "/")
_BITWISE = ("&", "|", "^")

#: 2^63, the one number that is a BIGINT only with a minus sign
_MINUS_MIN_LONG = 1 << 63


def _bind_number_literal(_binder: Binder, node: nodes.NumberLiteral) -> Expr:
    value = node.value
    if isinstance(value, float) or abs(value) >= _MINUS_MIN_LONG:
        return Literal(DOUBLE, float(value), span=node.span)
    return Literal(INT if abs(value) < 1 << 31 else LONG, value, span=node.span)


def _bind_string(_binder: Binder, node: nodes.StringLiteral) -> Expr:
    return Literal(UNICODE, node.value, span=node.span)


def _bind_boolean(_binder: Binder, node: nodes.BooleanLiteral) -> Expr:
    return Literal(BOOLEAN, node.value, span=node.span)


def _bind_null(_binder: Binder, node: nodes.NullLiteral) -> Expr:
    return Literal(UNTYPED, None, span=node.span)


def _bind_column(binder: Binder, node: nodes.ColumnRef) -> Expr:
    return binder.scope.find_column(node.parts, node.span)


def _refuse_star(_binder: Binder, node: nodes.Star) -> Expr:
    raise AdqlSemanticError("* is not allowed here", node.span)


def _bind_unary(binder: Binder, node: nodes.Unary) -> Expr:
    if node.op == "NOT":
        return Call(BOOLEAN, "NOT", (binder.bind_condition(node.operand),), span=node.span)
    if node.op == "-" and _is_minus_min_long(node.operand):
        return Literal(LONG, -_MINUS_MIN_LONG, span=node.span)
    operand = binder.bind(node.operand)
    if is_vector(operand) and node.op != "~":
        return operand if node.op == "+" else negate_vector(operand, node.span)
    require_number(operand, f"'{node.op}'")
    if node.op == "+":
        return operand
    if node.op == "~":
        require_integer(operand, "~")
        return Call(LONG, "~", (operand,), span=node.span)
    if isinstance(operand, Literal) and operand.value is not None:
        if operand.value == -_MINUS_MIN_LONG:
            raise AdqlSemanticError("this number does not fit BIGINT", node.span, "write it with a decimal point")
        return Literal(operand.type, -operand.value, span=node.span)  # type: ignore[operator]
    return Call(LONG if operand.type.is_integer else DOUBLE, "NEG", (operand,), span=node.span)


def _is_minus_min_long(node: nodes.Expression) -> bool:
    return isinstance(node, nodes.NumberLiteral) and node.text == str(_MINUS_MIN_LONG)


def _bind_binary(binder: Binder, node: nodes.Binary) -> Expr:
    if node.op in ("AND", "OR"):
        return _bind_chain(binder, node)
    if node.op in COMPARISONS:
        return compare(node.op, binder.bind(node.left), binder.bind(node.right), node.span)
    if node.op == "||":
        texts = (_bind_text(binder, node.left), _bind_text(binder, node.right))
        return Call(UNICODE, "||", texts, span=node.span)
    left, right = binder.bind(node.left), binder.bind(node.right)
    if node.op in _ARITHMETIC and (is_vector(left) or is_vector(right)):
        return bind_vector_operation(node.op, left, right, node.span)
    for side in (left, right):
        require_number(side, f"'{node.op}'")
    if node.op in _BITWISE:
        require_integer(left, node.op)
        require_integer(right, node.op)
        return Call(LONG, node.op, (left, right), span=node.span)
    assert node.op in _ARITHMETIC  # noqa: S101  the grammar has no other operator
    is_integer = left.type.is_integer and right.type.is_integer
    return Call(LONG if is_integer else DOUBLE, node.op, (left, right), span=node.span)


def _bind_chain(binder: Binder, node: nodes.Binary) -> Expr:
    conditions = [binder.bind_condition(part) for part in walk_operands(node)]
    joined = join_conditions(node.op, conditions, node.span)
    if isinstance(joined, Call) and joined.name == node.op:
        binder.resolution.count_conditions(len(joined.args), node.span)
    return joined


def _bind_text(binder: Binder, node: nodes.Expression) -> Expr:
    expr = binder.bind(node)
    if not expr.type.is_text and not is_null(expr):
        fixes: tuple[Fix, ...] = ()
        if isinstance(node, nodes.ColumnRef):
            fixes = (Fix(node.span, f"CAST({parts_to_text(node.parts)} AS VARCHAR)"),)
        hint = Hint("convert it to text with CAST(... AS VARCHAR)", fixes)
        raise AdqlSemanticError(f"'||' joins texts; this is {expr.type.adql}", node.span, hint)
    return expr


OPERATOR_BINDERS: BindFunctions = {
    nodes.NumberLiteral: _bind_number_literal,
    nodes.StringLiteral: _bind_string,
    nodes.BooleanLiteral: _bind_boolean,
    nodes.NullLiteral: _bind_null,
    nodes.ColumnRef: _bind_column,
    nodes.Star: _refuse_star,
    nodes.Unary: _bind_unary,
    nodes.Binary: _bind_binary,
}
