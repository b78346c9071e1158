"""The syntax tree of ADQL 2.1 and of Skyhouse's extensions: the parser builds it, the resolver binds it.

Nodes are frozen and have the span of their text. They have names as written; nothing is bound, typed or checked.
"""

from __future__ import annotations

from adql.errors import Span
from adql.node_classes import node_class


@node_class(frozen=True, slots=True)
class Node:
    span: Span


@node_class(frozen=True, slots=True)
class Identifier(Node):
    """A name. A delimited name ("Name") is case-sensitive, a regular name is not."""

    name: str
    delimited: bool


# --- expressions ------------------------------------------------------------------------------------------------------


@node_class(frozen=True, slots=True)
class Expression(Node):
    pass


@node_class(frozen=True, slots=True)
class NumberLiteral(Expression):
    """``value`` is an int for a literal of digits or in hexadecimal, else a float; ``text`` is as written."""

    value: int | float
    text: str


@node_class(frozen=True, slots=True)
class StringLiteral(Expression):
    value: str


@node_class(frozen=True, slots=True)
class BooleanLiteral(Expression):
    """TRUE or FALSE (extension)."""

    value: bool


@node_class(frozen=True, slots=True)
class NullLiteral(Expression):
    pass


@node_class(frozen=True, slots=True)
class ColumnRef(Expression):
    """``[[catalog.]schema.]table.column`` or ``column``: one to four parts, the column last."""

    parts: tuple[Identifier, ...]


@node_class(frozen=True, slots=True)
class Star(Expression):
    """``*`` (no qualifier) or ``table.*``; only in a select list."""

    qualifier: tuple[Identifier, ...] = ()


@node_class(frozen=True, slots=True)
class Unary(Expression):
    """``op`` is '+', '-', '~' or 'NOT'."""

    op: str
    operand: Expression


@node_class(frozen=True, slots=True)
class Binary(Expression):
    """``op`` is one of + - * / || & | ^ = <> < <= > >= AND OR (``!=`` is read as <>)."""

    op: str
    left: Expression
    right: Expression


@node_class(frozen=True, slots=True)
class FunctionCall(Expression):
    """Any ``name(args)``: reserved (COUNT, POINT, COALESCE, IN_UNIT ...) or user defined.

    ``distinct`` belongs to set functions; ``star`` marks COUNT(*), which has no ``args``.
    """

    name: Identifier
    args: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False
    over: Window | None = None


@node_class(frozen=True, slots=True)
class Cast(Expression):
    """``CAST(operand AS target[(length)])``; target in upper case, e.g. 'DOUBLE PRECISION'."""

    operand: Expression
    target: str
    length: int | None = None


@node_class(frozen=True, slots=True)
class When(Node):
    condition: Expression
    result: Expression


@node_class(frozen=True, slots=True)
class Case(Expression):
    """Searched CASE (``operand`` is None) or simple CASE (extension)."""

    operand: Expression | None
    whens: tuple[When, ...]
    otherwise: Expression | None


@node_class(frozen=True, slots=True)
class Element(Expression):
    """``array[index]``, index from 1 (extension)."""

    array: Expression
    index: Expression


@node_class(frozen=True, slots=True)
class ScalarSubquery(Expression):
    query: Query


@node_class(frozen=True, slots=True)
class Between(Expression):
    operand: Expression
    low: Expression
    high: Expression
    negated: bool


@node_class(frozen=True, slots=True)
class InList(Expression):
    operand: Expression
    items: tuple[Expression, ...]
    negated: bool


@node_class(frozen=True, slots=True)
class InQuery(Expression):
    operand: Expression
    query: Query
    negated: bool


@node_class(frozen=True, slots=True)
class Like(Expression):
    """LIKE or ILIKE (``ignore_case``)."""

    operand: Expression
    pattern: Expression
    negated: bool
    ignore_case: bool


@node_class(frozen=True, slots=True)
class IsNull(Expression):
    operand: Expression
    negated: bool


@node_class(frozen=True, slots=True)
class Exists(Expression):
    """``EXISTS (query)``; NOT EXISTS is Unary('NOT', Exists)."""

    query: Query


@node_class(frozen=True, slots=True)
class Frame(Node):
    """Window frame (extension): unit 'ROWS' or 'RANGE', bounds as (kind, n).

    A kind is 'UNBOUNDED PRECEDING', 'PRECEDING', 'CURRENT ROW', 'FOLLOWING' or 'UNBOUNDED FOLLOWING'; n is None except
    for PRECEDING and FOLLOWING.
    """

    unit: str
    start: tuple[str, int | None]
    end: tuple[str, int | None]


@node_class(frozen=True, slots=True)
class Window(Node):
    """``OVER (PARTITION BY ... ORDER BY ... frame)`` (extension)."""

    partition_by: tuple[Expression, ...]
    order_by: tuple[OrderTerm, ...]
    frame: Frame | None


# --- queries ----------------------------------------------------------------------------------------------------------


@node_class(frozen=True, slots=True)
class SelectItem(Node):
    expression: Expression
    alias: Identifier | None


@node_class(frozen=True, slots=True)
class OrderTerm(Node):
    """An integer NumberLiteral is the position of an output, counted from 1."""

    expression: Expression
    descending: bool


@node_class(frozen=True, slots=True)
class Query(Node):
    """``order_by`` and ``offset`` belong to the complete select expression, which may be a set operation."""

    order_by: tuple[OrderTerm, ...]
    offset: int | None


@node_class(frozen=True, slots=True)
class Select(Query):
    distinct: bool
    top: int | None
    items: tuple[SelectItem, ...]
    from_: tuple[TableReference, ...]
    where: Expression | None
    group_by: tuple[Expression, ...]
    having: Expression | None


@node_class(frozen=True, slots=True)
class SetOperation(Query):
    """``op`` is 'UNION', 'EXCEPT' or 'INTERSECT' (which binds tighter); ``all`` keeps duplicates."""

    op: str
    all: bool
    left: Query
    right: Query


@node_class(frozen=True, slots=True)
class CommonTable(Node):
    name: Identifier
    query: Query


@node_class(frozen=True, slots=True)
class Statement(Node):
    """A query: ``[WITH ...] select_expression``."""

    common_tables: tuple[CommonTable, ...]
    query: Query


# --- FROM -------------------------------------------------------------------------------------------------------------


@node_class(frozen=True, slots=True)
class TableReference(Node):
    pass


@node_class(frozen=True, slots=True)
class Sample(Node):
    """``TABLESAMPLE [BERNOULLI] (percent) [REPEATABLE (seed)]`` (extension)."""

    percent: float
    seed: int = 0


@node_class(frozen=True, slots=True)
class TableName(TableReference):
    """``[[catalog.]schema.]table [AS alias] [sample]``"""

    parts: tuple[Identifier, ...]
    alias: Identifier | None
    sample: Sample | None = None


@node_class(frozen=True, slots=True)
class DerivedTable(TableReference):
    query: Query
    alias: Identifier


@node_class(frozen=True, slots=True)
class Join(TableReference):
    """``kind`` is 'INNER', 'LEFT', 'RIGHT', 'FULL' or 'CROSS'. CROSS has none of natural, on and using, others one."""

    kind: str
    natural: bool
    left: TableReference
    right: TableReference
    on: Expression | None
    using: tuple[Identifier, ...]
