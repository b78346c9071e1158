"""Makes a kept match in pieces of the sky, and recomputes it where its tables have changed.

    make:    staging table -> the pairs of one piece after the other, each a chunk -> counted, "verified" -> published
    follow:  staging table with links to the live parts -> rows of the changed region masked -> new rows of its
               pieces inserted -> counted, "verified" -> published
    then     record that it is up to date (``match_record``), from which moment queries use it

A match that is killed while it is made continues after its last piece. A match that is killed while it follows a change
starts to follow again: the record has the changed cells until it is done.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import pyarrow as pa

from clickhouse_schema.adjacent_cells import order_for_radius
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import (
    read_catalogue,
    read_content_stamps,
    read_match_records,
    read_registered,
    write_match_records,
)
from clickhouse_schema.engine_tables.density_table import read_density, update_density
from clickhouse_schema.engine_tables.match_record import MatchRecord
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.match_region import MAX_ORDER, MatchRegion, find_changed_region
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.schema_model import Schema, Table
from loaders.load_error import LoadError
from loaders.pipeline.match_rows import MatchRows, RowsQuery
from loaders.pipeline.piece_chunks import CHUNKS_PER_PIECE, find_piece, number_chunks
from loaders.pipeline.storage_choice import choose_storage
from loaders.progress_reporter import Reporter
from loaders.storage.gateway_table import Orphan
from loaders.storage.load_state import FinishedLoad, TableState
from tap_service.storage.engine.engine import Engine

#: Number of rows of both tables in a piece
PIECE_ROWS = 1_000_000

#: Number of pairs of a chunk, which are in memory together. A piece is one chunk, or several in a dense field.
_BLOCK_ROWS = 1_000_000

#: Orders by which the cells around a piece are finer than its own cells, and the maximum number of them
_BORDER_ORDERS = 3
_BORDER_CELLS = 20_000

#: Maximum number of cells of a piece of a changed region
_PIECE_CELLS = 2000

#: Fraction of masked rows above which the parts are rewritten without them
_MAX_MASKED = 0.25

#: Fraction of changed cells above which the entire match is recomputed
_MAX_CHANGED = 0.25


class KeptMatch:
    """A kept match, whose table need not exist.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    catalogue : Catalogue
        The current catalogue.
    schema : Schema
        The schema of the kept match.
    table : Table
        The model of the kept match (``build_match_table``).

    Raises
    ------
    LoadError
        One of its tables is missing, or lacks a column that the match uses.
    """

    def __init__(self, engine: Engine, catalogue: Catalogue, schema: Schema, table: Table) -> None:
        self._engine = engine
        self._catalogue = catalogue
        self._table = table
        self._entry = schema.model_copy(update={"tables": (table,)})
        self.name = f"{schema.name}.{table.name}"
        self.rows = MatchRows(engine, catalogue, schema.name, table)
        self.storage = choose_storage(engine, schema.name, table, catalogue)

    # --- the entire match ---------------------------------------------------------------------------------------------

    def make_pairs(self, reporter: Reporter) -> int:
        """Make or resume the entire match, and publish it.

        Parameters
        ----------
        reporter : Reporter
            Receives progress and messages; may stop the command, which can be resumed.

        Returns
        -------
        int
            Number of pairs.

        Raises
        ------
        LoadError
            Ids occur twice, a pair fits no shard, a field is too dense, or a table has changed meanwhile; in the last
            case the match is published, but queries do not use it.
        LoadCancelled
            The user has stopped the command.
        """
        reach_degrees = self.rows.find_reach()
        stamps = self._read_stamps()
        state = self._open_staging(reach_degrees, stamps)
        if not state.verified:
            self.rows.refuse_repeated_ids(reporter)
            self._insert_pieces(self.list_pieces(reach_degrees), reach_degrees, reporter)
            state = self._mark_verified(state)
        self._publish_staging()
        if self._read_stamps() != stamps:
            tables = f"{self.rows.left.name} or {self.rows.right.name}"
            raise LoadError(
                f"{tables} changed while {self.name} was made, so queries do not use it yet: skyhouse match follow"
                f" {self.name} recomputes it"
            )
        write_match_records(self._engine, lambda records: records.update({self.name: MatchRecord(reach=reach_degrees)}))
        return state.rows

    def _read_stamps(self) -> str:
        """Return a text that changes whenever a row of one of the tables changes."""
        sides = [(side.schema.name, side.table.name) for side in (self.rows.left, self.rows.right)]
        return repr(read_content_stamps(self._engine, sides))

    def _open_staging(self, reach_degrees: float, stamps: str) -> TableState:
        """Return the state of the staging table, which is created again if the rows of a table have changed."""
        document = self._table.model_dump_json(by_alias=True, exclude_defaults=True)
        parts = [document, repr(reach_degrees), repr((PIECE_ROWS, CHUNKS_PER_PIECE)), stamps]
        fingerprint = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        staging = self.storage.staging
        state = staging.read_state()
        if state is not None and state.fingerprint == fingerprint:
            return state
        state = TableState(fingerprint=fingerprint, entry=self._entry, origin=secrets.token_hex(8))
        staging.create_table(self._entry, self._table, state, onto_live=False)
        return state

    def list_pieces(self, reach: float) -> list[tuple[MatchRegion, int]]:
        """Divide the sky into pieces with about ``PIECE_ROWS`` rows.

        Parameters
        ----------
        reach : float
            Greatest separation in degrees of the stored positions of a pair.

        Returns
        -------
        list of tuple of MatchRegion and int
            The pieces, each with the order of the cells around it.
        """
        order = self._table.layout.healpix_order
        last_cell = 12 * 4**order
        rows = [0] * last_cell
        for side in (self.rows.left, self.rows.right):
            shift = 2 * (side.table.layout.healpix_order - order)
            density = read_density(self._engine, side.schema.name, side.table.name)
            for cell, count in zip(density["cell"].to_pylist(), density["rows"].to_pylist(), strict=True):
                own_cell = cell >> shift if shift >= 0 else cell << -shift
                if own_cell < last_cell:
                    rows[own_cell] += count
        finest = order_for_radius(2 * reach)
        if finest is None:
            return [(MatchRegion(None), 0)]
        pieces: list[list[int]] = []
        cells: list[int] = []
        total = 0
        for cell, count in enumerate(rows):
            if cells and total + count > PIECE_ROWS:
                pieces.append(cells)
                cells, total = [], 0
            cells.append(cell)
            total += count
        return [
            (MatchRegion.from_cells(order, each), min(finest, _find_border(order, each))) for each in [*pieces, cells]
        ]

    def _insert_pieces(
        self, pieces: Sequence[tuple[MatchRegion, int]], reach_degrees: float, reporter: Reporter
    ) -> None:
        first, rows = self._find_first_piece(len(pieces), reporter)
        for number, (region, order) in enumerate(pieces[first:], first):
            reporter.progress(rows, number / len(pieces))
            with self._read_blocks(self.rows.build_query(region, reach_degrees, order), reporter) as blocks:
                for inserted in self._insert_blocks(number_chunks(number), blocks):
                    rows += inserted
                    reporter.progress(rows, number / len(pieces))
            reach(Failpoint.MATCH_PIECE)
        reporter.progress(rows, 1)

    def _insert_blocks(self, chunks: range, blocks: Iterator[list[pa.RecordBatch]]) -> Iterator[int]:
        """Insert the blocks of a piece as these chunks, and yield the number of rows of each."""
        for chunk, block in enumerate(blocks, chunks.start):
            if chunk not in chunks:
                raise LoadError(
                    f"{self.name} has more than {CHUNKS_PER_PIECE * _BLOCK_ROWS:,} pairs in a piece of the sky with"
                    f" about {PIECE_ROWS:,} rows: make it with a smaller --radius"
                )
            self._refuse_orphans(self.storage.staging.insert_chunk(chunk, block))
            yield sum(batch.num_rows for batch in block)

    def _find_first_piece(self, pieces: int, reporter: Reporter) -> tuple[int, int]:
        """Delete the rows of the unfinished piece; return its number, and the number of rows of earlier pieces."""
        staging = self.storage.staging
        if not (present := staging.count_chunk_rows()):
            return 0, 0
        first = find_piece(max(present))
        staging.delete_chunks(number_chunks(first))
        reporter.message(f"resuming {self.name}, which was stopped in piece {first + 1} of {pieces}")
        return first, sum(staging.count_chunk_rows().values())

    @contextmanager
    def _read_blocks(self, query: RowsQuery, reporter: Reporter) -> Iterator[Iterator[list[pa.RecordBatch]]]:
        with self.rows.stream_rows(query, reporter) as batches:
            yield _group_batches(batches)

    def _refuse_orphans(self, orphans: Sequence[Orphan]) -> None:
        if orphans:
            first = orphans[0]
            raise LoadError(
                f"{len(orphans):,} pairs of {self.name} would be on no shard, the first with {first.column}"
                f" {first.value}: {first.reason}. See skyhouse verify {self.rows.left.name}"
            )

    # --- a changed region ---------------------------------------------------------------------------------------------

    def follow_tables(self, reporter: Reporter) -> bool:
        """Recompute the pairs that changes of the tables may affect, and publish them.

        A match without a record, or with changes in much of the sky, is made again.

        Parameters
        ----------
        reporter : Reporter
            Receives progress and messages.

        Returns
        -------
        bool
            Whether there were changes.

        Raises
        ------
        LoadError
            As for ``make_pairs``.
        LoadCancelled
            The user has stopped the command; the record keeps the changed cells.
        """
        record = read_match_records(self._engine).get(self.name)
        if record is not None and record.is_current:
            return False
        if record is None:
            self.make_pairs(reporter)
            return True
        reach_degrees = max(record.reach, self.rows.find_reach())
        region, order = find_changed_region(record.order, record.cells, reach_degrees)
        if region.ranges is None or len(region.list_cells(order)) > _MAX_CHANGED * 12 * 4**order:
            self.make_pairs(reporter)
            return True
        self.rows.refuse_repeated_ids(reporter, region)
        self._remake_region(region, order, reach_degrees, reporter)
        self._publish_staging()

        def clear_cells(records: dict[str, MatchRecord]) -> None:
            if records.get(self.name) == record:  # otherwise a table has changed again, in more cells
                records[self.name] = MatchRecord(reach=reach_degrees)

        write_match_records(self._engine, clear_cells)
        return True

    def _remake_region(self, region: MatchRegion, order: int, reach_degrees: float, reporter: Reporter) -> None:
        staging = self.storage.staging
        state = TableState(fingerprint=secrets.token_hex(16), entry=self._entry, origin=self._read_origin())
        try:
            staging.create_table(self._entry, self._table, state, onto_live=True, has_chunks=False)
            staging.change_rows(f"UPDATE _row_exists = 0 WHERE {region.condition_sql()}")
            for piece in region.divide_region(order, _PIECE_CELLS):
                query = self.rows.build_query(piece, reach_degrees, min(order + _BORDER_ORDERS, MAX_ORDER))
                with self._read_blocks(query, reporter) as blocks:
                    for block in blocks:
                        self._insert_block(block)
                reach(Failpoint.MATCH_PIECE)
            if self._has_many_masks():
                staging.change_rows("APPLY DELETED MASK")
            self._mark_verified(state)
        except BaseException:
            staging.drop_table()
            raise

    def _insert_block(self, batches: Sequence[pa.RecordBatch]) -> None:
        gateway = self.storage.staging.open_gateway(self._table)
        try:
            gateway.fill_table(batches)
            self._refuse_orphans(gateway.find_orphans())
            self.storage.staging.insert_gateway(gateway)
        finally:
            gateway.drop_tables()

    def _read_origin(self) -> str:
        live = self.storage.live.read_state()
        return secrets.token_hex(8) if live is None else live.origin

    def _has_many_masks(self) -> bool:
        storage = self.storage
        if storage.is_cluster:
            return True
        is_staging = f"database = {quote_string(storage.schema_name)} AND table = {quote_string(storage.staging.name)}"
        stored = f"(SELECT sum(rows) FROM system.parts WHERE active AND {is_staging})"
        [found] = self._engine.fetch_table(
            f"SELECT {stored} AS stored, count() AS rows FROM {storage.staging.rows_sql}"
        ).to_pylist()
        return bool((found["stored"] or 0) * (1 - _MAX_MASKED) > found["rows"])

    # --- publishing ---------------------------------------------------------------------------------------------------

    def _mark_verified(self, state: TableState) -> TableState:
        staging = self.storage.staging
        if errors := staging.find_problems():
            raise LoadError(
                f"the staging table of {self.name} is wrong: {'; '.join(errors)}. Start the same command again"
            )
        counted = self._engine.fetch_table(f"SELECT count() AS rows FROM {staging.rows_sql}")
        rows = int(counted.column(0)[0].as_py())
        now = datetime.now(UTC).isoformat(timespec="seconds")
        tables = (self.rows.left.name, self.rows.right.name)
        done = FinishedLoad(fingerprint=state.fingerprint, files=tables, rows=rows, rejected=0, finished=now)
        version, known = read_registered(self._engine, self.storage.schema_name, self._table.name)
        # a description that the catalogue already has is not written again
        is_known = known is not None and known.tables == self._entry.tables
        state = state.model_copy(update={"verified": True, "loads": (done,), "catalogue": version - is_known})
        staging.mark_verified(state)
        return state

    def _publish_staging(self) -> None:
        if not self.storage.is_cluster:  # where the publication writes the density
            update_density(self._engine, self.storage.schema_name, self._table, self.storage.staging.name)
        self.storage.publication.publish_staging()
        reach(Failpoint.MATCH_PUBLISH)


def _group_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield blocks of about ``_BLOCK_ROWS`` rows."""
    block: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        block.append(batch)
        rows += batch.num_rows
        if rows >= _BLOCK_ROWS:
            yield block
            block, rows = [], 0
    if rows:
        yield block


def _find_border(order: int, cells: Sequence[int]) -> int:
    """Return the order of the cells around a piece. They are fine, so that few rows are read twice."""
    finer = (extra for extra in range(_BORDER_ORDERS, 0, -1) if len(cells) * 4**extra <= _BORDER_CELLS)
    return order + next(finer, 0)


def open_match(engine: Engine, name: str) -> KeptMatch:
    """Return a kept match of the catalogue.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    name : str
        ``schema.table``, exactly.

    Returns
    -------
    KeptMatch
        The kept match.

    Raises
    ------
    LoadError
        There is no such kept match, or one of its tables does not fit.
    """
    catalogue = read_catalogue(engine)
    schema_name, _, table_name = name.partition(".")
    entry = catalogue.find_entry(schema_name, table_name)
    if entry is None or entry.table.match is None:
        raise LoadError(f"there is no kept match {name}; see skyhouse match list")
    return KeptMatch(engine, catalogue, entry.schema, entry.table)


def list_matches(catalogue: Catalogue) -> Iterator[tuple[Schema, Table]]:
    """Yield the kept matches of a catalogue.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.

    Yields
    ------
    tuple of (Schema, Table)
        Schema and table of each kept match, whether or not it is up to date.
    """
    for entry in catalogue.entries:
        if entry.table.match is not None:
            yield entry.schema, entry.table


def forget_match(engine: Engine, name: str) -> None:
    """Delete the record of a kept match, so that no query uses it. Its table stays.

    Parameters
    ----------
    engine : Engine
        The engine with the catalogue.
    name : str
        ``schema.table``; nothing happens if it has no record.
    """

    def remove_record(records: dict[str, MatchRecord]) -> None:
        records.pop(name, None)

    write_match_records(engine, remove_record)
