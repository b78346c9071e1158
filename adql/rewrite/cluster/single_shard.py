"""Queries whose rows are all on one shard, which a server of this shard can answer from its own tables.

    SELECT ... FROM objects WHERE __shard IN (3) AND ...        any server, which queries a server of the shard
    SELECT ... FROM objects__local WHERE ...                    a server of the shard, in a fraction of the time

Such a query selects from a sharded table that its conditions confine to cells of one shard (``shard_pruning``), and
joins it only with tables that all servers have and with rows that the shard has (``collocation``).
"""

from __future__ import annotations

from adql.ir import (
    Derived,
    Join,
    Query,
    Relation,
    Scan,
    Select,
    split_conjuncts,
    transform_expr,
    walk_joins,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.node_classes import replace
from adql.rewrite.cluster.distribute import find_scan, is_on_all_servers, put_sharded_first, read_tables
from adql.rewrite.cluster.shard_pruning import find_shards
from adql.rewrite.trees.collocation import Collocation, inline_derived_outputs
from adql.rewrite.trees.relation_trees import has_subquery
from adql.rewrite.trees.sharded_tables import find_sharded_scan
from clickhouse_schema.shard_map import LOCAL, ShardMap


def confine_to_shard(query: Query, shard_map: ShardMap) -> tuple[int, Query] | None:
    """Confine a query to the only shard that has rows for it.

    Parameters
    ----------
    query
        The query after ``rewrite_query``.
    shard_map
        The shard of each cell.

    Returns
    -------
    tuple[int, Query] or None
        The shard, and the query of its own tables; None if the query may need rows of other shards, or of tables that
        only one server has.
    """
    if not isinstance(query, Select) or _has_subqueries(query):
        return None
    select = put_sharded_first(query)
    first = next(walk_leaves(select.from_))
    if find_sharded_scan(first) is None:
        return None
    shards = _find_shards(select, first, shard_map)
    if shards is None or len(shards) != 1:
        return None
    parts = _choose_parts(select)
    if parts is None:
        return None
    [shard] = shards
    return shard, replace(select, from_=_read_parts(select.from_, {first.relation: LOCAL, **parts}))


def _has_subqueries(query: Select) -> bool:
    return any(has_subquery(expr) for select in walk_selects(query) for expr in walk_select_expressions(select))


def _find_shards(select: Select, first: Scan | Derived, shard_map: ShardMap) -> frozenset[int] | None:
    outside = split_conjuncts(select.where)
    if isinstance(first, Scan):
        return find_shards(first, outside, shard_map)
    scan, inside = find_scan(first)
    leaves = {first.relation: first}
    return find_shards(
        scan,
        [*inside, *(transform_expr(c, lambda part: inline_derived_outputs(part, leaves)) for c in outside)],
        shard_map,
    )


def _choose_parts(select: Select) -> dict[int, str] | None:
    """Return the parts of sharded tables that the joins read; None if the shard may lack rows that they need."""
    collocation = Collocation(select)
    parts: dict[int, str] = {}
    for join in walk_joins(select.from_):
        [right] = walk_leaves(join.right)
        part = None if join.kind == "FULL" else collocation.find_part(join)
        if part is not None:
            parts[right.relation] = part
        elif join.kind == "FULL" or not is_on_all_servers(right):
            return None
    return parts


def _read_parts(relation: Relation, parts: dict[int, str]) -> Relation:
    """Return a join tree in which the leaves with these numbers read parts of tables."""
    if isinstance(relation, Join):
        return relation.with_sides(_read_parts(relation.left, parts), _read_parts(relation.right, parts))
    part = parts.get(relation.relation)
    return relation if part is None else read_tables(relation, part)
