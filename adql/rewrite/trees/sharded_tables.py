"""Which parts of FROM are rows of one sharded table, as a shard has them."""

from __future__ import annotations

from adql.ir import Derived, Relation, Scan, SetOperation, has_window, walk_scans
from adql.rewrite.trees.relation_trees import has_subquery


def reads_sharded_tables(relation: Relation) -> bool:
    return any(scan.entry.is_sharded for scan in walk_scans(relation))


def find_sharded_scan(leaf: Relation) -> Scan | None:
    """Return the sharded table of which a leaf only selects rows and computes columns; None if it does more."""
    if isinstance(leaf, Scan):
        return leaf if leaf.entry.is_sharded else None
    if not isinstance(leaf, Derived) or leaf.place or isinstance(leaf.query, SetOperation):
        return None
    query = leaf.query
    if query.is_grouped or query.distinct or query.limit is not None or query.offset or query.order_by:
        return None
    if has_window(query) or any(has_subquery(output.expr) for output in query.outputs):
        return None
    return find_sharded_scan(query.from_)
