"""Functions that choose among values or compare them."""

from __future__ import annotations

from adql.errors import Span
from adql.functions.function import Function, Parameter
from adql.ir import Call, Expr, combine_conjuncts
from clickhouse_schema.datatypes import BOOLEAN, INT, ColumnType


def _infer_shared_type(types: tuple[ColumnType, ...]) -> ColumnType:
    """The arguments are given in their common type."""
    return types[0]


def _expand_overlap(args: tuple[Expr, ...], span: Span) -> Expr:
    a1, b1, a2, b2 = args
    pairs = ((a1, b2), (a2, b1), (a1, b1), (a2, b2))
    both = combine_conjuncts([Call(BOOLEAN, "<=", pair, span=span) for pair in pairs])
    assert both is not None  # noqa: S101  there are four
    return Call(INT, "0 OR 1", (both,), span=span)


def _make_extreme(name: str, sorting: str, description: str) -> Function:
    """Sorted either way, NaN comes after the numbers and NULL after NaN."""
    first, more = Parameter("v", "alike"), Parameter("w", "alike")
    return Function(
        name,
        (first, more),
        _infer_shared_type,
        lambda *args: f"{sorting}([{', '.join(args)}])[1]",
        description,
        variadic=True,
    )


_ENDS = tuple(Parameter(name, "number", "NUMERIC") for name in ("a1", "b1", "a2", "b2"))

COMPARISON_FUNCTIONS = (
    _make_extreme("greatest", "arrayReverseSort", "The greatest of the values, which are all numbers, all texts or all "
             "timestamps. NULL and NaN are left out."),
    _make_extreme("least", "arraySort", "The least of the values, which are all numbers, all texts or all timestamps. "
             "NULL and NaN are left out."),
    Function("ivo_interval_overlaps", _ENDS, INT, "",
             "1 if the intervals from a1 to b1 and from a2 to b2 have a value in common, ends included; 0 otherwise, "
             "also if one of them ends before it begins.",
             returns="INTEGER", expand=_expand_overlap),
)  # fmt: skip
