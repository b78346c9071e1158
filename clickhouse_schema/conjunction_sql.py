"""AND below other operators, in a form that ClickHouse evaluates correctly with projections of row offsets."""

from __future__ import annotations


def all_sql(*conditions: str) -> str:
    """Return the ``AND`` of conditions, for use anywhere but in the conjuncts of WHERE, HAVING and ON.

    An ``AND`` there makes ClickHouse 26.9 lose rows: when it finds rows by a projection, it takes the conditions on
    other columns to be true in every ``AND``, also below NOT. ``id = 1 AND NOT (ra > 9 AND dec > 9)`` finds no row.
    """
    if len(conditions) == 1:
        return f"({conditions[0]})"
    return f"(NOT ({' OR '.join(f'NOT ({condition})' for condition in conditions)}))"
