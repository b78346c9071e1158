"""The parts of FROM that are rows of one sharded table, as a shard has them."""

from __future__ import annotations

from adql.ir import Derived, Relation, Scan, Select, walk_scans
from adql.rewrite.trees.derived_tables import is_row_by_row
from adql.rewrite.trees.relation_trees import has_subquery


def reads_sharded_tables(relation: Relation) -> bool:
    """Return whether a relation reads a sharded table, also in its derived tables and their subqueries."""
    return any(scan.entry.is_sharded for scan in walk_scans(relation))


def find_sharded_scan(leaf: Relation) -> Scan | None:
    """Return the sharded table from which a leaf only selects rows and computes columns.

    Parameters
    ----------
    leaf
        A leaf of FROM.

    Returns
    -------
    Scan or None
        The table. None if it is not sharded, if ``computed_on`` is set, or if the leaf does more: joins, set
        operations, groups, DISTINCT, window functions, TOP, an order, or subqueries in its outputs.
    """
    if isinstance(leaf, Scan):
        return leaf if leaf.entry.is_sharded else None
    if not isinstance(leaf, Derived) or leaf.computed_on or not isinstance(leaf.query, Select):
        return None
    query = leaf.query
    if not is_row_by_row(query) or query.order_by or any(has_subquery(output.expr) for output in query.outputs):
        return None
    return find_sharded_scan(query.from_)
