"""Computes the rows of a kept match in a region of the sky, by a translated query of its two tables.

    left rows within 2 reaches of the region JOIN right rows within 1 more ON DISTANCE(...) <= radius
      -> rank and number of neighbours of each left row -> the kind's pairs -> mates of each right row
      -> rows of the region

Both tables are read only in cells around the region, so the cost of a piece of the sky depends only on its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa

from adql import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.kept_match import MatchSide, read_sides
from clickhouse_schema.match_region import MatchRegion
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Layout, Match, Schema, Table
from clickhouse_schema.table_ddl import given_columns
from clickhouse_schema.tap_schema import table_name_to_adql
from loaders.load_error import LoadError
from loaders.pipeline.stoppable_query import stream_until_stopped
from loaders.progress_reporter import Reporter
from tap_service.models.engine_share import ENGINE_SHARES, Lane
from tap_service.storage.engine.engine import Engine, EngineError, Settings, combine_settings
from tap_service.storage.engine.memory_settings import choose_memory_settings

#: Matches run next to queries: with a low priority, and on disk beyond a part of this memory.
_SETTINGS = combine_settings(dict(ENGINE_SHARES[Lane.BULK].list_settings()), choose_memory_settings(1 << 30))

#: ClickHouse's error code of throwIf
_THROWN = 395

_MAS_PER_DEGREE = 3.6e6
_ARCSEC_PER_DEGREE = 3600.0


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """The SQL of rows of the kept table, with the columns of inserted rows, and the settings that it needs."""

    sql: str
    settings: Settings


class MatchRows:
    """Computes the rows of the kept match ``table``. Raises ``LoadError`` if a table or column is missing."""

    def __init__(self, engine: Engine, catalogue: Catalogue, schema_name: str, table: Table) -> None:
        sides = read_sides(catalogue.schemas, table)
        if sides is None or table.match is None:
            raise LoadError(
                f"{schema_name}.{table.name} is the kept match of a table that is missing: load it again, or remove the"
                f" match with skyhouse match drop {schema_name}.{table.name}"
            )
        self._engine = engine
        self._catalogue = catalogue
        self._table = table
        self._match: Match = table.match
        self.name = f"{schema_name}.{table.name}"
        self.left, self.right = sides
        for side in sides:
            _refuse_missing_columns(side, self.name)

    @property
    def radius(self) -> float:
        """The maximum separation in degrees."""
        return self._match.radius / _ARCSEC_PER_DEGREE

    def find_reach(self) -> float:
        """Return the greatest separation in degrees that the stored positions of a pair may have."""
        moved = self.moved_side
        if moved is None or moved.motion is None:
            return self.radius
        east, north = (f"ifNull({quote_identifier(name)}, 0)" for name in moved.motion)
        total = f"sqrt(pow({east}, 2) + pow({north}, 2))"
        sql = f"SELECT maxIf({total}, isFinite({total})) AS motion FROM {self.read_sql(moved)}"
        [found] = self._engine.fetch_table(sql).to_pylist()
        return self.radius + (found["motion"] or 0.0) / _MAS_PER_DEGREE * self._find_years()

    def _find_years(self) -> float:
        """Return the greatest difference of epochs in years."""
        (first, last), (other_first, other_last) = map(self._find_epochs, (self.left, self.right))
        return max(abs(last - other_first), abs(other_last - first), 0.0)

    def _find_epochs(self, side: MatchSide) -> tuple[float, float]:
        if not isinstance(side.epoch, str):
            return side.epoch, side.epoch
        name = quote_identifier(side.epoch)
        sql = f"SELECT min({name}) AS first, max({name}) AS last FROM {self.read_sql(side)}"
        [found] = self._engine.fetch_table(f"{sql} WHERE isFinite({name})").to_pylist()
        return float(found["first"] or 0.0), float(found["last"] or 0.0)

    @property
    def moved_side(self) -> MatchSide | None:
        """The side whose positions are moved to the epoch of the other side; None without epochs."""
        if not self._match.has_epochs:
            return None
        return self.left if self.left.motion is not None else self.right

    def read_sql(self, side: MatchSide) -> str:
        """Return the SQL of all rows of a side."""
        return self._entry_of(side).storage_sql

    def _entry_of(self, side: MatchSide) -> TableEntry:
        entry = self._catalogue.find_entry(side.schema.name, side.table.name)
        assert entry is not None  # noqa: S101  the catalogue has the side
        return entry

    # --- rows ---------------------------------------------------------------------------------------------------------

    def build_query(self, region: MatchRegion, reach: float, order: int) -> RowsQuery:
        """Return the query of the rows of a region.

        Parameters
        ----------
        region : MatchRegion
            The region of the left rows.
        reach : float
            Greatest separation in degrees of the stored positions of a pair.
        order : int
            Finest order of the cells around the region.
        """
        around = region.grow_region(2 * reach, order)
        farther = around.grow_region(reach, order)
        left, right = self._entry_of(self.left), self._entry_of(self.right)
        confined = (
            _confine_entry(left, self.left.used_columns, around),
            _confine_entry(right, self.right.used_columns, farther),
        )
        catalogue = Catalogue(()).add_entries(confined)
        translation = translate(self._write_adql(reach), catalogue)
        assert translation.query is not None  # noqa: S101  it was ADQL
        names = [output.alias for output in translation.query.outputs]
        return RowsQuery(self._rank_sql(translation.sql, names, region), translation.settings)

    def _write_adql(self, reach: float) -> str:
        left, right = self.left, self.right
        outputs = [_column_adql("a", name) for name in (*left.key.referenced_columns,)]
        outputs += [_column_adql("b", name) for name in (*right.key.referenced_columns,)]
        outputs += [_column_adql("a", name) for name in left.position]
        stored = [_point_adql(alias, side.position) for alias, side in (("a", left), ("b", right))]
        moved = [self._moved_point_adql(alias, side) for alias, side in (("a", left), ("b", right))]
        separation = f"DISTANCE({', '.join(moved)})"
        conditions = [f"{separation} <= {self.radius!r}"]
        if moved != stored:  # the index has only stored positions
            conditions.append(f"DISTANCE({', '.join(stored)}) <= {reach!r}")
        tables = (table_name_to_adql(self._entry_of(side)) for side in (left, right))
        joined = " JOIN ".join(f"{table} AS {alias}" for table, alias in zip(tables, "ab", strict=True))
        return f"SELECT {', '.join([*outputs, separation])} FROM {joined} ON {' AND '.join(conditions)}"

    def _moved_point_adql(self, alias: str, side: MatchSide) -> str:
        if side is not self.moved_side or side.motion is None:
            return _point_adql(alias, side.position)
        other, other_alias = (self.right, "b") if side is self.left else (self.left, "a")
        from_epoch, to_epoch = _epoch_adql(alias, side), _epoch_adql(other_alias, other)
        if isinstance(side.epoch, str):  # a row without an epoch stays where it is
            from_epoch = f"COALESCE({from_epoch}, {to_epoch})"
        if isinstance(other.epoch, str):
            to_epoch = f"COALESCE({to_epoch}, {from_epoch})"
        lon, lat, east, north = (_column_adql(alias, name) for name in (*side.position, *side.motion))
        return f"ivo_epoch_prop_pos({lon}, {lat}, NULL, {east}, {north}, NULL, {from_epoch}, {to_epoch})"

    def _rank_sql(self, pairs_sql: str, names: Sequence[str], region: MatchRegion) -> str:
        left_ids = names[: len(self.left.key.columns)]
        right_ids = names[len(left_ids) : len(left_ids) + len(self.right.key.columns)]
        lon, lat, separation = names[-3:]
        left, right = ", ".join(left_ids), ", ".join(right_ids)
        row = f"{left}, {lon}, {lat}"  # rows that share an id are not their own mates
        lacks_id = " OR ".join(f"isNull({name})" for name in (*left_ids, *right_ids))
        problem = quote_string("SKYHOUSE no unique id")
        ranked = (
            f"SELECT *, row_number() OVER (PARTITION BY {row} ORDER BY {separation}, {right}) AS __rank,"
            f" count() OVER (PARTITION BY {row}) AS __near,"
            f" row_number() OVER (PARTITION BY {right} ORDER BY {separation}, {left}) AS __left_rank,"
            f" count() OVER (PARTITION BY {left}, {right}) AS __same FROM ({pairs_sql})"
        )
        kept = {"all": "1", "best": "__rank = 1", "mutual": "__rank = 1 AND __left_rank = 1"}[self._match.kind]
        mates = (
            f"SELECT *, count() OVER (PARTITION BY {right}) - 1 AS __mates, {index_sql(lon, lat)} AS __index"
            f" FROM ({ranked})"
            f" WHERE throwIf(__same > 1 OR {lacks_id}, {problem}) = 0 AND {kept}"
        )
        values = [
            *(f"assumeNotNull({name})" for name in (*left_ids, *right_ids)), lon, lat,
            f"{separation} * {_ARCSEC_PER_DEGREE!r}", "toInt32(__rank)", "toInt32(__near)", "toInt32(__mates)",
        ]  # fmt: skip
        columns = map(quote_identifier, given_columns(self._table))
        outputs = ", ".join(f"{value} AS {column}" for value, column in zip(values, columns, strict=True))
        return f"SELECT {outputs} FROM ({mates}) WHERE {region.condition_sql('__index')}"

    # --- queries ------------------------------------------------------------------------------------------------------

    @contextmanager
    def stream_rows(self, query: RowsQuery, reporter: Reporter) -> Iterator[Iterator[pa.RecordBatch]]:
        """Stream the rows of a query with the settings of matches, until the user stops the command."""
        settings = combine_settings(query.settings, _SETTINGS)
        try:
            with stream_until_stopped(self._engine, query.sql, settings, reporter) as batches:
                yield batches
        except EngineError as error:
            if error.code != _THROWN:
                raise
            ids = " and ".join(f"{', '.join(s.key.referenced_columns)} of {s.name}" for s in (self.left, self.right))
            raise LoadError(
                f"{self.name} cannot identify its pairs: nearby rows have the same id, or no id. Its ids are {ids}:"
                " name columns that distinguish rows in id of skyhouse:layout, or delete the duplicate rows"
            ) from error

    def refuse_repeated_ids(self, reporter: Reporter, region: MatchRegion | None = None) -> None:
        """Raise ``LoadError`` if several rows, of a region or of the entire table, have the same id."""
        for side in (self.left, self.right):
            ids = ", ".join(map(quote_identifier, side.key.referenced_columns))
            rows = self.read_sql(side)
            confined = ""
            if region is not None:
                confined = f" WHERE ({ids}) GLOBAL IN (SELECT {ids} FROM {rows} WHERE {region.condition_sql()})"
            # sorting on disk takes a quarter of the time of grouping on disk
            numbered = f"SELECT {ids}, row_number() OVER (PARTITION BY {ids}) AS __number FROM {rows}{confined}"
            sql = f"SELECT {ids} FROM ({numbered}) WHERE __number = 2 LIMIT 1"
            with self.stream_rows(RowsQuery(sql, {}), reporter) as batches:
                found = [row for batch in batches for row in batch.to_pylist()]
            if found:
                value = ", ".join(map(str, found[0].values()))
                raise LoadError(
                    f"several rows of {side.name} have the id {value}, so {self.name} cannot identify its pairs: name"
                    " columns that distinguish rows in id of skyhouse:layout, or delete the duplicate rows"
                )


def _refuse_missing_columns(side: MatchSide, name: str) -> None:
    present = {column.name for column in side.table.columns}
    if missing := sorted(side.used_columns - present):
        raise LoadError(
            f"{side.name} has no column {', '.join(missing)}, which the kept match {name} needs: load it with the"
            f" column, or remove the match with skyhouse match drop {name}"
        )


def _confine_entry(entry: TableEntry, columns: frozenset[str], region: MatchRegion) -> TableEntry:
    """Return an entry that reads only the rows of a region."""
    names = ", ".join(quote_identifier(column.name) for column in entry.table.columns if column.name in columns)
    read = f"(SELECT {names} FROM {entry.storage_sql} WHERE {region.condition_sql()})"
    layout = Layout(position=entry.table.layout.position, id=entry.table.layout.id)
    kept = tuple(column for column in entry.table.columns if column.name in columns)
    table = Table(name=entry.table.name, columns=kept, layout=layout, coordinates=entry.table.coordinates)
    schema: Schema = entry.schema.model_copy(update={"tables": (table,)})
    return replace(
        entry, schema=schema, table=table, stored_sql=read, rows=None, is_sharded=False, hidden_keys=frozenset(),
        matches=(),
    )  # fmt: skip


def _column_adql(alias: str, name: str) -> str:
    return f"{alias}.{name_to_adql(name)}"


def _point_adql(alias: str, position: tuple[str, str]) -> str:
    return f"POINT({', '.join(_column_adql(alias, name) for name in position)})"


def _epoch_adql(alias: str, side: MatchSide) -> str:
    return _column_adql(alias, side.epoch) if isinstance(side.epoch, str) else repr(side.epoch)
