"""Text that all parts of the emitter share: the types of a form, literals, and names for values."""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import Call, Expr

#: Writes the SQL of an expression; a form calls it for its operands
Emit = Callable[[Expr], str]

#: Writes the SQL of an operator's call
Form = Callable[[Call, Emit], str]


def float_literal(value: float) -> str:
    """Return a Float64 literal, negative ones, -0.0 too, in parentheses: ``--`` begins a comment.

    (ClickHouse reads 0 and 1000 as integers.)
    """
    text = repr(float(value))
    return text if value >= 0 and not text.startswith("-") else f"({text})"


def let_sql(values: dict[str, str], body: str) -> str:
    """Return ``body`` with a name for each value, which ClickHouse then computes once."""
    return f"arrayMap(({', '.join(values)}) -> {body}, {', '.join(f'[{v}]' for v in values.values())})[1]"
