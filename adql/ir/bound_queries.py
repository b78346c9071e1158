"""SELECTs and relations of the bound query, the expressions that contain a query, and their traversal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from operator import is_not

from adql.errors import NOWHERE, Span
from adql.ir.expressions import Expr, Order, Windowed, has_aggregate, walk_expr
from adql.node_classes import node_class, replace
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import Field

# --- relations --------------------------------------------------------------------------------------------------------


@node_class(frozen=True, slots=True)
class Scan:
    """A table of the catalogue.

    ``part``: the table of a shard that is read (``clickhouse_schema.shard_map``), '' for all rows. ``span``: the table
    with its alias in FROM.
    """

    relation: int
    entry: TableEntry
    part: str = ""
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@node_class(frozen=True, slots=True)
class Derived:
    """A query in FROM.

    ``computed_on``: on a cluster, 'shards' if each shard computes it for its own rows, 'server' if the connected server
    computes it, '' if the engine decides. With 'shards', ``cluster`` is ClickHouse's name of the cluster, and ``shard``
    the alias of the output that has the shard of a row, if any.
    """

    relation: int
    query: Query
    computed_on: str = ""
    cluster: str = ""
    shard: str = ""


@node_class(frozen=True, slots=True)
class Join:
    """A join.

    ``kind``: 'INNER' (a product if there is no condition), 'LEFT', 'RIGHT' or 'FULL'; passes also make 'SEMI', which
    keeps each left row with a match once, and 'ANTI', which keeps each left row without a match. The right columns of
    SEMI and ANTI are visible only in ``condition``. ``is_global``: the right side is computed once and sent to all
    shards. ``is_merge``: both sides are read in the order of the key and merged.
    """

    kind: str
    left: Relation
    right: Relation
    condition: Expr | None
    is_global: bool = False
    is_merge: bool = False

    def with_sides(self, left: Relation, right: Relation) -> Join:
        """Return the join with other sides; itself if they are the same."""
        return self if left is self.left and right is self.right else replace(self, left=left, right=right)


Relation = Scan | Derived | Join


# --- queries ----------------------------------------------------------------------------------------------------------


@node_class(frozen=True, slots=True)
class Output:
    """A result column. ``alias``: generated, unique in the query. ``field``: the user's name, and metadata."""

    alias: str
    expr: Expr
    field: Field


@node_class(frozen=True, slots=True)
class Select:
    """A SELECT. All of its expressions, also in ORDER BY, use columns of ``from_`` instead of outputs.

    Attributes
    ----------
    where, having
        The conditions; None for none.
    group_by
        The keys of the groups; empty also for a single group, which HAVING or a set function in an output makes.
    outputs
        The columns of the result, in order.
    distinct
        Whether equal rows of the result become one row.
    order_by
        The keys of the order, the most significant first.
    limit
        The maximum number of rows (TOP); None for all rows.
    offset
        The number of rows that are skipped before the first row of the result.
    """

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

    def with_from(self, from_: Relation) -> Select:
        """Return the SELECT with another FROM; itself if it is the same."""
        return self if from_ is self.from_ else replace(self, from_=from_)


@node_class(frozen=True, slots=True)
class SetOperation:
    """UNION, EXCEPT or INTERSECT. ``outputs``: columns of the relation number ``relation``, the combined rows."""

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


# --- expressions that contain a query ---------------------------------------------------------------------------------


@node_class(frozen=True, slots=True)
class Subquery(Expr):
    """A scalar subquery with one output; it is NULL without a row."""

    query: Query


@node_class(frozen=True, slots=True)
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


@node_class(frozen=True, slots=True)
class Exists(Expr):
    query: Query


#: The classes of expressions that contain a query. isinstance takes a fifth of the time with a tuple as with a union.
SUBQUERIES = (Subquery, InSubquery, Exists)


# --- traversal --------------------------------------------------------------------------------------------------------


def walk_selects(query: Query) -> Iterator[Select]:
    """Walk the SELECTs of a query at any depth.

    Parameters
    ----------
    query
        The query.

    Yields
    ------
    Select
        The SELECTs of the query, of its derived tables and of its subqueries, each before the SELECTs inside it.
    """
    if isinstance(query, SetOperation):
        yield from walk_selects(query.left)
        yield from walk_selects(query.right)
        return
    yield query
    for leaf in walk_leaves(query.from_):
        if isinstance(leaf, Derived):
            yield from walk_selects(leaf.query)
    for expr in walk_select_expressions(query):
        for part in walk_expr(expr):
            if isinstance(part, SUBQUERIES):
                yield from walk_selects(part.query)


def walk_leaves(relation: Relation) -> Iterator[Scan | Derived]:
    """Walk the leaves of a join tree, left to right.

    Parameters
    ----------
    relation
        The join tree; a leaf is its own tree.

    Yields
    ------
    Scan or Derived
        The leaves. The relations inside a derived table are not entered.
    """
    rest = [relation]
    while rest:
        part = rest.pop()
        if isinstance(part, Join):
            rest += (part.right, part.left)
        else:
            yield part


def walk_scans(relation: Relation) -> Iterator[Scan]:
    """Walk the stored tables that a relation reads, also in its derived tables and their subqueries."""
    for leaf in walk_leaves(relation):
        if isinstance(leaf, Scan):
            yield leaf
        else:
            yield from walk_scans_of_query(leaf.query)


def walk_scans_of_query(query: Query) -> Iterator[Scan]:
    return (leaf for select in walk_selects(query) for leaf in walk_leaves(select.from_) if isinstance(leaf, Scan))


def walk_joins(relation: Relation) -> Iterator[Join]:
    """Walk the joins of a join tree in post-order, so that the innermost join of a left-deep tree comes first."""
    if isinstance(relation, Join):
        yield from walk_joins(relation.left)
        yield from walk_joins(relation.right)
        yield relation


def walk_join_conditions(relation: Relation) -> Iterator[Expr]:
    return (join.condition for join in walk_joins(relation) if join.condition is not None)


def walk_select_expressions(select: Select, *, has_conditions: bool = True) -> Iterator[Expr]:
    """Walk the complete expressions of a SELECT, without the expressions of its derived tables.

    Parameters
    ----------
    select
        The SELECT.
    has_conditions
        Whether to include WHERE and each ON.

    Yields
    ------
    Expr
        The expressions; ``walk_expr`` returns their parts.
    """
    if has_conditions:
        yield from walk_join_conditions(select.from_)
        if select.where is not None:
            yield select.where
    yield from select.group_by
    if select.having is not None:
        yield select.having
    yield from (output.expr for output in select.outputs)
    yield from (order.expr for order in select.order_by)


def has_window(query: Query) -> bool:
    """Return whether an output of the query, not of a query inside it, has a window function."""
    return any(isinstance(e, Windowed) for output in query.outputs for e in walk_expr(output.expr))


def map_select(select: Select, change: Callable[[Expr], Expr]) -> Select:
    """Apply ``change`` to each complete expression of a SELECT.

    Parameters
    ----------
    select
        The SELECT.
    change
        Returns the new expression; to change parts of expressions, call ``transform_expr`` in it.

    Returns
    -------
    Select
        The changed SELECT; ``select`` if nothing changes.
    """

    def change_conditions(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        condition = None if relation.condition is None else change(relation.condition)
        sides = relation.with_sides(change_conditions(relation.left), change_conditions(relation.right))
        return sides if condition is sides.condition else replace(sides, condition=condition)

    def change_output(output: Output) -> Output:
        expr = change(output.expr)
        return output if expr is output.expr else Output(output.alias, expr, output.field)

    def change_order(order: Order) -> Order:
        expr = change(order.expr)
        return order if expr is order.expr else Order(expr, order.descending)

    from_ = change_conditions(select.from_)
    where = None if select.where is None else change(select.where)
    group_by = [change(e) for e in select.group_by]
    having = None if select.having is None else change(select.having)
    outputs = [change_output(o) for o in select.outputs]
    order_by = [change_order(o) for o in select.order_by]
    after = (from_, where, having, *group_by, *outputs, *order_by)
    before = (select.from_, select.where, select.having, *select.group_by, *select.outputs, *select.order_by)
    if not any(map(is_not, after, before)):
        return select
    return Select(
        from_,
        where,
        tuple(group_by),
        having,
        tuple(outputs),
        select.distinct,
        tuple(order_by),
        select.limit,
        select.offset,
    )
