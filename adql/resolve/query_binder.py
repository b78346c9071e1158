"""SELECTs, set operations and WITH: outputs named, groups checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from adql.errors import NOWHERE, AdqlErrors, AdqlSemanticError, FormError
from adql.functions.object_name_functions import PositionLookup
from adql.ir import (
    UNTYPED,
    Aggregate,
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
    SubqueryExpr,
    combine_conjuncts,
    derive_field,
    find_common_unit,
    find_free_columns,
    has_aggregate,
    walk_leaves,
)
from adql.resolve.expression_binder import Binder
from adql.resolve.from_binder import Tables
from adql.resolve.object_name_binder import KnownNames
from adql.resolve.resolution import Context
from adql.resolve.scope import Scope, same_name, visible_columns, written
from adql.resolve.type_rules import common_type, in_type
from adql.syntax import nodes
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.datatypes import BOOLEAN, CHAR, ColumnType


def resolve(
    statement: nodes.Statement, catalogue: Catalogue, fresh: NameGenerator, positions: PositionLookup | None = None
) -> tuple[Query, tuple[TableEntry, ...]]:
    """The bound query and the catalogue tables that it reads; AdqlError with every error found.

    ``positions``: who knows the positions of named objects, if anybody may be asked.
    """
    context = Context(catalogue, fresh, KnownNames(positions))
    query = Queries(context).resolved(statement)
    return query, tuple(context.tables.values())


class Queries:
    """Binds queries; one object serves a whole statement. ``tableless`` has one that knows no tables."""

    binder: ClassVar[type[Binder]] = Binder
    from_clauses: ClassVar[type[Tables]] = Tables

    def __init__(self, context: Context) -> None:
        self.context = context
        self.common: dict[str, nodes.CommonTable] = {}
        self.tables = self.from_clauses(self)

    def resolved(self, node: nodes.Statement) -> Query:
        """The bound query; AdqlError with every error found."""
        query = None
        with self.context.collect():
            query = self.statement(node)
        if self.context.errors:
            errors = sorted(self.context.errors, key=lambda error: error.span)
            raise errors[0] if len(errors) == 1 else AdqlErrors(errors)
        assert query is not None  # noqa: S101  without errors there is a query
        return query

    def statement(self, node: nodes.Statement) -> Query:
        for table in node.common_tables:
            if table.name.name.lower() in self.common:
                raise AdqlSemanticError(f"WITH defines {table.name.name} twice", table.name.span)
            self.common[table.name.name.lower()] = table
        return self.query(node.query, None)

    def query(self, node: nodes.Query, parent: Scope | None) -> Query:
        if isinstance(node, nodes.SetOperation):
            return self._set_operation(node, parent)
        assert isinstance(node, nodes.Select)  # noqa: S101  there are two kinds
        return self._select(node, parent)

    def inner(self, node: nodes.Query, parent: Scope | None) -> Query:
        """A query inside of another one. Raises its last error, so that nobody misses the columns that are wrong."""
        known = len(self.context.errors)
        query = self.query(node, parent)
        if len(self.context.errors) > known:
            raise self.context.errors.pop()
        return query

    def subquery(self, node: nodes.Query, parent: Scope, where: str) -> Query:
        """A subquery that must have one column."""
        query = self.inner(node, parent)
        if self.width(query) not in (1, None):
            raise FormError(
                f"a subquery for {where} has one column; this one has {len(query.outputs)}",
                node.span,
                "name the one that is meant after SELECT",
            )
        return query

    def width(self, query: Query) -> int | None:
        """The number of its columns, None if that is not known."""
        return len(query.outputs)

    def unified(self, operand: Expr, query: Query, where: str) -> tuple[Expr, Query]:
        """A value and a subquery's one column of a common type, but for an integer and a real: IN compares these."""
        value = query.outputs[0].expr
        kind = common_type([operand, value], where, operand.span)
        if operand.type.is_mixed_with(value.type):
            return operand, query
        return in_type(operand, kind), _unified(query, [kind])

    # --- SELECT

    def _select(self, node: nodes.Select, parent: Scope | None) -> Select:
        from_, scope = self.tables.from_clause(node.from_, parent)
        scope.aliases = frozenset(item.alias.name.lower() for item in node.items if item.alias is not None)
        where = None
        if node.where is not None:
            with self.context.collect():
                where = self.binder(self, scope, "WHERE").condition(node.where)
        outputs = self._outputs(node, scope)
        group_by = tuple(self._group_term(term, scope, node, outputs) for term in node.group_by)
        having = None
        if node.having is not None:
            with self.context.collect():
                having = self.binder(self, scope, "HAVING", aggregates=True).condition(node.having)
        order_by = tuple(self.order_term(term, scope, outputs) for term in node.order_by)
        select = Select(
            from_, where, group_by, having, tuple(outputs), node.distinct, order_by, node.top, node.offset or 0
        )
        if not self.context.errors:
            _check_groups(select)
            _check_distinct(select)
        return select

    def _outputs(self, node: nodes.Select, scope: Scope) -> list[Output]:
        binder = self.binder(self, scope, "SELECT", aggregates=True)
        outputs: list[Output] = []
        stems: dict[str, str] = {}
        for item in node.items:
            with self.context.collect():
                if isinstance(item.expression, nodes.Star):
                    outputs.extend(self.star(item.expression, scope))
                else:
                    expr = binder.bind(item.expression)
                    output = self.output(expr, _output_name(item))
                    outputs.append(output)
                    if isinstance(item.expression, nodes.FunctionCall):
                        stems[output.alias] = item.expression.name.name.lower()
        return _named(outputs, stems)

    def output(self, expr: Expr, name: str) -> Output:
        if expr.type == UNTYPED:
            expr = Call(CHAR, "CAST", (expr,), span=expr.span)
        return Output(self.context.fresh.new_alias(), expr, derive_field(expr, name))

    def star(self, node: nodes.Star, scope: Scope) -> Iterable[Output]:
        visible = scope.visible
        if node.qualifier:
            visible = visible_columns(scope.sources_called(node.qualifier, node.span))
        return [self.output(v.bind(node.span), v.name) for v in visible]

    def _group_term(self, term: nodes.Expression, scope: Scope, node: nodes.Select, outputs: Sequence[Output]) -> Expr:
        """An input column or expression; an output's name where there is no such column.

        The output itself, then: of its expression bound again the subqueries would not be the same ones.
        """
        binder = self.binder(self, scope, "GROUP BY")
        if isinstance(term, nodes.ColumnRef) and len(term.parts) == 1:
            named = [i for i in node.items if i.alias is not None and same_name(term.parts[0], i.alias.name)]
            if named and not any(same_name(term.parts[0], v.name) for v in scope.visible):
                bound = binder.bind(named[0].expression)
                return next((o.expr for o in outputs if same_name(term.parts[0], o.field.name)), bound)
        with self.context.collect():
            return binder.bind(term)
        return Literal(UNTYPED, None)

    def order_term(self, term: nodes.OrderTerm, scope: Scope, outputs: list[Output]) -> Order:
        found = _output_of(term.expression, outputs)
        if found is not None:
            return Order(found.expr, term.descending)
        with self.context.collect():
            return Order(self.binder(self, scope, "ORDER BY", aggregates=True).bind(term.expression), term.descending)
        return Order(Literal(UNTYPED, None), term.descending)

    # --- set operations

    def _set_operation(self, node: nodes.SetOperation, parent: Scope | None) -> Query:
        left, right = self.inner(node.left, parent), self.inner(node.right, parent)
        widths = self.width(left), self.width(right)
        if None not in widths and widths[0] != widths[1]:
            raise FormError(
                f"{node.op} joins queries with equally many columns; these have {widths[0]} and {widths[1]}", node.span
            )
        return self.united(node, left, right)

    def united(self, node: nodes.SetOperation, left: Query, right: Query) -> Query:
        """Of two queries with equally many columns."""
        kinds = [
            common_type([a.expr, b.expr], f"{node.op}, column {i},", node.span)
            for i, (a, b) in enumerate(zip(left.outputs, right.outputs, strict=True), 1)
        ]
        relation = self.context.next_relation(node.span)
        if node.op != "UNION":
            right, kinds = self._without_unequal(left, right, kinds)
        outputs = []
        for output, other, kind in zip(left.outputs, right.outputs, kinds, strict=True):
            unit = find_common_unit([output.expr, other.expr])
            frame = output.field.frame if output.field.frame == other.field.frame else ""
            times = output.field.time_system if output.field.time_system == other.field.time_system else None
            field = replace(output.field, type=kind, unit=unit, nullable=True, frame=frame, time_system=times)
            outputs.append(Output(self.context.fresh.new_alias(), Column(kind, relation, output.alias, field), field))
        order_by = tuple(self._set_order(term, outputs) for term in node.order_by)
        left, right = _unified(left, kinds), _unified(right, kinds)
        return SetOperation(node.op, node.all, left, right, relation, tuple(outputs), order_by, None, node.offset or 0)

    def _without_unequal(self, left: Query, right: Query, kinds: list[ColumnType]) -> tuple[Query, list[ColumnType]]:
        """The right side of EXCEPT or INTERSECT where an integer is compared with a real, and the columns' types.

        The result has values of the left side only, so it keeps its type. Of the right side's rows those that equal
        none in that type change nothing, and are left out.
        """
        pairs = list(zip(left.outputs, right.outputs, kinds, strict=True))
        if not any(a.expr.type.is_mixed_with(b.expr.type) for a, b, _ in pairs):
            return right, kinds
        derived = Derived(self.context.next_relation(NOWHERE), right)
        outputs: list[Output] = []
        equal: list[Expr] = []
        types: list[ColumnType] = []
        for output, other, kind in pairs:
            value: Expr = Column(other.expr.type, derived.relation, other.alias, other.field)
            if output.expr.type.is_mixed_with(other.expr.type):
                kind = output.expr.type
                unknown = Call(BOOLEAN, "IS NULL", (value,))
                value = Call(kind, "EXACT OR NULL", (value,))
                lost = Call(BOOLEAN, "IS NULL", (value,))
                equal.append(Call(BOOLEAN, "OR", (unknown, Call(BOOLEAN, "NOT", (lost,)))))
            types.append(kind)
            outputs.append(Output(self.context.fresh.new_alias(), value, other.field))
        return Select(derived, combine_conjuncts(equal), (), None, tuple(outputs), False, (), None, 0), types

    def _set_order(self, term: nodes.OrderTerm, outputs: list[Output]) -> Order:
        found = _output_of(term.expression, outputs)
        if found is None:
            raise AdqlSemanticError("ORDER BY after a set operation names an output column or its number", term.span)
        return Order(found.expr, term.descending)


# --- outputs ----------------------------------------------------------------------------------------------------------


def _output_name(item: nodes.SelectItem) -> str:
    """The alias, or the column's name as written; '' for one to be made."""
    if item.alias is not None:
        return item.alias.name
    return item.expression.parts[-1].name if isinstance(item.expression, nodes.ColumnRef) else ""


def _named(outputs: list[Output], stems: dict[str, str]) -> list[Output]:
    """Outputs without a name get one made of a function's name and their place: unique, and a regular identifier.

    ``stems``: the names of functions by the outputs' aliases.
    """
    used = {o.field.name.lower() for o in outputs}
    named = []
    for place, output in enumerate(outputs, 1):
        if not output.field.name:
            name = f"{stems.get(output.alias, 'col')}_{place}"
            while name in used:
                name += "_"
            used.add(name)
            output = replace(output, field=replace(output.field, name=name))
        named.append(output)
    return named


def _output_of(expression: nodes.Expression, outputs: list[Output]) -> Output | None:
    """The output that an ORDER BY term means by number or by name."""
    if isinstance(expression, nodes.NumberLiteral):
        place = expression.value
        if not isinstance(place, int) or not 1 <= place <= len(outputs):
            raise AdqlSemanticError(
                f"ORDER BY {expression.text}: the result has columns 1 to {len(outputs)}",
                expression.span,
                "a number alone is the place of a selected column",
            )
        return outputs[place - 1]
    if isinstance(expression, nodes.ColumnRef) and len(expression.parts) == 1:
        named = [o for o in outputs if same_name(expression.parts[0], o.field.name)]
        if len(named) > 1 and any(o.expr != named[0].expr for o in named):
            raise AdqlSemanticError(
                f"ORDER BY {written(expression.parts)}: {len(named)} output columns have this name", expression.span
            )
        return named[0] if named else None
    return None


def _unified(query: Query, kinds: list[ColumnType]) -> Query:
    """Outputs cast to the common type of both sides of a set operation: mixed ones are variants to the engine."""
    if isinstance(query, SetOperation):
        outputs = [replace(o, expr=in_type(o.expr, k)) for o, k in zip(query.outputs, kinds, strict=True)]
        return replace(query, outputs=tuple(outputs))
    return replace(
        query, outputs=tuple(replace(o, expr=in_type(o.expr, k)) for o, k in zip(query.outputs, kinds, strict=True))
    )


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_groups(select: Select) -> None:
    """In a grouped SELECT each column stands in GROUP BY or in a set function."""
    ordered = any(has_aggregate(o.expr) for o in select.order_by)
    if not select.is_grouped and not ordered:
        return
    grouped = frozenset(select.group_by)
    own = frozenset(leaf.relation for leaf in walk_leaves(select.from_))
    for expr in (*(o.expr for o in select.outputs), select.having, *(o.expr for o in select.order_by)):
        stray = _ungrouped(expr, grouped, own) if expr is not None else None
        if stray is not None:
            name = stray.field.name
            hint = f"add it to GROUP BY or write MIN({name})"
            if select.having is not None and not select.group_by:
                hint = "HAVING is of groups: conditions on rows stand in WHERE"
            elif any(isinstance(key, Literal) for key in select.group_by):
                hint = "GROUP BY takes columns, expressions and names of outputs, not their places"
            raise AdqlSemanticError(f"column {name} is neither in GROUP BY nor in a set function", stray.span, hint)


def _ungrouped(expr: Expr, grouped: frozenset[Expr], own: frozenset[int]) -> Column | None:
    """A column of the SELECT's ``own`` relations outside of groups; those of queries around are the same for all."""
    if expr in grouped or isinstance(expr, Aggregate):
        return None
    if isinstance(expr, Column):
        return expr if expr.relation in own else None
    inside = find_free_columns(expr.query) if isinstance(expr, SubqueryExpr) else ()
    for child in (*expr.children, *inside):
        stray = _ungrouped(child, grouped, own)
        if stray is not None:
            return stray
    return None


def _check_distinct(select: Select) -> None:
    outputs = {o.expr for o in select.outputs}
    for order in select.order_by:
        if select.distinct and order.expr not in outputs:
            raise AdqlSemanticError(
                "with SELECT DISTINCT, ORDER BY takes selected columns only", order.expr.span, "select it too"
            )
