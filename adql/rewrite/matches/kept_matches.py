"""Read the pairs of a cross-match from a kept match, which has them already.

    a JOIN b ON NEAR(a.ra, a.dec, b.ra, b.dec, r)
    a JOIN kept AS k ON a.id = k.a_id AND k.separation <= r JOIN b ON k.b_id = b.id AND NEAR(...)

    a LEFT JOIN b ON NEAREST(a.ra, a.dec, b.ra, b.dec, r, n)
    a LEFT JOIN (SELECT k.a_id, b... FROM kept AS k JOIN b ON k.b_id = b.id WHERE k.rank <= n) AS m
      ON a.id = m.a_id AND NEAR(...)

The nearness stays, so what is on the border of a radius is decided as without the kept match. Only kept matches that
have followed both tables are among ``TableEntry.matches``, and only matches of whole tables are read from them: of a
few rows the cells of the sky are found sooner than their pairs.

Comes after ``make_left_deep``, and before the passes that plan matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adql.ir import (
    Call,
    Column,
    Expr,
    Join,
    Literal,
    NameGenerator,
    Nearness,
    Relation,
    Scan,
    Select,
    combine_conjuncts,
    evaluate_constant,
    split_conjuncts,
    walk_columns,
    walk_joins,
)
from adql.node_classes import replace
from adql.rewrite.matches.nearest_neighbours import CHOICES
from adql.rewrite.trees.derived_tables import DerivedBuilder
from adql.rewrite.trees.relation_trees import find_used_relations, is_join_equality, replace_relation
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE
from clickhouse_schema.kept_match import RANK, SEPARATION
from clickhouse_schema.schema_model import Match

#: Rows of the smaller table, and as a part of the larger one, below which cells of the sky are faster.
MIN_ROWS = 50_000
_MIN_PART = 0.1

#: Pairs for each row of both tables, beyond which the ids of pairs take longer than cubes.
_MAX_PAIRS = 2.0

_ARCSEC_PER_DEGREE = 3600.0

#: Relative and absolute rounding of separations, in arcsec
_SLACK = 1e-9, 1e-6


@dataclass(frozen=True, slots=True)
class _KeptUse:
    """A join that can read its pairs from ``kept``; ``is_turned``: the left table of the match is on its right.

    ``nearness`` is its condition, or what remains of its choice ``choice``; ``rank`` the greatest rank of its pairs.
    """

    join: Join
    left: Scan
    right: Scan
    kept: TableEntry
    is_turned: bool
    nearness: Call
    choice: Call | None
    rank: int | None

    @property
    def match(self) -> Match:
        assert self.kept.table.match is not None  # noqa: S101  it is a kept match
        return self.kept.table.match


def use_kept_matches(select: Select, fresh: NameGenerator) -> Select:
    """Replace the matches of which a kept one has the pairs."""
    while (use := _find_use(select)) is not None:
        select = _read_pairs(select, use, fresh)
    return select


# --- which joins ------------------------------------------------------------------------------------------------------


def _find_use(select: Select) -> _KeptUse | None:
    for join in walk_joins(select.from_):
        left, right = join.left, join.right
        if not (isinstance(left, Scan) and isinstance(right, Scan) and join.kind in ("INNER", "LEFT", "SEMI", "ANTI")):
            continue
        own = split_conjuncts(join.condition)
        conditions = [*own, *(split_conjuncts(select.where) if join.kind == "INNER" else ())]
        if any(is_join_equality(c, join) for c in conditions):
            continue
        if any(_selects_by_index(c, scan) for c in [*own, *split_conjuncts(select.where)] for scan in (left, right)):
            continue
        for condition in conditions:
            if isinstance(condition, Call) and (use := _read_use(join, left, right, condition)) is not None:
                return use
    return None


def _selects_by_index(condition: Expr, scan: Scan) -> bool:
    """Whether a condition on one table alone may leave few rows of it."""
    if find_used_relations(condition) != {scan.relation}:
        return False
    return any(scan.entry.table.is_indexed(column.name) for column in walk_columns(condition))


def _read_use(join: Join, left: Scan, right: Scan, condition: Call) -> _KeptUse | None:
    is_choice = condition.name in CHOICES
    if is_choice and (join.kind not in ("INNER", "LEFT") or len(split_conjuncts(join.condition)) > 1):
        return None
    near = Nearness.from_call(condition) if is_choice else Nearness.match(condition)
    radius = None if near is None else evaluate_constant(near.radius)
    if near is None or radius is None or radius < 0:
        return None
    for first, second in ((left, right), (right, left)):
        chooses = _is_position(first, near.left) and _is_position(second, near.right)
        if not (chooses or (_is_position(second, near.left) and _is_position(first, near.right))):
            continue
        if condition.name == "NEAREST" and not chooses:
            continue  # the other table's rows choose
        is_turned = first is right
        if is_choice and is_turned and join.kind != "INNER":
            continue
        for kept in first.entry.matches:
            if _has_pairs(kept, second.entry, radius, condition) and _is_faster(kept, first.entry, second.entry):
                nearness = Nearness(near.left, near.right, near.radius, near.is_strict).to_call(condition.span)
                choice = condition if is_choice else None
                return _KeptUse(join, left, right, kept, is_turned, nearness, choice, _find_rank(condition))
    return None


def _is_position(scan: Scan, position: Sequence[Expr]) -> bool:
    """Whether these are the columns of the stored position of a whole table."""
    entry = scan.entry
    if scan.part or entry.is_computed or entry.stored_sql:
        return False
    names = tuple(e.name for e in position if isinstance(e, Column) and e.relation == scan.relation)
    return len(position) == len(names) and names == entry.table.layout.position


def _find_rank(condition: Call) -> int | None:
    """Return the number of nearest rows of a choice; None for all."""
    if condition.name != "NEAREST":
        return None
    count = condition.args[5]
    assert isinstance(count, Literal)  # noqa: S101  the function takes nothing else
    assert isinstance(count.value, int)  # noqa: S101
    return count.value


def _has_pairs(kept: TableEntry, right: TableEntry, radius: float, condition: Call) -> bool:
    match = kept.table.match
    key = kept.table.find_key(match.right) if match is not None else None
    if match is None or key is None or key.referenced_table != right.qualified_name or match.has_epochs:
        return False
    if radius > match.radius / _ARCSEC_PER_DEGREE * (1 + 1e-12):
        return False
    if condition.name == "MUTUAL":
        return match.kind == "mutual"
    if condition.name == "NEAREST":
        return match.kind == "all" or (match.kind == "best" and _find_rank(condition) == 1)
    return match.kind == "all"


def _is_faster(kept: TableEntry, left: TableEntry, right: TableEntry) -> bool:
    if kept.rows is None or left.rows is None or right.rows is None:
        return False
    fewer, more = sorted((left.rows, right.rows))
    return fewer >= max(MIN_ROWS, _MIN_PART * more) and kept.rows <= _MAX_PAIRS * (fewer + more)


# --- the joins --------------------------------------------------------------------------------------------------------


def _read_pairs(select: Select, use: _KeptUse, fresh: NameGenerator) -> Select:
    pairs = Scan(fresh.new_relation(), use.kept)
    to_left, to_right = (_equate_ids(use, pairs, name) for name in (use.match.left, use.match.right))
    if use.is_turned:
        to_left, to_right = to_right, to_left
    wanted = _bound_pairs(use, pairs)
    condition = combine_conjuncts(
        [use.nearness if part is use.choice else part for part in split_conjuncts(use.join.condition)]
    )
    rest = split_conjuncts(condition)
    if use.join.kind == "INNER":
        inner = Join("INNER", use.left, pairs, combine_conjuncts([*to_left, *wanted]))
        joined: Relation = Join("INNER", inner, use.right, combine_conjuncts([*to_right, *rest]))
        return replace(select, from_=replace_relation(select.from_, use.join, joined))
    # the condition as it will be, so that the derived table has what it uses
    outer = replace(use.join, condition=combine_conjuncts([*to_left, *rest]))
    select = replace(select, from_=replace_relation(select.from_, use.join, outer))
    partners = Join("INNER", pairs, use.right, combine_conjuncts(to_right))
    builder = DerivedBuilder(partners, replace(select, from_=_swap_right(select.from_, outer, partners)), fresh)
    derived = builder.build_derived(wanted)
    return builder.rename_select(replace(select, from_=_swap_right(select.from_, outer, derived)))


def _swap_right(tree: Relation, join: Join, right: Relation) -> Relation:
    return replace_relation(tree, join, replace(join, right=right))


def _equate_ids(use: _KeptUse, pairs: Scan, key_name: str) -> list[Expr]:
    """Equate the columns of a key of the kept match with those of the table to which it refers."""
    key = use.kept.table.find_key(key_name)
    assert key is not None  # noqa: S101  a kept match has both keys
    is_right = (key_name == use.match.right) is not use.is_turned
    scan = use.right if is_right else use.left
    columns = zip(key.referenced_columns, key.columns, strict=True)
    return [Call(BOOLEAN, "=", (_column(scan, own), _column(pairs, other))) for own, other in columns]


def _bound_pairs(use: _KeptUse, pairs: Scan) -> list[Expr]:
    """Return conditions on the kept pairs: a superset of those within the radius, of which the nearness decides."""
    bounds: list[Expr] = []
    near = Nearness.from_call(use.nearness)
    radius = evaluate_constant(near.radius)
    assert radius is not None  # noqa: S101  it is constant
    arcsec = radius * _ARCSEC_PER_DEGREE
    if arcsec < use.match.radius * (1 - 1e-12):
        relative, absolute = _SLACK
        greatest = Literal(DOUBLE, arcsec * (1 + relative) + absolute)
        bounds.append(Call(BOOLEAN, "<=", (_column(pairs, SEPARATION), greatest)))
    if use.rank is not None and use.match.kind == "all":
        rank = _column(pairs, RANK)
        bounds.append(Call(BOOLEAN, "<=", (rank, Literal(rank.type, use.rank))))
    return bounds


def _column(scan: Scan, name: str) -> Column:
    field = next(field for field in scan.entry.fields if field.name == name)
    return Column(field.type, scan.relation, name, field)
