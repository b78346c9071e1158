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


# --- expressions that hold a query ------------------------------------------------------------------------------------


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


SubqueryExpr = Subquery | InSubquery | Exists
