"""Mark the set functions of queries with GROUP BY: each of their groups has a row.

Without GROUP BY there is one group, perhaps of no rows, for which ClickHouse's plain forms return 0 or NaN; its OrNull
forms return NULL, and take nearly twice the time of many groups.
"""

from __future__ import annotations

from adql.ir import Aggregate, Call, Expr, Select, TranslationContext, change_children, map_select
from adql.node_classes import replace


def mark_groups_of_rows(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Mark each set function but those of pieces, whose states are merged with others."""

    def change(expr: Expr) -> Expr:
        if isinstance(expr, Aggregate):
            return replace(expr, has_rows=True)
        is_state = isinstance(expr, Call) and expr.name in ("STATE", "BARE STATE")
        return expr if is_state or not expr.children else change_children(expr, change)

    return map_select(select, change) if select.group_by else select
