"""Read the pairs of a cross-match from a kept match.

    a JOIN b ON NEAR(a.ra, a.dec, b.ra, b.dec, r)
    a JOIN kept AS k ON a.id = k.a_id JOIN b ON k.b_id = b.id WHERE k.separation <= r

    a LEFT JOIN b ON NEAREST(a.ra, a.dec, b.ra, b.dec, r, n)
    a LEFT JOIN (SELECT k.a_id, b... FROM kept AS k JOIN b ON k.b_id = b.id WHERE k.separation <= r AND k.rank <= n)
      AS m ON a.id = m.a_id

    a SEMI JOIN b ON NEAR(...)
    a SEMI JOIN (SELECT k.a_id FROM kept AS k WHERE k.separation <= r) AS m ON a.id = m.a_id

A kept match has the ids of both tables, the position of the first table and the separations. If a query uses no other
columns of a table, the table is not read.

A match is made only for tables with unique ids. At the kept radius, the pairs are the result of the exact test. At a
smaller radius, the kept separation is compared, with the same rounding as for a radius that depends on rows. (Rounding
decides, in both cases, about a separation that equals the radius to the last digit.) ``TableEntry.matches`` has only
matches that have followed both tables, and only cross-matches of complete tables read them: for a few rows, cells of
the sky are found faster than pairs.

This pass runs after ``make_left_deep``, and before the passes that plan matches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Join,
    Literal,
    Nearness,
    Output,
    Relation,
    Scan,
    Select,
    TranslationContext,
    combine_conjuncts,
    evaluate_constant,
    split_conjuncts,
    walk_columns,
    walk_joins,
    walk_select_expressions,
)
from adql.node_classes import replace
from adql.regions.unit_vectors import ROUNDING
from adql.rewrite.covers.spatial_covers import HPX29
from adql.rewrite.matches.crossmatch import reuse_separation
from adql.rewrite.matches.nearest_neighbours import CHOICES
from adql.rewrite.trees.derived_tables import is_row_by_row, rename_columns, wrap_relation
from adql.rewrite.trees.relation_trees import (
    Leaf,
    collect_numbers,
    find_used_relations,
    has_join_key,
    replace_relation,
)
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE
from clickhouse_schema.kept_match import RANK, SEPARATION
from clickhouse_schema.schema_model import ForeignKey, Match

#: Number of rows of the smaller table, and its ratio to the larger table, below which cells of the sky are faster
MIN_ROWS = 50_000
_MIN_PART = 0.1

#: Number of pairs per row of both tables above which the ids of pairs take longer than cubes
_MAX_PAIRS = 2.0

#: Number of rows of the larger table above which a merge finds pairs faster than ids find the rows of both tables
_MAX_ROWS_OF_BOTH = 5_000_000

_ARCSEC_PER_DEGREE = 3600.0


@dataclass(frozen=True, slots=True)
class _KeptUse:
    """A join that can read its pairs from ``kept``.

    Attributes
    ----------
    right
        The table of the right side: the side, or the table that its derived table reads.
    is_turned
        Whether the left table of the match is on the right side.
    condition
        The nearness or choice whose pairs are read.
    rank
        The maximum rank of the pairs; None for all pairs.
    """

    join: Join
    left: Scan
    right: Scan
    kept: TableEntry
    is_turned: bool
    condition: Call
    rank: int | None

    @property
    def match(self) -> Match:
        assert self.kept.table.match is not None  # noqa: S101  kept matches have one
        return self.kept.table.match

    @property
    def radius(self) -> float:
        radius = evaluate_constant(Nearness.from_call(self.condition).radius)
        assert radius is not None  # noqa: S101  others are not read
        return radius


def use_kept_matches(select: Select, context: TranslationContext) -> Select:
    """Replace matches of two tables whose pairs a kept match has by joins by the ids of the pairs.

    The left side must be a stored table, so only the innermost join is replaced. Matches without a suitable kept match,
    and matches of few rows, stay for the passes that plan matches.
    """
    while True:
        reads = (_read_pairs(select, use, context) for use in _find_uses(select))
        read = next((read for read in reads if read is not None), None)
        if read is None:
            return select
        select = read


# --- which joins ------------------------------------------------------------------------------------------------------


def _find_uses(select: Select) -> Iterator[_KeptUse]:
    where = split_conjuncts(select.where)
    for join in walk_joins(select.from_):
        left, right = join.left, _find_scan(join.right)
        if not isinstance(left, Scan) or right is None or join.kind not in ("INNER", "LEFT", "SEMI", "ANTI"):
            continue
        conditions = [*split_conjuncts(join.condition), *(where if join.kind == "INNER" else ())]
        if has_join_key(join, conditions):
            continue
        if any(_selects_by_index(c, scan) for c in (*conditions, *where) for scan in (left, right)):
            continue
        for condition in conditions:
            if isinstance(condition, Call) and (use := _read_use(join, left, right, condition)) is not None:
                yield use


def _find_scan(right: Relation) -> Scan | None:
    """Return the table of which a right side has all rows; None without one."""
    if isinstance(right, Scan):
        return right
    if not isinstance(right, Derived) or not isinstance(right.query, Select):
        return None
    query = right.query
    is_whole = is_row_by_row(query) and query.where is None
    return query.from_ if is_whole and isinstance(query.from_, Scan) else None


def _selects_by_index(condition: Expr, scan: Scan) -> bool:
    """Return whether a condition on only this table may leave few of its rows."""
    if find_used_relations(condition) != {scan.relation}:
        return False
    names = (column.name for column in walk_columns(condition))
    return any(name == HPX29 or scan.entry.table.is_indexed(name) for name in names)


def _read_use(join: Join, left: Scan, right: Scan, condition: Call) -> _KeptUse | None:
    is_choice = condition.name in CHOICES
    if is_choice and (join.kind not in ("INNER", "LEFT") or len(split_conjuncts(join.condition)) > 1):
        return None
    near = Nearness.from_call(condition) if is_choice else Nearness.match(condition)
    if near is None or evaluate_constant(near.radius) is None:
        return None
    ends = [_inline_outputs(end, join.right) for end in (near.left, near.right)]
    for first, second in ((left, right), (right, left)):
        chooses = _is_position(first, ends[0]) and _is_position(second, ends[1])
        is_other_way = _is_position(second, ends[0]) and _is_position(first, ends[1])
        if not (chooses or (is_other_way and condition.name != "NEAREST")):
            continue
        if is_choice and first is right and join.kind != "INNER":
            continue  # the left rows choose nothing
        for kept in first.entry.matches:
            use = _KeptUse(join, left, right, kept, first is right, condition, _find_rank(condition))
            if _has_pairs(use, second.entry) and _is_faster(kept, first.entry, second.entry):
                return use
    return None


def _inline_outputs(position: Sequence[Expr], right: Relation) -> tuple[Expr, ...]:
    """Return a position with the columns of the table that a derived right side reads."""
    if not isinstance(right, Derived):
        return tuple(position)
    outputs = {output.alias: output.expr for output in right.query.outputs}
    return tuple(
        outputs.get(e.name, e) if isinstance(e, Column) and e.relation == right.relation else e for e in position
    )


def _is_position(scan: Scan, position: Sequence[Expr]) -> bool:
    """Return whether these are the columns of the stored position of a complete table."""
    entry = scan.entry
    if scan.part or entry.is_computed or entry.stored_sql:
        return False
    names = tuple(e.name for e in position if isinstance(e, Column) and e.relation == scan.relation)
    return len(position) == len(names) and names == entry.table.layout.position


def _find_rank(condition: Call) -> int | None:
    """Return the number of nearest rows of a choice; None for all rows."""
    if condition.name != "NEAREST":
        return None
    count = condition.args[5]
    assert isinstance(count, Literal)  # noqa: S101  the function takes nothing else
    assert isinstance(count.value, int)  # noqa: S101
    return count.value


def _has_pairs(use: _KeptUse, right: TableEntry) -> bool:
    """Return whether the match is with ``right`` and has all pairs of the condition."""
    match = use.match
    key = use.kept.table.find_key(match.right)
    if key is None or key.referenced_table != right.qualified_name or match.has_epochs:
        return False
    if not 0 <= use.radius <= match.radius / _ARCSEC_PER_DEGREE:
        return False
    if use.condition.name == "MUTUAL":
        return match.kind == "mutual"
    return match.kind == "all" or (match.kind == "best" and use.rank == 1)


def _is_faster(kept: TableEntry, left: TableEntry, right: TableEntry) -> bool:
    if kept.rows is None or left.rows is None or right.rows is None:
        return False
    fewer, more = sorted((left.rows, right.rows))
    return fewer >= max(MIN_ROWS, _MIN_PART * more) and kept.rows <= _MAX_PAIRS * (fewer + more)


def _is_merge_faster(use: _KeptUse) -> bool:
    """Return whether a merge finds all pairs, with rows of both tables, faster."""
    rows = max(use.left.entry.rows or 0, use.right.entry.rows or 0)
    return use.join.kind == "INNER" and use.condition.name not in CHOICES and rows > _MAX_ROWS_OF_BOTH


# --- the joins --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _End:
    """A side of the join with the pairs.

    Attributes
    ----------
    leaf
        The side, with its ids among its columns.
    equalities
        The conditions that the ids of the side equal the ids of a pair.
    kept
        Relation and name of a column of the side -> the column of the pairs that has its values.
    """

    leaf: Leaf
    equalities: list[Expr]
    kept: dict[tuple[int, str], Column]

    def has_kept(self, used: Iterable[Column]) -> bool:
        """Return whether the pairs have all ``used`` columns of the side."""
        return all((c.relation, c.name) in self.kept for c in used if c.relation == self.leaf.relation)

    def name_columns(self, used: Iterable[Column]) -> dict[Column, Column]:
        """Return ``used`` columns of the side -> the columns of the pairs that have their values."""
        return {c: self.kept[c.relation, c.name] for c in used if (c.relation, c.name) in self.kept}


def _read_pairs(select: Select, use: _KeptUse, context: TranslationContext) -> Select | None:
    """Join the pairs with the sides that have used columns which the pairs lack; return None if a merge is faster."""
    pairs = Scan(context.names.new_relation(), use.kept)
    select = _remove_condition(select, use, pairs)
    numbers = collect_numbers(use.join)
    join = next(join for join in walk_joins(select.from_) if collect_numbers(join) == numbers)
    left, right = _read_ends(use, pairs, context)
    used = [*dict.fromkeys(c for expr in walk_select_expressions(select) for c in walk_columns(expr))]
    needs_left = join.kind != "INNER" or not left.has_kept(used)
    needs_right = not right.has_kept(used)
    if needs_left and needs_right and _is_merge_faster(use):
        return None
    if use.left.entry.is_sharded and (needs_left or needs_right):  # the pairs are with the rows of the first table
        needs_left, needs_right = True, needs_right or use.is_turned
    names = {} if needs_right else right.name_columns(used)
    tests = [*split_conjuncts(join.condition)]
    if use.left.entry.is_sharded and needs_left:
        tests += _locate_on_shards(use, pairs, needs_right=needs_right)
    if join.kind != "INNER":
        partners = Join("INNER", pairs, right.leaf, combine_conjuncts(right.equalities)) if needs_right else pairs
        outer = Join(join.kind, left.leaf, partners, combine_conjuncts([*left.equalities, *tests]))
        select = rename_columns(select.with_from(replace_relation(select.from_, join, outer)), names)
        return wrap_relation(select, partners, context, _choose_pairs(use, pairs))
    joined: Relation = pairs
    if needs_left:
        joined = Join("INNER", left.leaf, pairs, combine_conjuncts(left.equalities))
    else:
        names |= left.name_columns(used)
    if needs_right:
        joined = Join("INNER", joined, right.leaf, combine_conjuncts(right.equalities))
    where = combine_conjuncts([*tests, *_choose_pairs(use, pairs), *split_conjuncts(select.where)])
    return rename_columns(replace(select, from_=replace_relation(select.from_, join, joined), where=where), names)


def _remove_condition(select: Select, use: _KeptUse, pairs: Scan) -> Select:
    """Return ``select`` without the condition, and with the kept separation instead of DISTANCE."""
    on, where = (
        combine_conjuncts([part for part in split_conjuncts(condition) if part is not use.condition])
        for condition in (use.join.condition, select.where)
    )
    bare = replace(use.join, condition=on)
    select = replace(select, from_=replace_relation(select.from_, use.join, bare), where=where)
    apart = Call(DOUBLE, "/", (_column(pairs, SEPARATION), Literal(DOUBLE, _ARCSEC_PER_DEGREE)))
    return reuse_separation(select, Nearness.from_call(use.condition), {"DISTANCE": apart})


def _read_ends(use: _KeptUse, pairs: Scan, context: TranslationContext) -> tuple[_End, _End]:
    keys = [_read_key(use, name) for name in (use.match.left, use.match.right)]
    left_key, right_key = reversed(keys) if use.is_turned else keys
    right, right_ids = _export_ids(use, right_key.referenced_columns, context)
    left_ids = [_column(use.left, name) for name in left_key.referenced_columns]
    left_kept = _list_kept(use.left, left_key, pairs, is_first=not use.is_turned)
    right_kept = _list_kept(use.right, right_key, pairs, is_first=use.is_turned)
    if isinstance(right, Derived):
        shown = {(right.relation, output.alias): output.expr for output in right.query.outputs}
        right_kept = {
            name: right_kept[expr.relation, expr.name]
            for name, expr in shown.items()
            if isinstance(expr, Column) and (expr.relation, expr.name) in right_kept
        }
    return (
        _End(use.left, _equate(left_ids, left_key, pairs), left_kept),
        _End(right, _equate(right_ids, right_key, pairs), right_kept),
    )


def _list_kept(scan: Scan, key: ForeignKey, pairs: Scan, *, is_first: bool) -> dict[tuple[int, str], Column]:
    """Return columns of a table -> the columns of the pairs that have their values: ids, and the first position."""
    names = dict(zip(key.referenced_columns, key.columns, strict=True))
    if is_first:
        own, stored = (each.entry.table.layout.position or () for each in (scan, pairs))
        names |= zip(own, stored, strict=True)
    return {(scan.relation, name): _column(pairs, kept) for name, kept in names.items()}


def _locate_on_shards(use: _KeptUse, pairs: Scan, *, needs_right: bool) -> list[Expr]:
    """Return nearnesses that are true for every pair, by which a cluster knows that its rows are on one shard."""
    found: list[Expr] = [] if use.is_turned else [_make_same_position(use.left, pairs)]
    return [*found, Nearness.from_call(use.condition).to_call()] if needs_right else found


def _read_key(use: _KeptUse, name: str) -> ForeignKey:
    key = use.kept.table.find_key(name)
    assert key is not None  # noqa: S101  a kept match has both keys
    return key


def _equate(ids: Sequence[Column], key: ForeignKey, pairs: Scan) -> list[Expr]:
    return [Call(BOOLEAN, "=", (own, _column(pairs, name))) for own, name in zip(ids, key.columns, strict=True)]


def _export_ids(use: _KeptUse, names: Sequence[str], context: TranslationContext) -> tuple[Leaf, list[Column]]:
    """Return the right side with the ids of its rows among its columns, and these."""
    ids = [_column(use.right, name) for name in names]
    side = use.join.right
    if not isinstance(side, Derived):
        return use.right, ids
    outputs = tuple(Output(context.names.new_alias(), column, column.field) for column in ids)
    query = replace(side.query, outputs=(*side.query.outputs, *outputs))
    return replace(side, query=query), [Column(o.expr.type, side.relation, o.alias, o.field) for o in outputs]


def _choose_pairs(use: _KeptUse, pairs: Scan) -> list[Expr]:
    """Return the conditions that the kept pairs of the join fulfil."""
    has_all = use.radius == use.match.radius / _ARCSEC_PER_DEGREE and use.condition.name != "NEARER"
    bounds = [] if has_all else [_is_within(use, pairs)]
    if use.rank is not None and use.match.kind == "all":
        rank = _column(pairs, RANK)
        bounds.append(Call(BOOLEAN, "<=", (rank, Literal(rank.type, use.rank))))
    return bounds


def _make_same_position(left: Scan, pairs: Scan) -> Expr:
    """Return the condition, which is always true, that a row has the position with which its pairs are stored."""
    ends = [[_column(scan, name) for name in scan.entry.table.layout.position or ()] for scan in (left, pairs)]
    return Call(BOOLEAN, "NEAR", (*ends[0], *ends[1], Literal(DOUBLE, 0.0)))


def _is_within(use: _KeptUse, pairs: Scan) -> Expr:
    """Return the condition that the kept separation is within the radius, rounded as for radii that depend on rows."""
    is_strict = Nearness.from_call(use.condition).is_strict
    limit = use.radius if is_strict else use.radius + math.degrees(ROUNDING)
    operands = _column(pairs, SEPARATION), Literal(DOUBLE, limit * _ARCSEC_PER_DEGREE)
    return Call(BOOLEAN, "<" if is_strict else "<=", operands)


def _column(scan: Scan, name: str) -> Column:
    field = next(field for field in scan.entry.fields if field.name == name)
    return Column(field.type, scan.relation, name, field)
