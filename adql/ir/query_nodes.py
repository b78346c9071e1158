"""The bound query: SELECTs, their relations, and the expressions that hold a query."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from adql.errors import NOWHERE, Span
from adql.ir.expression_nodes import Expr, Order
from adql.ir.expression_traversal import has_aggregate
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import Field

# --- relations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    """A table of the catalogue. ``part``: the table of a shard to read (``clickhouse_schema.shard_map``), '' for all.

    ``span``: the table with its alias in FROM.
    """

    relation: int
    entry: TableEntry
    part: str = ""
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Derived:
    """A query in FROM. ``place`` on a cluster: 'shards' where each computes it for its own rows, 'here' on this server.

    With 'shards', ``cluster`` is ClickHouse's name of the cluster, and ``shard`` the output with a row's shard, if any.
    """

    relation: int
    query: Query
    place: str = ""
    cluster: str = ""
    shard: str = ""


@dataclass(frozen=True, slots=True)
class Join:
    """A join. ``kind``: 'INNER' (a product without a condition), 'LEFT', 'RIGHT', 'FULL'; of passes 'SEMI' and 'ANTI'.

    SEMI keeps each left row with a match once, ANTI each left row without one; the right columns are visible only in
    ``condition``. ``is_global``: the right side is computed once and sent to all shards.
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
    """A result column. ``alias``: generated, unique in the query. ``field``: the name and metadata for the user."""

    alias: str
    expr: Expr
    field: Field


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
        """Whether the rows of the result are groups."""
        return bool(self.group_by) or self.having is not None or any(has_aggregate(o.expr) for o in self.outputs)


@dataclass(frozen=True, slots=True)
class SetOperation:
    """UNION, EXCEPT or INTERSECT. ``outputs``: columns of relation number ``relation``, the combined rows."""

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


# --- expressions that hold a query ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subquery(Expr):
    """A scalar subquery with one output; NULL without a row."""

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


SubqueryExpr = Subquery | InSubquery | Exists
