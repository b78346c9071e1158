"""Mark the set functions of queries with GROUP BY, in which each group has a row.

Without GROUP BY there is one group, which may have no rows. For no rows ClickHouse's plain forms return 0 or NaN, and
its OrNull forms return NULL, but take nearly twice the time for many groups.
"""

from __future__ import annotations

from adql.ir import Aggregate, Call, Expr, Select, TranslationContext, change_children, map_select
from adql.node_classes import replace


def mark_groups_of_rows(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Mark each set function of a SELECT with GROUP BY, except set functions of pieces, whose states are merged.

    A SELECT without GROUP BY is returned unchanged.
    """

    def change(expr: Expr) -> Expr:
        if isinstance(expr, Aggregate):
            return replace(expr, has_rows=True)
        is_state = isinstance(expr, Call) and expr.name in ("STATE", "BARE STATE")
        return expr if is_state or not expr.children else change_children(expr, change)

    return map_select(select, change) if select.group_by else select
