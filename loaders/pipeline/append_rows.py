"""Appends few rows directly to the table. Many rows are loaded into a staging table instead.

    rows into the gateway T__append -> record: started, with the rows of T before -> INSERT into each part of T that has
      as many rows as before -> latest versions -> density -> kept matches -> addition kept, if T is watched
      -> record: done -> DROP of T__append

An INSERT is all or nothing, and a part of T with more rows than before has received its rows. So an append that was
killed after the record began is finished by the next load of T, whatever that loads, or by the next start of the
process that holds the data directory; an append that was killed earlier has changed nothing. On one server T has one
part. On a cluster readers may see rows of some shards before rows of other shards, but never a row whose copies are
missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clickhouse_schema.engine_tables import append_record
from clickhouse_schema.engine_tables.density_table import add_density, read_density_stamp
from clickhouse_schema.quoting import quote_string
from loaders.load_error import LoadError
from loaders.pipeline.kept_additions import KeptAdditions
from loaders.pipeline.latest_rows import open_latest_rows
from loaders.pipeline.match_changes import MatchChanges
from loaders.progress_reporter import Reporter
from loaders.storage.gateway_table import APPEND_SUFFIX, Orphan
from loaders.storage.load_state import AppendState, FinishedLoad, TableState
from loaders.storage.server_storage import open_server_storage
from loaders.storage.storage_protocol import TableStorage
from tap_service.storage.engine.engine import Engine

if TYPE_CHECKING:  # every start finishes killed appends without reading files
    from loaders.pipeline.chunk_reader import Chunk


class TableAppends:
    """The appends to one table; one append at a time.

    Parameters
    ----------
    storage : TableStorage
        Storage of the table.
    live : TableState
        State in the comment of the live table.
    """

    def __init__(self, storage: TableStorage, live: TableState) -> None:
        self._engine = storage.engine
        self._target = storage.appends
        self._table = live.entry.tables[0]
        self._origin = append_record.AppendOrigin(storage.schema_name, storage.table_name, live.origin)
        self._gateway = self._target.open_gateway(self._table)
        self._additions = KeptAdditions(storage.engine, live)
        self.fingerprint = live.fingerprint
        self._matches = MatchChanges(storage.engine, f"{storage.schema_name}.{storage.table_name}")
        #: The table of latest versions, which is updated after the appended table
        self.latest = open_latest_rows(storage.engine, live.entry, self._table)

    # --- the record ---------------------------------------------------------------------------------------------------

    def compute_fingerprint(self, digests: Sequence[str]) -> str:
        """Return a hash of these files, independent of the table's content."""
        document = self._table.model_dump_json(by_alias=True, exclude_defaults=True)
        return hashlib.sha256("\n".join(["append", *digests, document]).encode()).hexdigest()

    def is_done(self, fingerprint: str) -> bool:
        return append_record.is_append_done(self._engine, self._origin, fingerprint)

    def find_known_digests(self, digests: Sequence[str]) -> set[str]:
        """Return the digests of files that were appended."""
        return append_record.find_known_digests(self._engine, self._origin, digests)

    def sum_appends(self) -> append_record.AppendTotals:
        return append_record.sum_appends(self._engine, self._origin)

    def read_unfinished(self) -> AppendState | None:
        """Return the append that was killed after all its rows were in the gateway; None without one."""
        state = append_record.read_started_state(self._engine, self._origin)
        return AppendState.model_validate_json(state) if state else None

    # --- an append ----------------------------------------------------------------------------------------------------

    def fill_gateway(self, chunk: Chunk | None) -> list[Orphan]:
        """Write the rows of ``chunk`` to the gateway; return the rows without a parent, which are not appended."""
        self._gateway.fill_table(chunk.batches if chunk else ())
        return self._gateway.find_orphans()

    def append_gateway(self, load: FinishedLoad, reporter: Reporter | None = None) -> None:
        """Append the gateway's rows and record ``load``. Raises ``LoadError`` if the shards were moved."""
        try:
            self._target.refuse_moved_shards()  # a move that starts now finds the gateway
        except LoadError:
            self._gateway.drop_tables()
            raise
        self._matches.announce_rows([self._gateway.rows_sql])
        state = AppendState(load=load, before=self._target.count_part_rows(), density=self._read_density_stamp())
        self._write_record(load, state=state.model_dump_json())
        self.finish_append(state, reporter)

    def finish_append(self, state: AppendState, reporter: Reporter | None = None) -> None:
        """Complete an append whose rows are in the gateway."""
        self._gateway.wait_for_replicas()
        part_rows = self._target.count_part_rows()
        unfinished = [part for part, rows in part_rows.items() if rows == state.before.get(part, 0)]
        if unfinished:
            self._allow_nulls()
        self._target.insert_rows(self._gateway, unfinished)
        self._check_row_count(state)
        if self.latest is not None:
            self.latest.refresh(self._gateway.rows_sql, self.fingerprint)
        # '': the earlier counts were of a dropped table of the same name, which ClickHouse has deleted since
        if self._read_density_stamp() in (state.density, ""):
            add_density(self._engine, self._origin.schema_name, self._table, self._gateway.rows_sql)
        self._matches.follow_change(reporter)
        self._additions.keep_rows(state.load, self._gateway.rows_sql)
        self._additions.record_load(state.load)
        self._write_record(state.load, finished=state.load.finished)
        self.drop_gateway()

    def drop_gateway(self) -> None:
        self._gateway.drop_tables()

    def _allow_nulls(self) -> None:
        plain = self._target.find_plain_columns(self._table)
        if with_nulls := self._gateway.find_nulls(plain):
            self._target.allow_nulls(self._table, with_nulls)

    def _read_density_stamp(self) -> str:
        return read_density_stamp(self._engine, self._origin.schema_name, self._origin.table_name)

    def _check_row_count(self, state: AppendState) -> None:
        """Raise ``LoadError`` if the table has not grown by the appended rows: something else has changed it."""
        before = self._target.sum_own_rows(state.before)
        now = self._target.sum_own_rows(self._target.count_part_rows())
        if now != before + state.load.rows:
            name = f"{self._origin.schema_name}.{self._origin.table_name}"
            raise LoadError(
                f"{name} has {now:,} rows instead of {before:,} and {state.load.rows:,}: something else has"
                " changed it during the append. Load it again with --replace"
            )

    def _write_record(self, load: FinishedLoad, *, finished: str = "", state: str = "") -> None:
        append_record.write_append(
            self._engine,
            self._origin,
            load.fingerprint,
            load.rows,
            load.rejected,
            load.files,
            finished=finished,
            state=state,
        )


def finish_stopped_append(appends: TableAppends, reporter: Reporter) -> None:
    """Finish the append that was killed, if there is one, and the publication of the latest versions."""
    unfinished = appends.read_unfinished()
    if unfinished is not None:
        reporter.message(f"finishing a stopped append: {', '.join(unfinished.load.files)}")
        appends.finish_append(unfinished, reporter)
    elif appends.latest is not None:
        appends.latest.finish_publishing(appends.fingerprint)


def finish_all_appends(engine: Engine) -> None:
    """Finish killed appends and drop their gateways, on an engine that only this process uses."""
    sql = f"SELECT database, name FROM system.tables WHERE endsWith(name, {quote_string(APPEND_SUFFIX)})"
    for row in engine.fetch_table(sql).to_pylist():
        storage = open_server_storage(engine, row["database"], row["name"].removesuffix(APPEND_SUFFIX))
        live = storage.live.read_state()
        if live is None:
            continue
        appends = TableAppends(storage, live)
        unfinished = appends.read_unfinished()
        if unfinished is not None:
            appends.finish_append(unfinished)
        else:  # of an append that was killed before it was recorded, or after it was done
            appends.drop_gateway()
