"""The expressions of the bound query.

A column is a relation number and a stored name, and every expression has a type. All nodes are frozen and compare by
meaning, without spans and metadata.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from adql.errors import NOWHERE, Span
from adql.regions import Region
from adql.regions.region import ShapeCovers
from clickhouse_schema.datatypes import ColumnType, Field

#: The type of a bare NULL, which fits everywhere
UNTYPED = ColumnType("char", "0")


@dataclass(frozen=True, slots=True)
class Expr:
    """A typed value. ``children``: the expressions directly below; subqueries are not children."""

    type: ColumnType
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:  # noqa: ARG002  a leaf has no children
        return self


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Column(Expr):
    """A column of relation number ``relation``. ``name``: as stored, or the alias of a derived table's output."""

    relation: int
    name: str
    field: Field = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A call of a function (``adql.functions.FUNCTIONS``) or an operator (``adql.ir.operators``)."""

    name: str
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Call(self.type, self.name, children, span=self.span)


@dataclass(frozen=True, slots=True)
class Aggregate(Expr):
    """A set function; COUNT(*) has no arguments."""

    name: str
    args: tuple[Expr, ...]
    distinct: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, args=children)


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a window. ``unit``: 'ROWS' or 'RANGE'; bounds are (kind, offset), without one the offset is None.

    A kind is 'UNBOUNDED PRECEDING', 'PRECEDING', 'CURRENT ROW', 'FOLLOWING' or 'UNBOUNDED FOLLOWING'.
    """

    unit: str
    start: tuple[str, int | None]
    end: tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Order:
    expr: Expr
    descending: bool


@dataclass(frozen=True, slots=True)
class Windowed(Expr):
    """``name(args) OVER (...)``: a set function or a window function (``adql.resolve.window_binder``).

    It reads the rows, or groups in a grouped SELECT, that pass WHERE and HAVING: no condition may move below it.
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


@dataclass(frozen=True, slots=True)
class Lookup(Expr):
    """The value of the key that equals ``operand``, else ``otherwise``. Keys are all numbers or all texts."""

    operand: Expr
    keys: tuple[int | float | str, ...]
    values: tuple[int | float | str | bool | None, ...]
    otherwise: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.operand, self.otherwise

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, operand=children[0], otherwise=children[1])


@dataclass(frozen=True, slots=True)
class InCells(Expr):
    """Whether a HEALPix index of order 29 is in one of the NESTED ``cells``: pairs of an order and its cells."""

    index: Expr
    cells: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.index,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, index=children[0])


@dataclass(frozen=True, slots=True)
class Covered(Expr):
    """Whether ``number``, the shape cover of a row, is one of ``covers``, those of shapes near a region."""

    number: Expr
    covers: ShapeCovers

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.number,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, number=children[0])


@dataclass(frozen=True, slots=True)
class Shape(Expr):
    """A region that is known at translation."""

    region: Region


@dataclass(frozen=True, slots=True)
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
