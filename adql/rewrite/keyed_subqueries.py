"""A correlated subquery made a query of its own, with keys among its outputs: all its answers at once.

The rows for one row of the query around are those whose keys equal, or are the same as, what that row has. Where the
subquery is tied by equalities alone, the keys are its own sides of them. Else it is joined to the distinct values that
the query around has of the columns in question (its domain: Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adql.errors import AdqlUnsupported, Span
from adql.ir import (
    Aggregate,
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    NameGenerator,
    Output,
    Query,
    Relation,
    Select,
    SetOperation,
    SubqueryExpr,
    Windowed,
    combine_conjuncts,
    derive_field,
    find_free_columns,
    is_correlated_by_where,
    split_conjuncts,
    substitute_in_expr,
    substitute_in_select,
    transform_expr,
    walk_expr,
    walk_join_conditions,
    walk_leaves,
    walk_used_columns,
)
from adql.rewrite.derived_tables import make_null, make_select, map_outputs, relation_numbers
from adql.rewrite.join_trees import replace_relation, turn_right_joins
from adql.rewrite.repeatable_relations import is_repeatable
from clickhouse_schema.datatypes import BOOLEAN, LONG, ColumnType

#: An output that is never NULL in a row, and makes groups of it
MARK = Aggregate(LONG, "COUNT", ())

#: How a key of the query is compared with a value of the row around: SQL's equality, or NULL as good as any value
EQUAL, SAME = "=", "SAME"


@dataclass(frozen=True, slots=True)
class KeyedQuery:
    """``query``'s first outputs are its keys, in the order of ``ties``: a value of the row around, and the operator."""

    query: Query
    ties: tuple[tuple[Expr, str], ...]

    @property
    def keys(self) -> int:
        return len(self.ties)


@dataclass(frozen=True, slots=True)
class OuterQuery:
    """The query around: its FROM, and what of its WHERE can be used to read less of it."""

    from_: Relation
    filters: tuple[Expr, ...]


def add_keys(
    query: Query, around: OuterQuery, fresh: NameGenerator, span: Span, *, exactly: bool = False, groups: bool = False
) -> KeyedQuery:
    """``query`` with keys. ``exactly``: no row may be made for values that the query around does not have.

    ``groups``: of set functions without GROUP BY only the rows that are not of nothing are asked for. Raises
    AdqlUnsupported where the query around cannot be read twice.
    """
    tied = _by_equalities(query, fresh) if groups or not is_one_row(query) else None
    if tied is not None:
        return tied
    values = find_free_columns(query)
    domain = _domain(values, around, span, exactly=exactly)
    if groups and isinstance(query, Select):
        of_domain = _of_domain(query, values, domain, fresh, span)
    else:
        of_domain = _joined(query, values, domain, fresh, span)
    return KeyedQuery(of_domain, tuple((value, SAME) for value in values))


def is_one_row(query: Query) -> bool:
    """Whether it is of set functions without GROUP BY, which give one row, of no rows too."""
    return isinstance(query, Select) and query.is_grouped and not query.group_by


def evaluate_without_rows(expr: Expr) -> Expr:
    """An expression of set functions for no rows."""
    return transform_expr(expr, _of_nothing)


def _of_nothing(expr: Expr) -> Expr:
    if not isinstance(expr, Aggregate):
        return expr
    return Literal(expr.type, 0) if expr.name == "COUNT" else make_typed_null(expr.type)


def make_typed_null(kind: ColumnType) -> Expr:
    return make_null(kind) if kind.is_array else Call(kind, "CAST", (make_null(kind),))


def list_columns(derived: Derived) -> list[Column]:
    return [Column(o.expr.type, derived.relation, o.alias, o.field) for o in derived.query.outputs]


# --- equalities -------------------------------------------------------------------------------------------------------


def _by_equalities(query: Query, fresh: NameGenerator) -> KeyedQuery | None:
    if not isinstance(query, Select) or not is_correlated_by_where(query):
        return None
    own = relation_numbers(query.from_)
    ties, keys, local = [], [], []
    for condition in split_conjuncts(query.where):
        if all(column.relation in own for column in walk_used_columns(condition)):
            local.append(condition)
            continue
        sides = _sides(condition, own)
        if sides is None:
            return None
        keys.append(sides[0])
        ties.append((sides[1], EQUAL))
    return KeyedQuery(_with_keys(replace(query, where=combine_conjuncts(local)), keys, fresh), tuple(ties))


def _sides(condition: Expr, own: frozenset[int]) -> tuple[Expr, Expr] | None:
    """Of ``own = around`` the two sides."""
    if not (isinstance(condition, Call) and condition.name == "="):
        return None
    if any(isinstance(part, SubqueryExpr) for part in walk_expr(condition)):
        return None
    for mine, theirs in (condition.args, condition.args[::-1]):
        used = [{column.relation in own for column in walk_used_columns(side)} for side in (mine, theirs)]
        if used == [{True}, {False}]:
            return mine, theirs
    return None


# --- domains ----------------------------------------------------------------------------------------------------------


def _domain(values: Sequence[Column], around: OuterQuery, span: Span, *, exactly: bool) -> Select:
    """``SELECT DISTINCT values FROM the query around``"""
    source, filters = around.from_, list(around.filters)
    used = {value.relation for value in values}
    if not exactly and len(used) == 1 and _is_inner(source):
        source = next(leaf for leaf in walk_leaves(source) if leaf.relation in used)
        filters = [f for f in filters if {column.relation for column in walk_used_columns(f)} <= used]
    if not is_repeatable(source):
        raise AdqlUnsupported(
            "a subquery is compared here with rows that may be others each time they are read (TOP, RAND)",
            span,
            "compare by equalities alone, or write a JOIN",
        )
    return Select(source, combine_conjuncts(filters), (), None, _as_outputs(values), True, (), None, 0)


def _as_outputs(values: Sequence[Column]) -> tuple[Output, ...]:
    """With names that do not matter: they are made anew wherever the domain is used."""
    return tuple(Output(value.name, value, value.field) for value in values)


def _is_inner(relation: Relation) -> bool:
    if not isinstance(relation, Join):
        return True
    return relation.kind == "INNER" and _is_inner(relation.left) and _is_inner(relation.right)


def _joined(query: Query, values: Sequence[Column], domain: Select, fresh: NameGenerator, span: Span) -> Query:
    """``query`` for each row of the domain: its values come first among the outputs."""
    if isinstance(query, SetOperation):
        left, right = (_joined(side, values, domain, fresh, span) for side in (query.left, query.right))
        keys = tuple(
            Output(fresh.new_alias(), Column(key.expr.type, query.relation, key.alias, key.field), key.field)
            for key in left.outputs[: len(values)]
        )
        combined = replace(
            query, left=left, right=right, outputs=(*keys, *query.outputs), order_by=(), limit=None, offset=0
        )
        return _ranked(combined, query, len(values), fresh)
    if is_one_row(query):
        return _with_nothing(query, values, domain, fresh, span)
    return _of_domain(query, values, domain, fresh, span)


def _read(domain: Select, fresh: NameGenerator) -> Derived:
    """The domain under names of its own."""
    outputs = tuple(replace(output, alias=fresh.new_alias()) for output in domain.outputs)
    return Derived(fresh.new_relation(), replace(domain, outputs=outputs))


def _with_nothing(query: Select, values: Sequence[Column], domain: Select, fresh: NameGenerator, span: Span) -> Select:
    """Set functions without GROUP BY: a row for each of the domain, be it of no rows."""
    having = Literal(BOOLEAN, False) if query.limit == 0 or query.offset else query.having
    exprs = [*(output.expr for output in query.outputs), *([] if having is None else [having])]
    plain = replace(make_select(query.from_, [*exprs, MARK], fresh), where=query.where)
    grouped = Derived(fresh.new_relation(), _of_domain(plain, values, domain, fresh, span))
    rows = _read(domain, fresh)
    names = map_outputs(values, rows)
    columns = list_columns(grouped)
    keys, found, mark = columns[: len(values)], columns[len(values) : -1], columns[-1]
    unmatched = Call(BOOLEAN, "IS NULL", (mark,))
    shown: list[Expr] = [
        Call(column.type, "CASE", (unmatched, substitute_in_expr(evaluate_without_rows(expr), names), column))
        for expr, column in zip(exprs, found, strict=True)
    ]
    same = [Call(BOOLEAN, SAME, (names[value], key)) for value, key in zip(values, keys, strict=True)]
    tied = Join("LEFT", rows, grouped, combine_conjuncts([*same]))
    count = len(query.outputs)
    whole = make_select(tied, [*names.values(), *shown[:count]], fresh, shown[count:])
    return _called(whole, [*(o.alias for o in whole.outputs[: len(values)]), *(o.alias for o in query.outputs)])


def _of_domain(query: Select, values: Sequence[Column], domain: Select, fresh: NameGenerator, span: Span) -> Query:
    derived = _read(domain, fresh)
    names = map_outputs(values, derived)
    select, same = _below(query, values, domain, names, fresh, span)
    select = substitute_in_select(select, names)
    from_, where = _beside(derived, select.from_, span), combine_conjuncts([*split_conjuncts(select.where), *same])
    return _with_keys(replace(select, from_=from_, where=where), [names[value] for value in values], fresh)


def _below(
    select: Select,
    values: Sequence[Column],
    domain: Select,
    names: dict[Column, Column],
    fresh: NameGenerator,
    span: Span,
) -> tuple[Select, list[Expr]]:
    """Correlated derived tables of FROM with keys of their own, and the conditions that tie these to the domain."""
    same: list[Expr] = []
    for leaf in [*walk_leaves(select.from_)]:
        if not (isinstance(leaf, Derived) and find_free_columns(leaf.query)):
            continue
        if not _is_inner(select.from_):
            raise AdqlUnsupported(
                "a subquery in FROM uses the query around in an outer join", span, "write it as an INNER JOIN"
            )
        inside = _joined(leaf.query, values, domain, fresh, span)
        for value, output in zip(values, inside.outputs[: len(values)], strict=True):
            key = Column(value.type, leaf.relation, output.alias, output.field)
            same.append(Call(BOOLEAN, SAME, (names[value], key)))
        select = replace(select, from_=replace_relation(select.from_, leaf, Derived(leaf.relation, inside)))
    return select, same


def _beside(domain: Derived, tree: Relation, span: Span) -> Relation:
    """The domain joined to a FROM, some of whose ON may use it."""
    tree = turn_right_joins(tree)
    if not any(
        column.relation == domain.relation for on in walk_join_conditions(tree) for column in walk_used_columns(on)
    ):
        return Join("INNER", domain, tree, None)
    leaf, spine = tree, tree
    while isinstance(spine, Join):
        inside = any(
            c.relation == domain.relation for on in walk_join_conditions(spine.right) for c in walk_used_columns(on)
        )
        if spine.kind == "FULL" or inside:
            raise AdqlUnsupported(
                "the ON of a FULL or nested join uses the query around this subquery", span, "use it in WHERE"
            )
        leaf = spine = spine.left
    return replace_relation(tree, leaf, Join("INNER", domain, leaf, None))


# --- keys among the outputs -------------------------------------------------------------------------------------------


def _with_keys(select: Select, keys: Sequence[Expr], fresh: NameGenerator) -> Query:
    """The keys come first among the outputs. Groups, windows and TOP are per key."""

    def per_key(expr: Expr) -> Expr:
        if isinstance(expr, Windowed):
            return replace(expr, partition_by=(*keys, *expr.partition_by))
        return expr

    first = tuple(Output(alias := fresh.new_alias(), key, derive_field(key, alias)) for key in keys)
    rest = tuple(replace(output, expr=transform_expr(output.expr, per_key)) for output in select.outputs)
    order_by = tuple(replace(order, expr=transform_expr(order.expr, per_key)) for order in select.order_by)
    group_by = (*keys, *select.group_by) if select.is_grouped else ()
    plain = replace(select, group_by=group_by, outputs=(*first, *rest), order_by=(), limit=None, offset=0)
    return _ranked(plain, replace(select, order_by=order_by), len(keys), fresh)


def _ranked(plain: Query, asked: Query, keys: int, fresh: NameGenerator) -> Query:
    """Of ``plain``, which has keys, the rows that ORDER BY, TOP and OFFSET of ``asked`` leave for each key."""
    if asked.limit is None and not asked.offset:
        return plain
    shown = len(plain.outputs)
    places = []
    for order in asked.order_by:
        place = next((i for i, output in enumerate(plain.outputs) if output.expr == order.expr), None)
        if place is None:
            place = len(plain.outputs)
            alias = fresh.new_alias()
            plain = replace(plain, outputs=(*plain.outputs, Output(alias, order.expr, derive_field(order.expr, alias))))
        places.append(place)
    rows = Derived(fresh.new_relation(), plain)
    columns = list_columns(rows)
    order_by = tuple(replace(o, expr=columns[i]) for o, i in zip(asked.order_by, places, strict=True))
    number = Windowed(LONG, "ROW_NUMBER", (), tuple(columns[:keys]), order_by)
    numbered = Derived(fresh.new_relation(), make_select(rows, [*columns[:shown], number], fresh))
    *columns, number_column = list_columns(numbered)
    wanted: list[Expr] = [Call(BOOLEAN, ">", (number_column, Literal(LONG, asked.offset)))]
    if asked.limit is not None:
        wanted.append(Call(BOOLEAN, "<=", (number_column, Literal(LONG, asked.offset + asked.limit))))
    return _called(make_select(numbered, columns, fresh, wanted), [o.alias for o in plain.outputs[:shown]])


def _called(select: Select, aliases: Sequence[str]) -> Select:
    """With these names of its outputs, by which it is known outside."""
    return replace(
        select, outputs=tuple(replace(o, alias=alias) for o, alias in zip(select.outputs, aliases, strict=True))
    )
