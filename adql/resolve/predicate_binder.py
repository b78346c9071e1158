"""Binding of predicates and scalar subqueries: BETWEEN, IN, LIKE, IS NULL, EXISTS."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, AdqlUnsupported, Fix, Hint, make_printable
from adql.functions.argument_kinds import is_null
from adql.ir import Call, Exists, Expr, InSubquery, Literal, Subquery, combine_conditions, evaluate_constant
from adql.limits import MAX_IN_VALUES
from adql.resolve.binder import Binder, BindFunctions
from adql.resolve.operator_binder import compare, make_comparable, negate_if
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN


def _bind_between(binder: Binder, node: nodes.Between) -> Expr:
    operand = binder.bind(node.operand)
    low = compare(">=", operand, binder.bind(node.low), node.span)
    high = compare("<=", operand, binder.bind(node.high), node.span)
    return negate_if(node.negated, Call(BOOLEAN, "AND", (low, high), span=node.span))


def _bind_in_list(binder: Binder, node: nodes.InList) -> Expr:
    """Bind constants as IN, and other items as equalities, so that a join can use them."""
    operand = binder.bind(node.operand)
    constants: list[Expr] = []
    others: list[Expr] = []
    for item in node.items:
        operand, bound = make_comparable(operand, binder.bind(item), "IN")
        is_constant = isinstance(bound, Literal) or evaluate_constant(bound) is not None
        (constants if is_constant else others).append(bound)
    if len(constants) > MAX_IN_VALUES:
        raise AdqlUnsupported(
            f"IN has more than {MAX_IN_VALUES} values", node.span, "upload them as a table and join it (UPLOAD)"
        )
    binder.resolution.count_conditions(len(others), node.span)
    tests: list[Expr] = [Call(BOOLEAN, "=", (operand, item), span=node.span) for item in others]
    if constants:
        tests.insert(0, Call(BOOLEAN, "IN", (operand, *constants), span=node.span))
    return negate_if(node.negated, combine_conditions("OR", tests, node.span))


def _bind_in_query(binder: Binder, node: nodes.InQuery) -> Expr:
    operand = binder.bind(node.operand)
    query = binder.queries.bind_one_column_query(node.query, binder.scope, "IN")
    operand, _ = make_comparable(operand, query.outputs[0].expr, "IN")
    operand, query = binder.queries.unify_operand(operand, query, "IN")
    return negate_if(node.negated, InSubquery(BOOLEAN, operand, query, span=node.span))


def _bind_like(binder: Binder, node: nodes.Like) -> Expr:
    name = "ILIKE" if node.ignore_case else "LIKE"
    operand = _require_text(name, node.operand, binder.bind(node.operand))
    pattern = _require_text(name, node.pattern, _bind_pattern(binder, node.pattern))
    return negate_if(node.negated, Call(BOOLEAN, name, (operand, pattern), span=node.span))


def _require_text(name: str, node: nodes.Expression, expr: Expr) -> Expr:
    if not expr.type.is_text and not is_null(expr):
        raise AdqlSemanticError(
            f"{name} compares texts; this is {expr.type.adql}",
            node.span,
            "CAST(... AS VARCHAR) converts a value to text",
        )
    return expr


def _bind_pattern(binder: Binder, node: nodes.Expression) -> Expr:
    """Bind the pattern of LIKE. For an unknown name in double quotes, suggest a text with SQL's wildcards."""
    try:
        return binder.bind(node)
    except AdqlSemanticError as error:
        if not (isinstance(node, nodes.ColumnRef) and len(node.parts) == 1 and node.parts[0].delimited):
            raise
        name = node.parts[0].name.replace("'", "''")
        pattern = "'" + name.replace("*", "%").replace("?", "_") + "'"
        text = f"write a pattern in single quotes, with % for any characters and _ for one: {make_printable(pattern)}"
        hint = Hint(text, (Fix(node.span, pattern),))
        raise AdqlSemanticError(error.message, error.span, hint) from None


def _bind_is_null(binder: Binder, node: nodes.IsNull) -> Expr:
    condition = Call(BOOLEAN, "IS NULL", (binder.bind(node.operand),), span=node.span)
    return negate_if(node.negated, condition)


def _bind_exists(binder: Binder, node: nodes.Exists) -> Expr:
    return Exists(BOOLEAN, binder.queries.bind_inner_query(node.query, binder.scope), span=node.span)


def _bind_scalar_subquery(binder: Binder, node: nodes.ScalarSubquery) -> Expr:
    query = binder.queries.bind_one_column_query(node.query, binder.scope, "a value")
    return Subquery(query.outputs[0].expr.type, query, span=node.span)


PREDICATE_BINDERS: BindFunctions = {
    nodes.Between: _bind_between,
    nodes.InList: _bind_in_list,
    nodes.InQuery: _bind_in_query,
    nodes.Like: _bind_like,
    nodes.IsNull: _bind_is_null,
    nodes.Exists: _bind_exists,
    nodes.ScalarSubquery: _bind_scalar_subquery,
}
