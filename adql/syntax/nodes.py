"""The syntax tree of ADQL 2.1 and of Skyhouse's extensions: the parser builds it, the resolver binds it.

Nodes are frozen and carry the span of their text. They hold names as written; nothing is bound, typed or checked.
"""

from __future__ import annotations

from dataclasses import dataclass

from adql.errors import Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    """A name; a delimited one ("Name") is compared exactly, a regular one without regard to case."""

    name: str
    delimited: bool


# --- expressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expression(Node):
    pass


@dataclass(frozen=True, slots=True)
class NumberLiteral(Expression):
    """``value`` is an int for digits alone and hexadecimal literals, else a float; ``text`` is as written."""

    value: int | float
    text: str


@dataclass(frozen=True, slots=True)
class StringLiteral(Expression):
    value: str


@dataclass(frozen=True, slots=True)
class BooleanLiteral(Expression):
    """TRUE or FALSE (extension)."""

    value: bool


@dataclass(frozen=True, slots=True)
class NullLiteral(Expression):
    pass


@dataclass(frozen=True, slots=True)
class ColumnRef(Expression):
    """``[[catalog.]schema.]table.column`` or ``column``: one to four parts, the column last."""

    parts: tuple[Identifier, ...]


@dataclass(frozen=True, slots=True)
class Star(Expression):
    """``*`` (no qualifier) or ``table.*``; only in a select list."""

    qualifier: tuple[Identifier, ...] = ()


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """``op`` is '+', '-', '~' or 'NOT'."""

    op: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """``op`` is one of + - * / || & | ^ = <> < <= > >= AND OR (``!=`` is read as <>)."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class FunctionCall(Expression):
    """Any ``name(args)``: reserved (COUNT, POINT, COALESCE, IN_UNIT ...) or user defined.

    ``distinct`` belongs to set functions; ``star`` marks COUNT(*), which has no ``args``.
    """

    name: Identifier
    args: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False
    over: Window | None = None


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """``CAST(operand AS target[(length)])``; target in upper case, e.g. 'DOUBLE PRECISION'."""

    operand: Expression
    target: str
    length: int | None = None


@dataclass(frozen=True, slots=True)
class When(Node):
    condition: Expression
    result: Expression


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """Searched CASE (``operand`` is None) or simple CASE (extension)."""

    operand: Expression | None
    whens: tuple[When, ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Element(Expression):
    """``array[index]``, index from 1 (extension)."""

    array: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class ScalarSubquery(Expression):
    query: Query


@dataclass(frozen=True, slots=True)
class Between(Expression):
    operand: Expression
    low: Expression
    high: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class InList(Expression):
    operand: Expression
    items: tuple[Expression, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class InQuery(Expression):
    operand: Expression
    query: Query
    negated: bool


@dataclass(frozen=True, slots=True)
class Like(Expression):
    """LIKE or ILIKE (``ignore_case``)."""

    operand: Expression
    pattern: Expression
    negated: bool
    ignore_case: bool


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    operand: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class Exists(Expression):
    """``EXISTS (query)``; NOT EXISTS is Unary('NOT', Exists)."""

    query: Query


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """Window frame (extension): unit 'ROWS' or 'RANGE', bounds as (kind, n).

    A kind is 'UNBOUNDED PRECEDING', 'PRECEDING', 'CURRENT ROW', 'FOLLOWING' or 'UNBOUNDED FOLLOWING'; n is None except
    for PRECEDING and FOLLOWING.
    """

    unit: str
    start: tuple[str, int | None]
    end: tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Window(Node):
    """``OVER (PARTITION BY ... ORDER BY ... frame)`` (extension)."""

    partition_by: tuple[Expression, ...]
    order_by: tuple[OrderTerm, ...]
    frame: Frame | None


# --- queries ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    expression: Expression
    alias: Identifier | None


@dataclass(frozen=True, slots=True)
class OrderTerm(Node):
    """An integer NumberLiteral is the position of an output, counted from 1."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Query(Node):
    """``order_by`` and ``offset`` belong to the whole select expression, which may be a set operation."""

    order_by: tuple[OrderTerm, ...]
    offset: int | None


@dataclass(frozen=True, slots=True)
class Select(Query):
    distinct: bool
    top: int | None
    items: tuple[SelectItem, ...]
    from_: tuple[TableReference, ...]
    where: Expression | None
    group_by: tuple[Expression, ...]
    having: Expression | None


@dataclass(frozen=True, slots=True)
class SetOperation(Query):
    """``op`` is 'UNION', 'EXCEPT' or 'INTERSECT' (which binds tighter); ``all`` keeps duplicates."""

    op: str
    all: bool
    left: Query
    right: Query


@dataclass(frozen=True, slots=True)
class CommonTable(Node):
    name: Identifier
    query: Query


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """The whole text: ``[WITH ...] select_expression``."""

    common_tables: tuple[CommonTable, ...]
    query: Query


# --- FROM -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableReference(Node):
    pass


@dataclass(frozen=True, slots=True)
class Sample(Node):
    """``TABLESAMPLE [BERNOULLI] (percent) [REPEATABLE (seed)]`` (extension)."""

    percent: float
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TableName(TableReference):
    """``[[catalog.]schema.]table [AS alias] [sample]``"""

    parts: tuple[Identifier, ...]
    alias: Identifier | None
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class DerivedTable(TableReference):
    query: Query
    alias: Identifier


@dataclass(frozen=True, slots=True)
class Join(TableReference):
    """``kind`` is 'INNER', 'LEFT', 'RIGHT', 'FULL' or 'CROSS'; at most one of natural, on, using; none with CROSS."""

    kind: str
    natural: bool
    left: TableReference
    right: TableReference
    on: Expression | None
    using: tuple[Identifier, ...]
