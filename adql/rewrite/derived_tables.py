"""A part of FROM made a derived table, with the columns that the query uses of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from adql.ir import (
    UNTYPED,
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    NameGenerator,
    Output,
    Relation,
    Select,
    combine_conjuncts,
    derive_field,
    map_select,
    transform_expr,
    walk_columns,
    walk_leaves,
    walk_select_expressions,
)
from clickhouse_schema.datatypes import INT, ColumnType

ONE = Literal(INT, 1)

AnyExpr = TypeVar("AnyExpr", bound=Expr)


class DerivedBuilder:
    """``relation`` as a derived table: ``outputs`` may be added to with ``export`` until ``derived`` is asked for."""

    def __init__(self, relation: Relation, select: Select, fresh: NameGenerator) -> None:
        self.relation = relation
        self._fresh = fresh
        self.number = fresh.new_relation()
        self._outputs = [
            Output(fresh.new_alias(), column, column.field) for column in find_columns_used_outside(relation, select)
        ]
        self._alias = {output.expr: output.alias for output in self._outputs}

    def export_expr(self, expr: Expr) -> Column:
        """The column of the derived table that holds ``expr`` of the wrapped relation."""
        alias = self._alias.get(expr)
        if alias is None:
            alias = self._fresh.new_alias()
            self._outputs.append(Output(alias, expr, derive_field(expr, alias)))
            self._alias[expr] = alias
        output = next(o for o in self._outputs if o.alias == alias)
        return Column(expr.type, self.number, alias, output.field)

    @property
    def exported_columns(self) -> list[Column]:
        """Of the wrapped relation, as they are called in the derived table."""
        return [Column(o.expr.type, self.number, o.alias, o.field) for o in self._outputs if isinstance(o.expr, Column)]

    def build_derived(self, where: list[Expr] | None = None) -> Derived:
        if not self._outputs:
            self.export_expr(ONE)
        select = Select(
            self.relation, combine_conjuncts(where or []), (), None, tuple(self._outputs), False, (), None, 0
        )
        return Derived(self.number, select)

    def rename_expr(self, expr: Expr) -> Expr:
        """``expr`` with the wrapped columns read from the derived table."""

        def change(part: Expr) -> Expr:
            if not isinstance(part, Column) or part not in self._alias:
                return part
            return Column(part.type, self.number, self._alias[part], part.field, span=part.span)

        return transform_expr(expr, change)

    def rename_select(self, select: Select) -> Select:
        return map_select(select, self.rename_expr)


def make_derived(from_: Relation, exprs: Sequence[Expr], fresh: NameGenerator, where: Sequence[Expr] = ()) -> Derived:
    """``(SELECT exprs FROM from_ WHERE where)``"""
    return Derived(fresh.new_relation(), make_select(from_, exprs, fresh, where))


def make_select(from_: Relation, exprs: Sequence[Expr], fresh: NameGenerator, where: Sequence[Expr] = ()) -> Select:
    """A SELECT has an output, be it a 1."""
    aliases = [fresh.new_alias() for _ in exprs or (ONE,)]
    outputs = tuple(
        Output(alias, expr, derive_field(expr, alias)) for alias, expr in zip(aliases, exprs or (ONE,), strict=True)
    )
    return Select(from_, combine_conjuncts([*where]), (), None, outputs, False, (), None, 0)


def map_outputs(exprs: Sequence[AnyExpr], derived: Derived) -> dict[AnyExpr, Column]:
    """The columns of a derived table of ``selected`` by what they are made of."""
    pairs = zip(exprs, derived.query.outputs, strict=bool(exprs))
    return {expr: Column(o.expr.type, derived.relation, o.alias, o.field) for expr, o in pairs}


def rename_columns(select: Select, names: Mapping[Column, Column]) -> Select:
    """``select`` with columns exchanged."""

    def change(part: Expr) -> Expr:
        return names.get(part, part) if isinstance(part, Column) else part

    return map_select(select, lambda expr: transform_expr(expr, change))


def make_null(kind: ColumnType) -> Expr:
    """NULL, which for arrays is the empty one."""
    null = Literal(UNTYPED, None)
    return Call(kind, "COALESCE", (null,)) if kind.is_array else null


def relation_numbers(relation: Relation) -> frozenset[int]:
    """Of the relations below."""
    return frozenset(leaf.relation for leaf in walk_leaves(relation))


def find_columns_used_outside(relation: Relation, select: Select) -> list[Column]:
    """The columns of a part of FROM that the rest of ``select`` names."""
    inside = {leaf.relation for leaf in walk_leaves(relation)}
    outside = walk_select_expressions(replace(select, from_=_without_inside(select.from_, relation)))
    return [*dict.fromkeys(c for e in outside for c in walk_columns(e) if c.relation in inside)]


def _without_inside(tree: Relation, part: Relation) -> Relation:
    """``tree`` without the conditions inside of ``part``."""
    if not isinstance(tree, Join):
        return tree
    if tree is part:
        return next(walk_leaves(tree))
    return replace(tree, left=_without_inside(tree.left, part), right=_without_inside(tree.right, part))
