"""Comparisons: types that compare, ``1 = CONTAINS(...)`` as a condition, a bounded DISTANCE as a nearness."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, Fix, Hint, Span
from adql.functions.argument_kinds import is_null
from adql.ir import Call, Expr, Literal, Nearness, Separation, evaluate_constant
from adql.resolve.type_rules import make_number_hint, text_to_timestamp
from clickhouse_schema.datatypes import BOOLEAN

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_MIRROR = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Return the comparison, simplified where one side is the number of a predicate or a DISTANCE."""
    left, right = make_comparable(left, right, op)
    return (
        _read_predicate(op, left, right)
        or _read_predicate(op, right, left)
        or _bound_distance(op, left, right, span)
        or _bound_distance(_MIRROR[op], right, left, span)
        or Call(BOOLEAN, op, (left, right), span=span)
    )


def make_comparable(left: Expr, right: Expr, op: str) -> tuple[Expr, Expr]:
    """Return both sides, a literal text beside a timestamp as a timestamp.

    Raises
    ------
    AdqlSemanticError
        The types do not compare.
    """
    left, right = text_to_timestamp(left, right.type), text_to_timestamp(right, left.type)
    a, b = left.type, right.type
    if is_null(left) or is_null(right):
        return left, right
    for kind in ("is_numeric", "is_text", "is_timestamp", "is_boolean"):
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
    """Return ``CONTAINS(...) = 1``, ``= 0``, ``<> 0`` and so on as a condition; None for other comparisons."""
    if not (isinstance(value, Call) and value.name == "0 OR 1" and op in ("=", "<>")):
        return None
    if not (isinstance(literal, Literal) and literal.value in (0, 1)):
        return None
    [predicate] = value.args
    return negate_if((literal.value == 1) != (op == "="), predicate)


def _bound_distance(op: str, left: Expr, right: Expr, span: Span) -> Expr | None:
    """Return ``DISTANCE(p, q) <= r`` as NEAR, from which passes make covers and cross-matches.

    ``< r`` becomes NEARER, and ``= r`` NEAR and not NEARER. ``> r``, ``>= r`` and ``<> r`` are negations of these, with
    a constant radius only: an unknown position is not far away.
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
    """Return the way out for two values whose types do not compare."""
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
    """Return the way out for a number and a text."""
    literals = [side for side in (left, right) if isinstance(side, Literal)]
    texts = [side for side in literals if isinstance(side.value, str)]
    if texts and len(literals) == 2 and not make_number_hint(texts[0]):
        return "write names of columns without quotes, or in double quotes"
    for side in (left, right):
        if isinstance(side, Literal) and side.type.is_numeric:
            return Hint("write text in single quotes", (Fix(side.span, f"'{side.value}'"),))
        if side.type.is_text and (hint := make_number_hint(side)):
            return hint
    return "write numbers without quotes; CAST(... AS VARCHAR) converts a number to text"
