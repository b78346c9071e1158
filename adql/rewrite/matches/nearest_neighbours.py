"""Keep the nearest pairs of each row, or the mutually nearest pairs, of all pairs of a join within a radius.

    a JOIN b ON 1 = skyhouse_nearest(n, p, q, r) AND more
    (SELECT ... FROM (SELECT ..., ROW_NUMBER() OVER (PARTITION BY row of a ORDER BY separation, ties) AS rank
                      FROM a JOIN b ON NEAR(p, q, r) AND more) WHERE rank <= n)

The candidates are the pairs that satisfy all conditions of ON. Ties are broken by the id, or by all used columns. An
outer join keeps its rows without a match. WHERE filters the result.

Rows are numbered while they are read, so equal rows stay distinct. On a cluster, the copies of a row on several shards
have different numbers, so a right row of a sharded table is identified by its values and, among rows with equal values,
by its number among the rows near the same left row. The result is independent of the order of such rows.

This pass runs before the inner SELECTs are rewritten, because ``plan_cross_matches`` plans the join there.
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
    Nearness,
    Order,
    Relation,
    Scan,
    Select,
    TranslationContext,
    Windowed,
    combine_conjuncts,
    evaluate_constant,
    split_conjuncts,
    walk_columns,
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
    list_columns,
    make_derived,
    make_null,
    map_outputs,
    rename_columns,
)
from adql.rewrite.trees.relation_trees import collect_numbers, find_used_relations, replace_relation
from adql.rewrite.trees.repeatable_relations import is_repeatable
from adql.rewrite.trees.sharded_tables import find_sharded_scan
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG

#: Predicate -> the ADQL function from which it comes
CHOICES = {"NEAREST": "skyhouse_nearest", "MUTUAL": "skyhouse_mutual"}

_USAGE = "write it as a separate condition: FROM a JOIN b ON 1 = {}(...) AND ..."


def choose_nearest(select: Select, context: TranslationContext) -> Select:
    """Replace the joins by skyhouse_nearest or skyhouse_mutual.

    Expects left-deep joins without a RIGHT JOIN. Each replaced join gets its pairs from a derived table with a
    nearness, which later passes plan.

    Raises
    ------
    AdqlSemanticError
        If one of these functions is not a separate condition in the ON of a JOIN, LEFT JOIN or RIGHT JOIN, if an ON has
        several of them, or if one does not take a position of each side.
    """
    while (choice := _find_choice(select)) is not None:
        select = _replace_join(select, choice, context)
    for expr in walk_select_expressions(select):
        for part in walk_expr(expr):
            if isinstance(part, Call) and part.name in CHOICES:
                name = CHOICES[part.name]
                raise AdqlSemanticError(
                    f"{name} chooses rows of a JOIN and is allowed only in its ON", part.span, _USAGE.format(name)
                )
    return select


@dataclass(frozen=True, slots=True)
class Choice:
    """A join that keeps ``count`` nearest rows of each left (``is_of_left``) or right row, or mutually nearest pairs.

    The sides of an INNER JOIN are swapped so that its left rows choose. ``condition`` is the nearness in the predicate.
    """

    join: Join
    call: Call
    left: Relation
    right: Relation
    is_of_left: bool
    condition: Call
    near: Nearness

    @property
    def is_mutual(self) -> bool:
        return self.call.name == "MUTUAL"

    @property
    def is_within_quarter(self) -> bool:
        """Whether the radius is at most 90 degrees."""
        radius = evaluate_constant(self.near.radius)
        return radius is not None and radius <= 90

    @property
    def ranks_right_rows(self) -> bool:
        return self.is_mutual or not self.is_of_left

    @property
    def is_on_shards(self) -> bool:
        """Whether shards have copies of the right rows, in the overlap."""
        radius, scan = evaluate_constant(self.near.radius), find_sharded_scan(self.right)
        if radius is None or scan is None or not is_repeatable(self.right):
            return False
        return radius <= scan.entry.table.layout.overlap_radius

    @property
    def count(self) -> Expr:
        return Literal(INT, 1) if self.is_mutual else self.call.args[5]


def _find_choice(select: Select) -> Choice | None:
    """Return the choice of the innermost join with a choice; None without one."""
    for join in walk_joins(select.from_):
        calls = [c for c in split_conjuncts(join.condition) if isinstance(c, Call) and c.name in CHOICES]
        if calls:
            return _check_choice(join, calls)
    return None


def _check_choice(join: Join, calls: list[Call]) -> Choice:
    call = calls[0]
    name = CHOICES[call.name]
    if len(calls) > 1:
        raise AdqlSemanticError(
            "one ON can choose nearest rows only once", calls[1].span, "make the first choice in a subquery"
        )
    if join.kind not in ("INNER", "LEFT"):
        kind = "a FULL JOIN" if join.kind == "FULL" else "EXISTS or IN"
        raise AdqlSemanticError(f"{name} is not allowed in {kind}", call.span, "use JOIN, LEFT JOIN or RIGHT JOIN")
    condition = Call(BOOLEAN, "NEAR", call.args[:5], span=call.span)
    near = Nearness.match(condition)
    assert near is not None  # noqa: S101  made above
    left, right = collect_numbers(join.left), collect_numbers(join.right)
    first, second = ({n for expr in end for n in find_used_relations(expr)} for end in (near.left, near.right))
    for one, other, is_of_left in ((left, right, True), (right, left, False)):
        if first and second and first <= one and second <= other:
            turns = join.kind == "INNER" and not is_of_left
            sides = (join.right, join.left) if turns else (join.left, join.right)
            return Choice(join, call, *sides, is_of_left or turns, condition, near)
    raise AdqlSemanticError(
        f"{name} takes a position of each side of its JOIN",
        call.span,
        "use columns of one table for p, and of the other for q",
    )


# --- the join ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The candidate pairs, in columns of ``source``.

    Attributes
    ----------
    source
        The join.
    filters
        The conditions of WHERE that are tested before the choice.
    shown
        The expressions that the rest of the query uses, with the separation if it is used.
    best
        The conditions on ranks that the best pairs satisfy.
    """

    source: Relation
    filters: list[Expr]
    shown: list[Expr]
    best: list[Expr]


@dataclass(frozen=True, slots=True)
class _Keys:
    """The columns that distinguish rows of the candidate pairs, and that order pairs of equal separation."""

    left_row: Column
    left_ties: list[Column]
    right_ties: list[Column]
    #: empty if right rows are not ranked
    right_row: tuple[Column, ...] = ()
    #: not NULL in a row with a match
    match: Column | None = None


def _replace_join(select: Select, choice: Choice, context: TranslationContext) -> Select:
    join = choice.join
    used = find_columns_used_outside(join, select)
    left, right = DerivedBuilder(choice.left, select, context), DerivedBuilder(choice.right, select, context)
    keys = _export_keys(choice, left, right)

    def rename(expr: Expr) -> Expr:
        return right.rename_expr(left.rename_expr(expr))

    on = [choice.condition if c == choice.call else c for c in split_conjuncts(join.condition)]
    condition = combine_conjuncts(on)
    assert condition is not None  # noqa: S101  it has the nearness
    before, after = _split_filters(select, choice)
    of_left, of_right = (before, []) if choice.is_of_left else ([], before)
    source: Relation = Join(join.kind, left.build_derived(of_left), right.build_derived(of_right), rename(condition))
    ends = rename(choice.condition).children[:4]
    separation = Call(DOUBLE, "DISTANCE", ends)
    shows_separation = reuse_separation(select, choice.near, {"DISTANCE": separation}) is not select
    shown = [*map(rename, used), *([separation] if shows_separation else [])]
    order: Expr = Call(DOUBLE, "HAVERSINE" if choice.is_within_quarter else "DISTANCE", ends)
    if choice.ranks_right_rows and choice.is_on_shards:
        source, (*shown, order), keys = _number_equal_rows(
            source, [*shown, order], keys, right.exported_columns, context
        )
    pairs = _Pairs(source, [*map(rename, before)], shown, _rank_pairs(choice, keys, order))
    if keys.match is None:
        chosen = _select_best(pairs, context)
    else:
        right_numbers = collect_numbers(choice.right)
        optional = [expr for c, expr in zip(used, shown, strict=False) if c.relation in right_numbers]
        chosen = _select_best_or_null(pairs, {*optional, *shown[len(used) :]}, keys.left_row, context)

    select = replace(select, from_=replace_relation(select.from_, join, chosen), where=combine_conjuncts(after))
    columns = list_columns(chosen)
    if shows_separation:
        select = reuse_separation(select, choice.near, {"DISTANCE": columns[-1]})
    return rename_columns(select, dict(zip(used, columns, strict=False)))


def _export_keys(choice: Choice, left: DerivedBuilder, right: DerivedBuilder) -> _Keys:
    left_row = left.export_expr(Call(LONG, "ROW NUMBER", ()))
    if not choice.ranks_right_rows:
        return _Keys(left_row, [], _export_ties(right))
    if choice.is_on_shards:
        numbers = collect_numbers(choice.right)
        column = next(c for end in choice.condition.children for c in walk_columns(end) if c.relation in numbers)
        right_row = right.export_expr(Call(INT, "ONE", (column,)))
    else:
        right_row = right.export_expr(Call(LONG, "ROW NUMBER", ()))
    match = None if choice.join.kind == "INNER" else right_row
    return _Keys(left_row, _export_ties(left), _export_ties(right), (right_row,), match)


def _number_equal_rows(
    source: Relation, shown: list[Expr], keys: _Keys, values: Sequence[Column], context: TranslationContext
) -> tuple[Relation, list[Expr], _Keys]:
    """Identify right rows by their values, and by a number among equal rows near the same left row."""
    number = Windowed(LONG, "ROW_NUMBER", (), (keys.left_row, *values), ())
    known = [keys.left_row, *keys.left_ties, *keys.right_ties, *keys.right_row, *values]
    exprs = [*dict.fromkeys([*shown, *known, number])]
    numbered = make_derived(source, exprs, context)
    names = map_outputs(exprs, numbered)
    left_ties, right_ties = ([names[column] for column in ties] for ties in (keys.left_ties, keys.right_ties))
    right_row = (*(names[column] for column in values), names[number])
    match = None if keys.match is None else names[keys.match]
    return (
        numbered,
        [names[expr] for expr in shown],
        _Keys(names[keys.left_row], left_ties, right_ties, right_row, match),
    )


def _rank_pairs(choice: Choice, keys: _Keys, separation: Expr) -> list[Expr]:
    """Return the conditions that a pair is among the best pairs of its rows."""
    ranks = []
    if choice.is_mutual or choice.is_of_left:
        ranks.append(_rank_by_separation((keys.left_row,), separation, keys.right_ties))
    if choice.ranks_right_rows:
        ranks.append(_rank_by_separation(keys.right_row, separation, keys.left_ties))
    best: list[Expr] = [Call(BOOLEAN, "<=", (rank, choice.count)) for rank in ranks]
    if keys.match is not None:
        best.append(Call(BOOLEAN, "NOT", (Call(BOOLEAN, "IS NULL", (keys.match,)),)))
    return best


def _rank_by_separation(row: tuple[Column, ...], separation: Expr, ties: Sequence[Column]) -> Expr:
    """Return the rank of a pair among the pairs of one row."""
    order = tuple(Order(expr, descending=False) for expr in (separation, *ties))
    return Windowed(LONG, "ROW_NUMBER", (), row, order)


def _export_ties(side: DerivedBuilder) -> list[Column]:
    """Return the columns that order pairs of equal separation: the id of a single table, else all used columns."""
    ids = [
        Column(column.type, leaf.relation, column.name, column.field)
        for leaf in walk_leaves(side.relation)
        if isinstance(leaf, Scan)
        for column in leaf.entry.table.columns
        if column.name in leaf.entry.table.layout.id
    ]
    exported = [side.export_expr(column) for column in ids]
    if exported and isinstance(side.relation, Scan):
        return exported
    return [*dict.fromkeys(c for c in (*exported, *side.exported_columns) if not c.type.is_array)]


def _split_filters(select: Select, choice: Choice) -> tuple[list[Expr], list[Expr]]:
    """Split WHERE into conditions on only the choosing side, tested before the choice, and others, tested after it."""
    conditions = list(split_conjuncts(select.where))
    side = collect_numbers(choice.left if choice.is_of_left else choice.right)
    keeps_null_rows = choice.join.kind != "INNER" and not choice.is_of_left
    has_full_join = any(join.kind == "FULL" for join in walk_joins(select.from_))
    if choice.is_mutual or keeps_null_rows or has_full_join:
        return [], conditions
    before = [c for c in conditions if (used := find_used_relations(c)) and used <= side]
    return before, [c for c in conditions if c not in before]


def _select_best(pairs: _Pairs, context: TranslationContext) -> Derived:
    """Return the best pairs; in an outer join, a row without a match is its own best pair."""
    ranks = [part for expr in pairs.best for part in walk_expr(expr) if isinstance(part, Windowed)]
    exprs = [*pairs.shown, *ranks]
    ranked = make_derived(pairs.source, exprs, context, where=pairs.filters)
    names = map_outputs(exprs, ranked)
    is_best = [expr.with_children(tuple(names.get(child, child) for child in expr.children)) for expr in pairs.best]
    return make_derived(ranked, [names[e] for e in pairs.shown], context, where=is_best)


def _select_best_or_null(pairs: _Pairs, optional: set[Expr], row: Column, context: TranslationContext) -> Derived:
    """Return the best pairs, and each left ``row`` without a pair once, with NULL for the ``optional`` expressions."""
    is_best = Call(BOOLEAN, "AND", tuple(pairs.best))
    exprs = [*pairs.shown, row, is_best]
    flagged = make_derived(pairs.source, exprs, context)
    names = map_outputs(exprs, flagged)

    best_first = (Order(names[is_best], descending=True),)
    index = Windowed(LONG, "ROW_NUMBER", (), (names[row],), best_first)
    columns = [*names.values(), index]
    indexed = make_derived(flagged, columns, context)
    outer = map_outputs(columns, indexed)

    flag = outer[names[is_best]]
    shown: list[Expr] = []
    for expr in pairs.shown:
        column = outer[names[expr]]
        shown.append(Call(expr.type, "CASE", (flag, column, make_null(expr.type))) if expr in optional else column)
    is_first = Call(BOOLEAN, "=", (outer[index], Literal(INT, 1)))
    return make_derived(indexed, shown, context, where=[Call(BOOLEAN, "OR", (flag, is_first))])
