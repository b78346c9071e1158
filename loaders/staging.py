"""A load's staging table ``T__loading``: what makes a load resumable, and visible all at once or not at all.

Everything about a load is kept with its table, so that nothing can disagree after a crash at any point:

* each chunk of the input is one INSERT of one block, so it is there whole or not at all, and carries its number in the
  column ``__chunk``, which only staging tables have: the chunks that are done are read from the table itself;
* the table's comment is a ``TableState``: which input it is made from, and the catalogue's entry for it.

    CREATE T__loading, comment "loading" -> chunks -> counts checked, comment "verified" -> DROP COLUMN __chunk
      -> EXCHANGE with T (or RENAME to T): now it is visible -> catalogue, density -> DROP of what T was

A load started again compares the fingerprint of its input with the comments of T and T__loading and goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.ddl import create_table
from clickhouse_schema.model import Schema, Table
from clickhouse_schema.quoting import identifier, string
from tap_service.storage.engine import Engine

SUFFIX = "__loading"
CHUNK = "__chunk"

#: Whether a change of structure is done in every part when its statement ends.
_WAIT = {"mutations_sync": 2, "alter_sync": 2}
_DO_NOT_WAIT = {"mutations_sync": 0, "alter_sync": 0}


class Load(BaseModel):
    """One finished load. ``fingerprint`` stands for the files' bytes, the table's model and what it was loaded onto."""

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    files: tuple[str, ...]
    rows: int
    rejected: int
    finished: str


class TableState(BaseModel):
    """What a table's comment tells. ``entry`` is the schema with this table alone; ``loads`` are those inside it.

    ``fingerprint`` is that of the load a staging table is for. ``verified``: all its chunks were counted.
    """

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    verified: bool = False
    entry: Schema
    loads: tuple[Load, ...] = ()

    @property
    def rows(self) -> int:
        return sum(load.rows for load in self.loads)


class Storage:
    """The tables in the engine that belong to one table of the catalogue."""

    def __init__(self, engine: Engine, schema_name: str, table_name: str) -> None:
        self._engine = engine
        self.schema_name = schema_name
        self.table_name = table_name
        self.live = f"{identifier(schema_name)}.{identifier(table_name)}"
        self.staging = f"{identifier(schema_name)}.{identifier(table_name + SUFFIX)}"

    def live_state(self) -> TableState | None:
        return self._state(self.table_name)

    def staging_state(self) -> TableState | None:
        return self._state(self.table_name + SUFFIX)

    def live_exists(self) -> bool:
        return self._exists(self.table_name)

    def begin(self, schema: Schema, table: Table, state: TableState, *, onto_live: bool) -> None:
        """A staging table for the load of ``state``: empty, or with the live table's parts in it (``onto_live``)."""
        self.drop_staging()
        self._engine.execute(f"CREATE DATABASE IF NOT EXISTS {identifier(schema.name)}")
        self._engine.execute(create_table(table, self.staging))
        if onto_live:
            self._wait_for_mutations(self.table_name)
            self._engine.execute(f"ALTER TABLE {self.staging} ATTACH PARTITION tuple() FROM {self.live}")
        self._engine.execute(f"ALTER TABLE {self.staging} ADD COLUMN {CHUNK} UInt32", _WAIT)
        self._set_comment(state)

    def chunks(self) -> dict[int, int]:
        """Rows in the staging table by number of chunk; 0 are those of the live table that it was begun onto."""
        sql = f"SELECT {CHUNK} AS chunk, count() AS rows FROM {self.staging} GROUP BY {CHUNK}"
        return {row["chunk"]: row["rows"] for row in self._engine.query(sql).to_pylist()}

    def insert(self, number: int, batches: Iterable[pa.RecordBatch]) -> None:
        """Chunk ``number`` (from 1), whole or not at all."""
        numbered = (
            batch.append_column(CHUNK, pa.array([number], pa.uint32()).take(pa.repeat(0, batch.num_rows)))
            for batch in batches
        )
        self._engine.insert(self.staging, numbered)

    def mark_verified(self, state: TableState) -> None:
        self._set_comment(state)

    def publish(self) -> None:
        """Make the verified staging table the live one, in one step for all who read; what was live is staging."""
        # Nobody sees the column any more; its files go later, after the merges that run now.
        self._engine.execute(f"ALTER TABLE {self.staging} DROP COLUMN IF EXISTS {CHUNK}", _DO_NOT_WAIT)
        if self.live_exists():
            self._engine.execute(f"EXCHANGE TABLES {self.staging} AND {self.live}")
        else:
            self._engine.execute(f"RENAME TABLE {self.staging} TO {self.live}")

    def drop_staging(self) -> None:
        self._engine.execute(f"DROP TABLE IF EXISTS {self.staging} SYNC")

    def drop_live(self) -> None:
        self._engine.execute(f"DROP TABLE IF EXISTS {self.live} SYNC")

    def _wait_for_mutations(self, name: str) -> None:
        """Until the parts of a table have no column any more that it has not."""
        sql = f"SELECT 1 AS one FROM system.mutations WHERE NOT is_done AND {self._is(name, 'table')}"
        while self._engine.query(sql).num_rows:
            time.sleep(0.05)

    def _set_comment(self, state: TableState) -> None:
        text = string(state.model_dump_json(by_alias=True, exclude_defaults=True))
        self._engine.execute(f"ALTER TABLE {self.staging} MODIFY COMMENT {text}", _WAIT)

    def _state(self, name: str) -> TableState | None:
        sql = f"SELECT comment FROM system.tables WHERE {self._is(name)}"
        for row in self._engine.query(sql).to_pylist():
            return read_state(row["comment"])
        return None

    def _exists(self, name: str) -> bool:
        return bool(self._engine.query(f"SELECT 1 AS one FROM system.tables WHERE {self._is(name)}").num_rows)

    def _is(self, name: str, key: str = "name") -> str:
        return f"database = {string(self.schema_name)} AND {key} = {string(name)}"


def read_state(comment: str) -> TableState | None:
    """The state in a comment, None in a comment that is not one (a load killed before it wrote it)."""
    try:
        return TableState.model_validate_json(comment)
    except ValidationError:
        return None
