"""CASE. Branches that compare one value with literals become a look-up, whose time is independent of their number.

ClickHouse's planning time grows with the square of the number of branches. Keys compare as with ``=``: integers and
reals compare exactly, -0.0 equals 0.0, and NULL and NaN equal nothing. The first of equal keys wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from adql.errors import Span
from adql.ir import UNTYPED, Call, Expr, Literal, Lookup, widen_exactly
from adql.resolve.binder import Binder, BindFunctions
from adql.resolve.operator_binder import compare
from adql.resolve.type_rules import find_common_type, unify_timestamps
from adql.syntax import nodes
from clickhouse_schema.datatypes import ColumnType

#: Minimum number of branches of a look-up
_MIN_KEYS = 12

Branch = tuple[Expr, Expr]
Key = int | float | str


def _bind_case(binder: Binder, node: nodes.Case) -> Expr:
    conditions: list[Expr] = []
    results: list[Expr] = []
    operand = binder.bind(node.operand) if node.operand is not None else None
    for when in node.whens:
        if operand is None:
            conditions.append(binder.bind_condition(when.condition))
        else:
            conditions.append(compare("=", operand, binder.bind(when.condition), when.span))
        results.append(binder.bind(when.result))
    results.append(binder.bind(node.otherwise) if node.otherwise else Literal(UNTYPED, None, span=node.span))
    *values, otherwise = unify_timestamps(results)
    kind = find_common_type([*values, otherwise], "CASE", node.span)
    branches = [*zip(conditions, values, strict=True)]
    chosen, tested = _make_choice(kind, branches, otherwise, node.span)
    binder.resolution.count_branches(tested, node.span)
    return chosen


def _make_choice(kind: ColumnType, branches: Sequence[Branch], otherwise: Expr, span: Span) -> tuple[Expr, int]:
    """Return the expression of the CASE, and the number of branches that are tested one by one."""
    runs = _split_runs(branches, kind)
    if not runs:
        return Call(kind, "CASE", (otherwise,), span=span), 0
    chosen, tested = otherwise, 0
    for value, run in reversed(runs):
        if value is None:
            tested += len(run)
            pairs = [part for branch in run for part in branch]
            chosen = Call(kind, "CASE", (*pairs, chosen), span=span)
        else:
            chosen = _make_lookup(kind, value, run, chosen, span)
    return chosen, tested


def _split_runs(branches: Sequence[Branch], kind: ColumnType) -> list[tuple[Expr | None, list[Branch]]]:
    """Return runs of branches, each with the value that all its branches look up, or None if there is none."""
    runs: list[tuple[Expr | None, list[Branch]]] = []
    for value, group in groupby(branches, key=lambda branch: _find_looked_up(branch, kind)):
        run = [*group]
        if value is not None and len(run) >= _MIN_KEYS:
            runs.append((value, run))
        elif runs and runs[-1][0] is None:
            runs[-1][1].extend(run)
        else:
            runs.append((None, run))
    return runs


def _find_looked_up(branch: Branch, kind: ColumnType) -> Expr | None:
    """Return the value that the condition compares with literals if the result is a literal, too; else None."""
    condition, result = branch
    if not (isinstance(result, Literal) and _is_held(result, kind) and isinstance(condition, Call)):
        return None
    if condition.name not in ("=", "IN"):
        return None
    value, *literals = condition.args
    if condition.name == "=" and isinstance(value, Literal):
        value, *literals = condition.args[::-1]
    if isinstance(value, Literal):
        return None
    return value if all(_is_key(literal, value.type) for literal in literals) else None


def _is_key(expr: Expr, kind: ColumnType) -> bool:
    if not isinstance(expr, Literal) or expr.value is None:
        return False
    return (expr.type.is_text and kind.is_text) or (expr.type.is_numeric and kind.is_numeric)


def _is_held(result: Literal, kind: ColumnType) -> bool:
    """Return whether ``kind`` is a number, a text or a boolean that holds the literal exactly."""
    if not (kind.is_numeric or kind.is_text or kind.is_boolean) or kind.is_array:
        return False
    if kind.is_numeric and isinstance(result.value, int) and not kind.is_integer:
        return int(float(result.value)) == result.value
    return True


def _make_lookup(kind: ColumnType, value: Expr, run: list[Branch], otherwise: Expr, span: Span) -> Lookup:
    found: dict[Key, int | float | str | bool | None] = {}
    for condition, result in run:
        assert isinstance(result, Literal)  # noqa: S101  see _find_looked_up
        for part in condition.children:
            key = _make_key(part, value.type) if isinstance(part, Literal) else None
            if key is not None:
                found.setdefault(key, result.value)
    return Lookup(kind, value, tuple(found), tuple(found.values()), otherwise, span=span)


def _make_key(literal: Literal, kind: ColumnType) -> Key | None:
    """Return the literal as ``kind``; None if ``kind`` cannot hold it exactly, so that no value equals it."""
    value = literal.value
    if isinstance(value, str):
        return value
    assert isinstance(value, (int, float))  # noqa: S101  see _find_looked_up
    return widen_exactly(value, kind)


CASE_BINDERS: BindFunctions = {nodes.Case: _bind_case}
