"""Join a subquery to its domain: the distinct values of the outer columns that it uses.

After Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015.

    SELECT (SELECT MAX(b.x) FROM b WHERE b.x < a.y) FROM a
    the subquery becomes SELECT d.y, MAX(b.x) FROM (SELECT DISTINCT y FROM a) AS d, b WHERE b.x < d.y GROUP BY d.y
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adql.errors import AdqlUnsupported, Span
from adql.ir import (
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
    find_free_columns,
    split_conjuncts,
    substitute_in_expr,
    substitute_in_select,
    walk_join_conditions,
    walk_leaves,
    walk_used_columns,
)
from adql.node_classes import replace
from adql.rewrite.joins.join_trees import turn_right_joins
from adql.rewrite.subqueries.single_group_queries import GROUP_MARK, evaluate_without_rows, is_one_row
from adql.rewrite.subqueries.subquery_keys import limit_per_key, prepend_keys, rename_outputs
from adql.rewrite.trees.derived_tables import list_columns, make_select, map_outputs
from adql.rewrite.trees.relation_trees import replace_relation
from adql.rewrite.trees.repeatable_relations import is_repeatable
from clickhouse_schema.datatypes import BOOLEAN


@dataclass(frozen=True, slots=True)
class OuterQuery:
    """The outer query: its FROM, and the conditions of its WHERE that a domain may use to read fewer rows."""

    from_: Relation
    filters: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """``SELECT DISTINCT values FROM`` the outer query, for a subquery at ``span``."""

    values: Sequence[Column]
    select: Select
    context: TranslationContext
    span: Span

    @classmethod
    def from_outer(
        cls, values: Sequence[Column], outer: OuterQuery, context: TranslationContext, span: Span, *, is_exact: bool
    ) -> Domain:
        """Make the domain of columns.

        Parameters
        ----------
        values
            The columns.
        outer
            The outer query.
        context
            Generates names.
        span
            The span of the subquery, for errors.
        is_exact
            Whether to exclude values of rows that joins remove.

        Raises
        ------
        AdqlUnsupported
            If the outer query cannot be read twice.
        """
        source, filters = outer.from_, list(outer.filters)
        used = {value.relation for value in values}
        if not is_exact and len(used) == 1 and _has_only_inner_joins(source):
            source = next(leaf for leaf in walk_leaves(source) if leaf.relation in used)
            filters = [f for f in filters if {column.relation for column in walk_used_columns(f)} <= used]
        if not is_repeatable(source):
            raise AdqlUnsupported(
                "this subquery depends on rows that may differ each time they are read (TOP, RAND)",
                span,
                "use only equalities with columns of the outer query, or write a JOIN",
            )
        # each use of the domain replaces these aliases
        outputs = tuple(Output(value.name, value, value.field) for value in values)
        select = Select(source, combine_conjuncts(filters), (), None, outputs, True, (), None, 0)
        return cls(values, select, context, span)

    def join_query(self, query: Query) -> Query:
        """Return ``query`` for each row of the domain, with the values of the domain as first outputs."""
        if isinstance(query, SetOperation):
            return self._join_set_operation(query)
        if is_one_row(query):
            return self._join_with_empty_groups(query)
        return self.join_select(query)

    def join_select(self, query: Select) -> Query:
        """Return ``query`` for each row of the domain for which it has rows."""
        derived = self._make_derived()
        names = map_outputs(self.values, derived)
        select, ties = self._join_inner_tables(query, names)
        select = substitute_in_select(select, names)
        from_ = self._join_from(derived, select.from_)
        where = combine_conjuncts([*split_conjuncts(select.where), *ties])
        keys = [names[value] for value in self.values]
        return prepend_keys(replace(select, from_=from_, where=where), keys, self.context)

    def _join_set_operation(self, query: SetOperation) -> Query:
        left, right = self.join_query(query.left), self.join_query(query.right)
        count = len(self.values)
        keys = tuple(
            Output(
                self.context.names.new_alias(), Column(key.expr.type, query.relation, key.alias, key.field), key.field
            )
            for key in left.outputs[:count]
        )
        outputs = (*keys, *query.outputs)
        combined = replace(query, left=left, right=right, outputs=outputs, order_by=(), limit=None, offset=0)
        return limit_per_key(combined, query, count, self.context)

    def _join_with_empty_groups(self, query: Select) -> Select:
        """Return a row for each row of the domain, even if the set functions of ``query`` have no rows."""
        having = Literal(BOOLEAN, False) if query.limit == 0 or query.offset else query.having
        exprs = [*(output.expr for output in query.outputs), *([] if having is None else [having])]
        plain = replace(make_select(query.from_, [*exprs, GROUP_MARK], self.context), where=query.where)
        grouped = Derived(self.context.names.new_relation(), self.join_select(plain))
        rows = self._make_derived()
        names = map_outputs(self.values, rows)
        columns = list_columns(grouped)
        count = len(self.values)
        keys, found, mark = columns[:count], columns[count:-1], columns[-1]
        is_empty = Call(BOOLEAN, "IS NULL", (mark,))
        shown: list[Expr] = [
            Call(column.type, "CASE", (is_empty, substitute_in_expr(evaluate_without_rows(expr), names), column))
            for expr, column in zip(exprs, found, strict=True)
        ]
        ties = [Call(BOOLEAN, "SAME", (names[value], key)) for value, key in zip(self.values, keys, strict=True)]
        joined = Join("LEFT", rows, grouped, combine_conjuncts([*ties]))
        outputs, conditions = shown[: len(query.outputs)], shown[len(query.outputs) :]
        complete = make_select(joined, [*names.values(), *outputs], self.context, conditions)
        aliases = [*(o.alias for o in complete.outputs[:count]), *(o.alias for o in query.outputs)]
        return rename_outputs(complete, aliases)

    def _make_derived(self) -> Derived:
        """Return the domain with new aliases."""
        outputs = tuple(replace(output, alias=self.context.names.new_alias()) for output in self.select.outputs)
        return Derived(self.context.names.new_relation(), replace(self.select, outputs=outputs))

    def _join_inner_tables(self, select: Select, names: dict[Column, Column]) -> tuple[Select, list[Expr]]:
        """Join the correlated derived tables of FROM to the domain; return also the conditions that tie them to it."""
        ties: list[Expr] = []
        for leaf in [*walk_leaves(select.from_)]:
            if not (isinstance(leaf, Derived) and find_free_columns(leaf.query)):
                continue
            if not _has_only_inner_joins(select.from_):
                raise AdqlUnsupported(
                    "a subquery in an outer join uses columns of the outer query",
                    self.span,
                    "write it as an INNER JOIN",
                )
            joined = self.join_query(leaf.query)
            for value, output in zip(self.values, joined.outputs[: len(self.values)], strict=True):
                key = Column(value.type, leaf.relation, output.alias, output.field)
                ties.append(Call(BOOLEAN, "SAME", (names[value], key)))
            select = replace(select, from_=replace_relation(select.from_, leaf, Derived(leaf.relation, joined)))
        return select, ties

    def _join_from(self, domain: Derived, tree: Relation) -> Relation:
        """Join the domain to a FROM whose ON may use it."""
        tree = turn_right_joins(tree)
        if not _uses_in_on(tree, domain):
            return Join("INNER", domain, tree, None)
        first = tree
        while isinstance(first, Join):
            if first.kind == "FULL" or _uses_in_on(first.right, domain):
                raise AdqlUnsupported(
                    "the ON of a FULL or nested join uses columns of the outer query", self.span, "use them in WHERE"
                )
            first = first.left
        return replace_relation(tree, first, Join("INNER", domain, first, None))


def _has_only_inner_joins(relation: Relation) -> bool:
    if not isinstance(relation, Join):
        return True
    return relation.kind == "INNER" and _has_only_inner_joins(relation.left) and _has_only_inner_joins(relation.right)


def _uses_in_on(tree: Relation, domain: Derived) -> bool:
    conditions = walk_join_conditions(tree)
    return any(column.relation == domain.relation for on in conditions for column in walk_used_columns(on))
