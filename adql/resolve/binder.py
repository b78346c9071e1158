"""The binder of the expressions of a clause, which calls the function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from adql.errors import AdqlError, AdqlSemanticError, AdqlUnsupported, Hint, Span
from adql.functions.argument_kinds import is_null
from adql.functions.object_name_functions import MAX_NAME_CHARACTERS, MAX_NAMES, NameLookupError, PositionLookup
from adql.ir import Call, Expr, NameGenerator, Query
from adql.limits import MAX_BRANCHES, MAX_COLUMNS, MAX_CONDITIONS, MAX_EXPRESSION_PARTS, MAX_RELATIONS
from adql.resolve.scope import Scope
from adql.resolve.type_rules import make_number_hint
from adql.syntax import nodes
from clickhouse_schema.catalogue import Catalogue, TableEntry


class Queries(Protocol):
    """The methods of the query binder that binders of expressions and FROM clauses call."""

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
        The function for each kind of node; see ``adql.resolve.expression_binders``.
    scope
        Finds columns.
    clause
        The name of the clause, for messages.
    allows_set_functions
        Whether the clause may have set functions.
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
        """Bind a number; for other values raise AdqlSemanticError with a message that begins with ``where``."""
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


#: Class of a node -> function that binds it, given the binder and the node
BindFunctions = Mapping[type[nodes.Expression], Callable[[Binder, Any], Expr]]


def require_number(expr: Expr, where: str) -> None:
    if not (expr.type.is_numeric or is_null(expr)):
        hint = make_number_hint(expr)
        if not hint and where == "'+'" and expr.type.is_text:
            hint = Hint("join texts with ||")
        raise AdqlSemanticError(f"{where} takes a number; this is {expr.type.adql}", expr.span, hint)


# --- the state of one statement ---------------------------------------------------------------------------------------


class ObjectPositions:
    """The positions of the objects that a query names. Without ``look_up``, every name is refused."""

    def __init__(self, look_up: PositionLookup | None) -> None:
        self._look_up = look_up
        self._found: dict[str, tuple[float, float]] = {}

    def find_position(self, name: str, span: Span) -> tuple[float, float]:
        if self._look_up is None:
            raise AdqlUnsupported(
                "this service does not resolve object names",
                span,
                "write the position, POINT(ra, dec)",
            )
        if not name or len(name) > MAX_NAME_CHARACTERS:
            raise AdqlSemanticError(f"an object name has 1 to {MAX_NAME_CHARACTERS} characters", span)
        if name not in self._found:
            if len(self._found) == MAX_NAMES:
                raise AdqlSemanticError(f"a query may have at most {MAX_NAMES} object names", span)
            try:
                self._found[name] = self._look_up(name)
            except NameLookupError as error:
                raise AdqlSemanticError(str(error), span) from error
        return self._found[name]


#: Errors that are collected before binding stops
MAX_ERRORS = 10


class Resolution:
    """The state of binding one statement.

    Attributes
    ----------
    catalogue
        The tables that the statement may read.
    names
        Generates relation numbers and aliases.
    positions
        The positions of named objects.
    common_tables
        The tables of WITH, by name in lower case.
    tables
        The catalogue tables that the statement reads, by qualified name.
    errors
        The errors found.
    warnings
        Messages with hints, by span.
    """

    def __init__(self, catalogue: Catalogue, names: NameGenerator, positions: ObjectPositions) -> None:
        self.catalogue = catalogue
        self.names = names
        self.positions = positions
        self.common_tables: dict[str, nodes.CommonTable] = {}
        self.tables: dict[str, TableEntry] = {}
        self.errors: list[AdqlError] = []
        self.warnings: dict[Span, str] = {}
        self._conditions = 0
        self._branches = 0
        #: id of an expression -> the expression, kept so that its id stays unique, and its number of parts
        self._parts: dict[int, tuple[Expr, int]] = {}

    def new_relation(self, span: Span) -> int:
        relation = self.names.new_relation()
        if relation > MAX_RELATIONS:
            raise AdqlSemanticError(
                f"more than {MAX_RELATIONS} tables in one query", span, "each use of a WITH table counts"
            )
        return relation

    def count_conditions(self, count: int, span: Span) -> None:
        self._conditions += count
        if self._conditions > MAX_CONDITIONS:
            raise AdqlUnsupported(
                f"the query joins more than {MAX_CONDITIONS} conditions by AND and OR",
                span,
                "upload the values as a table and join it (UPLOAD), by position or by value; or write them as IN (...)",
            )

    def check_columns(self, count: int, span: Span) -> None:
        if count > MAX_COLUMNS:
            raise AdqlUnsupported(
                f"the query selects more than {MAX_COLUMNS} columns",
                span,
                "select fewer columns, or use several queries",
            )

    def check_parts(self, expr: Expr, span: Span) -> None:
        """Refuse an expression that repeats its parts too often, since all passes and the SQL repeat them, too."""
        if self._count_parts(expr) > MAX_EXPRESSION_PARTS:
            raise AdqlUnsupported(
                "this position is computed from too many parts", span, "compute the inner positions in a subquery"
            )

    def _count_parts(self, expr: Expr) -> int:
        if not expr.children:
            return 1
        known = self._parts.get(id(expr))
        if known is not None:
            return known[1]
        count = 1 + sum(map(self._count_parts, expr.children))
        self._parts[id(expr)] = expr, count
        return count

    def count_branches(self, count: int, span: Span) -> None:
        self._branches += count
        if self._branches > MAX_BRANCHES:
            raise AdqlUnsupported(
                f"the query has more than {MAX_BRANCHES} branches of CASE that are not look-ups",
                span,
                "compare one value with literals and return literals (WHEN x = 1 THEN 'a'), which has no limit; "
                "or upload the values as a table and join it (UPLOAD)",
            )

    def add_warning(self, message: str, span: Span, hint: str) -> None:
        """Record a warning; an expression that is bound several times has one warning."""
        self.warnings[span] = f"{message}; {hint}"

    def collect_errors(self) -> ErrorCollector:
        """Return a context that records an error and continues, so that all errors of a query are reported together."""
        return ErrorCollector(self.errors)


class ErrorCollector:
    """The context manager of ``Resolution.collect_errors``. (A generator function takes ten times as long.)"""

    __slots__ = ("_errors",)

    def __init__(self, errors: list[AdqlError]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, AdqlError):
            self._errors.append(error)
            return len(self._errors) < MAX_ERRORS
        return False
