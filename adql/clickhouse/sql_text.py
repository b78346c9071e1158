"""Types and texts that all parts of the emitter share: forms, literals, and names for values."""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import Call, Expr

#: Writes the SQL of an expression; a form calls it for its operands
Emit = Callable[[Expr], str]

#: Writes the SQL of a call of an operator
Form = Callable[[Call, Emit], str]


def float_literal(value: float) -> str:
    """Return a Float64 literal (ClickHouse reads 0 and 1000 as integers).

    Negative numbers and -0.0 are in parentheses, because ``--`` begins a comment.
    """
    text = repr(float(value))
    return text if value >= 0 and not text.startswith("-") else f"({text})"


def let_sql(values: dict[str, str], body: str) -> str:
    """Return SQL that computes each value once.

    Parameters
    ----------
    values
        Name -> SQL of its value.
    body
        SQL of the result, which uses the names.
    """
    return f"arrayMap(({', '.join(values)}) -> {body}, {', '.join(f'[{v}]' for v in values.values())})[1]"
