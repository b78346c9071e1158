"""CASE: the branches that compare one value with literals become a look-up, whose time does not grow with their number.

The engine plans branches in a time that grows with the square of their number. Keys are equal as ``=`` says: exactly
between integers and reals, -0.0 to 0.0, NULL and NaN to nothing. Of equal keys the first counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from adql.errors import Span
from adql.ir import Call, Expr, Literal, Lookup, widen_exactly
from clickhouse_schema.datatypes import ColumnType

#: Branches from which a look-up is made
_MANY = 12

Branch = tuple[Expr, Expr]
Key = int | float | str


def choice(kind: ColumnType, branches: Sequence[Branch], otherwise: Expr, span: Span) -> tuple[Expr, int]:
    """The value of the first of ``branches`` (condition, result) that is true, and how many are tested one by one."""
    runs: list[tuple[Expr | None, list[Branch]]] = []
    for value, same in groupby(branches, key=lambda branch: _looked_up(branch, kind)):
        found = [*same]
        if value is None or len(found) < _MANY:
            if runs and runs[-1][0] is None:
                runs[-1][1].extend(found)
                continue
            value = None
        runs.append((value, found))
    chosen, tested = otherwise, 0
    for value, run in reversed(runs):
        if value is None:
            tested += len(run)
            chosen = Call(kind, "CASE", (*(part for branch in run for part in branch), chosen), span=span)
        else:
            chosen = _lookup(kind, value, run, chosen, span)
    return (chosen, tested) if runs else (Call(kind, "CASE", (otherwise,), span=span), 0)


def _looked_up(branch: Branch, kind: ColumnType) -> Expr | None:
    """The value that a branch compares with literals to give a literal; None of others."""
    condition, result = branch
    if not (isinstance(result, Literal) and _is_held(result, kind) and isinstance(condition, Call)):
        return None
    if condition.name == "=" and isinstance(condition.args[0], Literal):
        literals, value = condition.args[:1], condition.args[1]
    elif condition.name in ("=", "IN"):
        value, *items = condition.args
        literals = tuple(items)
    else:
        return None
    if isinstance(value, Literal) or not all(isinstance(i, Literal) and i.value is not None for i in literals):
        return None
    alike = [(i.type.is_text and value.type.is_text) or (i.type.is_numeric and value.type.is_numeric) for i in literals]
    return value if all(alike) else None


def _is_held(result: Literal, kind: ColumnType) -> bool:
    """Whether ``kind``, a number, a text or a truth value, holds the literal as it is."""
    if not (kind.is_numeric or kind.is_text or kind.is_boolean) or kind.is_array:
        return False
    if kind.is_numeric and isinstance(result.value, int) and not kind.is_integer:
        return int(float(result.value)) == result.value
    return True


def _lookup(kind: ColumnType, value: Expr, run: list[Branch], otherwise: Expr, span: Span) -> Lookup:
    found: dict[Key, int | float | str | bool | None] = {}
    for condition, result in run:
        assert isinstance(result, Literal)  # noqa: S101  see _looked_up
        for part in condition.children:
            key = _key(part, value.type) if isinstance(part, Literal) else None
            if key is not None:
                found.setdefault(key, result.value)
    return Lookup(kind, value, tuple(found), tuple(found.values()), otherwise, span=span)


def _key(literal: Literal, kind: ColumnType) -> Key | None:
    """The literal as ``kind``; None of a number that it does not hold exactly, which nothing is equal to."""
    value = literal.value
    if isinstance(value, str):
        return value
    assert isinstance(value, (int, float))  # noqa: S101  see _looked_up
    return widen_exactly(value, kind)
