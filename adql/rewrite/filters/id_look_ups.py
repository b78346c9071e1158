"""Find look-ups by an id or an index, for which the engine should also read the projections of small parts.

``sql_settings.LOOK_UP`` is the setting. Equal values of the first column of an index suffice.
"""

from __future__ import annotations

from adql.ir import (
    Call,
    Column,
    Expr,
    InSubquery,
    NamedValues,
    Select,
    TranslationContext,
    split_conjuncts,
    walk_join_conditions,
)
from adql.rewrite.filters.condition_pushdown import find_origins
from adql.rewrite.filters.small_side_filters import bound_rows, is_selective
from adql.rewrite.trees.relation_trees import Leaf, collect_leaves
from adql.rewrite.trees.rewritten import Rewritten


def find_id_look_ups(select: Select, context: TranslationContext) -> Rewritten[Select]:  # noqa: ARG001
    """Find out whether a conjunct of WHERE or an ON lists few values of the first column of an id or index.

    Returns the SELECT unchanged, with the finding.
    """
    leaves = collect_leaves(select.from_)
    conditions = (select.where, *walk_join_conditions(select.from_))
    has_look_up = any(_names_keys(part, leaves) for condition in conditions for part in split_conjuncts(condition))
    return Rewritten(select, has_look_up)


def _names_keys(condition: Expr, leaves: dict[int, Leaf]) -> bool:
    if isinstance(condition, InSubquery):
        rows = bound_rows(condition.query)
        return rows is not None and isinstance(condition.operand, Column) and _is_key(condition.operand, leaves, rows)
    if isinstance(condition, Call) and condition.name == "OR":
        return all(_names_keys(part, leaves) for part in condition.args)
    named = NamedValues.match_constants(condition)
    return named is not None and _is_key(named.column, leaves)


def _is_key(column: Column, leaves: dict[int, Leaf], rows: int = 0) -> bool:
    """Return whether an id or index begins with ``column``, and ``rows`` of its values select few granules."""
    origins = find_origins(leaves.get(column.relation), (column.name,))
    return any(
        any(names == key[:1] for key in scan.entry.table.layout.sorted_columns)
        and (not rows or is_selective(scan, names[0], rows))
        for scan, names in origins
    )
