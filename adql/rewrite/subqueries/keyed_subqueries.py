"""Add keys to a correlated subquery, which make it independent: the rows for an outer row have the same key.

If only equalities tie the subquery to the outer query, the keys are its sides of the equalities. Otherwise it is joined
to the values of the outer query (``subquery_domains``).

    (SELECT b.x FROM b WHERE b.a = a.id)       becomes SELECT b.a, b.x FROM b, joined by a.id = b.a
"""

from __future__ import annotations

from dataclasses import dataclass

from adql.errors import Span
from adql.ir import (
    Call,
    Expr,
    Query,
    Select,
    TranslationContext,
    combine_conjuncts,
    find_free_columns,
    is_correlated_by_where,
    split_conjuncts,
    walk_used_columns,
)
from adql.node_classes import replace
from adql.rewrite.subqueries.single_group_queries import is_one_row
from adql.rewrite.subqueries.subquery_domains import Domain, OuterQuery
from adql.rewrite.subqueries.subquery_keys import prepend_keys
from adql.rewrite.trees.relation_trees import collect_numbers, has_subquery

__all__ = ["KeyedQuery", "OuterQuery", "add_keys", "add_keys_per_group"]


@dataclass(frozen=True, slots=True)
class KeyedQuery:
    """A query whose first outputs are its keys.

    ``ties``: for each key, the value of the outer row and the operator that compares them, ``=`` or ``SAME``.
    """

    query: Query
    ties: tuple[tuple[Expr, str], ...]


def add_keys(
    query: Query, outer: OuterQuery, context: TranslationContext, span: Span, *, is_exact: bool = False
) -> KeyedQuery:
    """Add keys to a correlated subquery.

    Parameters
    ----------
    query
        The subquery.
    outer
        The outer query.
    context
        Generates names.
    span
        The span of the subquery, for errors.
    is_exact
        Whether no row may be computed for values that the outer query does not have.

    Raises
    ------
    AdqlUnsupported
        If the outer query cannot be read twice.
    """
    keyed = None if is_one_row(query) else _key_by_equalities(query, context)
    if keyed is not None:
        return keyed
    values = find_free_columns(query)
    domain = Domain.from_outer(values, outer, context, span, is_exact=is_exact)
    return KeyedQuery(domain.join_query(query), tuple((value, "SAME") for value in values))


def add_keys_per_group(query: Select, outer: OuterQuery, context: TranslationContext, span: Span) -> KeyedQuery:
    """Add keys to set functions without GROUP BY; keys without matching rows are omitted."""
    keyed = _key_by_equalities(query, context)
    if keyed is not None:
        return keyed
    values = find_free_columns(query)
    domain = Domain.from_outer(values, outer, context, span, is_exact=False)
    return KeyedQuery(domain.join_select(query), tuple((value, "SAME") for value in values))


def _key_by_equalities(query: Query, context: TranslationContext) -> KeyedQuery | None:
    if not isinstance(query, Select) or not is_correlated_by_where(query):
        return None
    own = collect_numbers(query.from_)
    ties, keys, local = [], [], []
    for condition in split_conjuncts(query.where):
        if all(column.relation in own for column in walk_used_columns(condition)):
            local.append(condition)
            continue
        sides = _split_equality(condition, own)
        if sides is None:
            return None
        key, value = sides
        keys.append(key)
        ties.append((value, "="))
    select = replace(query, where=combine_conjuncts(local))
    return KeyedQuery(prepend_keys(select, keys, context), tuple(ties))


def _split_equality(condition: Expr, own: frozenset[int]) -> tuple[Expr, Expr] | None:
    """Return the own side and the outer side of an equality; None for another condition."""
    if not (isinstance(condition, Call) and condition.name == "="):
        return None
    if has_subquery(condition):
        return None
    for inner, outer in (condition.args, condition.args[::-1]):
        is_own = [{column.relation in own for column in walk_used_columns(side)} for side in (inner, outer)]
        if is_own == [{True}, {False}]:
            return inner, outer
    return None
