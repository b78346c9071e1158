"""Place the parts of a query on a cluster. This is the last pass, and runs once for the query.

A SELECT is sent to the shards if its FROM begins with a sharded table, or with a derived table that only selects from a
sharded table. Each shard computes it for its own rows; aggregation has two steps. A table with which it is joined is

* read on the shard if that has all partners (``collocation``): in the overlap for a nearness, among the shard's own
  rows for an equality of a time series with its object;
* else computed once and sent to all shards (GLOBAL), like the rows of IN (SELECT ...).

A FULL JOIN, and a SELECT that begins with another table, is computed by the connected server. An error here cannot give
a wrong result, because ClickHouse refuses joins that would miss rows (distributed_product_mode = 'deny').

    SELECT ... FROM objects JOIN sources ON sources.object = objects.id
    SELECT ... FROM objects JOIN sources__local ON ...                    sent to the shards
"""

from __future__ import annotations

from dataclasses import dataclass

from adql.ir import (
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Literal,
    Output,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    TranslationContext,
    Windowed,
    combine_conjuncts,
    has_window,
    map_select,
    split_conjuncts,
    substitute_in_expr,
    transform_expr,
    walk_columns,
    walk_expr,
    walk_joins,
    walk_leaves,
    walk_select_expressions,
)
from adql.node_classes import replace
from adql.rewrite.cluster.shard_pruning import find_shards
from adql.rewrite.joins.join_trees import add_equality, has_equality
from adql.rewrite.matches.counted_matches import CellMatch
from adql.rewrite.matches.match_sizes import find_row_count
from adql.rewrite.matches.merged_matches import is_merged
from adql.rewrite.trees.collocation import Collocation, inline_derived_outputs
from adql.rewrite.trees.derived_tables import DerivedBuilder, list_columns, wrap_relation
from adql.rewrite.trees.relation_trees import collect_numbers, find_used_relations, has_subquery, replace_relation
from adql.rewrite.trees.repeatable_relations import is_deterministic
from adql.rewrite.trees.sharded_tables import find_sharded_scan, reads_sharded_tables
from clickhouse_schema.datatypes import BOOLEAN, INT, LONG, Field
from clickhouse_schema.shard_map import LOCAL, MARGIN, SHARD_COLUMN, Sharding


def distribute_query(query: Query, sharding: Sharding, context: TranslationContext) -> Query:
    """Decide where each part of a query is computed on a cluster.

    Parameters
    ----------
    query
        The query after all other passes.
    sharding
        The cluster's name and the map of cells to shards.
    context
        Generates relation numbers and aliases.

    Returns
    -------
    Query
        The query in which ``Scan.part``, ``Derived.computed_on``, ``Join.is_global`` and ``InSubquery.is_global`` are
        set.
    """
    return _Distributor(sharding, context).place_query(query)


@dataclass(frozen=True, slots=True)
class _Distributor:
    sharding: Sharding
    context: TranslationContext

    def place_query(self, query: Query) -> Query:
        if isinstance(query, SetOperation):
            return replace(query, left=self.place_query(query.left), right=self.place_query(query.right))
        select = self._collect_rows(query) if _needs_all_rows(query) else put_sharded_first(query)
        while _begins_sharded(select) and (prepared := self._prepare_join(select)) is not None:
            select = prepared
        if not _begins_sharded(select):
            local = replace(select, from_=self._place_tables(select.from_))
            return self._place_subqueries(local, is_sent=False)
        return self._place_subqueries(self._send_select(select), is_sent=True)

    def _collect_rows(self, select: Select) -> Select:
        """Return ``select`` from a derived table that collects the rows on the connected server."""
        builder = DerivedBuilder(select.from_, select, self.context)
        rows = replace(builder.build_derived(split_conjuncts(select.where)), computed_on="server")
        return builder.rename_select(replace(select, from_=rows, where=None))

    # --- joins --------------------------------------------------------------------------------------------------------

    def _place_tables(self, tree: Relation) -> Relation:
        """Place each derived table separately; the connected server joins them."""
        if isinstance(tree, Join):
            return replace(tree, left=self._place_tables(tree.left), right=self._place_tables(tree.right))
        if isinstance(tree, Scan):
            return tree
        is_counted = isinstance(tree.query, Select) and CellMatch.from_join(tree.query.from_) is not None
        if is_counted and reads_sharded_tables(tree):
            return self._send_counts(tree)
        if isinstance(tree.query, SetOperation) and is_merged(tree.query) and reads_sharded_tables(tree):
            return self._send_pairs(tree, tree.query)
        return replace(tree, query=self.place_query(tree.query))

    def _prepare_join(self, select: Select) -> Select | None:
        """Return ``select`` with one more of its joins in a form that can be sent; None if all have it."""
        collocation = Collocation(select)
        for join in walk_joins(select.from_):
            if join.kind == "FULL":
                builder = DerivedBuilder(join.left, select, self.context)
                rows = replace(builder.build_derived(), computed_on="server")
                return builder.rename_select(replace(select, from_=replace_relation(select.from_, join.left, rows)))
            if not has_equality(join):
                return add_equality(select, join, self.context)  # ClickHouse can send no other joins
            if find_sharded_scan(join.right) is join.right and collocation.find_part(join) is None:
                return wrap_relation(select, join.right, self.context, _find_right_conditions(select, join))
        return None

    # --- parts that are sent ------------------------------------------------------------------------------------------

    def _send_select(self, select: Select) -> Select:
        collocation = Collocation(select)

        def place_joins(relation: Relation) -> Relation:
            if not isinstance(relation, Join):
                return relation
            left, part = place_joins(relation.left), collocation.find_part(relation)
            if part is not None:
                return replace(relation, left=left, right=self._read_part(relation.right, part))
            right = self._place_tables(relation.right)
            return replace(relation, left=left, right=right, is_global=not is_on_all_servers(right))

        first = next(walk_leaves(select.from_))
        select = replace(select, from_=place_joins(select.from_))
        return self._prune_shards(select, first) if isinstance(first, Scan) else self._send_derived(select, first)

    def _read_part(self, relation: Relation, part: str) -> Relation:
        """Return a collocated relation that reads ``part`` of the shard's own table."""
        if isinstance(relation, Scan):
            return replace(relation, part=part)
        assert isinstance(relation, Derived)  # noqa: S101  no other is collocated
        assert isinstance(relation.query, Select)  # noqa: S101
        query = replace(relation.query, from_=self._read_part(relation.query.from_, part))
        return replace(relation, query=self._place_subqueries(query, is_sent=True))

    def _prune_shards(self, select: Select, scan: Scan) -> Select:
        """Restrict ``select`` to the shards that have the cells of WHERE."""
        wanted = find_shards(scan, split_conjuncts(select.where), self.sharding.map)
        if wanted is None:
            return select
        is_wanted = _test_shard(_make_shard_column(scan), wanted)
        return replace(select, where=combine_conjuncts([is_wanted, *split_conjuncts(select.where)]))

    def _send_derived(self, select: Select, first: Derived) -> Select:
        """Send the derived table ``first`` to the shards; move its conditions with subqueries to ``select``."""
        derived, conditions = self._lift_subqueries(first)
        scan, inside = find_scan(derived)
        outside = [
            transform_expr(c, lambda part: inline_derived_outputs(part, {first.relation: first}))
            for c in split_conjuncts(select.where)
        ]
        wanted = find_shards(scan, [*inside, *outside], self.sharding.map)
        alias = ""
        if wanted is not None:
            derived, shard = self._export_column(derived, _make_shard_column(scan))
            conditions = [_test_shard(shard, wanted), *conditions]
            alias = shard.name
        local = self._read_part(_make_distinct(derived, self.context.names.new_relation()), LOCAL)
        assert isinstance(local, Derived)  # noqa: S101  it was one
        sent = replace(local, computed_on="shards", cluster=self.sharding.cluster, shard=alias)
        where = combine_conjuncts([*conditions, *split_conjuncts(select.where)])
        return replace(select, from_=replace_relation(select.from_, first, sent), where=where)

    def _send_counts(self, derived: Derived) -> Derived:
        """Let each shard count the pairs of its own rows, which ``counted_matches`` ensures that it has."""
        local = replace(derived, query=_join_on_shard(derived.query))
        distinct = _make_distinct(local, self.context.names.new_relation())
        return replace(distinct, computed_on="shards", cluster=self.sharding.cluster)

    def _send_pairs(self, derived: Derived, query: SetOperation) -> Derived:
        """Let each shard find the pairs of its own rows, which ``merged_matches`` ensures that it has."""
        pairs = Derived(
            self.context.names.new_relation(),
            replace(query, left=_join_on_shard(query.left), right=_join_on_shard(query.right)),
        )
        columns = zip(query.outputs, list_columns(pairs), strict=True)
        shown = tuple(replace(output, expr=column) for output, column in columns)
        select = Select(pairs, None, (), None, shown, False, (), None, 0)
        distinct = _make_distinct(replace(derived, query=select), self.context.names.new_relation())
        return replace(distinct, computed_on="shards", cluster=self.sharding.cluster)

    def _lift_subqueries(self, derived: Derived) -> tuple[Derived, list[Expr]]:
        """Return ``derived`` without its conditions that have subqueries, and these conditions on its outputs."""
        query = _get_select(derived)
        lifted: list[Expr] = []
        if isinstance(query.from_, Derived):
            below, lifted = self._lift_subqueries(query.from_)
            query = replace(query, from_=below)
        own = split_conjuncts(query.where)
        lifted += [c for c in own if has_subquery(c)]
        where = combine_conjuncts([c for c in own if not has_subquery(c)])
        derived = replace(derived, query=replace(query, where=where))
        outside: list[Expr] = []
        for condition in lifted:
            names: dict[Column, Expr] = {}
            for column in dict.fromkeys(walk_columns(condition)):
                derived, names[column] = self._export_column(derived, column)
            outside.append(substitute_in_expr(condition, names))
        return derived, outside

    def _export_column(self, derived: Derived, column: Column) -> tuple[Derived, Column]:
        """Return ``derived`` with an output for a column of a table at any depth in it, and the output's column."""
        query = _get_select(derived)
        below = query.from_
        if isinstance(below, Derived) and below.relation != column.relation:
            below, column = self._export_column(below, column)
            query = replace(query, from_=below)
        found = next((o for o in query.outputs if o.expr == column), None)
        if found is None:
            found = Output(self.context.names.new_alias(), column, column.field)
            query = replace(query, outputs=(*query.outputs, found))
        return replace(derived, query=query), Column(column.type, derived.relation, found.alias, column.field)

    def _place_subqueries(self, select: Select, *, is_sent: bool) -> Select:
        """Place the subqueries of conditions and outputs; a SELECT that is sent takes the rows of IN with it."""

        def change(expr: Expr) -> Expr:
            if isinstance(expr, InSubquery):
                return replace(expr, query=self.place_query(expr.query), is_global=is_sent)
            if isinstance(expr, (Subquery, Exists)):
                return replace(expr, query=self.place_query(expr.query))
            if is_sent and isinstance(expr, Call) and expr.name == "ROW NUMBER":
                return replace(expr, name="ROW NUMBER OF SHARD")
            return expr

        return map_select(select, lambda expr: transform_expr(expr, change))


def _join_on_shard(query: Query) -> Select:
    """Return a join of a shard's own rows of the left tables with its rows and its overlap of the right tables."""
    assert isinstance(query, Select)  # noqa: S101  matches of cells and branches of merges are such SELECTs
    assert isinstance(query.from_, Join)  # noqa: S101
    join = query.from_
    return query.with_from(join.with_sides(read_tables(join.left, LOCAL), read_tables(join.right, MARGIN)))


def read_tables(relation: Relation, part: str) -> Relation:
    """Return a relation in which all tables, at any depth, read ``part``."""
    if isinstance(relation, Join):
        return relation.with_sides(read_tables(relation.left, part), read_tables(relation.right, part))
    if isinstance(relation, Scan):
        return replace(relation, part=part)
    return replace(relation, query=_read_tables_of_query(relation.query, part))


def _read_tables_of_query(query: Query, part: str) -> Query:
    if isinstance(query, Select):
        return query.with_from(read_tables(query.from_, part))
    return replace(query, left=_read_tables_of_query(query.left, part), right=_read_tables_of_query(query.right, part))


def _begins_sharded(select: Select) -> bool:
    return find_sharded_scan(next(walk_leaves(select.from_))) is not None


def _needs_all_rows(select: Select) -> bool:
    """Return whether all rows are collected before anything else is computed.

    ClickHouse computes windows over rows on the connected server anyway, and confuses columns of joined tables in other
    expressions next to them. Its ntile takes a constant, but an argument from another server is not constant.
    """
    if has_window(select) and isinstance(select.from_, Join) and not select.is_grouped:
        return True
    parts = (part for expr in walk_select_expressions(select) for part in walk_expr(expr))
    return any(isinstance(part, Windowed) and part.name == "NTILE" for part in parts)


def put_sharded_first(select: Select) -> Select:
    """Put first, of the first two tables, the one whose rows need not be sent; of two sharded tables, the larger."""
    join = next(walk_joins(select.from_), None)
    if join is None or join.kind != "INNER":
        return select
    swapped_join = replace(join, left=join.right, right=join.left)
    swapped = replace(select, from_=replace_relation(select.from_, join, swapped_join))
    if find_sharded_scan(join.right) is None:
        return select
    if find_sharded_scan(join.left) is None:
        return swapped
    if Collocation(select).find_part(join) is not None:
        return select
    if Collocation(swapped).find_part(swapped_join) is not None:
        return swapped
    left, right = find_row_count(join.left), find_row_count(join.right)
    return swapped if left is not None and right is not None and left < right else select


def _find_right_conditions(select: Select, join: Join) -> list[Expr]:
    """Return the conditions on only the right table of a join, which may be tested before the join."""
    pool = [*split_conjuncts(join.condition), *(split_conjuncts(select.where) if join.kind == "INNER" else ())]
    right = collect_numbers(join.right)
    return [c for c in pool if find_used_relations(c) == right and all(map(is_deterministic, walk_expr(c)))]


def find_scan(derived: Derived) -> tuple[Scan, tuple[Expr, ...]]:
    """Return the table from which a derived table only selects, and its conditions."""
    query = _get_select(derived)
    if isinstance(query.from_, Derived):
        return find_scan(query.from_)
    assert isinstance(query.from_, Scan)  # noqa: S101  it only selects
    return query.from_, split_conjuncts(query.where)


def _make_distinct(derived: Derived, number: int) -> Derived:
    """Add ``number = number`` to a derived table: ClickHouse merges table functions that differ only in aliases.

    Each use of a derived table has a different number, because its outputs may differ.
    """
    query = _get_select(derived)
    literal = Literal(INT, number)
    condition = Call(BOOLEAN, "=", (literal, literal))
    where = combine_conjuncts([condition, *split_conjuncts(query.where)])
    return replace(derived, query=replace(query, where=where))


def _get_select(derived: Derived) -> Select:
    assert isinstance(derived.query, Select)  # noqa: S101  a derived table that is sent only selects
    return derived.query


def _make_shard_column(scan: Scan) -> Column:
    return Column(LONG, scan.relation, SHARD_COLUMN, Field(SHARD_COLUMN, LONG, nullable=False))


def _test_shard(shard: Column, wanted: frozenset[int]) -> Expr:
    if not wanted:
        return Literal(BOOLEAN, False)
    return Call(BOOLEAN, "IN", (shard, *(Literal(INT, number) for number in sorted(wanted))))


def is_on_all_servers(leaf: Relation) -> bool:
    """Return whether all servers have a table of this name."""
    return isinstance(leaf, Scan) and not leaf.entry.is_sharded and not leaf.entry.stored_sql
