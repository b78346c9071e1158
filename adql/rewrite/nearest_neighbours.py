"""Nearest neighbours: joins that keep, of all pairs within a radius, the nearest of each row or of both rows.

``a JOIN b ON 1 = skyhouse_nearest(n, p, q, r) AND more``: the candidates are the pairs that fulfil the whole ON, with
the predicate as a nearness. They are ranked by separation, ties by the id and the other columns in use, and
the best of each row is kept; an outer join keeps its rows without any. WHERE is a filter of what comes out.

Rows are numbered while they are read, so equal ones stay apart; the match itself is left to ``crossmatch``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adql.errors import AdqlSemanticError
from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    NameGenerator,
    Order,
    Relation,
    Scan,
    Select,
    Windowed,
    combine_conjuncts,
    split_conjuncts,
    walk_columns,
    walk_expr,
    walk_joins,
    walk_leaves,
    walk_select_expressions,
)
from adql.rewrite.crossmatch import reuse_separation
from adql.rewrite.derived_tables import (
    DerivedBuilder,
    find_columns_used_outside,
    make_derived,
    make_null,
    map_outputs,
    relation_numbers,
    rename_columns,
)
from adql.rewrite.join_trees import replace_relation
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG

#: Predicate -> the function that it comes from
CHOICES = {"NEAREST": "skyhouse_nearest", "MUTUAL": "skyhouse_mutual"}

_USAGE = "write it as a condition of its own: FROM a JOIN b ON 1 = {}(...) AND ..."


def choose_nearest(select: Select, fresh: NameGenerator) -> Select:
    """The pass for one SELECT, before those inside. AdqlSemanticError for a choice that chooses from no join."""
    while (choice := _find(select.from_)) is not None:
        select = _chosen(select, choice, fresh)
    for expr in walk_select_expressions(select):
        for part in walk_expr(expr):
            if isinstance(part, Call) and part.name in CHOICES:
                name = CHOICES[part.name]
                raise AdqlSemanticError(
                    f"{name} chooses rows of a JOIN, and stands in its ON alone", part.span, _USAGE.format(name)
                )
    return select


@dataclass(frozen=True, slots=True)
class Choice:
    """``mutual``: each is the other's nearest; else the ``count`` nearest of each row on the left, or the right."""

    join: Join
    call: Call
    of_left: bool

    @property
    def mutual(self) -> bool:
        return self.call.name == "MUTUAL"

    @property
    def near(self) -> Call:
        return Call(BOOLEAN, "NEAR", self.call.args[:5], span=self.call.span)

    @property
    def count(self) -> Expr:
        return Literal(INT, 1) if self.mutual else self.call.args[5]


def _find(relation: Relation) -> Choice | None:
    """The innermost join that has one."""
    if not isinstance(relation, Join):
        return None
    below = _find(relation.left)
    if below is not None:
        return below
    found = [c for c in split_conjuncts(relation.condition) if isinstance(c, Call) and c.name in CHOICES]
    return _checked(relation, found) if found else None


def _checked(join: Join, calls: list[Call]) -> Choice:
    call = calls[0]
    name = CHOICES[call.name]
    if len(calls) > 1:
        raise AdqlSemanticError("one ON cannot choose twice", calls[1].span, "choose in a subquery first")
    if join.kind not in ("INNER", "LEFT"):
        kind = "a FULL JOIN" if join.kind == "FULL" else "EXISTS or IN"
        raise AdqlSemanticError(f"{name} cannot stand in {kind}", call.span, "use JOIN, LEFT JOIN or RIGHT JOIN")
    left, right = relation_numbers(join.left), relation_numbers(join.right)
    first, second = ({c.relation for p in call.args[i : i + 2] for c in walk_columns(p)} for i in (0, 2))
    for one, other, of_left in ((left, right, True), (right, left, False)):
        if first and second and first <= one and second <= other:
            return Choice(join, call, of_left)
    raise AdqlSemanticError(
        f"{name} takes a position of each side of its JOIN",
        call.span,
        "p of one table, q of the other",
    )


# --- the choosing -----------------------------------------------------------------------------------------------------


def _chosen(select: Select, choice: Choice, fresh: NameGenerator) -> Select:
    join = choice.join
    used = find_columns_used_outside(join, select)
    left, right = DerivedBuilder(join.left, select, fresh), DerivedBuilder(join.right, select, fresh)
    rows = [side.export_expr(Call(LONG, "ROW NUMBER", ())) for side in (left, right)]
    ties = [_ties(side) for side in (left, right)]

    def inside(expr: Expr) -> Expr:
        return right.rename_expr(left.rename_expr(expr))

    condition = combine_conjuncts([choice.near if c == choice.call else c for c in split_conjuncts(join.condition)])
    assert condition is not None  # noqa: S101  it has the nearness
    before, after = _filters(select, choice)
    of_left, of_right = (before, []) if choice.of_left else ([], before)
    pairs = Join(join.kind, left.build_derived(of_left), right.build_derived(of_right), inside(condition))
    near = inside(choice.near)
    apart = Call(DOUBLE, "DISTANCE", near.children[:4])
    ranks = [_rank(rows[0], apart, ties[1]), _rank(rows[1], apart, ties[0])]
    wanted = ranks if choice.mutual else ranks[:1] if choice.of_left else ranks[1:]
    best: list[Expr] = [Call(BOOLEAN, "<=", (rank, choice.count)) for rank in wanted]
    shown = [*(inside(c) for c in used), apart]
    if join.kind == "INNER" or (choice.of_left and not choice.mutual):
        chosen = _kept(pairs, [inside(c) for c in before], shown, best, fresh)
    else:
        matched = Call(BOOLEAN, "NOT", (Call(BOOLEAN, "IS NULL", (rows[1],)),))
        optional = {apart, *(inside(c) for c in used if c.relation in relation_numbers(join.right))}
        chosen = _kept_with_others(pairs, shown, optional, [*best, matched], rows[0], fresh)
    select = replace(select, from_=replace_relation(select.from_, join, chosen), where=combine_conjuncts(after))
    *names, separation = map_outputs(shown, chosen).values()
    select = reuse_separation(select, choice.call.args[:4], separation)
    return rename_columns(select, dict(zip(used, names, strict=True)))


def _rank(row: Column, apart: Expr, ties: Sequence[Column]) -> Expr:
    """The place of a pair among those of one row."""
    order = tuple(Order(expr, descending=False) for expr in (apart, *ties))
    return Windowed(LONG, "ROW_NUMBER", (), (row,), order)


def _ties(side: DerivedBuilder) -> list[Column]:
    """What orders rows at the same separation: ids first, then the columns in use; rows alike in all are the same."""
    ids = [
        Column(column.type, leaf.relation, column.name, column.field)
        for leaf in walk_leaves(side.relation)
        if isinstance(leaf, Scan)
        for column in leaf.entry.table.columns
        if column.name in leaf.entry.table.layout.id
    ]
    exported = [side.export_expr(column) for column in ids]
    return [*dict.fromkeys(c for c in (*exported, *side.exported_columns) if not c.type.is_array)]


def _filters(select: Select, choice: Choice) -> tuple[list[Expr], list[Expr]]:
    """WHERE's conditions in two: those on rows that get their nearest are as well tested before; the others."""
    conditions = list(split_conjuncts(select.where))
    side = relation_numbers(choice.join.left if choice.of_left else choice.join.right)
    kept = choice.join.kind == "INNER" or choice.of_left
    full = any(join.kind == "FULL" for join in walk_joins(select.from_))
    if choice.mutual or not kept or full:
        return [], conditions
    before = [c for c in conditions if (used := {x.relation for x in walk_columns(c)}) and used <= side]
    return before, [c for c in conditions if c not in before]


def _kept(pairs: Join, before: list[Expr], shown: list[Expr], best: list[Expr], fresh: NameGenerator) -> Derived:
    """Those of the pairs that are the best; in an outer join a row without any is the best of its own."""
    ranked = make_derived(pairs, [*shown, *_windows(best)], fresh, where=before)
    names = map_outputs([*shown, *_windows(best)], ranked)
    return make_derived(ranked, [names[e] for e in shown], fresh, where=[_of(e, names) for e in best])


def _kept_with_others(
    pairs: Join, shown: list[Expr], optional: set[Expr], best: list[Expr], row: Column, fresh: NameGenerator
) -> Derived:
    """The best pairs, and each left row without one, once, with NULLs for the right."""
    inner = make_derived(pairs, [*shown, row, Call(BOOLEAN, "AND", tuple(best))], fresh)
    names = map_outputs([*shown, row, Call(BOOLEAN, "AND", tuple(best))], inner)
    chosen = names[Call(BOOLEAN, "AND", tuple(best))]
    place = Windowed(LONG, "ROW_NUMBER", (), (names[row],), (Order(chosen, descending=True),))
    placed = make_derived(inner, [*names.values(), place], fresh)
    outer = map_outputs([*names.values(), place], placed)
    flag = outer[chosen]
    exprs = [
        Call(e.type, "CASE", (flag, outer[names[e]], make_null(e.type))) if e in optional else outer[names[e]]
        for e in shown
    ]
    first = Call(BOOLEAN, "=", (outer[place], Literal(INT, 1)))
    return make_derived(placed, exprs, fresh, where=[Call(BOOLEAN, "OR", (flag, first))])


def _windows(exprs: list[Expr]) -> list[Expr]:
    return [part for expr in exprs for part in walk_expr(expr) if isinstance(part, Windowed)]


def _of(expr: Expr, names: dict[Expr, Column]) -> Expr:
    return expr.with_children(tuple(names.get(child, child) for child in expr.children))
