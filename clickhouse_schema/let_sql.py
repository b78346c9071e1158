"""Names for values in SQL, so that ClickHouse computes each value once."""

from __future__ import annotations


def let_sql(values: dict[str, str], body: str) -> str:
    """Return SQL that computes each value once.

    Parameters
    ----------
    values
        Name -> SQL of its value. A value cannot use the other names.
    body
        SQL of the result, which uses the names.

    Returns
    -------
    str
        SQL with the value of ``body``.
    """
    return f"arrayMap(({', '.join(values)}) -> {body}, {', '.join(f'[{v}]' for v in values.values())})[1]"
