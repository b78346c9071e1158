"""Set functions in two steps: ClickHouse's states of the rows of a piece, as text, then the value of all states.

A set function of ADQL is an expression of one or more aggregates of ClickHouse (``adql.functions.set_functions``), each
with its own state.
"""

from __future__ import annotations

import re

from adql.clickhouse.sql_text import Emit, Form
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import WEIGHED_COUNT, Aggregate, Call, Literal
from clickhouse_schema.quoting import quote_string

#: The end of an aggregate in a form, and the placeholder of an argument. Neither occurs in generated SQL.
_END = "\x00"
_ARGUMENT = "\x01{}\x01"

#: Set functions whose state of a group contains all of its values
UNBOUNDED = ("MEDIAN", "SKYHOUSE_QUANTILE", "IVO_STRING_AGG")

_DISTINCT = "DISTINCT "


def weighed_count_sql(weight: str, mark: str = "") -> str:
    """Return the SQL of a number of rows, each counted ``weight`` times; ``mark`` follows the aggregate."""
    return f"toInt64(sum(toUInt64({weight})){mark})"


def count_states(expr: Aggregate) -> int:
    """Return the number of aggregates of ClickHouse in a set function.

    Parameters
    ----------
    expr
        The set function.

    Returns
    -------
    int
        The number of states of a group, which are numbered from 0 in ``STATE`` and ``BARE STATE``.
    """
    return _marked_sql(expr, lambda _: "0").count(_END)


def _state_sql(expr: Call, emit: Emit) -> str:
    """Return the SQL of STATE(aggregate, number), the state in hexadecimal digits, or BARE STATE, the binary state."""
    aggregate, number = expr.args
    assert isinstance(aggregate, Aggregate)  # noqa: S101  the pass makes nothing else
    assert isinstance(number, Literal)  # noqa: S101
    aggregates = _find_aggregates(_marked_sql(aggregate, emit))
    _, _, name, parameters, arguments = aggregates[int(str(number.value))]
    sql = _fill_arguments(f"{name}State{parameters}({arguments})", aggregate, emit)
    return f"hex({sql})" if expr.name == "STATE" else sql


def merged_sql(expr: Aggregate, emit: Emit) -> str:
    """Return the SQL of MERGED(aggregate, state, ...): the value of the set function of all stored states."""
    whole, *stored = expr.args
    assert isinstance(whole, Aggregate)  # noqa: S101  the pass makes nothing else
    form = _marked_sql(whole, emit)
    done, sql = 0, ""
    for column, (start, end, name, parameters, _) in zip(stored, _find_aggregates(form), strict=True):
        sql += form[done:start] + f"{name}Merge{parameters}({emit(column)})"
        done = end
    return _fill_arguments(sql + form[done:], whole, emit)


def _stored_state_sql(expr: Call, emit: Emit) -> str:
    column, kind = expr.args
    assert isinstance(kind, Literal)  # noqa: S101  the pass makes nothing else
    return f"CAST(unhex({emit(column)}), {quote_string(str(kind.value))})"


def _marked_sql(expr: Aggregate, emit: Emit) -> str:
    """Return the SQL with a mark after each aggregate of ClickHouse, and placeholders for arguments."""
    if not expr.args or expr.name == WEIGHED_COUNT:  # both have the same state, since a piece may count with weights
        return weighed_count_sql(_ARGUMENT.format(0) if expr.args else "1", _END)
    function = SET_FUNCTIONS_BY_NAME[expr.name]
    args = [_ARGUMENT.format(number) for number in range(len(expr.args))]
    if not isinstance(function.sql, str):  # such functions read constants: all arguments except the first
        args[1:] = [emit(arg) for arg in expr.args[1:]]
    return function.emit_group_sql(tuple(args), expr.type, distinct=expr.distinct, over=_END)


def _fill_arguments(sql: str, expr: Aggregate, emit: Emit) -> str:
    return re.sub("\x01([0-9]+)\x01", lambda number: emit(expr.args[int(number[1])]), sql)


def _find_aggregates(form: str) -> list[tuple[int, int, str, str, str]]:
    """Return, for each aggregate, its start, end, name, parameters in brackets (or '') and arguments."""
    found = []
    for mark in re.finditer(_END, form):
        opened = _find_opening(form, mark.start() - 1)
        arguments, first = form[opened + 1 : mark.start() - 1], opened
        if form[opened - 1] == ")":
            first = _find_opening(form, opened - 1)
        parameters = form[first:opened]
        word = re.search(r"\w+$", form[:first])
        assert word is not None  # noqa: S101  a name stands before its arguments
        name = word[0]
        if arguments.startswith(_DISTINCT):
            arguments = arguments.removeprefix(_DISTINCT)
            name = "uniqExact" if name == "count" else name + "Distinct"
        found.append((word.start(), mark.end(), name, parameters, arguments))
    return found


def _find_opening(form: str, closing: int) -> int:
    """Return the offset of the bracket that the bracket at ``closing`` closes."""
    depth = 0
    for offset in range(closing, -1, -1):
        depth += (form[offset] == ")") - (form[offset] == "(")
        if depth == 0:
            return offset
    raise AssertionError("a form has more closing brackets than opening ones")


STATE_FORMS: dict[str, Form] = {
    "STATE": _state_sql,
    "BARE STATE": _state_sql,
    "STORED STATE": _stored_state_sql,
}
