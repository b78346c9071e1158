"""Conditions on the outputs of a derived table, put into the SELECTs that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    NameGenerator,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    combine_conjuncts,
    has_window,
    split_conjuncts,
    walk_leaves,
)
from adql.rewrite.derived_tables import DerivedBuilder
from adql.rewrite.join_trees import replace_relation
from clickhouse_schema.datatypes import DOUBLE, FLOAT


def find_origins(leaf: Relation | None, names: tuple[str, ...]) -> Iterator[tuple[Scan, tuple[str, ...]]]:
    """The stored tables, and names there, that columns of ``leaf`` come from, where they may as well be tested."""
    if isinstance(leaf, Scan):
        yield leaf, names
    elif isinstance(leaf, Derived):
        yield from _origins(leaf.query, names)


def _origins(query: Query, names: tuple[str, ...]) -> Iterator[tuple[Scan, tuple[str, ...]]]:
    columns = _inner(query, names)
    if columns is None:
        return
    if isinstance(query, Select):
        number = columns[0].relation
        leaf = next((leaf for leaf in walk_leaves(query.from_) if leaf.relation == number), None)
        yield from find_origins(leaf, tuple(column.name for column in columns))
        return
    for side, of_side in _sides(query, columns):
        yield from _origins(side, of_side)


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on columns of a table, which leaves the result as it is; made for the columns there or deeper."""

    columns: tuple[Column, ...]
    make_condition: Callable[[tuple[Column, ...]], Expr]


def add_filters(
    select: Select, leaf: Scan | Derived, hints: list[Filter], fresh: NameGenerator, *, sure: bool
) -> Select:
    """``select`` with hints on a table of its FROM: in the SELECTs that a derived table comes from.

    For a stored table they stand in WHERE if all rows of use have a row of it (``sure``), else in a derived table made
    around it.
    """
    if not hints:
        return select
    if isinstance(leaf, Derived):
        query = leaf.query
        for hint in hints:
            query = _push_down(query, tuple(column.name for column in hint.columns), hint.make_condition)
        return replace(select, from_=replace_relation(select.from_, leaf, Derived(leaf.relation, query)))
    conditions = [hint.make_condition(hint.columns) for hint in hints]
    if sure:
        return replace(select, where=combine_conjuncts([*split_conjuncts(select.where), *conditions]))
    wrapped = DerivedBuilder(leaf, select, fresh)
    return wrapped.rename_select(
        replace(select, from_=replace_relation(select.from_, leaf, wrapped.build_derived(conditions)))
    )


def _push_down(query: Query, names: tuple[str, ...], condition: Callable[[tuple[Column, ...]], Expr]) -> Query:
    """``query`` with a condition on its outputs ``names``, made for the columns that they are inside."""
    columns = _inner(query, names)
    if columns is None:
        return query
    if isinstance(query, Select):
        return replace(query, where=combine_conjuncts([*split_conjuncts(query.where), condition(columns)]))
    left, right = (_push_down(side, of_side, condition) for side, of_side in _sides(query, columns))
    return replace(query, left=left, right=right)


def _inner(query: Query, names: tuple[str, ...]) -> tuple[Column, ...] | None:
    """The columns that outputs are, of one relation, if a condition on them may as well be tested inside of the query.

    It may not where rows are counted before it (TOP, OFFSET, window functions), or groups are not made by them.
    """
    if query.limit is not None or query.offset or has_window(query):
        return None
    found = {output.alias: _uncast(output.expr) for output in query.outputs if output.alias in names}
    columns = tuple(c for name in names if isinstance(c := found[name], Column))
    if len(columns) < len(names) or len({c.relation for c in columns}) > 1:
        return None
    if isinstance(query, Select) and query.is_grouped and not {*columns} <= {*query.group_by}:
        return None
    return columns


def _uncast(expr: Expr) -> Expr:
    """Without a CAST that changes no coordinate, as both sides of a set operation have it."""
    if isinstance(expr, Call) and expr.name == "CAST" and len(expr.args) == 1:
        inner = expr.args[0]
        if expr.type == inner.type or (expr.type == DOUBLE and inner.type == FLOAT):
            return inner
    return expr


def _sides(query: SetOperation, columns: tuple[Column, ...]) -> Iterator[tuple[Query, tuple[str, ...]]]:
    """Both sides with their names of the columns, which have the left one's names."""
    place = {output.alias: i for i, output in enumerate(query.left.outputs)}
    places = [place[column.name] for column in columns]
    for side in (query.left, query.right):
        yield side, tuple(side.outputs[i].alias for i in places)
