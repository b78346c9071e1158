"""Few rows added to a table: they go straight into it. Many are loaded beside it (``staging``), with a copy of it.

    rows into the gateway T__append -> record: begun, with what T was before -> each part of T that is as it was before
      gets its rows by one INSERT -> density -> record: done -> DROP of T__append

An INSERT is there whole or not at all, and a part of T that has more rows than before has had its own. So what was
killed after the record was begun is finished by the next load of T, whatever that loads, or by the next start of the
process that holds the data path; what was killed before it has changed nothing. On one server T has one part. On a
cluster readers may see rows of some shards before those of others, and never a row whose copies are not there yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from clickhouse_schema.engine_tables import append_record, density_table
from clickhouse_schema.quoting import quote_string
from loaders.load_error import LoadError
from loaders.pipeline.chunk_reader import Chunk
from loaders.storage.gateway_table import APPEND, Orphan
from loaders.storage.load_state import AppendState, Load, TableState
from loaders.storage.server_storage import Storage
from tap_service.storage.engine.engine import Engine


class Additions:
    """What is added to the table of ``storage``, which is as ``live`` says since it was loaded or last replaced."""

    def __init__(self, storage: Storage, live: TableState) -> None:
        self._engine = storage.engine
        self._storage = storage
        self._table = live.entry.tables[0]
        self._to = append_record.AppendOrigin(storage.schema_name, storage.table_name, live.origin)
        self._gateway = storage.gateway(self._table)

    def fingerprint(self, digests: Sequence[str]) -> str:
        """Stands for these files, whatever the table has already."""
        document = self._table.model_dump_json(by_alias=True, exclude_defaults=True)
        return hashlib.sha256("\n".join(["append", *digests, document]).encode()).hexdigest()

    def has(self, fingerprint: str) -> bool:
        return append_record.is_append_done(self._engine, self._to, fingerprint)

    def digests(self, among: Sequence[str]) -> set[str]:
        """Those of ``among`` whose files were added."""
        return append_record.find_known_digests(self._engine, self._to, among)

    def added(self) -> append_record.AppendTotals:
        return append_record.sum_appends(self._engine, self._to)

    def waiting(self) -> AppendState | None:
        """The addition that was killed when all its rows were in the gateway."""
        state = append_record.read_begun_state(self._engine, self._to)
        return AppendState.model_validate_json(state) if state else None

    def gather(self, chunk: Chunk | None) -> list[Orphan]:
        """The rows of ``chunk`` into the gateway; those that have no parent, which go no further."""
        self._gateway.fill(chunk.batches if chunk else (), is_kept=True)
        return self._gateway.orphans()

    def add(self, load: Load) -> None:
        """What was gathered into the table, and ``load`` into the record. Raises ``LoadError`` if shards were moved."""
        self._storage.refuse_moved()  # a move that begins now finds the gateway
        state = AppendState(
            load=load,
            before=self._storage.sizes(),
            density=density_table.read_density_stamp(self._engine, self._to.schema_name, self._to.table_name),
        )
        self._note(load, state=state.model_dump_json())
        self.complete(state)

    def complete(self, state: AppendState) -> None:
        """Do what is not done yet of an addition that was begun."""
        self._gateway.settle()
        sizes = self._storage.sizes()
        self._storage.take(self._gateway, [part for part, rows in sizes.items() if rows == state.before.get(part, 0)])
        self._check(state)
        if density_table.read_density_stamp(self._engine, self._to.schema_name, self._to.table_name) == state.density:
            density_table.add_density(self._engine, self._to.schema_name, self._table, self._gateway.rows)
        self._note(state.load, finished=state.load.finished)
        self._gateway.drop()

    def _check(self, state: AppendState) -> None:
        """Raises ``LoadError`` if the table has not as many rows more as were added: somebody else has changed it."""
        before, now = (self._storage.own_rows(sizes) for sizes in (state.before, self._storage.sizes()))
        if now != before + state.load.rows:
            name = f"{self._to.schema_name}.{self._to.table_name}"
            raise LoadError(
                f"{name} has {now:,} rows where {before:,} and {state.load.rows:,} should be: something else has"
                " changed it meanwhile. Load it anew with --replace"
            )

    def _note(self, load: Load, *, finished: str = "", state: str = "") -> None:
        told = (load.fingerprint, load.rows, load.rejected, load.files)
        append_record.write_append(self._engine, self._to, *told, finished=finished, state=state)


def complete_all(engine: Engine) -> None:
    """Finish what was killed, on an engine that only this process has."""
    sql = f"SELECT database, name FROM system.tables WHERE endsWith(name, {quote_string(APPEND)})"
    for row in engine.fetch_table(sql).to_pylist():
        storage = Storage(engine, row["database"], row["name"].removesuffix(APPEND))
        live = storage.live_state()
        additions = None if live is None else Additions(storage, live)
        waiting = None if additions is None else additions.waiting()
        if additions is not None and waiting is not None:
            additions.complete(waiting)
