"""What a subquery takes from the queries around it: its free columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from adql.ir.expression_nodes import Column, Expr
from adql.ir.expression_traversal import transform, walk
from adql.ir.query_nodes import Derived, Join, Query, Relation, Scan, Select, SetOperation, SubqueryExpr
from adql.ir.query_traversal import map_select, relations, select_expressions


def free(query: Query) -> tuple[Column, ...]:
    """The columns of queries around that ``query`` uses, at any depth, each once."""
    if isinstance(query, SetOperation):
        return tuple(dict.fromkeys((*free(query.left), *free(query.right))))
    own = {leaf.relation for leaf in relations(query.from_)}
    used = [column for expr in select_expressions(query) for column in free_of(expr) if column.relation not in own]
    inside = [column for leaf in relations(query.from_) if isinstance(leaf, Derived) for column in free(leaf.query)]
    return tuple(dict.fromkeys((*used, *inside)))


def free_of(expr: Expr) -> Iterator[Column]:
    """The columns of an expression, with the free ones of its subqueries."""
    for part in walk(expr):
        if isinstance(part, Column):
            yield part
        elif isinstance(part, SubqueryExpr):
            yield from free(part.query)


def is_correlated(expr: Expr) -> bool:
    return isinstance(expr, SubqueryExpr) and bool(free(expr.query))


def has_correlated(expr: Expr) -> bool:
    """Whether some part of it is a correlated subquery."""
    return any(is_correlated(part) for part in walk(expr))


def substituted(query: Query, names: Mapping[Column, Expr]) -> Query:
    """``query`` with free columns exchanged, at every depth."""
    if isinstance(query, SetOperation):
        return replace(query, left=substituted(query.left, names), right=substituted(query.right, names))
    return substituted_select(query, names)


def substituted_select(select: Select, names: Mapping[Column, Expr]) -> Select:
    own = {leaf.relation for leaf in relations(select.from_)}
    names = {column: expr for column, expr in names.items() if column.relation not in own}
    if not names:
        return select
    select = replace(select, from_=_in_tree(select.from_, names))
    return map_select(select, lambda expr: substituted_in(expr, names))


def substituted_in(expr: Expr, names: Mapping[Column, Expr]) -> Expr:
    def change(part: Expr) -> Expr:
        if isinstance(part, Column):
            return names.get(part, part)
        if isinstance(part, SubqueryExpr):
            return replace(part, query=substituted(part.query, names))
        return part

    return transform(expr, change)


def _in_tree(relation: Relation, names: Mapping[Column, Expr]) -> Relation:
    """Below derived tables; ``map_select`` sees to the conditions."""
    if isinstance(relation, Scan):
        return relation
    if isinstance(relation, Derived):
        return Derived(relation.relation, substituted(relation.query, names))
    return Join(relation.kind, _in_tree(relation.left, names), _in_tree(relation.right, names), relation.condition)


def is_plain(select: Select) -> bool:
    """Whether a query is correlated by conjuncts of its WHERE alone, none of which has a subquery in it."""
    if any(isinstance(leaf, Derived) and free(leaf.query) for leaf in relations(select.from_)):
        return False
    own = {leaf.relation for leaf in relations(select.from_)}
    elsewhere = select_expressions(replace(select, where=None))
    return all(column.relation in own for expr in elsewhere for column in free_of(expr))
