"""AND below other operators, in a form that ClickHouse reads right beside projections of row offsets."""

from __future__ import annotations


def all_sql(*conditions: str) -> str:
    """Return ``AND`` of conditions, for all places but the conjuncts of WHERE, HAVING and ON.

    There ClickHouse 26.9 loses rows by an ``AND``: to find rows by a projection, it takes the tests of other columns in
    each ``AND`` for true, also below NOT. ``id = 1 AND NOT (ra > 9 AND dec > 9)`` finds no row.
    """
    if len(conditions) == 1:
        return f"({conditions[0]})"
    return f"(NOT ({' OR '.join(f'NOT ({condition})' for condition in conditions)}))"
