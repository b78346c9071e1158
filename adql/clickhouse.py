"""The emitter: a bound query as ClickHouse SQL.

It writes only generated aliases (t1, c1 ...), catalogue names and literals, each quoted; every column is qualified.
What a node means is decided before; here is how ClickHouse says it, with SQL's NULLs, division and overflow instead of
its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from adql.bound import (
    UNTYPED,
    Aggregate,
    Call,
    Column,
    Derived,
    Exists,
    Expr,
    InCells,
    InSubquery,
    Join,
    Literal,
    Order,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Shape,
    Subquery,
    Within,
    conjuncts,
)
from adql.clickhouse_geometry import GEOMETRY, constant_shape, within
from adql.errors import AdqlSemanticError
from adql.functions import FUNCTIONS
from adql.resolve.constants import constant
from clickhouse_schema.datatypes import FLOATS, ColumnType
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.quoting import identifier, string

#: What makes ClickHouse read the generated SQL as meant.
SETTINGS: dict[str, str | int] = {
    "join_use_nulls": 1,
    "aggregate_functions_null_for_empty": 1,
    "enable_positional_arguments": 0,
    "cast_keep_nullable": 1,
    "max_query_size": 64 << 20,
    "max_ast_depth": 10_000,
    "max_parser_depth": 10_000,
    "max_ast_elements": 2_000_000,
    "max_expanded_ast_elements": 5_000_000,
}

#: In addition, for queries whose joins must stay as they are written. (0 would also stop the engine from building its
#: hash table on the smaller side: 60 ms became 250 in a join of 1,000 rows with 3 million.)
KEEP_JOIN_ORDER: dict[str, str | int] = {"query_plan_optimize_join_order_limit": 1}

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
        parts += ["WHERE", " AND ".join(_filter(c) for c in conjuncts(query.where))]
    if query.group_by:
        parts += ["GROUP BY", ", ".join(_expr(e) for e in query.group_by)]
    if query.having is not None:
        parts += ["HAVING", _expr(query.having)]
    return " ".join(parts) + _tail(query)


def _set_operation(query: SetOperation) -> str:
    quantifier = "ALL" if query.all else "DISTINCT"
    inside = f"({_query(query.left)}) {query.op} {quantifier} ({_query(query.right)})"
    return f"SELECT {_outputs(query)} FROM ({inside}) AS t{query.relation}" + _tail(query)


def _tail(query: Query) -> str:
    text = ""
    if query.order_by:
        text += " ORDER BY " + ", ".join(_order(o) for o in query.order_by)
    if query.limit is not None:
        text += f" LIMIT {query.limit}"
    if query.offset:
        text += f" OFFSET {query.offset}"
    return text


def _order(order: Order) -> str:
    return f"{_expr(order.expr)} {'DESC' if order.descending else 'ASC'} NULLS LAST"


def _relation(relation: Relation) -> str:
    if isinstance(relation, Scan):
        return f"{relation.entry.storage} AS t{relation.relation}"
    if isinstance(relation, Derived):
        return f"({_query(relation.query)}) AS t{relation.relation}"
    return _join(relation)


def _join(join: Join) -> str:
    left, right = _relation(join.left), _relation(join.right)
    if join.condition is None:
        return f"{left} CROSS JOIN {right}"
    return f"{left} {join.kind} JOIN {right} ON {' AND '.join(_join_condition(c) for c in conjuncts(join.condition))}"


def _join_condition(expr: Expr) -> str:
    """The engine wants functions here, so a flag is compared."""
    if isinstance(expr, Call) and expr.name in ("AND", "OR"):
        return "(" + f" {expr.name} ".join(_join_condition(a) for a in expr.args) + ")"
    return f"({_expr(expr)} = true)" if isinstance(expr, Column) else _expr(expr)


# --- expressions ------------------------------------------------------------------------------------------------------


def _filter(expr: Expr) -> str:
    """A conjunct of WHERE, where false and unknown are alike."""
    if isinstance(expr, InSubquery):
        return f"({_expr(expr.operand)} IN ({_query(expr.query)}))"
    return _expr(expr)


def _expr(expr: Expr) -> str:
    sql = _EMITTERS[type(expr)](expr)
    if len(sql) > MOST_SQL:
        raise AdqlSemanticError(
            "this expression is too deep to be computed", expr.span, "compute parts of it in a subquery"
        )
    return sql


def _column(expr: Column) -> str:
    return f"t{expr.relation}.{identifier(expr.name)}"


def _literal(expr: Literal) -> str:
    value = expr.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _instant(value) if expr.type.is_timestamp else string(value)
    return repr(value) if value >= 0 else f"({value!r})"


def _instant(iso: str) -> str:
    """An ISO 8601 instant, at least a date, as DateTime64 of microseconds."""
    date, _, time = iso.partition("T")
    clock, _, fraction = (time or "00:00:00").partition(".")
    clock = clock if clock.count(":") == 2 else clock + ":00"
    return f"toDateTime64('{date} {clock}.{fraction:0<6}', 6, 'UTC')"


def _call(expr: Call) -> str:
    operator = _OPERATORS.get(expr.name)
    if operator is not None:
        return operator(expr)
    args = tuple(_expr(a) for a in expr.args)
    return next(f for f in FUNCTIONS[expr.name] if f.takes(len(args))).emit(args, expr.type)


def _aggregate(expr: Aggregate) -> str:
    if not expr.args:
        return "toInt64(count())"
    argument = expr.args[0]
    distinct = "DISTINCT " if expr.distinct else ""
    value = _expr(argument)
    wide = argument.type.is_integer and expr.name in ("SUM", "AVG")
    if expr.name == "COUNT":
        return f"toInt64(count({distinct}{value}))"
    if wide and expr.name == "SUM":
        return f"accurateCast(sum({distinct}toInt128({value})), 'Nullable(Int64)')"
    if expr.name in ("SUM", "AVG"):
        return f"{expr.name.lower()}({distinct}toFloat64({value}))"
    return f"{expr.name.lower()}({value})"


def _subquery(expr: Subquery) -> str:
    return f"({_query(expr.query)})"


def _in_subquery(expr: InSubquery) -> str:
    """SQL's three values: false for no rows, unknown if the value or, without a match, some row is NULL."""
    operand, rows = _expr(expr.operand), _query(expr.query)
    column = expr.query.outputs[0].alias
    counts = f"(SELECT (count(), countIf(isNull(t0.{column}))) FROM ({rows}) AS t0)"
    return (
        f"multiIf({counts}.1 = 0, false, isNull({operand}), NULL, "
        f"ifNull({operand} IN ({rows}), false), true, {counts}.2 > 0, NULL, false)"
    )


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
    Subquery: _subquery,
    InSubquery: _in_subquery,
    Exists: _exists,
    InCells: _in_cells,
    Within: partial(within, emit=_expr),
    Shape: partial(constant_shape, emit=_expr),
}


# --- operators --------------------------------------------------------------------------------------------------------


def _infix(expr: Call) -> str:
    return "(" + f" {expr.name} ".join(_expr(a) for a in expr.args) + ")"


def _wide(expr: Expr) -> bool:
    """Whether arithmetic on it can pass 64 bits: 64-bit columns and results, not literals and shorter integers."""
    if isinstance(expr, Literal):
        return expr.value is not None and not isinstance(expr.value, (str, bool)) and abs(expr.value) >= 1 << 31
    return expr.type.datatype == "long"


def _arithmetic(expr: Call) -> str:
    """Integers are computed in 64 bits; a result beyond them is an error, never a wrapped number."""
    left, right = (_expr(a) for a in expr.args)
    if not expr.type.is_integer:
        return f"({left} {expr.name} {right})"
    if any(_wide(a) for a in expr.args):
        return f"accurateCast(toInt128({left}) {expr.name} toInt128({right}), 'Nullable(Int64)')"
    return f"(toInt64({left}) {expr.name} toInt64({right}))"


def _divide(expr: Call) -> str:
    """By zero gives NULL; integers are cut towards zero."""
    left, right = (_expr(a) for a in expr.args)
    if expr.type.is_integer:
        return f"intDivOrNull(toInt64({left}), toInt64({right}))"
    return f"divideOrNull({left}, {right})"


def _negative(expr: Call) -> str:
    operand = _expr(expr.args[0])
    if expr.type.is_integer:
        return (
            f"accurateCast(-toInt128({operand}), 'Nullable(Int64)')"
            if _wide(expr.args[0])
            else f"(-toInt64({operand}))"
        )
    return f"(-{operand})"


def _bitwise(expr: Call) -> str:
    name = {"&": "bitAnd", "|": "bitOr", "^": "bitXor", "~": "bitNot"}[expr.name]
    return f"{name}({', '.join(f'toInt64({_expr(a)})' for a in expr.args)})"


def _in(expr: Call) -> str:
    operand, *items = expr.args
    value = _expr(operand)
    plain = all(isinstance(i, Literal) and i.value is not None and not i.type.is_timestamp for i in items)
    if not plain:
        # ClickHouse's IN has no unknown, and wants constants
        return "(" + " OR ".join(f"({value} = {_expr(i)})" for i in items) + ")"
    listed = [_expr(i) for i in items]
    if operand.type.is_numeric and any(not a.type.is_integer for a in expr.args):
        # IN would convert the items to a narrower column's type; and it tells -0.0 from 0.0
        value = f"(toFloat64({value}) + 0.)"
        listed = [f"({text} + 0.)" if constant(i) == 0 else text for text, i in zip(listed, items, strict=True)]
    return f"({value} IN ({', '.join(listed)}))"


def _is_null(expr: Call) -> str:
    operand = expr.args[0]
    return f"{'empty' if operand.type.is_array else 'isNull'}({_expr(operand)})"


def _like(expr: Call) -> str:
    """ADQL has no escape character: backslashes are ordinary."""
    operand, pattern = expr.args
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        escaped = string(pattern.value.replace("\\", "\\\\"))
    else:
        escaped = f"replaceAll({_expr(pattern)}, {string(chr(92))}, {string(chr(92) * 2)})"
    return f"{'ilike' if expr.name == 'ILIKE' else 'like'}({_expr(operand)}, {escaped})"


def _to(kind: ColumnType, expr: Expr) -> str:
    """A value widened to the common type of several."""
    text = _expr(expr)
    if kind.is_array and expr.type == UNTYPED:
        return f"CAST([], {string(kind.clickhouse)})"  # the NULL of arrays
    if kind == UNTYPED or kind.is_array or expr.type.clickhouse == kind.clickhouse:
        return text
    return f"CAST({text}, {_nullable(kind)})"


def _nullable(kind: ColumnType) -> str:
    return string(f"Nullable({kind.clickhouse})")


def _coalesce(expr: Call) -> str:
    return f"coalesce({', '.join(_to(expr.type, a) for a in expr.args)})"


def _case(expr: Call) -> str:
    *pairs, otherwise = expr.args
    parts = [_expr(a) if i % 2 == 0 else _to(expr.type, a) for i, a in enumerate(pairs)]
    return f"multiIf({', '.join((*parts, _to(expr.type, otherwise)))})"


def _cast(expr: Call) -> str:
    operand, target = expr.args[0], expr.type
    value = _expr(operand)
    if target.is_text:
        text = _text_of(operand, value)
        return f"substringUTF8({text}, 1, {_expr(expr.args[1])})" if len(expr.args) > 1 else text
    if target.is_timestamp:
        return value if operand.type.is_timestamp else f"parseDateTime64BestEffort({value}, 6, 'UTC')"
    return _scalar_of(operand, value, target)


def _scalar_of(operand: Expr, value: str, target: ColumnType) -> str:
    """A number or truth value of another one, cut towards zero where it becomes whole, or of a text.

    The value stands without NULLs in the cast: those of Nullable texts make NULLs of what they cannot read, and those
    of Nullable numbers look at what lies below a NULL, which after a division by zero is infinite.
    """
    kind = target.clickhouse
    if operand.type != UNTYPED and operand.type.is_text:
        return f"if(isNull({value}), NULL, accurateCast(trimBoth(ifNull({value}, '0')), '{kind}'))"
    if target.is_integer and operand.type.datatype in FLOATS:
        return f"if(isNull({value}), NULL, accurateCast(trunc(ifNull({value}, 0)), '{kind}'))"
    return f"{'accurateCast' if target.is_integer else 'CAST'}({value}, {_nullable(target)})"


def _text_of(operand: Expr, value: str) -> str:
    if operand.type == UNTYPED:
        return "CAST(NULL, 'Nullable(String)')"
    if operand.type.is_timestamp:
        return f"formatDateTime({value}, '%Y-%m-%dT%H:%i:%S.%f')"
    return value if operand.type.is_text else f"toString({value})"


def _element(expr: Call) -> str:
    array, index = (_expr(a) for a in expr.args)
    place = expr.args[1]
    if isinstance(place, Literal) and isinstance(place.value, int) and place.value > 0:
        return f"arrayElementOrNull({array}, {index})"
    return f"if({index} < 1, NULL, arrayElementOrNull({array}, {index}))"  # negative ones would count from the end


def _geometry(form: Callable[[Call, Callable[[Expr], str]], str]) -> Callable[[Call], str]:
    return lambda expr: form(expr, _expr)


_OPERATORS: dict[str, Callable[[Call], str]] = {
    **{name: _geometry(form) for name, form in GEOMETRY.items()},
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "AND", "OR"), _infix),
    **dict.fromkeys(("+", "-", "*"), _arithmetic),
    **dict.fromkeys(("&", "|", "^", "~"), _bitwise),
    "/": _divide,
    "NEG": _negative,
    "NOT": lambda e: f"(NOT {_expr(e.args[0])})",
    "||": lambda e: f"concat({', '.join(_expr(a) for a in e.args)})",
    "IN": _in,
    "IS NULL": _is_null,
    "LIKE": _like,
    "ILIKE": _like,
    "COALESCE": _coalesce,
    "CASE": _case,
    "CAST": _cast,
    "ELEMENT": _element,
    "ONE ZERO": lambda e: f"({_expr(e.args[0])} + to{e.type.clickhouse}(0))",
    "ONE": lambda e: f"(1 + ignore({_expr(e.args[0])}))",
    "0 OR 1": lambda e: f"toInt32({_expr(e.args[0])})",
}
