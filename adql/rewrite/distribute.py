"""Where the parts of a query are computed on a cluster: the pass that comes after all others, for the whole query.

A SELECT is sent to the shards if its FROM begins with a sharded table, or a derived table that only selects from one:
each shard computes it for its own rows, and aggregates in two steps. What it is joined with is

* read on the shard itself where that has all of the partners: in the margin for a nearness that fits the overlap, the
  radii of a chain taken together; among the shard's own rows for an equality of a time series with its object;
* else computed once and sent along (GLOBAL), as the rows of IN (SELECT ...) are.

A FULL JOIN is done where the answer is put together. So is all that begins with another table than a sharded one.
Every part is right by itself: what is forgotten here the engine refuses (distributed_product_mode = 'deny').
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from adql.ir import (
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Literal,
    NameGenerator,
    Output,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    SubqueryExpr,
    Windowed,
    combine_conjuncts,
    has_window,
    map_select,
    split_conjuncts,
    substitute_in_expr,
    transform_expr,
    walk_columns,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
)
from adql.rewrite.collocation import Collocation, find_sharded_scan, find_shards, inline_derived_outputs, spine
from adql.rewrite.derived_tables import DerivedBuilder, relation_numbers
from adql.rewrite.join_trees import add_equality, is_join_equality, replace_relation
from adql.rewrite.match_sizes import find_row_count
from adql.rewrite.repeatable_relations import is_deterministic
from clickhouse_schema.datatypes import BOOLEAN, INT, LONG, Field
from clickhouse_schema.shard_map import LOCAL, SHARD_COLUMN, Sharding


def distribute_query(query: Query, placement: Sharding, fresh: NameGenerator) -> Query:
    """``query`` after the other passes, with each part in its place."""
    return _Distribution(placement, fresh).query(query)


@dataclass(frozen=True, slots=True)
class _Distribution:
    placement: Sharding
    fresh: NameGenerator

    def query(self, query: Query) -> Query:
        if isinstance(query, SetOperation):
            return replace(query, left=self.query(query.left), right=self.query(query.right))
        select = self._collected(query) if _is_of_all_rows(query) else _sharded_first(query)
        while (
            find_sharded_scan(next(walk_leaves(select.from_))) is not None
            and (changed := self._prepared(select)) is not None
        ):
            select = changed
        first = next(walk_leaves(select.from_))
        if find_sharded_scan(first) is None:
            return self._inside(replace(select, from_=self._here(select.from_)), is_sent=False)
        return self._inside(self._sent(select, first), is_sent=True)

    def _collected(self, select: Select) -> Select:
        """``select`` of rows that are put together first."""
        wrapped = DerivedBuilder(select.from_, select, self.fresh)
        rows = replace(wrapped.build_derived([*split_conjuncts(select.where)]), place="here")
        return wrapped.rename_select(replace(select, from_=rows, where=None))

    # --- joins --------------------------------------------------------------------------------------------------------

    def _here(self, tree: Relation) -> Relation:
        """Each table by itself, joined where the answer is put together."""
        if isinstance(tree, Join):
            return replace(tree, left=self._here(tree.left), right=self._here(tree.right))
        return tree if isinstance(tree, Scan) else replace(tree, query=self.query(tree.query))

    def _prepared(self, select: Select) -> Select | None:
        """``select`` with one of its joins in a form in which it can be sent; None when all are."""
        found = Collocation(select)
        for join in spine(select.from_):
            if join.kind == "FULL":
                wrapped = DerivedBuilder(join.left, select, self.fresh)
                derived = replace(wrapped.build_derived(), place="here")
                return wrapped.rename_select(replace(select, from_=replace_relation(select.from_, join.left, derived)))
            if not any(is_join_equality(c, join) for c in split_conjuncts(join.condition)):
                return add_equality(select, join, self.fresh)  # the engine sends no other joins
            if find_sharded_scan(join.right) is join.right and found.find_part(join) is None:
                own = _own_conditions(select, join)
                wrapped = DerivedBuilder(join.right, select, self.fresh)
                return wrapped.rename_select(
                    replace(select, from_=replace_relation(select.from_, join.right, wrapped.build_derived(own)))
                )
        return None

    # --- what is sent -------------------------------------------------------------------------------------------------

    def _sent(self, select: Select, first: Scan | Derived) -> Select:
        found = Collocation(select)

        def tree(relation: Relation) -> Relation:
            if not isinstance(relation, Join):
                return relation
            part = found.find_part(relation)
            if part is not None:
                return replace(relation, left=tree(relation.left), right=self._local(relation.right, part))
            right = self._here(relation.right)
            return replace(relation, left=tree(relation.left), right=right, is_global=not _is_everywhere(right))

        select = replace(select, from_=tree(select.from_))
        return self._confined(select, first) if isinstance(first, Scan) else self._viewed(select, first)

    def _local(self, relation: Relation, part: str) -> Relation:
        """What a shard reads of its own tables."""
        if isinstance(relation, Scan):
            return replace(relation, part=part)
        assert isinstance(relation, Derived)  # noqa: S101  no other is collocated
        assert isinstance(relation.query, Select)  # noqa: S101
        query = replace(relation.query, from_=self._local(relation.query.from_, part))
        return replace(relation, query=self._inside(query, is_sent=True))

    def _confined(self, select: Select, scan: Scan) -> Select:
        """To the shards that the cells of WHERE are on."""
        wanted = find_shards(scan, split_conjuncts(select.where), self.placement.map)
        if wanted is None:
            return select
        return replace(
            select, where=combine_conjuncts([_is_on(_shard_of(scan), wanted), *split_conjuncts(select.where)])
        )

    def _viewed(self, select: Select, first: Derived) -> Select:
        """A derived table that the shards compute; its conditions with subqueries are those of the SELECT around."""
        derived, conditions = self._lifted(first)
        scan, inside = _read(derived)
        around = [
            transform_expr(c, lambda part: inline_derived_outputs(part, {first.relation: first}))
            for c in split_conjuncts(select.where)
        ]
        wanted = find_shards(scan, [*inside, *around], self.placement.map)
        alias = ""
        if wanted is not None:
            derived, shard = self._exported(derived, _shard_of(scan))
            conditions = [_is_on(shard, wanted), *conditions]
            alias = shard.name
        local = self._local(_told_apart(derived, self.fresh.new_relation()), LOCAL)
        assert isinstance(local, Derived)  # noqa: S101  it was one
        sent = replace(local, place="shards", cluster=self.placement.cluster, shard=alias)
        where = combine_conjuncts([*conditions, *split_conjuncts(select.where)])
        return replace(select, from_=replace_relation(select.from_, first, sent), where=where)

    def _lifted(self, derived: Derived) -> tuple[Derived, list[Expr]]:
        """``derived`` without its conditions that have subqueries in them, and these as conditions on its outputs."""
        query = derived.query
        assert isinstance(query, Select)  # noqa: S101  it only selects
        lifted: list[Expr] = []
        if isinstance(query.from_, Derived):
            below, lifted = self._lifted(query.from_)
            query = replace(query, from_=below)
        own = split_conjuncts(query.where)
        lifted += [c for c in own if _has_subquery(c)]
        derived = replace(
            derived, query=replace(query, where=combine_conjuncts([c for c in own if not _has_subquery(c)]))
        )
        outside: list[Expr] = []
        for condition in lifted:
            names: dict[Column, Expr] = {}
            for column in dict.fromkeys(walk_columns(condition)):
                derived, names[column] = self._exported(derived, column)
            outside.append(substitute_in_expr(condition, names))
        return derived, outside

    def _exported(self, derived: Derived, column: Column) -> tuple[Derived, Column]:
        """``derived`` with an output for a column of a table inside, at any depth, and that output."""
        query = derived.query
        assert isinstance(query, Select)  # noqa: S101  it only selects
        below = query.from_
        if isinstance(below, Derived) and below.relation != column.relation:
            below, column = self._exported(below, column)
            query = replace(query, from_=below)
        found = next((o for o in query.outputs if o.expr == column), None)
        if found is None:
            found = Output(self.fresh.new_alias(), column, column.field)
            query = replace(query, outputs=(*query.outputs, found))
        return replace(derived, query=query), Column(column.type, derived.relation, found.alias, column.field)

    def _inside(self, select: Select, *, is_sent: bool) -> Select:
        """The subqueries of conditions and outputs: their rows go along where the SELECT is sent."""

        def change(expr: Expr) -> Expr:
            if isinstance(expr, InSubquery):
                return replace(expr, query=self.query(expr.query), is_global=is_sent)
            if isinstance(expr, (Subquery, Exists)):
                return replace(expr, query=self.query(expr.query))
            if is_sent and isinstance(expr, Call) and expr.name == "ROW NUMBER":
                return replace(expr, name="ROW NUMBER OF SHARD")
            return expr

        return map_select(select, lambda expr: transform_expr(expr, change))


def _is_of_all_rows(select: Select) -> bool:
    """Whether rows are put together before anything else is done with them.

    Windows of rows are made there anyway, and the engine takes one column for another in what it computes beside them
    of joined tables. Its ntile wants a constant, which its argument no longer is when it comes from another server.
    """
    if has_window(select) and isinstance(select.from_, Join) and not select.is_grouped:
        return True
    parts = (part for expr in walk_select_expressions(select) for part in walk_expr(expr))
    return any(isinstance(part, Windowed) and part.name == "NTILE" for part in parts)


def _sharded_first(select: Select) -> Select:
    """Of two tables that are joined the one in front that can stay where it is: the other one may have to be sent.

    Of two such the one known to be larger.
    """
    join = next(spine(select.from_), None)
    if join is None or join.kind != "INNER":
        return select
    swapped = replace(
        select, from_=replace_relation(select.from_, join, replace(join, left=join.right, right=join.left))
    )
    if find_sharded_scan(join.right) is None:
        return select
    if find_sharded_scan(join.left) is None:
        return swapped
    if Collocation(select).find_part(join) is not None:
        return select
    if Collocation(swapped).find_part(next(spine(swapped.from_))) is not None:
        return swapped
    left, right = find_row_count(join.left), find_row_count(join.right)
    return swapped if left is not None and right is not None and left < right else select


def _own_conditions(select: Select, join: Join) -> list[Expr]:
    """Those on the right table of a join alone, which hold for its rows before they are joined, and again after it."""
    pool = [*split_conjuncts(join.condition), *(split_conjuncts(select.where) if join.kind == "INNER" else ())]
    own = relation_numbers(join.right)
    return [
        c for c in pool if {x.relation for x in walk_columns(c)} == own and all(map(is_deterministic, walk_expr(c)))
    ]


def _read(derived: Derived) -> tuple[Scan, tuple[Expr, ...]]:
    """The table that a derived table only selects from, and the conditions beside it."""
    query = derived.query
    assert isinstance(query, Select)  # noqa: S101  it only selects
    if isinstance(query.from_, Derived):
        return _read(query.from_)
    assert isinstance(query.from_, Scan)  # noqa: S101
    return query.from_, split_conjuncts(query.where)


def _told_apart(derived: Derived, own: int) -> Derived:
    """With a condition that no other has: the engine takes table functions that differ in aliases alone for one.

    ``own`` is a number for it alone: a derived table that stands twice in the query may have other outputs each time.
    """
    query = derived.query
    assert isinstance(query, Select)  # noqa: S101  it only selects
    number = Literal(INT, own)
    same = Call(BOOLEAN, "=", (number, number))
    return replace(derived, query=replace(query, where=combine_conjuncts([same, *split_conjuncts(query.where)])))


def _has_subquery(expr: Expr) -> bool:
    return any(isinstance(part, SubqueryExpr) for part in walk_expr(expr))


def _shard_of(scan: Scan) -> Column:
    return Column(LONG, scan.relation, SHARD_COLUMN, Field(SHARD_COLUMN, LONG, nullable=False))


def _is_on(shard: Column, wanted: frozenset[int]) -> Expr:
    if not wanted:
        return Literal(BOOLEAN, False)
    return Call(BOOLEAN, "IN", (shard, *(Literal(INT, number) for number in sorted(wanted))))


def _is_everywhere(leaf: Relation) -> bool:
    """A table that every server has under this name."""
    return isinstance(leaf, Scan) and not leaf.entry.is_sharded and not leaf.entry.stored_sql
