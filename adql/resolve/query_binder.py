"""Binding of SELECTs, set operations and WITH."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from adql.errors import NOWHERE, AdqlErrors, AdqlSemanticError, FormError, Span
from adql.functions.object_name_functions import PositionLookup
from adql.ir import (
    UNTYPED,
    Call,
    Column,
    Derived,
    Expr,
    Literal,
    NameGenerator,
    Order,
    Output,
    Query,
    Select,
    SetOperation,
    combine_conjuncts,
    derive_field,
    find_common_unit,
)
from adql.node_classes import replace
from adql.resolve.binder import Binder, ObjectPositions, Resolution
from adql.resolve.expression_binders import EXPRESSION_BINDERS
from adql.resolve.from_binder import FromBinder
from adql.resolve.output_rules import check_distinct, check_groups, find_output, find_output_name, name_outputs
from adql.resolve.scope import Scope, is_same_name, list_visible
from adql.resolve.type_rules import cast_exactly, find_common_type
from adql.syntax import nodes
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.datatypes import BOOLEAN, CHAR, ColumnType


def resolve_statement(
    statement: nodes.Statement, catalogue: Catalogue, names: NameGenerator, positions: PositionLookup | None = None
) -> tuple[Query, tuple[TableEntry, ...], dict[Span, str]]:
    """Bind a statement to the tables of a catalogue.

    Parameters
    ----------
    statement
        The syntax tree of the query.
    catalogue
        The tables that may be queried.
    names
        Generates relation numbers and aliases; the passes continue with it.
    positions
        Returns the ICRS position of a named object in degrees; None to refuse ivo_simbadpoint.

    Returns
    -------
    tuple[Query, tuple[TableEntry, ...], dict[Span, str]]
        The bound query, the catalogue tables that it reads, and warnings by their spans in the text.

    Raises
    ------
    AdqlError
        If the query has an error; AdqlErrors if it has several.
    """
    resolution = Resolution(catalogue, names, ObjectPositions(positions))
    query = QueryBinder(resolution).bind_statement(statement)
    return query, tuple(resolution.tables.values()), resolution.warnings


class QueryBinder:
    """Binds the queries of a statement. ``adql.resolve.tableless_check`` has a subclass for unknown tables."""

    binder_class: ClassVar[type[Binder]] = Binder
    from_binder_class: ClassVar[type[FromBinder]] = FromBinder

    def __init__(self, resolution: Resolution) -> None:
        self.resolution = resolution
        self._from_binder = self.from_binder_class(self)

    def make_binder(self, scope: Scope, clause: str, *, allows_set_functions: bool = False) -> Binder:
        return self.binder_class(self, EXPRESSION_BINDERS, scope, clause, allows_set_functions=allows_set_functions)

    def bind_statement(self, node: nodes.Statement) -> Query:
        """Return the bound query; raise AdqlError, or AdqlErrors if there are several errors."""
        query = None
        with self.resolution.collect_errors():
            query = self._bind_with(node)
        if self.resolution.errors:
            errors = sorted(self.resolution.errors, key=lambda error: error.span)
            raise errors[0] if len(errors) == 1 else AdqlErrors(errors)
        assert query is not None  # noqa: S101  without errors there is a query
        return query

    def _bind_with(self, node: nodes.Statement) -> Query:
        common_tables = self.resolution.common_tables
        for table in node.common_tables:
            if table.name.name.lower() in common_tables:
                raise AdqlSemanticError(f"WITH defines {table.name.name} twice", table.name.span)
            common_tables[table.name.name.lower()] = table
        return self._bind_query(node.query, None)

    def _bind_query(self, node: nodes.Query, parent: Scope | None) -> Query:
        if isinstance(node, nodes.SetOperation):
            return self._bind_set_operation(node, parent)
        assert isinstance(node, nodes.Select)  # noqa: S101  there are two kinds
        return self._bind_select(node, parent)

    # --- inner queries

    def bind_inner_query(self, node: nodes.Query, parent: Scope | None) -> Query:
        """Bind an inner query; raise its last error, so that the outer query need not handle missing columns."""
        known = len(self.resolution.errors)
        query = self._bind_query(node, parent)
        if len(self.resolution.errors) > known:
            raise self.resolution.errors.pop()
        return query

    def bind_one_column_query(self, node: nodes.Query, parent: Scope, where: str) -> Query:
        query = self.bind_inner_query(node, parent)
        if self.count_columns(query) not in (1, None):
            raise FormError(
                f"a subquery for {where} must have one column; this one has {len(query.outputs)}",
                node.span,
                "select only the wanted column",
            )
        return query

    def count_columns(self, query: Query) -> int | None:
        """Return the number of columns; None if it is unknown."""
        return len(query.outputs)

    def unify_operand(self, operand: Expr, query: Query, where: str) -> tuple[Expr, Query]:
        """Cast a value and the only column of a query to a common type.

        An integer and a real stay as they are, because IN compares them. A column of integers stays as it is, because
        ClickHouse looks it up by its index.
        """
        value = query.outputs[0].expr
        kind = find_common_type([operand, value], where, operand.span)
        if operand.type.is_mixed_with(value.type):
            return operand, query
        is_looked_up = isinstance(operand, Column) and operand.type.is_integer and kind.is_integer
        return operand if is_looked_up else cast_exactly(operand, kind), _cast_outputs(query, [kind])

    # --- SELECT

    def _bind_select(self, node: nodes.Select, parent: Scope | None) -> Select:
        from_, scope = self._from_binder.bind_from(node.from_, parent)
        scope.aliases = frozenset(item.alias.name.lower() for item in node.items if item.alias)
        where = None
        if node.where is not None:
            with self.resolution.collect_errors():
                where = self.make_binder(scope, "WHERE").bind_condition(node.where)
        outputs = self._bind_outputs(node, scope)
        group_by = tuple(self._bind_group_term(term, scope, node, outputs) for term in node.group_by)
        having = None
        if node.having is not None:
            with self.resolution.collect_errors():
                having = self.make_binder(scope, "HAVING", allows_set_functions=True).bind_condition(node.having)
        order_by = tuple(self.bind_order_term(term, scope, outputs) for term in node.order_by)
        select = Select(
            from_, where, group_by, having, tuple(outputs), node.distinct, order_by, node.top, node.offset or 0
        )
        if not self.resolution.errors:
            check_groups(select)
            check_distinct(select)
        return select

    def _bind_outputs(self, node: nodes.Select, scope: Scope) -> list[Output]:
        binder = self.make_binder(scope, "SELECT", allows_set_functions=True)
        outputs: list[Output] = []
        stems: dict[str, str] = {}
        for item in node.items:
            with self.resolution.collect_errors():
                if isinstance(item.expression, nodes.Star):
                    outputs.extend(self.bind_star(item.expression, scope))
                else:
                    outputs.append(self.make_output(binder.bind(item.expression), find_output_name(item)))
                if isinstance(item.expression, nodes.FunctionCall):
                    stems[outputs[-1].alias] = item.expression.name.name.lower()
            self.resolution.check_columns(len(outputs), item.span)
        return name_outputs(outputs, stems)

    def make_output(self, expr: Expr, name: str) -> Output:
        if expr.type == UNTYPED:
            expr = Call(CHAR, "CAST", (expr,), span=expr.span)
        return Output(self.resolution.names.new_alias(), expr, derive_field(expr, name))

    def bind_star(self, node: nodes.Star, scope: Scope) -> Iterable[Output]:
        visible = scope.visible
        if node.qualifier:
            visible = list_visible([scope.find_source(node.qualifier, node.span)])
        return [self.make_output(v.bind(node.span), v.name) for v in visible]

    def _bind_group_term(
        self, term: nodes.Expression, scope: Scope, node: nodes.Select, outputs: Sequence[Output]
    ) -> Expr:
        """Bind an input column, an expression, or the name of an output if no input column has this name.

        An output's bound expression is used again: to bind it a second time would make different subqueries.
        """
        binder = self.make_binder(scope, "GROUP BY")
        if isinstance(term, nodes.ColumnRef) and len(term.parts) == 1:
            [name] = term.parts
            items = [item for item in node.items if item.alias and is_same_name(name, item.alias.name)]
            if items and not any(is_same_name(name, v.name) for v in scope.visible):
                bound = binder.bind(items[0].expression)  # raises an error if GROUP BY does not allow it
                return next((o.expr for o in outputs if is_same_name(name, o.field.name)), bound)
        with self.resolution.collect_errors():
            return binder.bind(term)
        return Literal(UNTYPED, None)

    def bind_order_term(self, term: nodes.OrderTerm, scope: Scope, outputs: list[Output]) -> Order:
        found = find_output(term.expression, outputs)
        if found is not None:
            return Order(found.expr, term.descending)
        with self.resolution.collect_errors():
            binder = self.make_binder(scope, "ORDER BY", allows_set_functions=True)
            return Order(binder.bind(term.expression), term.descending)
        return Order(Literal(UNTYPED, None), term.descending)

    # --- set operations

    def _bind_set_operation(self, node: nodes.SetOperation, parent: Scope | None) -> Query:
        left, right = self.bind_inner_query(node.left, parent), self.bind_inner_query(node.right, parent)
        widths = self.count_columns(left), self.count_columns(right)
        if None not in widths and widths[0] != widths[1]:
            raise FormError(
                f"{node.op} combines queries with the same number of columns; these have {widths[0]} and {widths[1]}",
                node.span,
            )
        return self.combine_queries(node, left, right)

    def combine_queries(self, node: nodes.SetOperation, left: Query, right: Query) -> Query:
        """Return the set operation on two queries with the same number of columns."""
        kinds = [
            find_common_type([a.expr, b.expr], f"{node.op}, column {i},", node.span)
            for i, (a, b) in enumerate(zip(left.outputs, right.outputs, strict=True), 1)
        ]
        relation = self.resolution.new_relation(node.span)
        if node.op != "UNION":
            right, kinds = self._drop_unequal_rows(left, right, kinds)
        columns = zip(left.outputs, right.outputs, kinds, strict=True)
        outputs = [self._combine_outputs(output, other, kind, relation) for output, other, kind in columns]
        order_by = tuple(_bind_set_order_term(term, outputs) for term in node.order_by)
        left, right = _cast_outputs(left, kinds), _cast_outputs(right, kinds)
        return SetOperation(node.op, node.all, left, right, relation, tuple(outputs), order_by, None, node.offset or 0)

    def _combine_outputs(self, output: Output, other: Output, kind: ColumnType, relation: int) -> Output:
        """Return the column of the combined rows, with the metadata that both sides have in common."""
        unit = find_common_unit([output.expr, other.expr])
        own, its = output.field, other.field
        coordinates = own.coordinate_system if own.coordinate_system == its.coordinate_system else None
        times = own.time_system if own.time_system == its.time_system else None
        field = replace(own, type=kind, unit=unit, nullable=True, coordinate_system=coordinates, time_system=times)
        column = Column(kind, relation, output.alias, field)
        return Output(self.resolution.names.new_alias(), column, field)

    def _drop_unequal_rows(self, left: Query, right: Query, kinds: list[ColumnType]) -> tuple[Query, list[ColumnType]]:
        """Return the right side of EXCEPT or INTERSECT without useless rows, and the types of the result's columns.

        If a column has integers on one side and reals on the other, the result keeps the type of the left side, whose
        values it has. A row of the right side with a value that this type cannot hold equals no row of the left side,
        so it is dropped.
        """
        pairs = list(zip(left.outputs, right.outputs, kinds, strict=True))
        if not any(a.expr.type.is_mixed_with(b.expr.type) for a, b, _ in pairs):
            return right, kinds
        derived = Derived(self.resolution.new_relation(NOWHERE), right)
        outputs: list[Output] = []
        equal: list[Expr] = []
        types: list[ColumnType] = []
        for output, other, common_kind in pairs:
            value: Expr = Column(other.expr.type, derived.relation, other.alias, other.field)
            kind = common_kind
            if output.expr.type.is_mixed_with(other.expr.type):
                kind = output.expr.type
                unknown = Call(BOOLEAN, "IS NULL", (value,))
                value = Call(kind, "EXACT OR NULL", (value,))
                lost = Call(BOOLEAN, "IS NULL", (value,))
                is_held = Call(BOOLEAN, "NOT", (lost,))
                equal.append(Call(BOOLEAN, "OR", (unknown, is_held)))
            types.append(kind)
            outputs.append(Output(self.resolution.names.new_alias(), value, other.field))
        return Select(derived, combine_conjuncts(equal), (), None, tuple(outputs), False, (), None, 0), types


def _bind_set_order_term(term: nodes.OrderTerm, outputs: list[Output]) -> Order:
    found = find_output(term.expression, outputs)
    if found is None:
        raise AdqlSemanticError("ORDER BY after a set operation takes an output column or its number", term.span)
    return Order(found.expr, term.descending)


def _cast_outputs(query: Query, kinds: list[ColumnType]) -> Query:
    """Cast the outputs to the common types of two queries, since ClickHouse would combine mixed types to variants."""
    pairs = zip(query.outputs, kinds, strict=True)
    outputs = tuple(replace(output, expr=cast_exactly(output.expr, kind)) for output, kind in pairs)
    return replace(query, outputs=outputs)
