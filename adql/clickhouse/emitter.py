"""The emitter: a bound query printed as ClickHouse SQL, with SQL's NULLs instead of its own.

Operators, casts and geometry have their forms in the files beside; each form takes a node and the emitter of its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from adql.clickhouse.case_sql import lookup
from adql.clickhouse.cast_sql import exact_or_null, no_nan
from adql.clickhouse.operator_sql import OPERATORS
from adql.clickhouse.partial_aggregate_sql import STATES, merged
from adql.clickhouse.set_function_sql import aggregate
from adql.clickhouse.sky.geometry_sql import constant_shape, covered, within
from adql.clickhouse.window_sql import ordered, windowed
from adql.errors import AdqlSemanticError
from adql.functions import FUNCTIONS, INTERNAL_SQL
from adql.functions.argument_kinds import choose_function
from adql.ir import (
    Aggregate,
    Call,
    Column,
    Covered,
    Derived,
    Exists,
    Expr,
    InCells,
    InSubquery,
    Join,
    Literal,
    Lookup,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Shape,
    Subquery,
    Windowed,
    Within,
    has_aggregate,
    split_conjuncts,
)
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.quoting import quote_identifier, quote_string

#: Characters of SQL of one expression. Some forms write an argument several times, so nesting multiplies.
MOST_SQL = 4 << 20


def emit(query: Query) -> str:
    """SQL of the whole query; ``SETTINGS`` must be set with it."""
    return _query(query)


# --- queries ----------------------------------------------------------------------------------------------------------


def _query(query: Query) -> str:
    return _select(query) if isinstance(query, Select) else _set_operation(query)


def _outputs(query: Query) -> str:
    return ", ".join(f"{_expr(o.expr)} AS {o.alias}" for o in query.outputs)


def _select(query: Select) -> str:
    parts = ["SELECT DISTINCT" if query.distinct else "SELECT", _outputs(query), "FROM", _relation(query.from_)]
    if query.where is not None:
        parts += ["WHERE", " AND ".join(_filter(c) for c in split_conjuncts(query.where))]
    if query.group_by:
        parts += ["GROUP BY", ", ".join(_expr(e) for e in query.group_by)]
    if query.having is not None:
        parts += ["HAVING", _having(query, query.having)]
    return " ".join(parts) + _tail(query)


def _having(query: Select, condition: Expr) -> str:
    """To the engine a HAVING without GROUP BY and set functions is a WHERE, not one group."""
    parts = [condition, *(o.expr for o in query.outputs), *(o.expr for o in query.order_by)]
    if query.group_by or any(has_aggregate(part) for part in parts):
        return _expr(condition)
    return f"(toInt64(count()) >= 0) AND {_expr(condition)}"


def _set_operation(query: SetOperation) -> str:
    quantifier = "ALL" if query.all else "DISTINCT"
    inside = f"({_query(query.left)}) {query.op} {quantifier} ({_query(query.right)})"
    return f"SELECT {_outputs(query)} FROM ({inside}) AS t{query.relation}" + _tail(query)


def _tail(query: Query) -> str:
    text = ""
    if query.order_by:
        text += " ORDER BY " + ", ".join(ordered(o, _expr) for o in query.order_by)
    if query.limit is not None:
        text += f" LIMIT {query.limit}"
    if query.offset:
        text += f" OFFSET {query.offset}"
    return text


def _relation(relation: Relation) -> str:
    if isinstance(relation, Scan):
        stored = relation.entry.part_sql(relation.part) if relation.part else relation.entry.storage_sql
        return f"{stored} AS t{relation.relation}"
    if isinstance(relation, Derived):
        return f"{_derived(relation)} AS t{relation.relation}"
    return _join(relation)


def _derived(derived: Derived) -> str:
    if derived.place != "shards":
        return f"({_query(derived.query)})"
    key = f", {derived.shard}" if derived.shard else ""
    return f"cluster({quote_string(derived.cluster)}, view({_query(derived.query)}){key})"


def _join(join: Join) -> str:
    left, right = _relation(join.left), _relation(join.right)
    if join.condition is None:
        return f"{left} CROSS JOIN {right}"
    kind = f"LEFT {join.kind}" if join.kind in ("SEMI", "ANTI") else join.kind
    kind = f"GLOBAL {kind}" if join.is_global else kind
    return f"{left} {kind} JOIN {right} ON {' AND '.join(_join_condition(c) for c in split_conjuncts(join.condition))}"


def _join_condition(expr: Expr) -> str:
    """The engine wants functions here, so a flag is compared."""
    if isinstance(expr, Call) and expr.name in ("AND", "OR"):
        return "(" + f" {expr.name} ".join(_join_condition(a) for a in expr.args) + ")"
    return f"({_expr(expr)} = true)" if isinstance(expr, Column) else _expr(expr)


# --- expressions ------------------------------------------------------------------------------------------------------


def _filter(expr: Expr) -> str:
    """A conjunct of WHERE, where false and unknown are alike."""
    if isinstance(expr, InSubquery):
        return f"({_expr(expr.operand)} {_in(expr)} ({_members(expr)}))"
    if isinstance(expr, Call) and expr.name == "OR" and all(isinstance(arg, InSubquery) for arg in expr.args):
        return f"({' OR '.join(_filter(arg) for arg in expr.args)})"
    return _expr(expr)


def _expr(expr: Expr) -> str:
    sql = _EMITTERS[type(expr)](expr)
    if len(sql) > MOST_SQL:
        raise AdqlSemanticError(
            f"this expression is too deep to be computed: its SQL has more than {MOST_SQL} characters",
            expr.span,
            "compute parts of it in a subquery; give shapes with fewer vertices",
        )
    return sql


def _column(expr: Column) -> str:
    return f"t{expr.relation}.{quote_identifier(expr.name)}"


def _literal(expr: Literal) -> str:
    value = expr.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _instant(value) if expr.type.is_timestamp else quote_string(value)
    return repr(value) if value >= 0 else f"({value!r})"


def _instant(iso: str) -> str:
    """An ISO 8601 instant, at least a date, as DateTime64 of microseconds."""
    date, _, time = iso.partition("T")
    clock, _, fraction = (time or "00:00:00").partition(".")
    clock = clock if clock.count(":") == 2 else clock + ":00"
    return f"toDateTime64('{date} {clock}.{fraction:0<6}', 6, 'UTC')"


def _call(expr: Call) -> str:
    operator = OPERATORS.get(expr.name) or STATES.get(expr.name)
    if operator is not None:
        return operator(expr, _expr)
    args = tuple(_expr(a) for a in expr.args)
    part = INTERNAL_SQL.get(expr.name)
    if part is not None:
        return part.format(*args) if isinstance(part, str) else part(*args)
    function = choose_function(FUNCTIONS[expr.name], expr.args)
    assert function is not None  # noqa: S101  the resolver has found it
    return function.emit_sql(args, expr.type)


def _aggregate(expr: Aggregate) -> str:
    return merged(expr, _expr) if expr.name == "MERGED" else aggregate(expr, _expr)


def _subquery(expr: Subquery) -> str:
    return f"({_query(expr.query)})"


def _in_subquery(expr: InSubquery) -> str:
    """SQL's three values: false for no rows, unknown if the value or, without a match, some row is NULL."""
    operand, rows = _expr(expr.operand), _query(expr.query)
    column = expr.query.outputs[0].alias
    counts = f"(SELECT (count(), countIf(isNull(t0.{column}))) FROM ({rows}) AS t0)"
    return (
        f"multiIf({counts}.1 = 0, false, isNull({operand}), NULL, "
        f"ifNull({operand} {_in(expr)} ({_members(expr)}), false), true, {counts}.2 > 0, NULL, false)"
    )


def _members(expr: InSubquery) -> str:
    """The rows of ``expr``'s query, with NULL for those that equal no value of the operand's type."""
    rows, [output], kind = _query(expr.query), expr.query.outputs, expr.operand.type
    member = f"t0.{output.alias}"
    if kind.is_mixed_with(output.expr.type):
        member = exact_or_null(kind, member)
    elif kind.is_numeric and not kind.is_integer:
        member = no_nan(member)
    else:
        return rows
    return f"SELECT {member} AS {output.alias} FROM ({rows}) AS t0"


def _in(expr: InSubquery) -> str:
    return "GLOBAL IN" if expr.is_global else "IN"


def _exists(expr: Exists) -> str:
    return f"(SELECT count() > 0 FROM (SELECT 1 AS c0 FROM ({_query(expr.query)}) AS t0 LIMIT 1) AS t0)"


def _in_cells(expr: InCells) -> str:
    """One IN per order: ``intDiv`` of the sort key by a constant is monotonic, so it selects granules."""
    if not expr.cells:
        return "false"
    index = _expr(expr.index)
    tests = []
    for order, cells in expr.cells:
        divided = index if order == ORDER else f"intDiv({index}, {4 ** (ORDER - order)})"
        tests.append(f"{divided} IN ({', '.join(map(str, cells))})")
    return f"({' OR '.join(tests)})"


_EMITTERS: dict[type, Callable[..., str]] = {
    Column: _column,
    Literal: _literal,
    Call: _call,
    Aggregate: _aggregate,
    Windowed: partial(windowed, emit=_expr),
    Subquery: _subquery,
    InSubquery: _in_subquery,
    Exists: _exists,
    InCells: _in_cells,
    Lookup: partial(lookup, emit=_expr),
    Within: partial(within, emit=_expr),
    Shape: partial(constant_shape, emit=_expr),
    Covered: partial(covered, emit=_expr),
}
