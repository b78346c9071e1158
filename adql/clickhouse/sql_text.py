"""Types and texts that all parts of the emitter share: forms, and names for values."""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import Call, Expr

#: Writes the SQL of an expression; a form calls it for its operands
Emit = Callable[[Expr], str]

#: Writes the SQL of a call of an operator
Form = Callable[[Call, Emit], str]


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
