"""Choose the files of attached tables that a query reads, by the covers and pieces in its conditions.

A file has the rows of one HEALPix cell, so a condition on the index determines the files that may have rows for it. The
cells of a small side (``small_side_filters``) are known only when the query runs, so the engine chooses files by name.

    WHERE cell of hpx29 IN (SELECT cells around few)
    WHERE cell of hpx29 IN (SELECT cells around few) AND __file IN (SELECT files of (cells around few))
"""

from __future__ import annotations

from adql.ir import (
    SUBQUERIES,
    Call,
    Column,
    Derived,
    Expr,
    InCells,
    InSubquery,
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
    has_window,
    map_select,
    split_conjuncts,
    transform_expr,
    walk_leaves,
)
from adql.node_classes import replace
from adql.regions import Moc
from adql.rewrite.covers.spatial_covers import HPX29
from adql.rewrite.trees.collocation import inline_derived_outputs
from clickhouse_schema.datatypes import BOOLEAN, CHAR, LONG, Field
from clickhouse_schema.hats.attachment import FILE_COLUMN
from clickhouse_schema.healpix import NO_POSITION

#: Kinds of joins whose ON confines the rows of the right side, and kinds whose ON confines the rows of both sides
_CONFINING_RIGHT = frozenset(("INNER", "LEFT", "SEMI", "ANTI"))
_CONFINING_BOTH = frozenset(("INNER", "SEMI"))


def choose_files(query: Query, context: TranslationContext) -> Query:
    """Choose the files of attached tables that a query reads.

    Parameters
    ----------
    query
        The query after all other passes except ``distribute_query``.
    context
        Generates relation numbers and aliases.

    Returns
    -------
    Query
        The query whose scans of attached tables read only files that may have rows for it.
    """
    if isinstance(query, SetOperation):
        return replace(query, left=choose_files(query.left, context), right=choose_files(query.right, context))
    return _choose_in_select(query, split_conjuncts(query.where), context)


def _choose_in_select(select: Select, conditions: tuple[Expr, ...], context: TranslationContext) -> Select:
    def choose_in_subquery(expr: Expr) -> Expr:
        return replace(expr, query=choose_files(expr.query, context)) if isinstance(expr, SUBQUERIES) else expr

    chosen = _name_files(select, context).with_from(_choose_in_tree(select.from_, conditions, context))
    return map_select(chosen, lambda expr: transform_expr(expr, choose_in_subquery))


def _choose_in_tree(relation: Relation, conditions: tuple[Expr, ...], context: TranslationContext) -> Relation:
    """Choose the files of the tables in a join tree.

    ``conditions``: conditions, also on other relations, that all rows which the query needs satisfy. A condition on the
    index is not true for the NULLs of an outer join, so it may confine the rows that such a join reads.
    """
    if isinstance(relation, Join):
        own = split_conjuncts(relation.condition)
        left = conditions + own if relation.kind in _CONFINING_BOTH else conditions
        right = conditions + own if relation.kind in _CONFINING_RIGHT else conditions
        chosen = _choose_in_tree(relation.left, left, context)
        return relation.with_sides(chosen, _choose_in_tree(relation.right, right, context))
    if isinstance(relation, Derived):
        return replace(relation, query=_choose_in_derived(relation, conditions, context))
    rows = relation.entry.attached
    cells = None if rows is None else _find_cells(relation, conditions)
    if rows is None or cells is None:
        return relation
    return replace(relation, entry=relation.entry.read_attached(rows.choose_files(cells.ranges)))


def _choose_in_derived(derived: Derived, conditions: tuple[Expr, ...], context: TranslationContext) -> Query:
    query = derived.query
    if isinstance(query, SetOperation) or not _only_selects(query):
        return choose_files(query, context)
    outer = tuple(inline_derived_outputs(condition, {derived.relation: derived}) for condition in conditions)
    return _choose_in_select(query, outer + split_conjuncts(query.where), context)


def _name_files(select: Select, context: TranslationContext) -> Select:
    """Return a SELECT whose filters by cells of a small side also select the files of attached tables."""
    conditions = split_conjuncts(select.where)
    scans = {leaf.relation: leaf for leaf in walk_leaves(select.from_) if isinstance(leaf, Scan)}
    added = [test for condition in conditions if (test := _make_file_test(condition, scans, context)) is not None]
    return replace(select, where=combine_conjuncts([*conditions, *added])) if added else select


def _make_file_test(condition: Expr, scans: dict[int, Scan], context: TranslationContext) -> Expr | None:
    cell = condition.operand if isinstance(condition, InSubquery) else None
    if not (isinstance(condition, InSubquery) and isinstance(cell, Call) and cell.name == "CELL OF"):
        return None
    index, order = cell.args
    scan = scans.get(index.relation) if isinstance(index, Column) else None
    if scan is None or scan.entry.attached is None:
        return None
    borders_order, borders = scan.entry.attached.attachment.list_borders()
    cells = Derived(context.names.new_relation(), condition.query)
    [output] = condition.query.outputs
    near = Column(output.expr.type, cells.relation, output.alias, output.field)
    files = Call(CHAR, "FILES OF", (near, order, Literal(CHAR, str(borders)), Literal(LONG, borders_order)))
    name = Field(FILE_COLUMN, CHAR, nullable=False)
    names = Select(cells, None, (), None, (Output(context.names.new_alias(), files, name),), True, (), None, 0)
    file = Column(CHAR, scan.relation, FILE_COLUMN, name)
    # for rows, the test may be useless: ClickHouse 26.9 sets the name of the file to '' if it reads by PREWHERE
    unknown = Call(BOOLEAN, "=", (file, Literal(CHAR, "")))
    return Call(BOOLEAN, "OR", (InSubquery(BOOLEAN, file, names), unknown))


def _only_selects(query: Select) -> bool:
    """Return whether each row of the result depends on one row, so that rows without a result need not be read."""
    needs_rows = query.is_grouped or query.distinct or query.limit is not None or query.offset or has_window(query)
    return not needs_rows


def _find_cells(scan: Scan, conditions: tuple[Expr, ...]) -> Moc | None:
    """Return the cells that ANDed conditions leave of a table; None if they do not confine its index."""
    found: Moc | None = None
    for condition in conditions:
        cells = _read_cells(condition, scan)
        if cells is not None:
            found = cells if found is None else found.intersection(cells)
    return found


def _read_cells(condition: Expr, scan: Scan) -> Moc | None:
    index = next(iter(condition.children), None)
    if not (isinstance(index, Column) and (index.relation, index.name) == (scan.relation, HPX29)):
        return None
    if isinstance(condition, InCells):
        return Moc.from_cells(condition.cells)
    if isinstance(condition, Call) and condition.name in (">=", "<"):
        limit = condition.args[1]
        if isinstance(limit, Literal) and isinstance(limit.value, int):
            first, end = (limit.value, NO_POSITION) if condition.name == ">=" else (0, limit.value)
            return Moc.from_ranges([(first, end)] if first < end else [])
    return None
