"""Functions that make derived tables of parts of FROM, with the columns that the query uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from adql.ir import (
    UNTYPED,
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    Output,
    Query,
    Relation,
    Select,
    SetOperation,
    TranslationContext,
    combine_conjuncts,
    derive_field,
    has_window,
    map_select,
    transform_expr,
    walk_columns,
    walk_leaves,
    walk_select_expressions,
)
from adql.node_classes import replace
from adql.rewrite.trees.relation_trees import collect_numbers, replace_relation
from clickhouse_schema.datatypes import INT, ColumnType

ONE = Literal(INT, 1)

AnyExpr = TypeVar("AnyExpr", bound=Expr)


class DerivedBuilder:
    """Makes a derived table of a part of the FROM of a SELECT.

    Its outputs are the columns that the rest of the SELECT uses, and the expressions that ``export_expr`` adds before
    ``build_derived``.

    Parameters
    ----------
    relation
        The part of FROM.
    select
        The SELECT. It is not changed: the caller replaces ``relation`` in it and calls ``rename_select``.
    context
        Generates the relation number and the aliases of the derived table.
    """

    def __init__(self, relation: Relation, select: Select, context: TranslationContext) -> None:
        self.relation = relation
        self._context = context
        self._number = context.names.new_relation()
        used = find_columns_used_outside(relation, select)
        self._outputs = [Output(context.names.new_alias(), column, column.field) for column in used]
        self._alias = {output.expr: output.alias for output in self._outputs}

    def export_expr(self, expr: Expr) -> Column:
        """Add an expression to the outputs, unless they have it already.

        Parameters
        ----------
        expr
            An expression of columns of ``relation``.

        Returns
        -------
        Column
            The column of the derived table that has its value.
        """
        alias = self._alias.get(expr)
        if alias is None:
            alias = self._context.names.new_alias()
            self._outputs.append(Output(alias, expr, derive_field(expr, alias)))
            self._alias[expr] = alias
        output = next(o for o in self._outputs if o.alias == alias)
        return Column(expr.type, self._number, alias, output.field)

    @property
    def exported_columns(self) -> list[Column]:
        """The columns of the derived table that are columns of ``relation``."""
        exported = [output for output in self._outputs if isinstance(output.expr, Column)]
        return [Column(o.expr.type, self._number, o.alias, o.field) for o in exported]

    def build_derived(self, where: Sequence[Expr] = ()) -> Derived:
        """Make the derived table.

        Parameters
        ----------
        where
            Conditions on columns of ``relation``, which select its rows.

        Returns
        -------
        Derived
            The derived table with all outputs so far; with the output 1 if there are none.
        """
        if not self._outputs:
            self.export_expr(ONE)
        select = Select(self.relation, combine_conjuncts([*where]), (), None, tuple(self._outputs), False, (), None, 0)
        return Derived(self._number, select)

    def rename_expr(self, expr: Expr) -> Expr:
        """Return ``expr`` with the exported columns of ``relation`` read from the derived table."""

        def change(part: Expr) -> Expr:
            if not isinstance(part, Column) or part not in self._alias:
                return part
            return Column(part.type, self._number, self._alias[part], part.field, span=part.span)

        return transform_expr(expr, change)

    def rename_select(self, select: Select) -> Select:
        """Return ``select`` with the exported columns of ``relation`` read from the derived table."""
        return map_select(select, self.rename_expr)


def wrap_relation(
    select: Select, relation: Relation, context: TranslationContext, where: Sequence[Expr] = ()
) -> Select:
    """Replace a part of FROM by the derived table ``(SELECT ... FROM relation WHERE where)``.

    Parameters
    ----------
    select
        The SELECT.
    relation
        The part of its FROM.
    context
        Generates relation numbers and aliases.
    where
        Conditions on columns of ``relation``, which the derived table gets.

    Returns
    -------
    Select
        The SELECT, with all columns of ``relation`` read from the derived table.
    """
    builder = DerivedBuilder(relation, select, context)
    derived = builder.build_derived(where)
    return builder.rename_select(replace(select, from_=replace_relation(select.from_, relation, derived)))


def make_derived(
    from_: Relation, exprs: Sequence[Expr], context: TranslationContext, where: Sequence[Expr] = ()
) -> Derived:
    """Make the derived table ``(SELECT exprs FROM from_ WHERE where)``.

    Parameters
    ----------
    from_
        Its FROM.
    exprs
        The expressions of its outputs; 1 if there are none.
    context
        Generates relation numbers and aliases.
    where
        The conjuncts of its WHERE.

    Returns
    -------
    Derived
        The derived table, with new aliases; see ``map_outputs``.
    """
    return Derived(context.names.new_relation(), make_select(from_, exprs, context, where))


def make_select(
    from_: Relation, exprs: Sequence[Expr], context: TranslationContext, where: Sequence[Expr] = ()
) -> Select:
    """Make ``SELECT exprs FROM from_ WHERE where``.

    Parameters
    ----------
    from_
        Its FROM.
    exprs
        The expressions of its outputs; 1 if there are none.
    context
        Generates relation numbers and aliases.
    where
        The conjuncts of its WHERE.

    Returns
    -------
    Select
        The SELECT, with new aliases.
    """
    exprs = exprs or (ONE,)
    aliases = [context.names.new_alias() for _ in exprs]
    outputs = tuple(Output(alias, expr, derive_field(expr, alias)) for alias, expr in zip(aliases, exprs, strict=True))
    return Select(from_, combine_conjuncts([*where]), (), None, outputs, False, (), None, 0)


def map_outputs(exprs: Sequence[AnyExpr], derived: Derived) -> dict[AnyExpr, Column]:
    """Map expressions to the columns of a derived table of ``make_derived``.

    Parameters
    ----------
    exprs
        The expressions from which ``make_derived`` made it.
    derived
        The derived table.

    Returns
    -------
    dict
        Expression -> column of the derived table.
    """
    return dict(zip(exprs, list_columns(derived), strict=bool(exprs)))


def list_columns(derived: Derived) -> list[Column]:
    """Return the columns of a derived table, in its order."""
    return [Column(o.expr.type, derived.relation, o.alias, o.field) for o in derived.query.outputs]


def is_row_by_row(query: Query) -> bool:
    """Return whether each row of a query comes from one row of its FROM, independently of the other rows.

    Parameters
    ----------
    query
        The query.

    Returns
    -------
    bool
        False for set operations, groups, DISTINCT, TOP, OFFSET and window functions.
    """
    if not isinstance(query, Select) or query.limit is not None or query.offset:
        return False
    return not (query.is_grouped or query.distinct or has_window(query))


def make_union(left: Select, right: Select, context: TranslationContext) -> Derived:
    """Make the derived table ``(left UNION ALL right)``.

    Parameters
    ----------
    left, right
        SELECTs with the same number of outputs.
    context
        Generates relation numbers and aliases.

    Returns
    -------
    Derived
        The derived table, with the types and fields of ``left``.
    """
    number = context.names.new_relation()
    outputs = tuple(
        Output(context.names.new_alias(), Column(o.expr.type, number, o.alias, o.field), o.field) for o in left.outputs
    )
    return Derived(context.names.new_relation(), SetOperation("UNION", True, left, right, number, outputs, (), None, 0))


def rename_columns(select: Select, names: Mapping[Column, Column]) -> Select:
    """Replace columns of a SELECT.

    Parameters
    ----------
    select
        The SELECT.
    names
        Column -> the column that replaces it.

    Returns
    -------
    Select
        The changed SELECT.
    """

    def change(part: Expr) -> Expr:
        return names.get(part, part) if isinstance(part, Column) else part

    return map_select(select, lambda expr: transform_expr(expr, change))


def make_null(kind: ColumnType) -> Expr:
    """Return NULL of a type.

    Parameters
    ----------
    kind
        The type.

    Returns
    -------
    Expr
        A bare NULL, which converts to any type; an empty array for arrays, which cannot be NULL.
    """
    null = Literal(UNTYPED, None)
    return Call(kind, "COALESCE", (null,)) if kind.is_array else null


def find_columns_used_outside(relation: Relation, select: Select) -> list[Column]:
    """Find the columns of a part of FROM that the rest of a SELECT uses.

    Parameters
    ----------
    relation
        The part of FROM.
    select
        The SELECT.

    Returns
    -------
    list[Column]
        The columns, each once.
    """
    inside = collect_numbers(relation)
    outside = walk_select_expressions(replace(select, from_=_remove_conditions_inside(select.from_, relation)))
    return [*dict.fromkeys(c for e in outside for c in walk_columns(e) if c.relation in inside)]


def _remove_conditions_inside(tree: Relation, part: Relation) -> Relation:
    if not isinstance(tree, Join):
        return tree
    if tree is part:
        return next(walk_leaves(tree))
    left, right = _remove_conditions_inside(tree.left, part), _remove_conditions_inside(tree.right, part)
    return replace(tree, left=left, right=right)
