"""Values and conditions: every expression of the syntax tree gets its columns, its type and its meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

from adql.errors import AdqlSemanticError, Fix, Hint, Span, make_printable
from adql.functions.argument_kinds import fits_number, is_null
from adql.ir import UNTYPED, Call, Exists, Expr, InSubquery, Literal, Subquery, evaluate_constant
from adql.resolve.array_binder import bind_vector, is_vector, negative_vector
from adql.resolve.boolean_chains import chain, operands
from adql.resolve.call_binder import bind_call
from adql.resolve.case_binder import choice
from adql.resolve.geometry_cast_binder import cast_geometry
from adql.resolve.scope import Scope, written
from adql.resolve.type_rules import CAST_TARGETS, about_number, as_timestamp, common_type, with_instants
from adql.resolve.window_binder import WINDOW_FUNCTIONS, bind_window
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG, TIMESTAMP, UNICODE, ColumnType

if TYPE_CHECKING:
    from adql.resolve.query_binder import Queries

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_ARITHMETIC = ("+", "-", "*", "/")
_BITWISE = ("&", "|", "^")
#: the one number that is a BIGINT with a minus sign alone
_AFTER_LONGS = str(1 << 63)
_MIRROR = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Binder:
    """Binds the expressions of one clause.

    ``clause`` is its name for messages; ``aggregates`` tells whether set functions may stand in it.
    """

    def __init__(self, queries: Queries, scope: Scope, clause: str, *, aggregates: bool = False) -> None:
        self.queries = queries
        self.scope = scope
        self.clause = clause
        self.aggregates = aggregates

    # --- entries

    def bind(self, node: nodes.Expression) -> Expr:
        return BINDERS[type(node)](self, node)

    def number(self, node: nodes.Expression, where: str) -> Expr:
        expr = self.bind(node)
        self._require_number(expr, where)
        return expr

    def _require_number(self, expr: Expr, where: str) -> None:
        if not fits_number(expr):
            hint = about_number(expr)
            if not hint and where == "'+'" and expr.type.is_text:
                hint = Hint("join texts with ||")
            raise AdqlSemanticError(f"{where} takes a number; this is {expr.type.adql}", expr.span, hint)

    def condition(self, node: nodes.Expression) -> Expr:
        expr = self.bind(node)
        if not expr.type.is_boolean and not is_null(expr):
            hint = "write 1 = CONTAINS(...)" if _is_predicate_value(expr) else "compare it with a value"
            raise AdqlSemanticError(f"{self.clause} takes a condition; this is {expr.type.adql}", node.span, hint)
        return expr

    # --- leaves

    def _number(self, node: nodes.NumberLiteral) -> Expr:
        value = node.value
        if isinstance(value, float):
            return Literal(DOUBLE, value, span=node.span)
        if abs(value) >= 1 << 63:
            return Literal(DOUBLE, float(value), span=node.span)
        return Literal(INT if abs(value) < 1 << 31 else LONG, value, span=node.span)

    def _string(self, node: nodes.StringLiteral) -> Expr:
        return Literal(UNICODE, node.value, span=node.span)

    def _boolean(self, node: nodes.BooleanLiteral) -> Expr:
        return Literal(BOOLEAN, node.value, span=node.span)

    def _null(self, node: nodes.NullLiteral) -> Expr:
        return Literal(UNTYPED, None, span=node.span)

    def _column(self, node: nodes.ColumnRef) -> Expr:
        return self.scope.find(node.parts, node.span)

    # --- operators

    def _unary(self, node: nodes.Unary) -> Expr:
        if node.op == "NOT":
            return Call(BOOLEAN, "NOT", (self.condition(node.operand),), span=node.span)
        if node.op == "-" and isinstance(node.operand, nodes.NumberLiteral) and node.operand.text == _AFTER_LONGS:
            return Literal(LONG, -int(_AFTER_LONGS), span=node.span)
        operand = self.bind(node.operand)
        if is_vector(operand) and node.op != "~":
            return operand if node.op == "+" else negative_vector(operand, node.span)
        self._require_number(operand, f"'{node.op}'")
        if node.op == "+":
            return operand
        if node.op == "~":
            self._integer(operand, "~")
            return Call(LONG, "~", (operand,), span=node.span)
        if isinstance(operand, Literal) and operand.value is not None:
            if operand.value == -int(_AFTER_LONGS):
                raise AdqlSemanticError("this number does not fit BIGINT", node.span, "write it with a point")
            return Literal(operand.type, -operand.value, span=node.span)  # type: ignore[operator]
        return Call(LONG if operand.type.is_integer else DOUBLE, "NEG", (operand,), span=node.span)

    def _binary(self, node: nodes.Binary) -> Expr:
        if node.op in ("AND", "OR"):
            joined = chain(node.op, [self.condition(part) for part in operands(node)], node.span)
            if isinstance(joined, Call) and joined.name == node.op:
                self.queries.context.count_conditions(len(joined.args), node.span)
            return joined
        if node.op in COMPARISONS:
            return self.compare(node.op, self.bind(node.left), self.bind(node.right), node.span)
        if node.op == "||":
            return Call(UNICODE, "||", (self._text(node.left), self._text(node.right)), span=node.span)
        left, right = self.bind(node.left), self.bind(node.right)
        if node.op in _ARITHMETIC and (is_vector(left) or is_vector(right)):
            return bind_vector(node.op, left, right, node.span)
        for side in (left, right):
            self._require_number(side, f"'{node.op}'")
        if node.op in _BITWISE:
            self._integer(left, node.op)
            self._integer(right, node.op)
            return Call(LONG, node.op, (left, right), span=node.span)
        assert node.op in _ARITHMETIC  # noqa: S101  the grammar is closed
        whole = left.type.is_integer and right.type.is_integer
        return Call(LONG if whole else DOUBLE, node.op, (left, right), span=node.span)

    def _integer(self, expr: Expr, op: str) -> None:
        if not expr.type.is_integer and not is_null(expr):
            hint = "a power is POWER(a, b)" if op == "^" else ""
            raise AdqlSemanticError(f"'{op}' takes integers; this is {expr.type.adql}", expr.span, hint)

    def _text(self, node: nodes.Expression) -> Expr:
        expr = self.bind(node)
        if not expr.type.is_text and not is_null(expr):
            fixes = (Fix(node.span, f"CAST({written(node.parts)} AS VARCHAR)"),) if _is_column(node) else ()
            hint = Hint("CAST(... AS VARCHAR) makes a text of it", fixes)
            raise AdqlSemanticError(f"'||' joins texts; this is {expr.type.adql}", node.span, hint)
        return expr

    def compare(self, op: str, left: Expr, right: Expr, span: Span) -> Expr:
        """A comparison; ``1 = CONTAINS(...)`` becomes the condition itself and a bounded DISTANCE a nearness."""
        left, right = self.comparable(left, right, op)
        simple = _predicate_value(op, left, right) or _predicate_value(op, right, left)
        simple = simple or _bounded_distance(op, left, right, span) or _bounded_distance(_MIRROR[op], right, left, span)
        return simple or Call(BOOLEAN, op, (left, right), span=span)

    def comparable(self, left: Expr, right: Expr, op: str) -> tuple[Expr, Expr]:
        """Both sides, literal text made a timestamp where the other is one.

        AdqlSemanticError if the types do not compare.
        """
        left, right = as_timestamp(left, right.type), as_timestamp(right, left.type)
        a, b = left.type, right.type
        if is_null(left) or is_null(right):
            return left, right
        for kind in ("is_numeric", "is_text", "is_timestamp", "is_boolean"):
            if getattr(a, kind) and getattr(b, kind):
                return left, right
        raise AdqlSemanticError(
            f"'{op}' cannot compare {a.adql} with {b.adql}",
            left.span.extend_to(right.span),
            _way_to_compare(left, right),
        )

    # --- predicates

    def _between(self, node: nodes.Between) -> Expr:
        operand = self.bind(node.operand)
        low = self.compare(">=", operand, self.bind(node.low), node.span)
        high = self.compare("<=", operand, self.bind(node.high), node.span)
        return _negated(Call(BOOLEAN, "AND", (low, high), span=node.span), node.negated)

    def _in_list(self, node: nodes.InList) -> Expr:
        operand = self.bind(node.operand)
        items = []
        for item in node.items:
            operand, bound = self.comparable(operand, self.bind(item), "IN")
            items.append(bound)
        known = [i for i in items if _is_known(i)]
        tests = [Call(BOOLEAN, "IN", (operand, *known), span=node.span)] if known else []
        # what depends on rows is compared, so that joins by it are those of other comparisons
        tests += [Call(BOOLEAN, "=", (operand, i), span=node.span) for i in items if not _is_known(i)]
        condition = tests[0] if len(tests) == 1 else Call(BOOLEAN, "OR", tuple(tests), span=node.span)
        return _negated(condition, node.negated)

    def _in_query(self, node: nodes.InQuery) -> Expr:
        operand = self.bind(node.operand)
        query = self.queries.subquery(node.query, self.scope, "IN")
        operand, _ = self.comparable(operand, query.outputs[0].expr, "IN")
        operand, query = self.queries.unified(operand, query, "IN")
        return _negated(InSubquery(BOOLEAN, operand, query, span=node.span), node.negated)

    def _like(self, node: nodes.Like) -> Expr:
        word = "ILIKE" if node.ignore_case else "LIKE"
        args = []
        for part, bind in ((node.operand, self.bind), (node.pattern, self._pattern)):
            expr = bind(part)
            if not expr.type.is_text and not is_null(expr):
                raise AdqlSemanticError(
                    f"{word} compares texts; this is {expr.type.adql}", part.span, "CAST(... AS VARCHAR) makes one"
                )
            args.append(expr)
        return _negated(Call(BOOLEAN, word, tuple(args), span=node.span), node.negated)

    def _pattern(self, node: nodes.Expression) -> Expr:
        """Of LIKE; a text in double quotes is often meant, with the wildcards of a shell."""
        try:
            return self.bind(node)
        except AdqlSemanticError as error:
            if not (isinstance(node, nodes.ColumnRef) and len(node.parts) == 1 and node.parts[0].delimited):
                raise
            pattern = "'" + node.parts[0].name.replace("'", "''").replace("*", "%").replace("?", "_") + "'"
            said = (
                f"a pattern is written in single quotes, % for any characters and _ for one: {make_printable(pattern)}"
            )
            raise AdqlSemanticError(error.message, error.span, Hint(said, (Fix(node.span, pattern),))) from None

    def _is_null(self, node: nodes.IsNull) -> Expr:
        return _negated(Call(BOOLEAN, "IS NULL", (self.bind(node.operand),), span=node.span), node.negated)

    def _exists(self, node: nodes.Exists) -> Expr:
        return Exists(BOOLEAN, self.queries.inner(node.query, self.scope), span=node.span)

    def _scalar(self, node: nodes.ScalarSubquery) -> Expr:
        query = self.queries.subquery(node.query, self.scope, "a value")
        return Subquery(query.outputs[0].expr.type, query, span=node.span)

    # --- calls, types, choices, arrays

    def _call(self, node: nodes.FunctionCall) -> Expr:
        if node.over is not None:
            return bind_window(self, node)
        if node.name.name.upper() in WINDOW_FUNCTIONS:
            usage = WINDOW_FUNCTIONS[node.name.name.upper()].usage
            raise AdqlSemanticError(
                f"{node.name.name} is a window function",
                node.span,
                f"write {usage} OVER (PARTITION BY ... ORDER BY ...)",
            )
        return bind_call(self, node)

    def _cast(self, node: nodes.Cast) -> Expr:
        operand = self.bind(node.operand)
        geometry = cast_geometry(node, operand)
        if geometry is not None:
            return geometry
        target = CAST_TARGETS[node.target]
        if operand.type.is_array:
            raise AdqlSemanticError(f"CAST cannot make {node.target} of {operand.type.adql}", node.span)
        if target.is_timestamp and not (operand.type.is_text or operand.type.is_timestamp or is_null(operand)):
            raise AdqlSemanticError(
                f"CAST cannot make TIMESTAMP of {operand.type.adql}", node.span, "times are made of texts in ISO 8601"
            )
        if operand.type.is_timestamp and not (target.is_timestamp or target.is_text):
            raise AdqlSemanticError(f"CAST cannot make {node.target} of TIMESTAMP", node.span)
        if target.is_timestamp and isinstance(operand, Literal):
            return as_timestamp(operand, TIMESTAMP)
        length = (Literal(INT, node.length),) if node.length is not None else ()
        return Call(target, "CAST", (operand, *length), span=node.span)

    def _case(self, node: nodes.Case) -> Expr:
        conditions: list[Expr] = []
        results: list[Expr] = []
        operand = self.bind(node.operand) if node.operand is not None else None
        for when in node.whens:
            if operand is None:
                conditions.append(self.condition(when.condition))
            else:
                conditions.append(self.compare("=", operand, self.bind(when.condition), when.span))
            results.append(self.bind(when.result))
        results.append(self.bind(node.otherwise) if node.otherwise else Literal(UNTYPED, None, span=node.span))
        results = with_instants(results)
        kind = common_type(results, "CASE", node.span)
        chosen, tested = choice(kind, [*zip(conditions, results[:-1], strict=True)], results[-1], node.span)
        self.queries.context.count_branches(tested, node.span)
        return chosen

    def _element(self, node: nodes.Element) -> Expr:
        array = self.bind(node.array)
        if not array.type.is_array:
            raise AdqlSemanticError(f"[ ] takes an element of an array; this is {array.type.adql}", node.span)
        index = self.number(node.index, "an index")
        self._integer(index, "[ ]")
        return Call(ColumnType(array.type.stored_type.datatype), "ELEMENT", (array, index), span=node.span)

    def _star(self, node: nodes.Star) -> Expr:
        raise AdqlSemanticError("* cannot stand here", node.span)


def _negated(expr: Expr, negated: bool) -> Expr:
    return Call(BOOLEAN, "NOT", (expr,), span=expr.span) if negated else expr


def _is_known(item: Expr) -> bool:
    return isinstance(item, Literal) or evaluate_constant(item) is not None


def _is_predicate_value(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.name == "0 OR 1"


def _predicate_value(op: str, value: Expr, literal: Expr) -> Expr | None:
    """``CONTAINS(...) = 1``, ``= 0``, ``<> 0`` ... as a condition."""
    if not (
        _is_predicate_value(value) and isinstance(literal, Literal) and literal.value in (0, 1) and op in ("=", "<>")
    ):
        return None
    predicate = value.children[0]
    return predicate if (literal.value == 1) == (op == "=") else _negated(predicate, True)


def _bounded_distance(op: str, left: Expr, right: Expr, span: Span) -> Expr | None:
    """``DISTANCE(p, q) <= r`` as NEAR(lon1, lat1, lon2, lat2, r): what covers and cross-matches are made of.

    ``< r`` is NEARER, ``= r`` is NEAR and not NEARER, ``> r``, ``>= r`` and ``<> r`` are the negations of these, for a
    constant: an unknown position is not far away.
    """
    if not (isinstance(left, Call) and left.name == "DISTANCE"):
        return None
    if op not in ("<", "<=") and evaluate_constant(right) is None:
        return None
    near, nearer = (Call(BOOLEAN, name, (*left.args, right), span=span) for name in ("NEAR", "NEARER"))
    if op in ("=", "<>"):
        at = near if evaluate_constant(right) == 0 else Call(BOOLEAN, "AND", (near, _negated(nearer, True)), span=span)
        return _negated(at, op == "<>")
    return _negated(near if op in ("<=", ">") else nearer, op in (">", ">="))


BINDERS: dict[type, Callable[..., Expr]] = {
    nodes.NumberLiteral: Binder._number,
    nodes.StringLiteral: Binder._string,
    nodes.BooleanLiteral: Binder._boolean,
    nodes.NullLiteral: Binder._null,
    nodes.ColumnRef: Binder._column,
    nodes.Unary: Binder._unary,
    nodes.Binary: Binder._binary,
    nodes.FunctionCall: Binder._call,
    nodes.Cast: Binder._cast,
    nodes.Case: Binder._case,
    nodes.Element: Binder._element,
    nodes.ScalarSubquery: Binder._scalar,
    nodes.Between: Binder._between,
    nodes.InList: Binder._in_list,
    nodes.InQuery: Binder._in_query,
    nodes.Like: Binder._like,
    nodes.IsNull: Binder._is_null,
    nodes.Exists: Binder._exists,
    nodes.Star: Binder._star,
}


def _is_column(node: nodes.Expression) -> TypeGuard[nodes.ColumnRef]:
    return isinstance(node, nodes.ColumnRef)


def _way_to_compare(left: Expr, right: Expr) -> str | Hint:
    """The hint for two values whose types do not compare."""
    a, b = left.type, right.type
    if a.is_geometry or b.is_geometry:
        return "compare geometries with CONTAINS, INTERSECTS or DISTANCE"
    if a.is_array or b.is_array:
        return "compare the elements: v[1]"
    if a.is_timestamp or b.is_timestamp:
        if a.is_text or b.is_text:
            return "write CAST(... AS TIMESTAMP)"
        return "a time is written as text, '2026-01-31T12:00:00'; ivo_to_mjd(...) makes a number of days of one"
    if a.is_boolean or b.is_boolean:
        said = "a condition is true by itself; a number is compared with 1 or 0"
        truths = (side for side in (left, right) if isinstance(side, Literal) and isinstance(side.value, bool))
        return Hint(said, tuple(Fix(side.span, str(int(bool(side.value)))) for side in truths))
    texts = [side for side in (left, right) if isinstance(side, Literal) and isinstance(side.value, str)]
    if texts and isinstance(left, Literal) and isinstance(right, Literal) and not about_number(texts[0]):
        return "names of columns are written without quotes, or in double quotes"
    for side in (left, right):
        if isinstance(side, Literal) and side.type.is_numeric:
            return Hint("texts are written in single quotes", (Fix(side.span, f"'{side.value}'"),))
        if side.type.is_text and (hint := about_number(side)):
            return hint
    return "numbers are written without quotes; CAST(... AS VARCHAR) makes a text of one"
