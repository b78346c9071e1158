"""The expressions of the bound query.

Names are gone: a column is (relation number, stored name), an output has a generated alias, every expression has a
type. All nodes are frozen and compare by meaning: spans and metadata do not count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from adql.errors import NOWHERE, Span
from adql.regions import Region
from adql.regions.region import ShapeCovers
from clickhouse_schema.datatypes import ColumnType, Field

#: the type of a bare NULL: fits everywhere
UNTYPED = ColumnType("char", "0")


@dataclass(frozen=True, slots=True)
class Expr:
    type: ColumnType
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:  # noqa: ARG002  leaves have none
        return self


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Column(Expr):
    """Column ``name`` (as stored, or the alias of a derived table's output) of relation number ``relation``."""

    relation: int
    name: str
    field: Field = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A function or an operator by its name: the keys of ``adql.functions`` and of the emitter's operator table."""

    name: str
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Call(self.type, self.name, children, span=self.span)


@dataclass(frozen=True, slots=True)
class Aggregate(Expr):
    """A set function; COUNT(*) has no args."""

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
    """``unit``: 'ROWS' or 'RANGE'; bounds are (kind, offset), the offset None where the kind takes none.

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
    """``name(args) OVER (...)``: a set function or one of ``adql.resolve.window_binder``.

    It sees the rows (groups, in a grouped SELECT) that WHERE and HAVING leave: no condition may be moved below it.
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
    """Of ``values`` the one whose key equals ``operand``; ``otherwise`` if there is none. Keys are of one kind."""

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
    """Whether a HEALPix index of order 29 lies in one of the NESTED ``cells``, given as (order, cells)."""

    index: Expr
    cells: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.index,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, index=children[0])


@dataclass(frozen=True, slots=True)
class Covered(Expr):
    """Whether ``number``, the stored cover of a shape, is one of ``covers``: of those that are near a region."""

    number: Expr
    covers: ShapeCovers

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.number,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, number=children[0])


@dataclass(frozen=True, slots=True)
class Shape(Expr):
    """A region of the sky that is known at translation."""

    region: Region


@dataclass(frozen=True, slots=True)
class Within(Expr):
    """Whether the position (lon, lat), degrees, ICRS, lies in a region that is known at translation."""

    lon: Expr
    lat: Expr
    region: Region

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.lon, self.lat

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, lon=children[0], lat=children[1])
