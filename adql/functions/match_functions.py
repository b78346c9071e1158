"""Predicates that choose the nearest pairs of a join. A rewrite pass replaces them."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, Span
from adql.functions.function import Function, Parameter
from adql.ir import Call, Expr, Literal, read_position
from clickhouse_schema.datatypes import BOOLEAN, INT


def _expand_nearest(args: tuple[Expr, ...], span: Span) -> Expr:
    count, first, second, radius = args
    if not (isinstance(count, Literal) and isinstance(count.value, int) and count.value >= 1):
        raise AdqlSemanticError("skyhouse_nearest takes a literal number of at least 1 as n", count.span)
    return _make_predicate(
        "NEAREST", (*read_position(first), *read_position(second), _check_radius(radius), count), span
    )


def _expand_mutual(args: tuple[Expr, ...], span: Span) -> Expr:
    first, second, radius = args
    return _make_predicate("MUTUAL", (*read_position(first), *read_position(second), _check_radius(radius)), span)


def _make_predicate(name: str, args: tuple[Expr, ...], span: Span) -> Expr:
    """Build a number that, like CONTAINS, becomes the condition when it is compared with 1."""
    return Call(INT, "0 OR 1", (Call(BOOLEAN, name, args, span=span),), span=span)


def _check_radius(radius: Expr) -> Expr:
    if isinstance(radius, Literal) and isinstance(radius.value, (int, float)) and not 0 <= radius.value <= 180:
        raise AdqlSemanticError(
            f"radius {radius.value:g} is not between 0 and 180 degrees",
            radius.span,
            "radii are in degrees; 1 arcsec is 1/3600.",
        )
    return radius


_PAIR = (Parameter("p", "point", "POINT"), Parameter("q", "point", "POINT"), Parameter("radius", "number", "REAL"))

MATCH_FUNCTIONS = (
    Function(
        "skyhouse_nearest", (Parameter("n", "integer", "INTEGER"), *_PAIR), INT, "",
        "In the ON of a join, 1 = skyhouse_nearest(n, p, q, radius) selects, for each p, the n rows with the q nearest "
        "to p, within radius degrees and among the rows that fulfil the rest of ON.",
        returns="INTEGER", expand=_expand_nearest,
    ),
    Function(
        "skyhouse_mutual", _PAIR, INT, "",
        "In the ON of a join, 1 = skyhouse_mutual(p, q, radius) selects the pairs within radius degrees in which each "
        "row is the nearest to the other.",
        returns="INTEGER", expand=_expand_mutual,
    ),
)  # fmt: skip
