"""Keep, of all pairs of a join within a radius, the nearest of each row or of both rows.

    a JOIN b ON 1 = skyhouse_nearest(n, p, q, r) AND more
    (SELECT ... FROM (SELECT ..., ROW_NUMBER() OVER (PARTITION BY row of a ORDER BY separation, ties) AS rank
                      FROM a JOIN b ON NEAR(p, q, r) AND more) WHERE rank <= n)

The candidates are the pairs that satisfy the whole ON. Ties are broken by the id, then by the other columns in use. An
outer join keeps its rows without a match. WHERE filters the result.

Rows are numbered while they are read, so equal rows stay apart. Comes before the SELECTs inside are rewritten:
``plan_cross_matches`` plans the join there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adql.errors import AdqlSemanticError
from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    NameGenerator,
    Nearness,
    Order,
    Scan,
    Select,
    Windowed,
    combine_conjuncts,
    split_conjuncts,
    walk_expr,
    walk_joins,
    walk_leaves,
    walk_select_expressions,
)
from adql.node_classes import replace
from adql.rewrite.matches.crossmatch import reuse_separation
from adql.rewrite.trees.derived_tables import (
    DerivedBuilder,
    find_columns_used_outside,
    make_derived,
    make_null,
    map_outputs,
    rename_columns,
)
from adql.rewrite.trees.relation_trees import collect_numbers, find_used_relations, replace_relation
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG

#: Predicate -> the ADQL function that it comes from
CHOICES = {"NEAREST": "skyhouse_nearest", "MUTUAL": "skyhouse_mutual"}

_USAGE = "write it as a condition of its own: FROM a JOIN b ON 1 = {}(...) AND ..."


def choose_nearest(select: Select, fresh: NameGenerator) -> Select:
    """Replace joins by skyhouse_nearest or skyhouse_mutual; raise AdqlSemanticError where these choose from no join."""
    while (choice := _find_choice(select)) is not None:
        select = _replace_join(select, choice, fresh)
    for expr in walk_select_expressions(select):
        for part in walk_expr(expr):
            if isinstance(part, Call) and part.name in CHOICES:
                name = CHOICES[part.name]
                raise AdqlSemanticError(
                    f"{name} chooses rows of a JOIN and may stand only in its ON", part.span, _USAGE.format(name)
                )
    return select


@dataclass(frozen=True, slots=True)
class Choice:
    """A join that keeps the ``count`` nearest of each left row (``is_of_left``) or right row, or the mutually nearest.

    ``condition`` is the nearness that the predicate contains.
    """

    join: Join
    call: Call
    is_of_left: bool
    condition: Call
    near: Nearness

    @property
    def is_mutual(self) -> bool:
        return self.call.name == "MUTUAL"

    @property
    def count(self) -> Expr:
        return Literal(INT, 1) if self.is_mutual else self.call.args[5]


def _find_choice(select: Select) -> Choice | None:
    """Return the innermost join with a choice."""
    for join in walk_joins(select.from_):
        calls = [c for c in split_conjuncts(join.condition) if isinstance(c, Call) and c.name in CHOICES]
        if calls:
            return _check_choice(join, calls)
    return None


def _check_choice(join: Join, calls: list[Call]) -> Choice:
    call = calls[0]
    name = CHOICES[call.name]
    if len(calls) > 1:
        raise AdqlSemanticError("one ON cannot choose twice", calls[1].span, "choose in a subquery first")
    if join.kind not in ("INNER", "LEFT"):
        kind = "a FULL JOIN" if join.kind == "FULL" else "EXISTS or IN"
        raise AdqlSemanticError(f"{name} cannot stand in {kind}", call.span, "use JOIN, LEFT JOIN or RIGHT JOIN")
    condition = Call(BOOLEAN, "NEAR", call.args[:5], span=call.span)
    near = Nearness.match(condition)
    assert near is not None  # noqa: S101  it was made as one
    left, right = collect_numbers(join.left), collect_numbers(join.right)
    first, second = ({n for expr in end for n in find_used_relations(expr)} for end in (near.left, near.right))
    for one, other, is_of_left in ((left, right, True), (right, left, False)):
        if first and second and first <= one and second <= other:
            return Choice(join, call, is_of_left, condition, near)
    raise AdqlSemanticError(
        f"{name} takes a position of each side of its JOIN",
        call.span,
        "p of one table, q of the other",
    )


# --- the join ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The candidate pairs; all columns are those of ``join``.

    ``filters`` are the conditions of WHERE that are tested before the choice, ``shown`` the expressions that the rest
    of the query uses, ``best`` the conditions on ranks that the best pairs meet.
    """

    join: Join
    filters: list[Expr]
    shown: list[Expr]
    best: list[Expr]


def _replace_join(select: Select, choice: Choice, fresh: NameGenerator) -> Select:
    join = choice.join
    used = find_columns_used_outside(join, select)
    left, right = DerivedBuilder(join.left, select, fresh), DerivedBuilder(join.right, select, fresh)
    left_row, right_row = (side.export_expr(Call(LONG, "ROW NUMBER", ())) for side in (left, right))
    left_ties, right_ties = _export_ties(left), _export_ties(right)

    def rename(expr: Expr) -> Expr:
        return right.rename_expr(left.rename_expr(expr))

    on = [choice.condition if c == choice.call else c for c in split_conjuncts(join.condition)]
    condition = combine_conjuncts(on)
    assert condition is not None  # noqa: S101  it has the nearness
    before, after = _split_filters(select, choice)
    of_left, of_right = (before, []) if choice.is_of_left else ([], before)
    joined = Join(join.kind, left.build_derived(of_left), right.build_derived(of_right), rename(condition))
    separation = Call(DOUBLE, "DISTANCE", rename(choice.condition).children[:4])
    ranks = [_rank_pairs(left_row, separation, right_ties), _rank_pairs(right_row, separation, left_ties)]
    if not choice.is_mutual:
        ranks = ranks[:1] if choice.is_of_left else ranks[1:]
    best: list[Expr] = [Call(BOOLEAN, "<=", (rank, choice.count)) for rank in ranks]
    shown = [*map(rename, used), separation]
    pairs = _Pairs(joined, [*map(rename, before)], shown, best)
    if join.kind == "INNER" or (choice.is_of_left and not choice.is_mutual):
        chosen = _select_best(pairs, fresh)
    else:
        is_matched = Call(BOOLEAN, "NOT", (Call(BOOLEAN, "IS NULL", (right_row,)),))
        right_numbers = collect_numbers(join.right)
        optional = {separation, *(rename(c) for c in used if c.relation in right_numbers)}
        chosen = _select_best_or_null(replace(pairs, best=[*best, is_matched]), optional, left_row, fresh)

    select = replace(select, from_=replace_relation(select.from_, join, chosen), where=combine_conjuncts(after))
    *columns, separation_column = map_outputs(shown, chosen).values()
    select = reuse_separation(select, choice.near, separation_column)
    return rename_columns(select, dict(zip(used, columns, strict=True)))


def _rank_pairs(row: Column, separation: Expr, ties: Sequence[Column]) -> Expr:
    """Return the rank of a pair among those of one row."""
    order = tuple(Order(expr, descending=False) for expr in (separation, *ties))
    return Windowed(LONG, "ROW_NUMBER", (), (row,), order)


def _export_ties(side: DerivedBuilder) -> list[Column]:
    """Return the columns that order pairs of equal separation: ids first, then those in use."""
    ids = [
        Column(column.type, leaf.relation, column.name, column.field)
        for leaf in walk_leaves(side.relation)
        if isinstance(leaf, Scan)
        for column in leaf.entry.table.columns
        if column.name in leaf.entry.table.layout.id
    ]
    exported = [side.export_expr(column) for column in ids]
    return [*dict.fromkeys(c for c in (*exported, *side.exported_columns) if not c.type.is_array)]


def _split_filters(select: Select, choice: Choice) -> tuple[list[Expr], list[Expr]]:
    """Split WHERE into conditions on the choosing side alone, tested before the choice, and others, tested after."""
    conditions = list(split_conjuncts(select.where))
    side = collect_numbers(choice.join.left if choice.is_of_left else choice.join.right)
    keeps_null_rows = choice.join.kind != "INNER" and not choice.is_of_left
    has_full_join = any(join.kind == "FULL" for join in walk_joins(select.from_))
    if choice.is_mutual or keeps_null_rows or has_full_join:
        return [], conditions
    before = [c for c in conditions if (used := find_used_relations(c)) and used <= side]
    return before, [c for c in conditions if c not in before]


def _select_best(pairs: _Pairs, fresh: NameGenerator) -> Derived:
    """Return the best pairs; in an outer join a row without a match is the best of its own."""
    ranks = [part for expr in pairs.best for part in walk_expr(expr) if isinstance(part, Windowed)]
    exprs = [*pairs.shown, *ranks]
    ranked = make_derived(pairs.join, exprs, fresh, where=pairs.filters)
    names = map_outputs(exprs, ranked)
    is_best = [expr.with_children(tuple(names.get(child, child) for child in expr.children)) for expr in pairs.best]
    return make_derived(ranked, [names[e] for e in pairs.shown], fresh, where=is_best)


def _select_best_or_null(pairs: _Pairs, optional: set[Expr], row: Column, fresh: NameGenerator) -> Derived:
    """Return the best pairs, and once each left ``row`` without one, with NULL for the ``optional`` expressions."""
    is_best = Call(BOOLEAN, "AND", tuple(pairs.best))
    exprs = [*pairs.shown, row, is_best]
    flagged = make_derived(pairs.join, exprs, fresh)
    names = map_outputs(exprs, flagged)

    best_first = (Order(names[is_best], descending=True),)
    index = Windowed(LONG, "ROW_NUMBER", (), (names[row],), best_first)
    columns = [*names.values(), index]
    indexed = make_derived(flagged, columns, fresh)
    outer = map_outputs(columns, indexed)

    flag = outer[names[is_best]]
    shown: list[Expr] = []
    for expr in pairs.shown:
        column = outer[names[expr]]
        shown.append(Call(expr.type, "CASE", (flag, column, make_null(expr.type))) if expr in optional else column)
    is_first = Call(BOOLEAN, "=", (outer[index], Literal(INT, 1)))
    return make_derived(indexed, shown, fresh, where=[Call(BOOLEAN, "OR", (flag, is_first))])
