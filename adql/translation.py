"""Translation of ADQL to ClickHouse SQL and a description of its result."""

from __future__ import annotations

from dataclasses import dataclass, field

from adql.clickhouse.emitter import emit_query
from adql.clickhouse.sql_settings import (
    DISTRIBUTED,
    KEEP_JOIN_ORDER,
    LOOK_UP,
    NO_JOIN_FILTERS,
    RAISES,
    SETTINGS,
    WRITTEN_ORDER,
    choose_size_settings,
)
from adql.errors import AdqlUnsupported, Span, offset_to_line_column
from adql.functions.object_name_functions import PositionLookup
from adql.index_use import choose_projection
from adql.ir import (
    Join,
    Literal,
    NameGenerator,
    Query,
    Select,
    TranslationContext,
    walk_joins,
    walk_scans_of_query,
    walk_selects,
)
from adql.limits import MAX_SQL
from adql.node_classes import replace
from adql.query_plan import describe_plan, is_cross_match
from adql.regions import Moc
from adql.resolve import resolve_statement
from adql.result_links import find_result_links, number_source_rows
from adql.rewrite import rewrite_query
from adql.rewrite.cluster.distribute import distribute_query
from adql.rewrite.cluster.single_shard import confine_to_shard
from adql.rewrite.covers.attached_files import choose_files
from adql.rewrite.covers.spatial_covers import find_cells_read
from adql.rewrite.filters.row_store_reads import IdLookUp, StoredRowRead, join_look_ups, read_stored_rows
from adql.rewrite.joins.join_order import can_reorder
from adql.rewrite.trees.repeatable_relations import has_random_answer, is_repeatable_query
from adql.rewrite.trees.rewritten import Rewritten
from adql.syntax.parser import parse
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.column_links import NO_LINKS, ResultLinks
from clickhouse_schema.datatypes import Field
from clickhouse_schema.row_store import RowLayout
from clickhouse_schema.shard_map import ShardStatement


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A bound query before any pass.

    Attributes
    ----------
    query
        The bound SELECT or set operation.
    context
        The name generator, as binding left it, and the shard map; for the passes.
    """

    query: Query
    context: TranslationContext


@dataclass(frozen=True, slots=True)
class StoredRowStatement:
    """SQL whose first column is a stored row (``clickhouse_schema.row_store``). Its settings are the query's settings.

    Attributes
    ----------
    sql, on_shard, query
        See ``SqlStatement``.
    layout
        The layout of the stored rows.
    columns
        For each field of the result the name of its column in the stored row, or the index of its column in the SQL.
    look_up
        The ids, if the query only looks up rows by one id column; else None.
    """

    sql: str
    on_shard: ShardStatement | None
    query: Select
    layout: RowLayout
    columns: tuple[str | int, ...]
    look_up: IdLookUp | None = None


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """ClickHouse SQL, with everything that is needed to execute it.

    Attributes
    ----------
    sql
        One SELECT in ClickHouse's dialect.
    settings
        The ClickHouse settings that the SQL needs.
    query
        The bound query after the passes.
    on_shard
        The same query for the servers of one shard, if that shard has all of its rows; else None.
    stored_rows
        The same query of the row store of its table, if it looks up whole rows; else None.
    """

    sql: str
    settings: dict[str, str | int]
    query: Query
    on_shard: ShardStatement | None = None
    stored_rows: StoredRowStatement | None = None


@dataclass(frozen=True, slots=True)
class Translation:
    """The SQL of a query and the description of its result.

    Attributes
    ----------
    sql
        One SELECT in ClickHouse's dialect, with generated column names.
    settings
        The ClickHouse settings on which the meaning of ``sql`` depends.
    fields
        The columns of the result in order, with the user's names, which may repeat.
    tables
        The catalogue tables that the query reads.
    top
        The query's own row limit (TOP); None without TOP.
    query
        The bound query after the passes; None for SQL that was not translated from ADQL.
    bound
        The same query before the passes.
    on_shard
        The same query for the servers of one shard, if that shard has all of its rows; else None.
    stored_rows
        The same query of the row store of its table, if it looks up whole rows; else None.
    warnings
        Messages about parts that are valid but probably unintended, each with line, column and hint, in the order of
        the text.
    """

    sql: str
    settings: dict[str, str | int]
    fields: tuple[Field, ...]
    tables: tuple[TableEntry, ...]
    top: int | None
    query: Query | None = None
    bound: BoundQuery | None = field(default=None, compare=False, repr=False)
    on_shard: ShardStatement | None = None
    stored_rows: StoredRowStatement | None = None
    warnings: tuple[str, ...] = ()

    @property
    def portable_sql(self) -> str:
        """The SQL for comparisons between processes: a hash of its files replaces the address of an attached table."""
        sql = self.sql
        for entry in self.tables:
            if entry.attached is not None:
                sql = sql.replace(entry.attached.root, entry.attached.attachment.key)
        return sql

    @property
    def cells(self) -> dict[str, Moc]:
        """The HEALPix cells to which the index of a table is confined, by ``schema.table.hpx29``."""
        return {} if self.query is None else find_cells_read(self.query)

    @property
    def links(self) -> ResultLinks:
        """The LINKs and service descriptors of the result."""
        return NO_LINKS if self.bound is None else find_result_links(self.bound.query, self.tables)

    @property
    def source_rows(self) -> tuple[int | None, ...]:
        """For each field the number of the table row from which it comes unchanged; None for a computed field."""
        return () if self.bound is None else number_source_rows(self.bound.query)

    @property
    def plan(self) -> tuple[str, ...]:
        """The steps of the query in plain English, one per line; empty for SQL that was not translated from ADQL."""
        query = self.query if self.stored_rows is None else self.stored_rows.query
        return () if query is None else tuple(describe_plan(query))

    @property
    def is_repeatable(self) -> bool:
        """Whether the same rows in the tables give the same result: no random numbers, no sample, no foreign SQL."""
        return self.query is not None and not has_random_answer(self.query)

    @property
    def has_steady_rows(self) -> bool:
        """Whether each run on the same rows gives the same rows; queries with TOP or sums of doubles may not."""
        return self.query is not None and is_repeatable_query(self.query)


def translate(
    text: str, catalogue: Catalogue, *, limit: int | None = None, positions: PositionLookup | None = None
) -> Translation:
    """Translate one ADQL query to ClickHouse SQL.

    Parameters
    ----------
    text
        The query, ADQL 2.1 with the extensions of ``docs/adql.md``.
    catalogue
        The schemas, tables and columns that the query may name.
    limit
        Maximum number of rows of the result, in addition to the query's own TOP; None for no further limit.
    positions
        Returns the ICRS position of a named object in degrees, for ivo_simbadpoint; None to refuse that function.

    Returns
    -------
    Translation
        The SQL, its settings, and the fields and tables of the result.

    Raises
    ------
    AdqlSyntaxError
        The text does not follow the grammar.
    AdqlSemanticError
        A name is unknown or ambiguous, a type does not fit, or a value is out of range.
    AdqlUnsupported
        The query is valid ADQL that Skyhouse does not translate.
    AdqlErrors
        The query has several of these errors.
    """
    context = TranslationContext(NameGenerator(), catalogue.sharding)
    query, tables, warnings = resolve_statement(parse(text), catalogue, context.names, positions)
    fields = tuple(output.field for output in query.outputs)
    bound = BoundQuery(_limit_rows(query, limit), context)
    statement = emit_statement(bound)
    return Translation(
        statement.sql,
        statement.settings,
        fields,
        tables,
        query.limit,
        statement.query,
        bound,
        statement.on_shard,
        statement.stored_rows,
        tuple(_describe_warning(text, span, warnings[span]) for span in sorted(warnings)),
    )


def _describe_warning(text: str, span: Span, warning: str) -> str:
    line, column = offset_to_line_column(text, span.start)
    return f"Line {line}, column {column}: {warning}."


def emit_statement(bound: BoundQuery) -> SqlStatement:
    """Rewrite a bound query and emit its SQL.

    Parameters
    ----------
    bound
        The query. It is not changed, and can be emitted any number of times.

    Returns
    -------
    SqlStatement
        The SQL with its settings and the rewritten query.

    Raises
    ------
    AdqlError
        If a pass cannot rewrite a part of the query.
    """
    context = bound.context.branch()
    rewritten = rewrite_query(bound.query, context)
    if any(scan.entry.attached is not None for scan in walk_scans_of_query(rewritten.query)):
        rewritten = replace(rewritten, query=choose_files(rewritten.query, context))
    stored = read_stored_rows(rewritten.query, context) if rewritten.has_id_look_up else None
    sql, on_shard, query = _place_query(rewritten.query, context)
    stored_rows = None if stored is None else _emit_stored_rows(stored, context)
    return SqlStatement(sql, _choose_settings(rewritten, sql, context), query, on_shard, stored_rows)


def emit_look_ups(statement: StoredRowStatement, ids: tuple[Literal, ...], limit: int) -> str:
    """Combine look-ups by ids of one table into one statement.

    Parameters
    ----------
    statement
        One of the look-ups.
    ids
        The ids of all look-ups.
    limit
        Maximum number of rows.

    Returns
    -------
    str
        SQL that returns the stored rows of all look-ups.
    """
    return emit_query(join_look_ups(statement.query, ids, limit))


def _choose_settings(rewritten: Rewritten[Query], sql: str, context: TranslationContext) -> dict[str, str | int]:
    joins = _collect_joins(rewritten.query) if " JOIN " in sql else []  # most queries need no walk
    settings = dict(SETTINGS)
    if not all(map(can_reorder, joins)):
        settings |= KEEP_JOIN_ORDER
    if rewritten.has_id_look_up:
        settings |= LOOK_UP
        if projection := choose_projection(rewritten.query):
            settings |= {"preferred_optimize_projection_name": projection}
    if context.sharding is not None:
        settings |= DISTRIBUTED
    if any(is_cross_match(join) for tree in joins for join in walk_joins(tree)):
        settings |= NO_JOIN_FILTERS
    if RAISES in sql:
        settings |= WRITTEN_ORDER
    return settings | choose_size_settings(sql, len(rewritten.query.outputs))


def _collect_joins(query: Query) -> list[Join]:
    """Return the join tree of each SELECT in a query that has one."""
    return [select.from_ for select in walk_selects(query) if isinstance(select.from_, Join)]


def _place_query(query: Query, context: TranslationContext) -> tuple[str, ShardStatement | None, Query]:
    """Return the SQL of a rewritten query, its SQL on the shard that has all of its rows, and the distributed query."""
    on_shard = None
    if context.sharding is not None:
        if (confined := confine_to_shard(query, context.sharding.map)) is not None:
            shard, shard_query = confined
            on_shard = ShardStatement(shard, emit_query(shard_query))
        query = distribute_query(query, context.sharding, context)
    sql = emit_query(query)
    if len(sql) > MAX_SQL:
        raise AdqlUnsupported(
            f"the query's SQL has more than {MAX_SQL} characters",
            hint="split it into several queries, or upload values and shapes as a table and join it (UPLOAD)",
        )
    return sql, on_shard, query


def _emit_stored_rows(read: StoredRowRead, context: TranslationContext) -> StoredRowStatement:
    sql, on_shard, _ = _place_query(read.query, context)
    return StoredRowStatement(sql, on_shard, read.query, read.layout, read.columns, read.look_up)


def _limit_rows(query: Query, limit: int | None) -> Query:
    if limit is None:
        return query
    return replace(query, limit=limit if query.limit is None else min(query.limit, limit))
