"""Set functions in two steps: the engine's states of a piece's rows, as text, and the values of all states together.

An ADQL set function is an expression of one or more aggregates of the engine (``adql.functions.set_functions``); each
of them has a state of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import Aggregate, Call, Expr, Literal
from clickhouse_schema.quoting import quote_string

Emit = Callable[[Expr], str]

#: Where the aggregates of a form end, and what stands for arguments in it: neither can be in generated SQL.
_END = "\x00"
_ARGUMENT = "\x01{}\x01"

#: Of these the state of a group holds all of its values, however many.
UNBOUNDED = ("MEDIAN", "SKYHOUSE_QUANTILE", "IVO_STRING_AGG")

_DISTINCT = "DISTINCT "


def states(expr: Aggregate) -> int:
    """How many aggregates of the engine it is made of."""
    return _form(expr, lambda _: "0").count(_END)


def state(expr: Call, emit: Emit) -> str:
    """``STATE(aggregate, number)``: of one of its aggregates, as hexadecimal digits; ``BARE STATE``: as it is."""
    aggregate, number = expr.args
    assert isinstance(aggregate, Aggregate)  # noqa: S101  as it is made
    assert isinstance(number, Literal)  # noqa: S101
    form = _form(aggregate, emit)
    name, parameters, arguments = _aggregates(form)[int(str(number.value))][2:]
    sql = _filled(f"{name}State{parameters}({arguments})", aggregate, emit)
    return f"hex({sql})" if expr.name == "STATE" else sql


def merged(expr: Aggregate, emit: Emit) -> str:
    """``MERGED(aggregate, state, ...)``: the value, with ``STORED STATE(column, type)`` in place of its aggregates."""
    whole, *stored = expr.args
    assert isinstance(whole, Aggregate)  # noqa: S101  as it is made
    form = _form(whole, emit)
    done, sql = 0, ""
    for column, (start, end, name, parameters, _) in zip(stored, _aggregates(form), strict=True):
        sql += form[done:start] + f"{name}Merge{parameters}({emit(column)})"
        done = end
    return _filled(sql + form[done:], whole, emit)


def stored_state(expr: Call, emit: Emit) -> str:
    column, kind = expr.args
    assert isinstance(kind, Literal)  # noqa: S101  as it is made
    return f"CAST(unhex({emit(column)}), {quote_string(str(kind.value))})"


def _form(expr: Aggregate, emit: Emit) -> str:
    """The SQL with a mark behind each of the engine's aggregates, and placeholders for arguments."""
    if not expr.args:
        return f"toInt64(count(){_END})"
    function = SET_FUNCTIONS_BY_NAME[expr.name]
    args = [_ARGUMENT.format(number) for number in range(len(expr.args))]
    if not isinstance(function.sql, str):  # it looks at constants, which are all but the first
        args[1:] = [emit(arg) for arg in expr.args[1:]]
    return function.emit_group_sql(tuple(args), expr.type, distinct=expr.distinct, over=_END)


def _filled(sql: str, expr: Aggregate, emit: Emit) -> str:
    return re.sub("\x01([0-9]+)\x01", lambda number: emit(expr.args[int(number[1])]), sql)


def _aggregates(form: str) -> list[tuple[int, int, str, str, str]]:
    """Of each: where it begins and ends, its name, its parameters in brackets or nothing, its arguments."""
    found = []
    for mark in re.finditer(_END, form):
        opened = _opening(form, mark.start() - 1)
        arguments, first = form[opened + 1 : mark.start() - 1], opened
        if form[opened - 1] == ")":
            first = _opening(form, opened - 1)
        parameters = form[first:opened]
        word = re.search(r"\w+$", form[:first])
        assert word is not None  # noqa: S101  a name stands before its arguments
        name = word[0]
        if arguments.startswith(_DISTINCT):
            arguments = arguments.removeprefix(_DISTINCT)
            name = "uniqExact" if name == "count" else name + "Distinct"
        found.append((word.start(), mark.end(), name, parameters, arguments))
    return found


def _opening(form: str, closing: int) -> int:
    """The place of the bracket that the one at ``closing`` closes."""
    depth = 0
    for place in range(closing, -1, -1):
        depth += (form[place] == ")") - (form[place] == "(")
        if depth == 0:
            return place
    raise AssertionError("a form has more closing brackets than opening ones")


STATES: dict[str, Callable[[Call, Emit], str]] = {
    "STATE": state,
    "BARE STATE": state,
    "STORED STATE": stored_state,
}
