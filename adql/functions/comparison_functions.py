"""Functions that compare values or choose among them."""

from __future__ import annotations

from adql.errors import Span
from adql.functions.function import Function, Parameter
from adql.ir import Call, Expr, combine_conjuncts
from clickhouse_schema.datatypes import BOOLEAN, INT, ColumnType


def _infer_shared_type(types: tuple[ColumnType, ...]) -> ColumnType:
    """Return the type of the arguments, which have been cast to a common type."""
    return types[0]


def _expand_overlap(args: tuple[Expr, ...], span: Span) -> Expr:
    a1, b1, a2, b2 = args
    pairs = ((a1, b2), (a2, b1), (a1, b1), (a2, b2))
    both = combine_conjuncts([Call(BOOLEAN, "<=", pair, span=span) for pair in pairs])
    assert both is not None  # noqa: S101  there are four
    return Call(INT, "0 OR 1", (both,), span=span)


def _make_extreme(name: str, sorting: str, description: str) -> Function:
    """Make a function that returns the first of the sorted values.

    In both sort orders, NaN follows the numbers and NULL follows NaN.
    """
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
    _make_extreme("greatest", "arrayReverseSort",
                  "The greatest value. All are numbers, texts or timestamps; NULL and NaN are ignored."),
    _make_extreme("least", "arraySort",
                  "The least value. All are numbers, texts or timestamps; NULL and NaN are ignored."),
    Function("ivo_interval_overlaps", _ENDS, INT, "",
             "1 if the closed intervals from a1 to b1 and from a2 to b2 have a value in common; 0 otherwise, and if "
             "the end of an interval is before its start.",
             returns="INTEGER", expand=_expand_overlap),
)  # fmt: skip
