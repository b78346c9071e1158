"""The expressions of the bound query, and their traversal.

A column is a relation number and a stored name. Every expression has a type. Nodes are frozen, and compare without
their spans and metadata. Traversal does not enter subqueries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from operator import is_not
from typing import TYPE_CHECKING

from adql.errors import NOWHERE, Span
from adql.node_classes import node_class, replace
from adql.regions import Region
from adql.regions.cone import reach_inside, reach_touching
from adql.regions.region import ShapeCovers
from clickhouse_schema.datatypes import BOOLEAN, ColumnType, Field

#: The type of a bare NULL, which converts to any type
UNTYPED = ColumnType("char", "0")


@node_class(frozen=True, slots=True)
class Expr:
    """A typed value. ``children``: the expressions directly below it, without subqueries."""

    type: ColumnType = field(hash=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:  # noqa: ARG002  a leaf has no children
        return self


@node_class(frozen=True, slots=True)
class Literal(Expr):
    value: int | float | str | bool | None


@node_class(frozen=True, slots=True)
class Column(Expr):
    """A column of the relation number ``relation``. ``name``: the stored name, or the alias of an output in FROM."""

    relation: int
    name: str
    field: Field = field(compare=False)


@node_class(frozen=True, slots=True)
class Call(Expr):
    """A call of a function (``adql.functions.FUNCTIONS``) or an operator (``adql.ir.operators``)."""

    name: str
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Call(self.type, self.name, children, span=self.span)


#: The set function, made by passes, that counts rows with a weight: the sum of its argument
WEIGHED_COUNT = "COUNT OF WEIGHTS"


@node_class(frozen=True, slots=True)
class Aggregate(Expr):
    """A set function; COUNT(*) has no arguments. ``has_rows``: each group has a row."""

    name: str
    args: tuple[Expr, ...]
    distinct: bool = False
    has_rows: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, args=children)


@node_class(frozen=True, slots=True)
class Frame:
    """The rows of a window. ``unit``: 'ROWS' or 'RANGE'. ``start``, ``end``: (kind, offset), with None for no offset.

    A kind is 'UNBOUNDED PRECEDING', 'PRECEDING', 'CURRENT ROW', 'FOLLOWING' or 'UNBOUNDED FOLLOWING'.
    """

    unit: str
    start: tuple[str, int | None]
    end: tuple[str, int | None]


@node_class(frozen=True, slots=True)
class Order:
    expr: Expr
    descending: bool


@node_class(frozen=True, slots=True)
class Windowed(Expr):
    """``name(args) OVER (...)``: a set function or a window function (``adql.resolve.window_binder``).

    Its rows are the rows (in a grouped SELECT, the groups) that pass WHERE and HAVING, so no condition may move below
    it.
    """

    name: str
    args: tuple[Expr, ...]
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[Order, ...] = ()
    frame: Frame | None = None
    distinct: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return (*self.args, *self.partition_by, *(order.expr for order in self.order_by))

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        first, last = len(self.args), len(self.args) + len(self.partition_by)
        ordered = zip(children[last:], self.order_by, strict=True)
        return replace(
            self,
            args=children[:first],
            partition_by=children[first:last],
            order_by=tuple([replace(order, expr=expr) for expr, order in ordered]),
        )


@node_class(frozen=True, slots=True)
class Lookup(Expr):
    """The value whose key equals ``operand``, else ``otherwise``. The keys are all numbers or all texts."""

    operand: Expr
    keys: tuple[int | float | str, ...]
    values: tuple[int | float | str | bool | None, ...]
    otherwise: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.operand, self.otherwise

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, operand=children[0], otherwise=children[1])


@node_class(frozen=True, slots=True)
class InCells(Expr):
    """Whether a HEALPix index of order 29 is in one of the NESTED ``cells``, which are pairs (order, cells).

    ``region``: the covered region, if known, for estimates, which a coarse cover would make too high.
    """

    index: Expr
    cells: tuple[tuple[int, tuple[int, ...]], ...]
    region: Region | None = field(default=None, compare=False)

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.index,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, index=children[0])


@node_class(frozen=True, slots=True)
class Covered(Expr):
    """Whether ``number``, the shape cover of a row, is one of ``covers``, the shape covers near a region."""

    number: Expr
    covers: ShapeCovers

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.number,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, number=children[0])


@node_class(frozen=True, slots=True)
class Shape(Expr):
    """A region that is known at translation."""

    region: Region


@node_class(frozen=True, slots=True)
class Within(Expr):
    """Whether the position (lon, lat), in degrees, ICRS, is in a region that is known at translation."""

    lon: Expr
    lat: Expr
    region: Region

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.lon, self.lat

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, lon=children[0], lat=children[1])


# --- traversal --------------------------------------------------------------------------------------------------------

if not TYPE_CHECKING:  # for most nodes, attributes take a fifth of the time of properties
    Literal.children = Column.children = Shape.children = ()
    Call.children, Aggregate.children = Call.args, Aggregate.args


def walk_expr(expr: Expr) -> Sequence[Expr]:
    """Return the expression and all expressions below it, in pre-order, without the contents of subqueries."""
    children = expr.children
    if not children:
        return (expr,)
    found, waiting = [expr], [*children[::-1]]
    while waiting:
        part = waiting.pop()
        found.append(part)
        if children := part.children:
            waiting += children[::-1]
    return found


def walk_columns(expr: Expr) -> Iterator[Column]:
    """Walk the columns of an expression, without the columns in its subqueries."""
    return (e for e in walk_expr(expr) if isinstance(e, Column))


def has_aggregate(expr: Expr) -> bool:
    return Aggregate in map(type, walk_expr(expr))


def transform_expr(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Apply a change to each part of an expression, bottom-up.

    Parameters
    ----------
    expr
        The expression. Its subqueries are parts, but their contents are not changed.
    change
        Returns the new expression for a part whose children have already been changed.

    Returns
    -------
    Expr
        The changed expression. Parts for which ``change`` returns its argument keep their identity.
    """
    children = expr.children
    if children:
        changed = tuple([transform_expr(child, change) for child in children])
        if any(map(is_not, changed, children)):
            expr = expr.with_children(changed)
    return change(expr)


def change_children(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Apply a change to the expressions directly below an expression.

    Parameters
    ----------
    expr
        The expression.
    change
        Returns the new expression for a child.

    Returns
    -------
    Expr
        The expression with the new children; ``expr`` if no child changes.
    """
    changed = tuple([change(child) for child in expr.children])
    return expr.with_children(changed) if any(map(is_not, changed, expr.children)) else expr


def split_conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """Return the conjuncts of a condition.

    Parameters
    ----------
    expr
        A condition; None for no condition.

    Returns
    -------
    tuple[Expr, ...]
        The operands of nested ANDs, from left to right; the condition itself if it is no AND; empty for None.
    """
    if expr is None:
        return ()
    if not (isinstance(expr, Call) and expr.name == "AND"):
        return (expr,)
    if not any(isinstance(arg, Call) and arg.name == "AND" for arg in expr.args):
        return expr.args
    return tuple([part for arg in expr.args for part in split_conjuncts(arg)])


def combine_conjuncts(parts: tuple[Expr, ...] | list[Expr]) -> Expr | None:
    """Join conditions by AND, the inverse of ``split_conjuncts``; return None if there are none."""
    if not parts:
        return None
    return combine_conditions("AND", parts)


def combine_conditions(op: str, parts: Sequence[Expr], span: Span = NOWHERE) -> Expr:
    """Join conditions by AND or OR.

    Parameters
    ----------
    op
        'AND' or 'OR'.
    parts
        One or more conditions. A single condition is returned unchanged.
    span
        Where the new condition is in the query, for errors.
    """
    return parts[0] if len(parts) == 1 else Call(BOOLEAN, op, tuple(parts), span=span)


# --- evaluation of constants ------------------------------------------------------------------------------------------


def evaluate_constant(expr: Expr) -> float | None:
    """Evaluate an expression of number literals and operators of arithmetic, ``REACH INSIDE`` or ``REACH TOUCHING``.

    Parameters
    ----------
    expr
        Any expression.

    Returns
    -------
    float or None
        The value as Float64. None if the expression depends on rows, is NULL or is not finite, divides by zero or
        divides integers, or has any other function.
    """
    if isinstance(expr, Literal) and isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool):
        return _discard_infinite(float(expr.value))
    if not (isinstance(expr, Call) and expr.name in _EVALUATED):
        return None
    values: list[float] = []
    for arg in expr.args:
        value = evaluate_constant(arg)
        if value is None:
            return None
        values.append(value)
    return _discard_infinite(_apply_operator(expr, values))


def widen_exactly(value: int | float, kind: ColumnType) -> int | float | None:
    """Convert a number to the widest type of its kind.

    Parameters
    ----------
    value
        The number.
    kind
        The type with which it is compared.

    Returns
    -------
    int or float or None
        The number as Int64 for an integer ``kind``, otherwise as Float64, with 0.0 for -0.0; None if the conversion is
        not exact.
    """
    if kind.is_integer:
        return int(value) if value == value // 1 and -(1 << 63) <= value < 1 << 63 else None
    return float(value) + 0.0 if float(value) == value else None


def _discard_infinite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


_EVALUATED = frozenset({"NEG", "+", "-", "*", "/", "REACH INSIDE", "REACH TOUCHING"})


def _apply_operator(expr: Call, values: list[float]) -> float | None:
    match expr.name, values:
        case "NEG", [a]:
            return -a
        case "+", [a, b]:
            return a + b
        case "-", [a, b]:
            return a - b
        case "*", [a, b]:
            return a * b
        case "/", [a, b] if b != 0 and not expr.type.is_integer:
            return a / b
        case "REACH INSIDE", [outer, inner]:
            return reach_inside(outer, inner)
        case "REACH TOUCHING", [a, b]:
            return reach_touching(a, b)
        case _:
            return None
