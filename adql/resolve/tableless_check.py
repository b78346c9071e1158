"""Check of a query without its tables: any table may exist, with columns of any name and type.

The resolver binds the query with unknown values instead of columns of such tables. An unknown value is allowed wherever
NULL is allowed. An expression with an unknown value is unknown, unless its type is certain. An error counts only if its
span contains no unknown value, or if it is a ``FormError``. A query that fails this check fails with any tables; a
query that passes it may still be wrong for existing tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from adql.errors import AdqlError, FormError, Span
from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME
from adql.ir import UNTYPED, Expr, Literal, NameGenerator, Order, Output, Query, walk_expr
from adql.node_classes import node_class
from adql.resolve.binder import Binder, ObjectPositions, Resolution
from adql.resolve.from_binder import FromBinder, Side
from adql.resolve.query_binder import QueryBinder
from adql.resolve.scope import Scope, Source, is_same_name, parts_to_text
from adql.syntax import nodes
from adql.syntax.parser import parse
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.datatypes import DOUBLE, ColumnType, Field
from clickhouse_schema.schema_model import Column, Schema, Table

#: The name of an output that represents all columns of unknown tables
_ALL = "*"

_COLUMN = Column(name="unknown", datatype="int")
_ENTRY = TableEntry(Schema(name="unknown"), Table(name="unknown", columns=(_COLUMN,)))

_PREDICATES = (nodes.Between, nodes.InList, nodes.InQuery, nodes.Like, nodes.IsNull, nodes.Exists, nodes.Cast)
_CERTAIN_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "AND", "OR", "||", "NOT"})
_CERTAIN_CALLS = frozenset(
    {"POINT", "CIRCLE", "BOX", "POLYGON", "CONTAINS", "INTERSECTS", "DISTANCE", "AREA", "CENTROID", "COORDSYS", "COUNT"}
)


def check_without_tables(text: str) -> frozenset[tuple[str, ...]]:
    """Check a query that may read any tables.

    Parameters
    ----------
    text
        ADQL.

    Returns
    -------
    frozenset[tuple[str, ...]]
        The names of the tables that it reads, in parts, as written but without quotes: ``("tycho2", "bright")``.

    Raises
    ------
    AdqlError
        If the query is invalid whatever the tables are.
    """
    statement = parse(text)
    positions = ObjectPositions(lambda _name: (0.0, 0.0))
    resolution = _TablelessResolution(Catalogue(()), NameGenerator(), positions)
    _TablelessQueryBinder(resolution).bind_statement(statement)
    return frozenset(resolution.table_names)


class _TablelessResolution(Resolution):
    def __init__(self, catalogue: Catalogue, names: NameGenerator, positions: ObjectPositions) -> None:
        super().__init__(catalogue, names, positions)
        #: The names of the tables that the query reads, in their parts
        self.table_names: set[tuple[str, ...]] = set()

    def count_conditions(self, count: int, span: Span) -> None:
        """Count nothing: unknown columns are indistinguishable, so equalities of one column are not combined."""


@node_class(frozen=True, slots=True)
class _Unknown(Literal):
    """A value of unknown type."""


@node_class(frozen=True, slots=True)
class _Certain(Expr):
    """A value of known type."""


def _make_unknown(span: Span) -> _Unknown:
    return _Unknown(UNTYPED, None, span=span)


def _is_unknown(expr: Expr) -> bool:
    """Return whether the type of an expression depends on the type of an unknown value."""
    return any(isinstance(part, _Unknown) for part in walk_expr(expr)) or (
        expr.type == UNTYPED and not isinstance(expr, Literal)
    )


class _UnknownSource(Source):
    """A table of which only the name in FROM is known."""

    def __init__(self, relation: int, node: nodes.TableName) -> None:
        super().__init__(relation, node.alias)
        self._parts = node.parts

    @property
    def title(self) -> str:
        return self.alias.name if self.alias else parts_to_text(self._parts)

    def is_called(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Return whether a qualifier may name this table; a table without a schema may be in any schema."""
        if self.alias is not None:
            return super().is_called(parts)
        pairs = zip(reversed(parts), reversed(self._parts), strict=False)
        return all(is_same_name(part, own.name) for part, own in pairs)


def _has_unknown_columns(source: Source) -> bool:
    return isinstance(source, _UnknownSource) or any(field.name == _ALL for field in source.fields)


class _TablelessBinder(Binder):
    queries: _TablelessQueryBinder

    def bind(self, node: nodes.Expression) -> Expr:
        unknown_spans = self.queries.unknown_spans
        try:
            expr = self._bind_known(node)
        except AdqlError as error:
            if isinstance(error, FormError) or not any(_overlap(error.span, span) for span in unknown_spans):
                raise
            return _make_unknown(node.span)
        if not _is_unknown(expr):
            return expr
        if not isinstance(expr, _Unknown) and _has_certain_type(node):
            unknown_spans[:] = [span for span in unknown_spans if not _overlap(span, node.span)]
            return _Certain(expr.type, span=node.span)
        unknown_spans.append(node.span)
        return _make_unknown(node.span)

    def _bind_known(self, node: nodes.Expression) -> Expr:
        if isinstance(node, nodes.ColumnRef):
            return self._find_column(node)
        if isinstance(node, nodes.FunctionCall) and node.name.name.upper() == "IN_UNIT":
            value = self.bind_number(node.args[0], "IN_UNIT")
            if any(isinstance(part, _Unknown | _Certain) for part in walk_expr(value)):
                return _Certain(DOUBLE, span=node.span)  # its unit is unknown
        return super().bind(node)

    def _find_column(self, node: nodes.ColumnRef) -> Expr:
        scope: Scope | None = self.scope
        qualifier = node.parts[:-1]
        while scope is not None:
            sources = [s for s in scope.sources if not qualifier or s.is_called(qualifier)]
            may_be_here = any(map(_has_unknown_columns, sources))
            try:
                found = scope.find_own_column(node.parts, node.span)
            except AdqlError:  # ambiguous, unless USING or NATURAL has merged the columns
                if not may_be_here:
                    raise
                found = None
            if found is not None:
                return found
            if may_be_here:
                return _make_unknown(node.span)
            scope = scope.parent
        raise self.scope.make_unknown_error(node.parts, node.span)


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end


def _has_certain_type(node: nodes.Expression) -> bool:
    """Return whether an expression has the same type for operands of any type."""
    if isinstance(node, nodes.Binary | nodes.Unary):
        return node.op in _CERTAIN_OPERATORS
    if not isinstance(node, nodes.FunctionCall):
        return isinstance(node, _PREDICATES)
    name = node.name.name.upper()
    set_function = SET_FUNCTIONS_BY_NAME.get(name)
    functions = FUNCTIONS.get(name, ()) if set_function is None else (set_function,)
    has_fixed_result = all(isinstance(f.result, ColumnType) and f.expand is None for f in functions)
    return name in _CERTAIN_CALLS or (bool(functions) and has_fixed_result and node.over is None)


class _TablelessFromBinder(FromBinder):
    resolution: _TablelessResolution

    def find_entry(self, parts: tuple[nodes.Identifier, ...], _span: Span) -> TableEntry:
        self.resolution.table_names.add(tuple(part.name for part in parts))
        return _ENTRY

    def is_defined(self, table: nodes.CommonTable, span: Span) -> bool:
        """Return whether it may be used here. A WITH table that seems to use itself may read a stored table instead."""
        return table.name.name.lower() not in self.open_tables[-1:] and super().is_defined(table, span)

    def make_source(self, relation: int, node: nodes.TableName, _entry: TableEntry) -> Source:
        return _UnknownSource(relation, node)

    def find_shared_names(self, node: nodes.Join, left: Side, right: Side) -> list[nodes.Identifier] | None:
        """Return None also for unknown tables, whose columns cannot be paired."""
        if any(map(_has_unknown_columns, (*left.sources, *right.sources))):
            return None
        return super().find_shared_names(node, left, right)

    def find_merged_type(self, left: Expr, right: Expr, name: nodes.Identifier) -> ColumnType:
        return UNTYPED if _is_unknown(left) or _is_unknown(right) else super().find_merged_type(left, right, name)


class _TablelessQueryBinder(QueryBinder):
    binder_class: ClassVar[type[Binder]] = _TablelessBinder
    from_binder_class: ClassVar[type[FromBinder]] = _TablelessFromBinder

    def __init__(self, resolution: Resolution) -> None:
        super().__init__(resolution)
        self.unknown_spans: list[Span] = []

    def make_output(self, expr: Expr, name: str) -> Output:
        if not _is_unknown(expr):
            return super().make_output(expr, name)
        return Output(self.resolution.names.new_alias(), expr, Field(name, UNTYPED))

    def bind_star(self, node: nodes.Star, scope: Scope) -> list[Output]:
        sources = [scope.find_source(node.qualifier, node.span)] if node.qualifier else scope.sources
        outputs = list(super().bind_star(node, scope))
        if any(map(_has_unknown_columns, sources)):
            unknown = _make_unknown(node.span)
            outputs.append(Output(self.resolution.names.new_alias(), unknown, Field(_ALL, UNTYPED)))
        return outputs

    def bind_order_term(self, term: nodes.OrderTerm, scope: Scope, outputs: list[Output]) -> Order:
        if isinstance(term.expression, nodes.NumberLiteral) and _has_all_columns(outputs):
            return Order(_make_unknown(term.span), term.descending)
        return super().bind_order_term(term, scope, outputs)

    def count_columns(self, query: Query) -> int | None:
        return None if _has_all_columns(query.outputs) else super().count_columns(query)

    def unify_operand(self, operand: Expr, query: Query, _where: str) -> tuple[Expr, Query]:
        return operand, query

    def combine_queries(self, node: nodes.SetOperation, left: Query, right: Query) -> Query:
        outputs = (*left.outputs, *right.outputs)
        is_unknown = any(_is_unknown(output.expr) for output in outputs)
        return left if is_unknown else super().combine_queries(node, left, right)


def _has_all_columns(outputs: Sequence[Output]) -> bool:
    return any(output.field.name == _ALL for output in outputs)
