"""The bound query: what the resolver makes of the syntax tree, what the passes rewrite, what the emitter prints.

Names are gone: a column is (relation number, stored name), an output has a generated alias, every expression has a
type. All nodes are frozen and compare by meaning: spans and metadata do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from operator import is_not

from adql.errors import NOWHERE, Span
from adql.regions import Region
from adql.regions.cover_ranges import Footprints
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import BOOLEAN, ColumnType, Field

#: the type of a bare NULL: fits everywhere
UNTYPED = ColumnType("char", "0")


# --- expressions ------------------------------------------------------------------------------------------------------


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
class Subquery(Expr):
    """A scalar subquery of one output; no row gives NULL."""

    query: Query


@dataclass(frozen=True, slots=True)
class InSubquery(Expr):
    """``operand IN (query)``, three-valued. ``is_global``: the rows are computed once and sent to all shards."""

    operand: Expr
    query: Query
    is_global: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, operand=children[0])


@dataclass(frozen=True, slots=True)
class Exists(Expr):
    query: Query


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
    """Whether ``number``, the stored cover of a shape, is one of ``footprints``: of those that are near a region."""

    number: Expr
    footprints: Footprints

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


# --- relations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    """``part``: which of a sharded table a shard reads (``clickhouse_schema.shard_map``); '' = all of it.

    ``span``: the table with its alias in FROM.
    """

    relation: int
    entry: TableEntry
    part: str = ""
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Derived:
    """``place`` on a cluster: 'shards', where each computes it for its own rows; 'here', which must not be sent.

    With 'shards' ``cluster`` is that of ClickHouse's name, and ``shard`` the output that tells a row's shard, if any.
    """

    relation: int
    query: Query
    place: str = ""
    cluster: str = ""
    shard: str = ""


@dataclass(frozen=True, slots=True)
class Join:
    """``kind``: 'INNER' (with no condition a product), 'LEFT', 'RIGHT', 'FULL'; from passes also 'SEMI' and 'ANTI'.

    These two keep each row of the left that has some (no) match on the right, once; the right's columns are not seen
    outside of ``condition``. ``is_global``: the right side is computed once and sent to all shards.
    """

    kind: str
    left: Relation
    right: Relation
    condition: Expr | None
    is_global: bool = False


Relation = Scan | Derived | Join


# --- queries ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: ``alias`` generated and unique in the whole query, ``field`` what the user sees."""

    alias: str
    expr: Expr
    field: Field


@dataclass(frozen=True, slots=True)
class Order:
    expr: Expr
    descending: bool


@dataclass(frozen=True, slots=True)
class Select:
    from_: Relation
    where: Expr | None
    group_by: tuple[Expr, ...]
    having: Expr | None
    outputs: tuple[Output, ...]
    distinct: bool
    order_by: tuple[Order, ...]
    limit: int | None
    offset: int

    @property
    def is_grouped(self) -> bool:
        """Rows of the result are groups, not rows of FROM."""
        return bool(self.group_by) or self.having is not None or any(has_aggregate(o.expr) for o in self.outputs)


@dataclass(frozen=True, slots=True)
class SetOperation:
    """``outputs`` are columns of relation number ``relation``, which stands for the combined rows."""

    op: str
    all: bool
    left: Query
    right: Query
    relation: int
    outputs: tuple[Output, ...]
    order_by: tuple[Order, ...]
    limit: int | None
    offset: int


Query = Select | SetOperation


class Fresh:
    """The generated names of one translation: relation numbers and output aliases.

    ``keeps_join_order``: a pass found a join that the engine must not move. ``is_correlated``: some subquery uses a
    column of a query around it.
    """

    def __init__(self) -> None:
        self.keeps_join_order = False
        self.is_correlated = False
        self._relations = 0
        self._aliases = 0

    def relation(self) -> int:
        self._relations += 1
        return self._relations

    def alias(self) -> str:
        self._aliases += 1
        return f"c{self._aliases}"


# --- walking ----------------------------------------------------------------------------------------------------------


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all below it; subqueries are not entered."""
    yield expr
    for child in expr.children:
        yield from walk(child)


def selects(query: Query) -> Iterator[Select]:
    """Every SELECT of a query: sides of set operations, derived tables, subqueries."""
    if isinstance(query, SetOperation):
        yield from selects(query.left)
        yield from selects(query.right)
        return
    yield query
    for leaf in relations(query.from_):
        if isinstance(leaf, Derived):
            yield from selects(leaf.query)
    for expr in select_expressions(query):
        for part in walk(expr):
            if isinstance(part, (Subquery, InSubquery, Exists)):
                yield from selects(part.query)


def has_aggregate(expr: Expr) -> bool:
    return any(isinstance(e, Aggregate) for e in walk(expr))


def has_window(query: Query) -> bool:
    """Whether some output of the query itself is made by a window function."""
    return any(isinstance(e, Windowed) for output in query.outputs for e in walk(output.expr))


def transform(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Apply ``change`` bottom-up; subqueries are not entered."""
    children = expr.children
    if children:
        changed = tuple([transform(child, change) for child in children])
        if any(map(is_not, changed, children)):
            expr = expr.with_children(changed)
    return change(expr)


def conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """The parts of a chain of ANDs."""
    if expr is None:
        return ()
    if isinstance(expr, Call) and expr.name == "AND":
        return tuple(part for arg in expr.args for part in conjuncts(arg))
    return (expr,)


def conjunction(parts: tuple[Expr, ...] | list[Expr]) -> Expr | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Call(BOOLEAN, "AND", tuple(parts))


def relations(relation: Relation) -> Iterator[Scan | Derived]:
    """The leaves of a join tree, left to right."""
    if isinstance(relation, Join):
        yield from relations(relation.left)
        yield from relations(relation.right)
    else:
        yield relation


def joins(relation: Relation) -> Iterator[Join]:
    """The joins of a join tree, the inner ones before those around them."""
    if isinstance(relation, Join):
        yield from joins(relation.left)
        yield from joins(relation.right)
        yield relation


def columns(expr: Expr) -> Iterator[Column]:
    """The columns below an expression, subqueries not entered."""
    return (e for e in walk(expr) if isinstance(e, Column))


def select_expressions(select: Select) -> Iterator[Expr]:
    """Every expression of one SELECT, join conditions included."""
    yield from join_conditions(select.from_)
    if select.where is not None:
        yield select.where
    yield from select.group_by
    if select.having is not None:
        yield select.having
    yield from (output.expr for output in select.outputs)
    yield from (order.expr for order in select.order_by)


def join_conditions(relation: Relation) -> Iterator[Expr]:
    if isinstance(relation, Join):
        yield from join_conditions(relation.left)
        yield from join_conditions(relation.right)
        if relation.condition is not None:
            yield relation.condition


def map_select(select: Select, change: Callable[[Expr], Expr]) -> Select:
    """``select`` with ``change`` applied to every whole expression (not below; see ``transform``)."""

    def tree(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        condition = None if relation.condition is None else change(relation.condition)
        return Join(relation.kind, tree(relation.left), tree(relation.right), condition, relation.is_global)

    return Select(
        from_=tree(select.from_),
        where=None if select.where is None else change(select.where),
        group_by=tuple([change(e) for e in select.group_by]),
        having=None if select.having is None else change(select.having),
        outputs=tuple([Output(o.alias, change(o.expr), o.field) for o in select.outputs]),
        distinct=select.distinct,
        order_by=tuple([Order(change(o.expr), o.descending) for o in select.order_by]),
        limit=select.limit,
        offset=select.offset,
    )
