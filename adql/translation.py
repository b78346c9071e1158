"""The only door of the package: ADQL text in, ClickHouse SQL and the result's description out."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

from adql.clickhouse.emitter import emit
from adql.clickhouse.engine_settings import DISTRIBUTED, KEEP_JOIN_ORDER, RAISES, SETTINGS, WRITTEN_ORDER
from adql.functions.object_name_functions import PositionLookup
from adql.ir import NameGenerator, Query
from adql.regions import Moc
from adql.resolve import resolve
from adql.result_links import find_result_links
from adql.rewrite import rewrite_query
from adql.rewrite.distribute import distribute_query
from adql.rewrite.spatial_covers import find_cells_read
from adql.syntax.parser import parse
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.column_links import NO_LINKS, ResultLinks
from clickhouse_schema.datatypes import Field
from clickhouse_schema.shard_map import Sharding


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query before any pass, and the numbers that the passes go on from; ``placement`` where there is a cluster."""

    query: Query
    fresh: NameGenerator
    placement: Sharding | None = None


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """``query`` is what ``sql`` was made of, after the passes."""

    sql: str
    settings: dict[str, str | int]
    query: Query


@dataclass(frozen=True, slots=True)
class Translation:
    """``fields``: the result's columns in order, names as the user sees them (they may repeat).

    ``top``: the query's own limit of rows, None without one. ``tables``: the catalogue tables that it reads.
    ``query``: what the SQL was made of, None for SQL from elsewhere; ``resolved``: the same before the passes.
    """

    sql: str
    settings: dict[str, str | int]
    fields: tuple[Field, ...]
    tables: tuple[TableEntry, ...]
    top: int | None
    query: Query | None = None
    bound: BoundQuery | None = field(default=None, compare=False, repr=False)

    @property
    def cells(self) -> dict[str, Moc]:
        """The HEALPix cells that a table's index is confined to, by ``schema.table.hpx29``."""
        return {} if self.query is None else find_cells_read(self.query)

    @property
    def links(self) -> ResultLinks:
        """The LINKs and service descriptors of the result."""
        return NO_LINKS if self.bound is None else find_result_links(self.bound.query, self.tables)


def translate(
    text: str, catalogue: Catalogue, *, limit: int | None = None, positions: PositionLookup | None = None
) -> Translation:
    """Translate one query; ``limit`` caps the rows of the result beside its own TOP.

    ``positions``: who is asked for the positions of named objects; without it ivo_simbadpoint is refused.
    Raises AdqlError with the position of what is wrong.
    """
    fresh = NameGenerator()
    query, tables = resolve(parse(text), catalogue, fresh, positions)
    fields = tuple(output.field for output in query.outputs)
    resolved = BoundQuery(_limit_rows(query, limit), fresh, catalogue.sharding)
    made = emit_statement(resolved)
    return Translation(made.sql, made.settings, fields, tables, query.limit, made.query, resolved)


def emit_statement(resolved: BoundQuery) -> SqlStatement:
    """The SQL of a resolved query; any number of times."""
    fresh = copy(resolved.fresh)
    query = rewrite_query(resolved.query, fresh)
    settings = SETTINGS | KEEP_JOIN_ORDER if fresh.keeps_join_order else dict(SETTINGS)
    if resolved.placement is not None:
        query = distribute_query(query, resolved.placement, fresh)
        settings |= DISTRIBUTED
    sql = emit(query)
    if RAISES in sql:
        settings |= WRITTEN_ORDER
    return SqlStatement(sql, settings, query)


def _limit_rows(query: Query, limit: int | None) -> Query:
    if limit is None:
        return query
    return replace(query, limit=limit if query.limit is None else min(query.limit, limit))
