"""Merge the rows of two large stored tables that are matched by position, cell of the sky by cell.

Both tables are stored in HEALPix order, so the rows of a cell are adjacent. A merge join reads each table once, keeps
only the rows of one cell in memory, and needs no hash table. It finds the pairs whose rows are in one cell. The pairs
across the border of a cell are few; copies of the rows near the border find them:

    FROM a JOIN b ON NEAR(a.ra, a.dec, b.ra, b.dec, r)

    (SELECT ... FROM (SELECT CELL OF(hpx29, k) AS cell, ... FROM a)
                JOIN (SELECT CELL OF(hpx29, k) AS cell, ... FROM b) ON cell = cell WHERE near
     UNION ALL
     SELECT ... FROM (SELECT CELL OF(hpx29, k) AS cell, ... FROM a WHERE AT BORDER(hpx29, k, r))
                JOIN (SELECT CELL BEYOND(hpx29, step, k) AS cell, ...
                      FROM (SELECT STEPS OVER BORDER(hpx29, k, r) AS step, ... FROM b WHERE AT BORDER(hpx29, k, r)))
                ON cell = cell WHERE near)

A row of b is copied to each cell in which something within the radius may be, which follows exactly from the maximum
slope of the projection (``clickhouse_schema.adjacent_cells.find_border_width``). So each pair is found once.

Other joins use these pairs. A row of a stored table has a number (STORED ROW) that is the same in each read of a query,
so the rows of a with a partner are known:

    a SEMI JOIN b ON near
    a SEMI JOIN (SELECT row of a FROM pairs) ON row = row

    a LEFT JOIN b ON near
    a LEFT JOIN (SELECT row of a, columns of b FROM pairs) ON row = row

On a cluster, each shard finds the pairs of its own rows, with its rows and its overlap. Other joins than inner joins,
and matches that reach beyond the overlap, are left to other passes.

This pass runs before ``count_matches`` and ``plan_cross_matches``, which plan the other matches: of computed positions,
dense matches, and matches with a small side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    Scan,
    Select,
    SetOperation,
    TranslationContext,
    combine_conjuncts,
    derive_field,
    evaluate_constant,
    get_operand,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_expr,
    walk_joins,
)
from adql.node_classes import replace
from adql.rewrite.covers.spatial_covers import find_index_column
from adql.rewrite.matches.crossmatch import find_join_nearnesses
from adql.rewrite.matches.match_sizes import choose_merge_order, find_crowding
from adql.rewrite.trees.collocation import has_pairs_on_shards
from adql.rewrite.trees.derived_tables import (
    find_columns_used_outside,
    is_row_by_row,
    list_columns,
    make_derived,
    make_select,
    make_union,
    rename_columns,
)
from adql.rewrite.trees.relation_trees import (
    Leaf,
    collect_numbers,
    find_used_relations,
    has_join_key,
    has_subquery,
    replace_relation,
)
from adql.rewrite.trees.repeatable_relations import is_deterministic
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, LONG
from clickhouse_schema.healpix import NO_POSITION

#: Minimum number of rows of each table; with fewer rows, a hash table fits into the cache
_MIN_ROWS = 100_000

#: Maximum ratio of the numbers of rows of the tables
_MAX_RATIO = 20


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of a stored table that take part in a match.

    Attributes
    ----------
    leaf
        The side in FROM: the table, or a derived table of its rows.
    scan, index
        The table and its index column.
    values
        The columns of a derived table, as expressions of the table.
    conditions
        The conditions on the rows, by columns of the table.
    """

    leaf: Leaf
    scan: Scan
    index: Column
    values: Mapping[Expr, Expr]
    conditions: tuple[Expr, ...]

    @property
    def row(self) -> Expr:
        """The number of a row."""
        return Call(LONG, "STORED ROW", (self.index,))

    @property
    def rows(self) -> int:
        return self.scan.entry.rows or 0

    def has_columns_of(self, expr: Expr) -> bool:
        """Return whether an expression uses only columns of this side."""
        return find_used_relations(expr) <= {self.leaf.relation, self.scan.relation}

    def read_value(self, expr: Expr) -> Expr:
        """Return an expression of the side in columns of the table; a stored row's number replaces ROW NUMBER."""
        value = transform_expr(expr, lambda part: self.values.get(part, part))
        return self.row if _is_row_number(value) else value


@dataclass(frozen=True, slots=True)
class _Match:
    """The match of a join in cells of ``order``.

    ``other``: the side whose rows are copied. ``latitudes``: the latitude of each position. ``tests``: the conditions
    on pairs.
    """

    join: Join
    one: _Side
    other: _Side
    latitudes: tuple[Expr, Expr]
    radius: Literal
    tests: tuple[Expr, ...]
    order: Literal

    @property
    def left(self) -> _Side:
        return self.one if self.one.leaf is self.join.left else self.other

    @property
    def right(self) -> _Side:
        return self.other if self.one.leaf is self.join.left else self.one


def merge_matches(select: Select, context: TranslationContext) -> Select:
    """Replace the matches of two large stored tables by merge joins, or by joins with the pairs of merge joins.

    Expects left-deep joins. Other matches stay for ``count_matches`` and ``plan_cross_matches``.
    """
    while (match := _find_match(select)) is not None:
        select = _PLANS[match.join.kind](select, match, context)
    return select


# --- which matches ----------------------------------------------------------------------------------------------------


def _find_match(select: Select) -> _Match | None:
    joins = (join for join in walk_joins(select.from_) if _keeps_left_rows_of(select.from_, join))
    return next((match for join in joins if (match := _read_match(select, join)) is not None), None)


def _keeps_left_rows_of(tree: Relation, join: Join) -> bool:
    """Return whether the left rows of ``join`` reach WHERE unchanged, without an outer join that makes them NULL."""
    while isinstance(tree, Join) and tree.kind != "FULL":
        if tree is join:
            return True
        tree = tree.left
    return False


def _read_match(select: Select, join: Join) -> _Match | None:
    on, where = split_conjuncts(join.condition), split_conjuncts(select.where)
    conditions = (*on, *where) if join.kind == "INNER" else on
    if has_join_key(join, conditions):
        return None
    found = next(iter(find_join_nearnesses(join, [*conditions])), None)
    radius = None if found is None else evaluate_constant(found.radius)
    if found is None or radius is None:
        return None
    left, right = _read_side(join.left, found.left_position), _read_side(join.right, found.right_position)
    if left is None or right is None or not _are_worth_merging(left, right):
        return None
    of_sides = [c for c in conditions if _is_of_one_side(c, join)]
    tests = [c for c in on if c not in of_sides and c != found.condition]
    of_left = [c for c in where if find_used_relations(c) == collect_numbers(join.left) and _is_plain(c)]
    order = choose_merge_order(radius, find_crowding(join))
    sides = _order_sides(select, join, left, right)
    if order is None or sides is None or not all(map(_is_plain, (*of_sides, *tests))):
        return None
    known = [*dict.fromkeys([*of_sides, *of_left])]
    return _Match(
        join,
        _add_conditions(sides[0], known),
        _add_conditions(sides[1], known),
        (found.left_position[1], found.right_position[1]),
        Literal(DOUBLE, radius),
        (found.condition, *tests),
        Literal(INT, order),
    )


def _order_sides(select: Select, join: Join, left: _Side, right: _Side) -> tuple[_Side, _Side] | None:
    """Return the side with more rows first, or on a cluster the side whose partners each shard has in its overlap.

    Return None if the shards lack partners, or if the join needs row numbers, which differ between copies of a row.
    """
    by_rows = (right, left) if left.rows < right.rows else (left, right)
    if not (left.scan.entry.is_sharded or right.scan.entry.is_sharded):
        return by_rows
    if join.kind != "INNER" or any(_is_row_number(value) for side in by_rows for value in side.values.values()):
        return None
    turns = (by_rows, by_rows[::-1])
    return next((turn for turn in turns if has_pairs_on_shards(select, join, *(side.leaf for side in turn))), None)


def _is_of_one_side(condition: Expr, join: Join) -> bool:
    return any(find_used_relations(condition) == collect_numbers(side) for side in (join.left, join.right))


def _is_plain(condition: Expr) -> bool:
    """Return whether a condition may be tested for pairs, and twice: it has no subquery and no random numbers."""
    return not has_subquery(condition) and all(map(is_deterministic, walk_expr(condition)))


def _are_worth_merging(left: _Side, right: _Side) -> bool:
    fewer, more = sorted((left.rows, right.rows))
    return fewer >= _MIN_ROWS and more <= _MAX_RATIO * fewer


def _read_side(leaf: Relation, position: tuple[Expr, ...]) -> _Side | None:
    """Return a side that is matched by the stored position of its table; None for other sides."""
    if isinstance(leaf, Join):
        return None
    scan: Relation = leaf
    values: dict[Expr, Expr] = {}
    conditions: tuple[Expr, ...] = ()
    if isinstance(leaf, Derived):
        if not (isinstance(leaf.query, Select) and is_row_by_row(leaf.query)):
            return None
        scan, conditions = leaf.query.from_, split_conjuncts(leaf.query.where)
        values = {column: output.expr for column, output in zip(list_columns(leaf), leaf.query.outputs, strict=True)}
    lon, lat = (values.get(expr, expr) for expr in position)
    if not (isinstance(scan, Scan) and isinstance(lon, Column) and isinstance(lat, Column)):
        return None
    index = find_index_column(scan, lon, lat)
    if index is None or scan.part or scan.entry.is_computed:
        return None
    computed = (value for value in values.values() if not _is_row_number(value))
    if not all(map(_is_plain, (*conditions, *computed))):
        return None
    return _Side(leaf, scan, index, values, conditions)


def _is_row_number(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.name == "ROW NUMBER"


def _add_conditions(side: _Side, conditions: Iterable[Expr]) -> _Side:
    own = (side.read_value(c) for c in conditions if find_used_relations(c) == {side.leaf.relation})
    return replace(side, conditions=(*side.conditions, *own))


# --- the joins --------------------------------------------------------------------------------------------------------


def _plan_inner_join(select: Select, match: _Match, context: TranslationContext) -> Select:
    moved = [c for c in split_conjuncts(select.where) if c in match.tests or _is_of_one_side(c, match.join)]
    where = combine_conjuncts([c for c in split_conjuncts(select.where) if c not in moved])
    select = replace(select, where=where)
    shown = find_columns_used_outside(match.join, select)
    pairs = _merge_pairs(match, shown, context)
    select = replace(select, from_=replace_relation(select.from_, match.join, pairs))
    return rename_columns(select, dict(zip(shown, list_columns(pairs), strict=bool(shown))))


def _plan_outer_join(select: Select, match: _Match, context: TranslationContext) -> Select:
    """Join the left rows with their pairs, by the numbers of the rows."""
    join = match.join
    of_right = [c for c in find_columns_used_outside(join, select) if c.relation == match.right.leaf.relation]
    partners = _merge_pairs(match, [match.left.row, *of_right], context)
    left, row = _show_row(match.left, context)
    row_of_pair, *columns = list_columns(partners)
    planned = replace(join, left=left, right=partners, condition=Call(BOOLEAN, "=", (row, row_of_pair)))
    select = replace(select, from_=replace_relation(select.from_, join, planned))
    return rename_columns(select, dict(zip(of_right, columns, strict=True)))


def _show_row(side: _Side, context: TranslationContext) -> tuple[Leaf, Expr]:
    """Return a side with the numbers of its stored rows, which also replace ROW NUMBER, as in the pairs."""
    if isinstance(side.leaf, Scan):
        return side.leaf, side.row
    query = side.leaf.query
    row = Output(context.names.new_alias(), side.row, derive_field(side.row, "row"))
    outputs = (*(replace(output, expr=side.read_value(output.expr)) for output in query.outputs), row)
    numbered = Derived(side.leaf.relation, replace(query, outputs=outputs))
    return numbered, list_columns(numbered)[-1]


#: Kind of join -> function that plans it
_PLANS = {"INNER": _plan_inner_join} | dict.fromkeys(("LEFT", "SEMI", "ANTI"), _plan_outer_join)


# --- the pairs --------------------------------------------------------------------------------------------------------


def _merge_pairs(match: _Match, shown: Sequence[Expr], context: TranslationContext) -> Derived:
    """Return (shown) of the pairs of a match."""
    inside, across = (_join_cells(match, shown, context, is_border=is_border) for is_border in (False, True))
    return make_union(inside, across, context)


def _join_cells(match: _Match, shown: Sequence[Expr], context: TranslationContext, *, is_border: bool) -> Select:
    """Return (shown) of the pairs whose rows are in one cell, or in two."""
    needed = [*dict.fromkeys([*shown, *(column for test in match.tests for column in walk_columns(test))])]
    own = [[expr for expr in needed if side.has_columns_of(expr)] for side in (match.one, match.other)]
    rows = _list_cells(match, match.one, own[0], context, is_border=is_border)
    partners = (_copy_beyond if is_border else _list_cells)(match, match.other, own[1], context)
    names: dict[Expr, Expr] = {}
    for exprs, derived in zip(own, (rows, partners), strict=True):
        names |= zip(exprs, list_columns(derived)[1:], strict=True)
    cells = (list_columns(rows)[0], list_columns(partners)[0])
    joined = Join("INNER", rows, partners, Call(BOOLEAN, "=", cells), is_merge=True)
    latitudes = Call(BOOLEAN, "LATITUDES NEAR", (*match.latitudes, match.radius))
    tests = [transform_expr(test, lambda part: names.get(part, part)) for test in (latitudes, *match.tests)]
    return make_select(joined, [names[expr] for expr in shown], context, tests)


def _list_cells(
    match: _Match, side: _Side, exprs: Sequence[Expr], context: TranslationContext, *, is_border: bool = False
) -> Derived:
    """Return (cell, exprs) of the rows of a side, or only of the rows near the border of their cell."""
    cell = Call(LONG, "CELL OF", (side.index, match.order))
    return make_derived(
        side.scan, [cell, *map(side.read_value, exprs)], context, _select_rows(match, side, is_border=is_border)
    )


def _copy_beyond(match: _Match, side: _Side, exprs: Sequence[Expr], context: TranslationContext) -> Derived:
    """Return (cell, exprs) of the rows of a side for each cell beyond a border that is near."""
    step = Call(LONG, "STEPS OVER BORDER", (side.index, match.order, match.radius))
    where = _select_rows(match, side, is_border=True)
    stepped = make_derived(side.scan, [side.index, step, *map(side.read_value, exprs)], context, where)
    index, number, *columns = list_columns(stepped)
    return make_derived(stepped, [Call(LONG, "CELL BEYOND", (index, number, match.order)), *columns], context)


def _select_rows(match: _Match, side: _Side, *, is_border: bool) -> list[Expr]:
    has_position = Call(BOOLEAN, "<", (side.index, Literal(LONG, NO_POSITION)))
    at_border = Call(BOOLEAN, "AT BORDER", (side.index, match.order, match.radius))
    return [has_position, *([at_border] if is_border else []), *side.conditions]


# --- reading a match, for plans and estimates -------------------------------------------------------------------------


def is_merged(query: Query) -> bool:
    """Return whether a query returns the pairs of a match that ``merge_matches`` made."""
    return isinstance(query, SetOperation) and MergedMatch.from_query(query.left) is not None


@dataclass(frozen=True, slots=True)
class MergedMatch:
    """A SELECT of pairs that ``merge_matches`` made.

    Attributes
    ----------
    radius
        The match radius in degrees.
    order
        The order of the cells.
    is_border
        Whether it finds the pairs across the borders of cells.
    """

    radius: float
    order: int
    is_border: bool

    @classmethod
    def from_query(cls, query: Query) -> MergedMatch | None:
        """Read the radius and the cells from a query; return None if ``merge_matches`` did not make it."""
        if not (isinstance(query, Select) and isinstance(query.from_, Join) and query.from_.is_merge):
            return None
        latitudes = split_conjuncts(query.where)[0]
        assert isinstance(query.from_.right, Derived)  # noqa: S101  as the pass writes it
        cell = query.from_.right.query.outputs[0].expr
        assert isinstance(latitudes, Call)  # noqa: S101  as the pass writes it
        assert isinstance(cell, Call)  # noqa: S101
        radius, order = (evaluate_constant(get_operand(*of)) for of in ((latitudes, "radius"), (cell, "order")))
        assert radius is not None  # noqa: S101
        assert order is not None  # noqa: S101
        return cls(radius, int(order), cell.name == "CELL BEYOND")
