"""Binding of literals, columns and operators."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, Fix, Hint, Span
from adql.functions.argument_kinds import is_null
from adql.ir import UNTYPED, Call, Expr, Literal, Nearness, Separation, evaluate_constant
from adql.resolve.array_binder import bind_vector_operation, is_vector, negate_vector
from adql.resolve.binder import Binder, BindFunctions, require_number
from adql.resolve.boolean_chains import join_conditions, walk_operands
from adql.resolve.scope import parts_to_text
from adql.resolve.type_rules import make_number_hint, require_integer, text_to_timestamp
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG, UNICODE

_ARITHMETIC = ("+", "-", "*", "/")
_BITWISE = ("&", "|", "^")

#: 2^63, which is a BIGINT only with a minus sign
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


# --- comparisons ------------------------------------------------------------------------------------------------------


COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_MIRROR = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Return a comparison; one of the number of a predicate or of a DISTANCE becomes a simpler condition."""
    left, right = make_comparable(left, right, op)
    return (
        _read_predicate(op, left, right)
        or _read_predicate(op, right, left)
        or _bound_distance(op, left, right, span)
        or _bound_distance(_MIRROR[op], right, left, span)
        or Call(BOOLEAN, op, (left, right), span=span)
    )


def make_comparable(left: Expr, right: Expr, op: str) -> tuple[Expr, Expr]:
    """Return both sides, with a literal text converted to a timestamp if the other side is a timestamp.

    Raises
    ------
    AdqlSemanticError
        If the types cannot be compared.
    """
    if left.type.is_numeric and right.type.is_numeric:
        return left, right
    left, right = text_to_timestamp(left, right.type), text_to_timestamp(right, left.type)
    a, b = left.type, right.type
    if is_null(left) or is_null(right):
        return left, right
    for kind in ("is_text", "is_timestamp", "is_boolean"):
        if getattr(a, kind) and getattr(b, kind):
            return left, right
    raise AdqlSemanticError(
        f"'{op}' cannot compare {a.adql} with {b.adql}",
        left.span.extend_to(right.span),
        _make_comparison_hint(left, right),
    )


def negate_if(negated: bool, expr: Expr) -> Expr:
    return Call(BOOLEAN, "NOT", (expr,), span=expr.span) if negated else expr


def _read_predicate(op: str, value: Expr, literal: Expr) -> Expr | None:
    """Return a comparison such as ``CONTAINS(...) = 1`` or ``<> 0`` as a condition; None for other comparisons."""
    if not (isinstance(value, Call) and value.name == "0 OR 1" and op in ("=", "<>")):
        return None
    if not (isinstance(literal, Literal) and literal.value in (0, 1)):
        return None
    [predicate] = value.args
    return negate_if((literal.value == 1) != (op == "="), predicate)


def _bound_distance(op: str, left: Expr, right: Expr, span: Span) -> Expr | None:
    """Return a comparison of a DISTANCE as a nearness, from which passes make covers and cross-matches; else None.

    ``<= r`` becomes NEAR, ``< r`` becomes NEARER, and ``= r`` becomes NEAR AND NOT NEARER. ``> r``, ``>= r`` and
    ``<> r`` become negations of these, with a constant radius only: an unknown position is not far away.
    """
    if not (isinstance(left, Call) and left.name == "DISTANCE"):
        return None
    if op in ("<", "<="):
        return _make_nearness(left, right, span, is_strict=op == "<")
    radius = evaluate_constant(right)
    if radius is None:
        return None
    if op in (">", ">="):
        return negate_if(True, _make_nearness(left, right, span, is_strict=op == ">="))
    at = _make_nearness(left, right, span, is_strict=False)
    if radius != 0:
        nearer = _make_nearness(left, right, span, is_strict=True)
        at = Call(BOOLEAN, "AND", (at, negate_if(True, nearer)), span=span)
    return negate_if(op == "<>", at)


def _make_nearness(distance: Call, radius: Expr, span: Span, *, is_strict: bool) -> Call:
    return Nearness(*Separation.from_call(distance), radius, is_strict).to_call(span)


def _make_comparison_hint(left: Expr, right: Expr) -> str | Hint:
    """Return the hint for two values whose types cannot be compared."""
    a, b = left.type, right.type
    if a.is_geometry or b.is_geometry:
        return "compare geometries with CONTAINS, INTERSECTS or DISTANCE"
    if a.is_array or b.is_array:
        return "compare the elements: v[1]"
    if a.is_timestamp or b.is_timestamp:
        if a.is_text or b.is_text:
            return "write CAST(... AS TIMESTAMP)"
        return "write a time as text, '2026-01-31T12:00:00'; ivo_to_mjd(...) converts it to a number of days"
    if a.is_boolean or b.is_boolean:
        truths = (side for side in (left, right) if isinstance(side, Literal) and isinstance(side.value, bool))
        fixes = tuple(Fix(side.span, str(int(bool(side.value)))) for side in truths)
        return Hint("use a condition by itself; compare a number with 1 or 0", fixes)
    return _make_text_hint(left, right)


def _make_text_hint(left: Expr, right: Expr) -> str | Hint:
    """Return the hint for a number and a text."""
    literals = [side for side in (left, right) if isinstance(side, Literal)]
    texts = [side for side in literals if isinstance(side.value, str)]
    if texts and len(literals) == 2 and not make_number_hint(texts[0]):
        return "write column names without quotes, or in double quotes"
    for side in (left, right):
        if isinstance(side, Literal) and side.type.is_numeric:
            return Hint("write text in single quotes", (Fix(side.span, f"'{side.value}'"),))
        if side.type.is_text and (hint := make_number_hint(side)):
            return hint
    return "write numbers without quotes; CAST(... AS VARCHAR) converts a number to text"
