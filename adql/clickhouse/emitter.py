"""The emitter: writes a bound query as ClickHouse SQL, with SQL's NULLs instead of ClickHouse's.

``operator_sql.FORMS`` has the form of each operator: a function of the call and the emitter of its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from adql.clickhouse.cast_sql import exact_or_null_sql, lookup_sql, nan_to_null_sql
from adql.clickhouse.operator_sql import FORMS
from adql.clickhouse.partial_aggregate_sql import merged_sql
from adql.clickhouse.prewhere_choice import choose_filter_word
from adql.clickhouse.set_function_sql import order_sql, set_function_sql, windowed_sql
from adql.clickhouse.sky.geometry_sql import (
    constant_shape_sql,
    covered_sql,
    near_filter_sql,
    within_filter_sql,
    within_region_sql,
)
from adql.clickhouse.sky.neighbour_cell_sql import is_in_cells_sql
from adql.clickhouse.sql_settings import MERGE_JOIN
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
from adql.limits import MAX_EXPRESSION_SQL
from adql.node_classes import replace
from clickhouse_schema.datatypes import BOOLEAN
from clickhouse_schema.quoting import quote_identifier, quote_string


def emit_query(query: Query) -> str:
    """Write a bound query as SQL, to be executed with ``sql_settings.SETTINGS``.

    Parameters
    ----------
    query
        The query after all passes.

    Returns
    -------
    str
        One SELECT statement, whose columns have the aliases of the outputs as names.

    Raises
    ------
    AdqlSemanticError
        If the SQL of an expression is too long.
    AdqlUnsupported
        If a shape has no SQL.
    """
    return _query_sql(query)


# --- queries ----------------------------------------------------------------------------------------------------------


def _query_sql(query: Query) -> str:
    return _select_sql(query) if isinstance(query, Select) else _set_operation_sql(query)


def _outputs_sql(query: Query) -> str:
    return ", ".join(f"{_expr_sql(o.expr)} AS {o.alias}" for o in query.outputs)


def _select_sql(query: Select) -> str:
    parts = ["SELECT DISTINCT" if query.distinct else "SELECT", _outputs_sql(query), "FROM", _relation_sql(query.from_)]
    if query.where is not None:
        conditions = split_conjuncts(query.where)
        parts += [choose_filter_word(query.from_, conditions), _conjuncts_sql(conditions)]
    if query.group_by:
        parts += ["GROUP BY", ", ".join(_expr_sql(e) for e in query.group_by)]
    if query.having is not None:
        parts += ["HAVING", _having_sql(query, query.having)]
    return " ".join(parts) + _tail_sql(query) + _join_settings_sql(query.from_)


def _join_settings_sql(relation: Relation) -> str:
    """Return the settings of a merge join, which do not change the algorithm of the query's other joins."""
    if not (isinstance(relation, Join) and relation.is_merge):
        return ""
    return " SETTINGS " + ", ".join(f"{name} = {value!r}" for name, value in MERGE_JOIN.items())


def _having_sql(query: Select, condition: Expr) -> str:
    """Write HAVING. ClickHouse reads a HAVING without GROUP BY and set functions as WHERE, not as one group."""
    parts = [condition, *(o.expr for o in query.outputs), *(o.expr for o in query.order_by)]
    if query.group_by or any(has_aggregate(part) for part in parts):
        return _conjuncts_sql(split_conjuncts(condition))
    return f"(toInt64(count()) >= 0) AND {_conjuncts_sql(split_conjuncts(condition))}"


def _set_operation_sql(query: SetOperation) -> str:
    quantifier = "ALL" if query.all else "DISTINCT"
    inside = f"({_query_sql(query.left)}) {query.op} {quantifier} ({_query_sql(query.right)})"
    return f"SELECT {_outputs_sql(query)} FROM ({inside}) AS t{query.relation}" + _tail_sql(query)


def _tail_sql(query: Query) -> str:
    text = ""
    if query.order_by:
        text += " ORDER BY " + ", ".join(order_sql(o, _expr_sql) for o in query.order_by)
    if query.limit is not None:
        text += f" LIMIT {query.limit}"
    if query.offset:
        text += f" OFFSET {query.offset}"
    return text


def _relation_sql(relation: Relation) -> str:
    if isinstance(relation, Scan):
        stored = relation.entry.part_sql(relation.part) if relation.part else relation.entry.storage_sql
        return f"{stored} AS t{relation.relation}"
    if isinstance(relation, Derived):
        return f"{_derived_sql(relation)} AS t{relation.relation}"
    return _join_sql(relation)


def _derived_sql(derived: Derived) -> str:
    if derived.computed_on != "shards":
        return f"({_query_sql(derived.query)})"
    key = f", {derived.shard}" if derived.shard else ""
    return f"cluster({quote_string(derived.cluster)}, view({_query_sql(derived.query)}){key})"


def _join_sql(join: Join) -> str:
    left, right = _relation_sql(join.left), _relation_sql(join.right)
    if join.condition is None:
        return f"{left} CROSS JOIN {right}"
    kind = f"LEFT {join.kind}" if join.kind in ("SEMI", "ANTI") else join.kind
    kind = f"GLOBAL {kind}" if join.is_global else kind
    return (
        f"{left} {kind} JOIN {right} ON {' AND '.join(_join_condition_sql(c) for c in split_conjuncts(join.condition))}"
    )


def _join_condition_sql(expr: Expr) -> str:
    """Write a condition of ON, with comparisons of booleans, because ClickHouse requires functions here."""
    if isinstance(expr, Call) and expr.name in ("AND", "OR"):
        return "(" + f" {expr.name} ".join(_join_condition_sql(a) for a in expr.args) + ")"
    return f"({_expr_sql(expr)} = true)" if isinstance(expr, Column) else _expr_sql(expr)


# --- expressions ------------------------------------------------------------------------------------------------------


def _conjuncts_sql(conditions: tuple[Expr, ...]) -> str:
    return " AND ".join(map(_filter_sql, conditions))


def _filter_sql(expr: Expr) -> str:
    """Write a conjunct of WHERE or HAVING, where false and unknown have the same effect."""
    if isinstance(expr, InSubquery):
        return f"({_expr_sql(expr.operand)} {_in_word(expr)} ({_members_sql(expr)}))"
    if isinstance(expr, Call) and expr.name in ("AND", "OR"):
        return _check_length("(" + f" {expr.name} ".join(_filter_sql(arg) for arg in expr.args) + ")", expr)
    if isinstance(expr, Call) and expr.name in ("NEAR", "NEARER"):
        return near_filter_sql(expr, _expr_sql)
    if isinstance(expr, Within):
        return _check_length(within_filter_sql(expr, _expr_sql), expr)
    if isinstance(expr, Call) and expr.name == "NOT" and (negation := _negate_parts(expr.args[0])) is not None:
        return _filter_sql(negation)
    return _expr_sql(expr)


_NEGATED = {"AND": "OR", "OR": "AND"}


def _negate_parts(expr: Expr) -> Expr | None:
    """Negate the parts of AND and OR: ClickHouse 26.9 fails at WHERE NOT (id = 1 OR ra > 9) with projections."""
    if isinstance(expr, Call) and expr.name == "NOT":
        return expr.args[0]
    if not (isinstance(expr, Call) and expr.name in _NEGATED):
        return None
    return replace(expr, name=_NEGATED[expr.name], args=tuple(Call(BOOLEAN, "NOT", (part,)) for part in expr.args))


def _expr_sql(expr: Expr) -> str:
    return _check_length(_EMITTERS[type(expr)](expr), expr)


def _check_length(sql: str, expr: Expr) -> str:
    if len(sql) > MAX_EXPRESSION_SQL:
        raise AdqlSemanticError(
            f"this expression is nested too deeply: its SQL has more than {MAX_EXPRESSION_SQL} characters",
            expr.span,
            "compute parts of it in a subquery, or use shapes with fewer vertices",
        )
    return sql


def _column_sql(expr: Column) -> str:
    return f"t{expr.relation}.{quote_identifier(expr.name)}"


def _literal_sql(expr: Literal) -> str:
    value = expr.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _timestamp_literal(value) if expr.type.is_timestamp else quote_string(value)
    return repr(value) if value >= 0 else f"({value!r})"


def _timestamp_literal(iso: str) -> str:
    """Write an ISO 8601 date or timestamp as DateTime64 in microseconds."""
    date, _, time = iso.partition("T")
    clock, _, fraction = (time or "00:00:00").partition(".")
    clock = clock if clock.count(":") == 2 else clock + ":00"
    return f"toDateTime64('{date} {clock}.{fraction:0<6}', 6, 'UTC')"


def _call_sql(expr: Call) -> str:
    form = FORMS.get(expr.name)
    if form is not None:
        return form(expr, _expr_sql)
    args = tuple(_expr_sql(a) for a in expr.args)
    part = INTERNAL_SQL.get(expr.name)
    if part is not None:
        return part.format(*args) if isinstance(part, str) else part(*args)
    function = choose_function(FUNCTIONS[expr.name], expr.args)
    assert function is not None  # noqa: S101  the resolver found it
    return function.emit_sql(args, expr.type)


def _aggregate_sql(expr: Aggregate) -> str:
    form = merged_sql if expr.name == "MERGED" else set_function_sql
    return form(expr, _expr_sql)


def _subquery_sql(expr: Subquery) -> str:
    return f"({_query_sql(expr.query)})"


def _in_subquery_sql(expr: InSubquery) -> str:
    """Write three-valued IN: false for no rows; NULL if the value is NULL, or if a row is NULL and none matches."""
    operand, rows = _expr_sql(expr.operand), _query_sql(expr.query)
    column = expr.query.outputs[0].alias
    counts = f"(SELECT (count(), countIf(isNull(t0.{column}))) FROM ({rows}) AS t0)"
    return (
        f"multiIf({counts}.1 = 0, false, isNull({operand}), NULL, "
        f"ifNull({operand} {_in_word(expr)} ({_members_sql(expr)}), false), true, {counts}.2 > 0, NULL, false)"
    )


def _members_sql(expr: InSubquery) -> str:
    """Return the subquery, with NULL for rows that no value of the operand's type equals."""
    rows, [output], kind = _query_sql(expr.query), expr.query.outputs, expr.operand.type
    member = f"t0.{output.alias}"
    if kind.is_mixed_with(output.expr.type):
        member = exact_or_null_sql(kind, member)
    elif kind.is_numeric and not kind.is_integer:
        member = nan_to_null_sql(member)
    else:
        return rows
    return f"SELECT {member} AS {output.alias} FROM ({rows}) AS t0"


def _in_word(expr: InSubquery) -> str:
    return "GLOBAL IN" if expr.is_global else "IN"


def _exists_sql(expr: Exists) -> str:
    return f"(SELECT count() > 0 FROM (SELECT 1 AS c0 FROM ({_query_sql(expr.query)}) AS t0 LIMIT 1) AS t0)"


def _in_cells_sql(expr: InCells) -> str:
    return is_in_cells_sql(_expr_sql(expr.index), expr.cells)


_EMITTERS: dict[type, Callable[..., str]] = {
    Column: _column_sql,
    Literal: _literal_sql,
    Call: _call_sql,
    Aggregate: _aggregate_sql,
    Windowed: partial(windowed_sql, emit=_expr_sql),
    Subquery: _subquery_sql,
    InSubquery: _in_subquery_sql,
    Exists: _exists_sql,
    InCells: _in_cells_sql,
    Lookup: partial(lookup_sql, emit=_expr_sql),
    Within: partial(within_region_sql, emit=_expr_sql),
    Shape: partial(constant_shape_sql, emit=_expr_sql),
    Covered: partial(covered_sql, emit=_expr_sql),
}
