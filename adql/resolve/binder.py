"""The binder of one clause's expressions: it gives each node of the syntax tree to the function that binds its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from adql.errors import AdqlSemanticError, Hint
from adql.functions.argument_kinds import fits_number, is_null
from adql.ir import Call, Expr, Query
from adql.resolve.resolution import Resolution
from adql.resolve.scope import Scope
from adql.resolve.type_rules import make_number_hint
from adql.syntax import nodes


class Queries(Protocol):
    """What binders of expressions and FROM clauses ask of the query binder."""

    resolution: Resolution

    def make_binder(self, scope: Scope, clause: str, *, allows_set_functions: bool = False) -> Binder: ...

    def bind_inner_query(self, node: nodes.Query, parent: Scope | None) -> Query: ...

    def bind_one_column_query(self, node: nodes.Query, parent: Scope, where: str) -> Query: ...

    def unify_operand(self, operand: Expr, query: Query, where: str) -> tuple[Expr, Query]: ...


class Binder:
    """Binds the expressions of one clause.

    Parameters
    ----------
    queries
        Binds subqueries.
    functions
        The function that binds each kind of node; see ``adql.resolve.expression_binders``.
    scope
        Finds columns.
    clause
        The clause's name for messages.
    allows_set_functions
        Whether set functions may stand in the clause.
    """

    def __init__(
        self,
        queries: Queries,
        functions: BindFunctions,
        scope: Scope,
        clause: str,
        *,
        allows_set_functions: bool = False,
    ) -> None:
        self.queries = queries
        self.scope = scope
        self.clause = clause
        self.allows_set_functions = allows_set_functions
        self._functions = functions

    @property
    def resolution(self) -> Resolution:
        return self.queries.resolution

    def bind(self, node: nodes.Expression) -> Expr:
        return self._functions[type(node)](self, node)

    def bind_number(self, node: nodes.Expression, where: str) -> Expr:
        """Bind a number; ``where`` begins the message about another value."""
        expr = self.bind(node)
        require_number(expr, where)
        return expr

    def bind_condition(self, node: nodes.Expression) -> Expr:
        expr = self.bind(node)
        if not expr.type.is_boolean and not is_null(expr):
            is_predicate = isinstance(expr, Call) and expr.name == "0 OR 1"
            hint = "write 1 = CONTAINS(...)" if is_predicate else "compare it with a value"
            raise AdqlSemanticError(f"{self.clause} takes a condition; this is {expr.type.adql}", node.span, hint)
        return expr


#: Node class -> the function that binds its nodes, called with the binder and the node
BindFunctions = Mapping[type[nodes.Expression], Callable[[Binder, Any], Expr]]


def require_number(expr: Expr, where: str) -> None:
    if not fits_number(expr):
        hint = make_number_hint(expr)
        if not hint and where == "'+'" and expr.type.is_text:
            hint = Hint("join texts with ||")
        raise AdqlSemanticError(f"{where} takes a number; this is {expr.type.adql}", expr.span, hint)
