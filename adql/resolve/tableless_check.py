"""What can be said of a query without its tables: every table and each of its columns may exist, of whatever type.

The resolver does its work, with unknown values in place of such columns; a bare NULL goes wherever they may. What is
made of an unknown value is unknown, unless its type is certain. An error counts if it is about what is known alone: it
lies apart from all unknown values in the text, or is a ``FormError``. So a query that is refused here is refused with
any tables; not every one that is accepted here suits the tables there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from adql.errors import AdqlError, FormError, Span
from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME
from adql.ir import UNTYPED, Expr, Literal, NameGenerator, Order, Output, Query, walk_expr
from adql.resolve.expression_binder import BINDERS, Binder
from adql.resolve.from_binder import Side, Tables
from adql.resolve.object_name_binder import KnownNames
from adql.resolve.query_binder import Queries
from adql.resolve.resolution import Context
from adql.resolve.scope import Scope, Source, same_name, written
from adql.syntax import nodes
from adql.syntax.parser import parse
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.datatypes import DOUBLE, ColumnType, Field
from clickhouse_schema.schema_model import Column, Schema, Table

#: The name of an output that stands for all columns of tables that are not known
_ALL = "*"

_ENTRY = TableEntry(Schema(name="unknown"), Table(name="unknown", columns=(Column(name="unknown", datatype="int"),)))

_PREDICATES = (nodes.Between, nodes.InList, nodes.InQuery, nodes.Like, nodes.IsNull, nodes.Exists, nodes.Cast)
_CERTAIN_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "AND", "OR", "||", "NOT"})
_CERTAIN_CALLS = frozenset(
    {"POINT", "CIRCLE", "BOX", "POLYGON", "CONTAINS", "INTERSECTS", "DISTANCE", "AREA", "CENTROID", "COORDSYS", "COUNT"}
)


def check_without_tables(text: str) -> None:
    """Raises AdqlError for a query that no tables make valid."""
    statement = parse(text)
    _Queries(_Context(Catalogue(()), NameGenerator(), KnownNames(_somewhere))).resolved(statement)


class _Context(Context):
    def count_conditions(self, count: int, span: Span) -> None:
        """Equalities of one column count as one, but columns are not told apart here."""


def _somewhere(_name: str) -> tuple[float, float]:
    """Of an object whose position nobody is asked for."""
    return 0.0, 0.0


@dataclass(frozen=True, slots=True)
class _Unknown(Literal):
    """A value of which not even the type is known."""


@dataclass(frozen=True, slots=True)
class _Certain(Expr):
    """A value of which the type alone is known."""


def _unknown(span: Span) -> _Unknown:
    return _Unknown(UNTYPED, None, span=span)


def _is_unknown(expr: Expr) -> bool:
    """Whether the type depends on that of an unknown value."""
    return any(isinstance(part, _Unknown) for part in walk_expr(expr)) or (
        expr.type == UNTYPED and not isinstance(expr, Literal)
    )


class _Source(Source):
    """A table of which the name alone is known, as it is ``written`` in FROM."""

    def __init__(self, relation: int, node: nodes.TableName) -> None:
        super().__init__(relation, node.alias)
        self.written = node.parts

    @property
    def title(self) -> str:
        return self.alias.name if self.alias else written(self.written)

    def is_called(self, parts: Sequence[nodes.Identifier]) -> bool:
        """A table that is named without its schema may be in any."""
        if self.alias is not None:
            return super().is_called(parts)
        return all(same_name(a, b.name) for a, b in zip(reversed(parts), reversed(self.written), strict=False))


def _has_more(source: Source) -> bool:
    """Whether it may have other columns than are known."""
    return isinstance(source, _Source) or any(field.name == _ALL for field in source.fields)


class _Binder(Binder):
    queries: _Queries

    def bind(self, node: nodes.Expression) -> Expr:
        unknown = self.queries.unknown
        try:
            expr = self._bind(node)
        except AdqlError as error:
            if isinstance(error, FormError) or not any(_overlap(error.span, span) for span in unknown):
                raise
            return _unknown(node.span)
        if not _is_unknown(expr):
            return expr
        if not isinstance(expr, _Unknown) and _is_certain(node):
            unknown[:] = [span for span in unknown if not _overlap(span, node.span)]
            return _Certain(expr.type, span=node.span)
        unknown.append(node.span)
        return _unknown(node.span)

    def _bind(self, node: nodes.Expression) -> Expr:
        if isinstance(node, nodes.ColumnRef):
            return self._find(node)
        if isinstance(node, nodes.FunctionCall) and node.name.name.upper() == "IN_UNIT":
            value = self.number(node.args[0], "IN_UNIT")
            if any(isinstance(part, _Unknown | _Certain) for part in walk_expr(value)):
                return _Certain(DOUBLE, span=node.span)  # of which the unit is not known
        return BINDERS[type(node)](self, node)

    def _find(self, node: nodes.ColumnRef) -> Expr:
        scope: Scope | None = self.scope
        qualifier = node.parts[:-1]
        while scope is not None:
            may_have = any(_has_more(s) and (not qualifier or s.is_called(qualifier)) for s in scope.sources)
            try:
                found = scope.find_here(node.parts, node.span)
            except AdqlError:  # ambiguous, unless USING or NATURAL made one column of several
                if not may_have:
                    raise
                found = None
            if found is not None:
                return found
            if may_have:
                return _unknown(node.span)
            scope = scope.parent
        raise self.scope.unknown(node.parts, node.span)


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end


def _is_certain(node: nodes.Expression) -> bool:
    """Whether the type of this expression is the same for operands of all types."""
    if isinstance(node, nodes.Binary | nodes.Unary):
        return node.op in _CERTAIN_OPERATORS
    if not isinstance(node, nodes.FunctionCall):
        return isinstance(node, _PREDICATES)
    name = node.name.name.upper()
    functions = FUNCTIONS.get(name, ()) if name not in SET_FUNCTIONS_BY_NAME else (SET_FUNCTIONS_BY_NAME[name],)
    declared = bool(functions) and all(isinstance(f.result, ColumnType) and f.expand is None for f in functions)
    return name in _CERTAIN_CALLS or (declared and node.over is None)


class _Tables(Tables):
    def entry(self, _parts: tuple[nodes.Identifier, ...], _span: Span) -> TableEntry:
        return _ENTRY

    def is_defined(self, table: nodes.CommonTable, span: Span) -> bool:
        """A WITH table that seems to use itself may read a stored one of its name."""
        return table.name.name.lower() not in self.open[-1:] and super().is_defined(table, span)

    def source(self, relation: int, node: nodes.TableName, _entry: TableEntry) -> Source:
        return _Source(relation, node)

    def shared_names(self, node: nodes.Join, left: Side, right: Side) -> list[nodes.Identifier] | None:
        """The columns of unknown tables cannot be paired."""
        if any(map(_has_more, (*left.sources, *right.sources))):
            return None
        return super().shared_names(node, left, right)

    def merged_type(self, left: Expr, right: Expr, name: nodes.Identifier) -> ColumnType:
        return UNTYPED if _is_unknown(left) or _is_unknown(right) else super().merged_type(left, right, name)


class _Queries(Queries):
    binder: ClassVar[type[Binder]] = _Binder
    from_clauses: ClassVar[type[Tables]] = _Tables

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.unknown: list[Span] = []

    def output(self, expr: Expr, name: str) -> Output:
        if not _is_unknown(expr):
            return super().output(expr, name)
        return Output(self.context.fresh.new_alias(), expr, Field(name, UNTYPED))

    def star(self, node: nodes.Star, scope: Scope) -> list[Output]:
        sources = [scope.sources_called(node.qualifier, node.span)] if node.qualifier else scope.sources
        outputs = list(super().star(node, scope))
        if any(map(_has_more, sources)):
            outputs.append(Output(self.context.fresh.new_alias(), _unknown(node.span), Field(_ALL, UNTYPED)))
        return outputs

    def order_term(self, term: nodes.OrderTerm, scope: Scope, outputs: list[Output]) -> Order:
        if isinstance(term.expression, nodes.NumberLiteral) and _has_all(outputs):
            return Order(_unknown(term.span), term.descending)
        return super().order_term(term, scope, outputs)

    def width(self, query: Query) -> int | None:
        return None if _has_all(query.outputs) else super().width(query)

    def unified(self, operand: Expr, query: Query, _where: str) -> tuple[Expr, Query]:
        return operand, query

    def united(self, node: nodes.SetOperation, left: Query, right: Query) -> Query:
        outputs = (*left.outputs, *right.outputs)
        return left if any(_is_unknown(output.expr) for output in outputs) else super().united(node, left, right)


def _has_all(outputs: Sequence[Output]) -> bool:
    return any(output.field.name == _ALL for output in outputs)
