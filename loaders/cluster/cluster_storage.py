"""A load on a cluster: rows go straight to their shard, and their copies into the overlaps, in one pass.

Each load makes tables of its own, with the next number in their names (``Placement.base``), and becomes visible by one
INSERT into the catalogue: whoever reads sees all of it on all shards, or what was there before.

    tables of number n+1 on all servers, comment "loading" -> chunks -> counts and overlaps checked, comment "verified"
      -> DROP COLUMN __chunk -> density -> catalogue: number n+1 -> DROP of the tables of number n

A chunk goes into a gateway on the server connected to, and from there, by one INSERT SELECT each, into the overlaps and
then to the shards: the engine cuts it up, and each shard gets its rows as one block. What a kill left undone is read
back by chunk and shard: a chunk is done when the shards have all its rows, for its copies were made before.

Tables that are not sharded are whole on every server; they have one part, without an ending.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Collection, Mapping
from functools import cached_property

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.cluster_ddl import create_sharded_sql, drop_sharded_sql
from clickhouse_schema.cluster_topology import Topology, read_topology
from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.replicated_tables import find_table_comment
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN, Sharding, quote_table
from clickhouse_schema.table_ddl import HPX29, create_table_sql
from loaders.cluster import verify_shards as shards
from loaders.cluster.orphan_tables import drop_left_over
from loaders.load_error import LoadError
from loaders.pipeline.chunk_reader import Chunk
from loaders.storage.gateway_table import APPEND, Gateway, Orphan, drop_gateway
from loaders.storage.load_state import TableState, read_state
from loaders.storage.replica_sync import settle
from loaders.storage.server_storage import (
    CHUNK,
    DO_NOT_WAIT,
    WAIT,
    Storage,
    comment,
    exists,
    partitions,
    wait_for_mutations,
)
from tap_service.constants import METADATA_POLL_SECONDS
from tap_service.storage.engine.engine import SINGLE_BLOCK_SETTINGS, Engine

#: How long tables stay that a load has replaced: for queries that were translated before, and that wait
LINGER_SECONDS = 10 + METADATA_POLL_SECONDS

_HOME = "__home"

#: Between the name of what is filled and the number of a chunk, in the name of the chunk's gateway
_CHUNK_IN = "__in"


class ClusterStorage(Storage):
    """The tables in the engine that belong to one table of the catalogue, on a cluster."""

    is_cluster = True

    def __init__(self, engine: Engine, schema_name: str, table: Table, catalogue: Catalogue) -> None:
        super().__init__(engine, schema_name, table.name)
        if catalogue.sharding is None:
            raise ValueError("not a cluster")
        self.placement: Sharding = catalogue.sharding
        self.topology: Topology = read_topology(engine)
        self._table = table
        self._catalogue = catalogue
        found = catalogue.find_tables(table.name, True, schema_name, True)
        self._number = found[0].number if found else None
        self._done: dict[tuple[str, int], set[int]] = {}

    @cached_property
    def parent(self) -> TableEntry | None:
        """The table whose rows say where this one's are. Raises ``LoadError`` if it is not there."""
        key = self._table.parent_key
        if key is None or not self._table.is_sharded:
            return None
        schema_name, _, name = key.referenced_table.rpartition(".")
        found = self._catalogue.find_tables(name, True, schema_name, True)
        if not found:
            raise LoadError(f"rows of {self.table_name} are with those of {key.referenced_table}: load that first")
        return found[0]

    # --- names --------------------------------------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[str, ...]:
        return (OVERLAP, LOCAL) if self._table.is_sharded else ("",)

    @property
    def base(self) -> str:
        """Of the tables that are read."""
        return self._base(self._number or 0)

    @property
    def _next(self) -> str:
        """Of the tables that are filled."""
        return self._base(0 if self._number is None else self._number + 1)

    def _base(self, number: int) -> str:
        return self.placement.base_name(self.table_name, number, is_sharded=self._table.is_sharded)

    def _rows(self, base: str, part: str) -> str:
        """Name of the table that has the rows of a part."""
        return base + (self.topology.rows_suffix(part) if part else "")

    def all_rows(self, part: str, base: str = "") -> str:
        """SQL of a table of all rows of a part, those of all shards."""
        base = base or self.base
        if not part or self.topology.is_one_server:
            return quote_table(self.schema_name, self._rows(base, part))
        names = (self.placement.cluster, self.schema_name, base + part)
        return f"cluster({', '.join(map(quote_string, names))})"

    # --- states -------------------------------------------------------------------------------------------------------

    def live_exists(self) -> bool:
        return self._number is not None

    @property
    def live_name(self) -> str:
        return "" if self._number is None else self._rows(self.base, self.parts[-1])

    def live_state(self) -> TableState | None:
        """What any server knows; the description is the catalogue's, with columns that were added since the load."""
        state = read_state(find_table_comment(self.engine, self.topology, self.schema_name, self.live_name))
        if state is None:
            return None
        return state.model_copy(update={"entry": state.entry.model_copy(update={"tables": (self._table,)})})

    @property
    def staging_name(self) -> str:
        return self._rows(self._next, self.parts[-1])

    def _set_comment(self, state: TableState) -> None:
        self._alter(self.staging_name, f"MODIFY COMMENT {comment(state)}", WAIT)

    # --- a load -------------------------------------------------------------------------------------------------------

    def begin(self, schema: Schema, table: Table, state: TableState, *, onto_live: bool) -> None:
        _ = self.parent  # or nothing is made
        self.drop_staging()
        if self._number is None:
            drop_left_over(self.engine, self.topology, self.schema_name, self.table_name)
        self.engine.execute(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(schema.name)}{self.topology.on_cluster}")
        for statement in self._creation(table):
            self.engine.execute(statement)
        if onto_live:
            self._settle(self.base)  # one server of each shard attaches the parts that it has
        for part in self.parts:
            if onto_live:
                self._attach(part)
            self._alter(self._rows(self._next, part), f"ADD COLUMN {CHUNK} UInt32", WAIT)
        self._set_comment(state)

    def _attach(self, part: str) -> None:
        """The parts of the live table into the one that is filled: links, no copies."""
        name = self._rows(self.base, part)
        wait_for_mutations(self.engine, self._everywhere("mutations"), self.schema_name, name)
        for year in partitions(self.engine, self._everywhere("parts"), self.schema_name, name):
            change = f"ATTACH PARTITION ID {year} FROM {quote_table(self.schema_name, name)}"
            self._alter(self._rows(self._next, part), change, WAIT)

    def _creation(self, table: Table) -> list[str]:
        if table.is_sharded:
            return create_sharded_sql(table, self.schema_name, self._next, self.topology)
        return [create_table_sql(table, quote_table(self.schema_name, self._next), self.topology)]

    def chunks(self) -> dict[int, int]:
        """Rows by number of chunk. What a chunk has not is put there when it is inserted again."""
        self._settle(self._next)
        self._drop_gateways()
        counts: dict[int, int] = {}
        self._done = {}
        for part in self.parts:
            chunks = f"{CHUNK} AS chunk, {_shard(part)} AS shard"
            sql = f"SELECT {chunks}, count() AS rows FROM {self.all_rows(part, self._next)}"
            for row in self.engine.fetch_table(f"{sql} GROUP BY chunk, shard").to_pylist():
                self._done.setdefault((part, row["chunk"]), set()).add(row["shard"])
                if part != OVERLAP:
                    counts[row["chunk"]] = counts.get(row["chunk"], 0) + row["rows"]
        return counts

    def insert(self, chunk: Chunk) -> list[Orphan]:
        """A chunk's rows wherever they belong and are not yet; those without a parent, which belong nowhere."""
        gateway = Gateway(
            self.engine,
            self.schema_name,
            f"{self._next}{_CHUNK_IN}{chunk.number}",
            self._table,
            self.topology,
            self.parent,
        )
        gateway.fill(chunk.batches, is_kept=False)
        try:
            for part in self.parts:
                done = self._done.get((part, chunk.number), set())
                self._send(gateway, part, self._next, [s for s in self._shards if s not in done], chunk.number)
            return gateway.orphans()
        finally:
            gateway.drop()

    def faults(self) -> list[str]:
        schema = Schema(name=self.schema_name, tables=(self._table,))
        filled = TableEntry(schema, self._table, is_sharded=self._table.is_sharded, base_name=self._next)
        wrong = shards.left_behind(self.engine, self._catalogue, filled, self.placement)
        if not self.overlap_is_filled:
            return wrong
        local, overlap = (self.all_rows(part, self._next) for part in (LOCAL, OVERLAP))
        return wrong + shards.overlap_faults(self.engine, self._table, self.overlap, local, overlap)

    def refuse_moved(self) -> None:
        if catalogue_log.read_sharding(self.engine) != self.placement:
            raise LoadError(f"the shards were moved meanwhile, so {self.table_name} is as it was: start the load again")

    def publish(self) -> None:
        self.refuse_moved()
        state = self.staging_state()
        if state is None or not state.verified:
            raise LoadError(f"{self._next} of {self.schema_name} is gone: start the load again")
        for part in self.parts:
            self._alter(self._rows(self._next, part), f"DROP COLUMN IF EXISTS {CHUNK}", DO_NOT_WAIT)
        number = 0 if self._number is None else self._number + 1
        density_table.update_density(self.engine, self.schema_name, self._table, self._next)
        catalogue_log.register_table(self.engine, state.entry, self._table, number)
        self._number = number
        if number:
            time.sleep(LINGER_SECONDS)
        self.finish()

    def finish(self) -> None:
        """Drop what the live tables replaced."""
        for number in range(self._number or 0):
            if exists(self.engine, self.schema_name, self._rows(self._base(number), self.parts[-1])):
                self._drop(self._base(number))

    # --- what is read -------------------------------------------------------------------------------------------------

    @property
    def reading(self) -> str:
        return self.all_rows(self.parts[-1])

    @property
    def is_here(self) -> bool:
        return self.topology.is_one_server or not self._table.is_sharded

    @property
    def checked(self) -> list[str]:
        return [quote_table(self.schema_name, self._rows(self.base, part)) for part in self.parts]

    def placed(self) -> tuple[list[str], list[str]]:
        if not self._table.is_sharded:
            return [], []
        local, copies = self.all_rows(LOCAL), self.all_rows(OVERLAP)
        found, copied = (shards.rows_by_shard(self.engine, part) for part in (local, copies))
        told = [
            f"shard {shard}: {found.get(shard, 0):,} rows, {copied.get(shard, 0):,} copies of others' rows"
            for shard in self._shards
        ]
        wrong = []
        if not self.topology.is_one_server:
            wrong += [fault for part in (local, copies) for fault in shards.server_faults(self.engine, part)]
        if self.parent is not None:
            part = quote_table(self.schema_name, self.base, LOCAL)
            wrong += shards.child_faults(self.engine, self._table, part, self.parent, self.placement)
        else:
            counted = density_table.read_density(self.engine, self.schema_name, self.table_name)
            order = self._table.layout.healpix_order
            wrong += shards.count_faults(found, counted, order, self.placement.map)
            wrong += shards.home_faults(self.engine, self.placement.map, local)
        if self.overlap_is_filled:
            wrong += shards.overlap_faults(self.engine, self._table, self.overlap, local, copies)
        elif copied:
            wrong.append(f"{sum(copied.values()):,} copies are in overlaps that have none")
        return told, wrong

    # --- an addition --------------------------------------------------------------------------------------------------

    def gateway(self, table: Table) -> Gateway:
        name = self.table_name + APPEND
        return Gateway(self.engine, self.schema_name, name, table, self.topology, self.parent)

    def sizes(self) -> dict[str, int]:
        """Rows by part and shard."""
        self._settle(self.base)
        sizes = {_key(part, shard): 0 for part in self.parts for shard in self._shards}
        for part in self.parts:
            sql = f"SELECT {_shard(part)} AS shard, count() AS rows FROM {self.all_rows(part)} GROUP BY shard"
            sizes |= {_key(part, row["shard"]): row["rows"] for row in self.engine.fetch_table(sql).to_pylist()}
        return sizes

    def own_rows(self, sizes: Mapping[str, int]) -> int:
        return sum(sizes.get(_key(self.parts[-1], shard), 0) for shard in self._shards)

    def take(self, gateway: Gateway, parts: Collection[str]) -> None:
        for part in self.parts:
            self._send(gateway, part, self.base, [shard for shard in self._shards if _key(part, shard) in parts])
            self._copied(self.base, part)  # copies are everywhere before the rows

    # --- what is sent -------------------------------------------------------------------------------------------------

    @property
    def _shards(self) -> range:
        return range(self.placement.map.shard_count if self._table.is_sharded else 1)

    def _send(self, gateway: Gateway, part: str, base: str, shards: list[int], chunk: int | None = None) -> None:
        """The gateway's rows that belong to ``part`` of these shards, as one block for each of them."""
        if not shards or (part == OVERLAP and not self.overlap_is_filled):
            return
        names = gateway.names + (f", {SHARD_COLUMN}" if part else "") + (f", {CHUNK}" if chunk is not None else "")
        number = "" if chunk is None else f", {chunk}"
        wanted = f" WHERE {SHARD_COLUMN} IN ({', '.join(map(str, shards))})" if part else ""
        into = (
            self.topology.insert_target_sql(self.schema_name, base, part)
            if part
            else quote_table(self.schema_name, base)
        )
        values = gateway.names + (f", {SHARD_COLUMN}" if part else "")
        sql = f"INSERT INTO {into} ({names}) SELECT {values}{number} FROM {self._placed(gateway, part)}{wanted}"
        query_id = f"{self._query_ids}{uuid.uuid4().hex}"
        self.engine.execute(sql, SINGLE_BLOCK_SETTINGS, query_id=query_id)

    def _placed(self, gateway: Gateway, part: str) -> str:
        """SQL of the gateway's rows with the number of the shard that shall have them in this part."""
        if not part:
            return gateway.rows
        names = gateway.names
        home = SHARD_COLUMN if self.parent is not None else self.placement.map.shard_sql(HPX29)
        if part == LOCAL:
            return f"(SELECT {names}, {home} AS {SHARD_COLUMN} FROM {gateway.rows})"
        at_home = f"(SELECT {names}, {HPX29}, {home} AS {_HOME} FROM {gateway.rows})"
        return f"(SELECT {names}, arrayJoin({self._holders}) AS {SHARD_COLUMN} FROM {at_home})"

    @cached_property
    def overlap(self) -> Overlap:
        return Overlap(self.placement.map, self._table.layout.overlap_radius)

    @cached_property
    def _holders(self) -> str:
        """SQL of the shards that have copies of a row."""
        return self.overlap.copy_shards_sql(HPX29, _HOME)

    @property
    def overlap_is_filled(self) -> bool:
        return self._table.is_sharded and bool(self._table.layout.position and self._table.layout.overlap_radius)

    # --- the end ------------------------------------------------------------------------------------------------------

    def drop_staging(self) -> None:
        self._end_statements()
        self._drop_gateways()
        self._drop(self._next)

    def _drop_gateways(self) -> None:
        """Those of chunks whose process was killed, on whatever server it was connected to."""
        where = (
            f"database = {quote_string(self.schema_name)} AND startsWith(name, {quote_string(self._next + _CHUNK_IN)})"
        )
        found = self.engine.fetch_table(f"SELECT DISTINCT name FROM {self._everywhere('tables')} WHERE {where}")
        for name in found.column(0).to_pylist():
            table = quote_table(self.schema_name, name)
            self.engine.execute(f"DROP TABLE IF EXISTS {table}{self.topology.on_cluster} SYNC")

    def drop_live(self) -> None:
        drop_gateway(self.engine, self.schema_name, self.table_name + APPEND, self.topology)
        self.finish()
        self._drop(self.base)

    def _drop(self, base: str) -> None:
        if self._table.is_sharded:
            for statement in drop_sharded_sql(self.schema_name, base, self.topology):
                self.engine.execute(statement)
        else:
            name = quote_table(self.schema_name, base)
            self.engine.execute(f"DROP TABLE IF EXISTS {name}{self.topology.drop_clause}")

    def _alter(self, name: str, change: str, settings: dict[str, int]) -> None:
        table = quote_table(self.schema_name, name)
        is_comment = change.startswith("MODIFY COMMENT")
        where = (
            self.topology.on_cluster if is_comment else self.topology.alter_clause(is_sharded=self._table.is_sharded)
        )
        self.engine.execute(f"ALTER TABLE {table}{where} {change}", settings)

    def _everywhere(self, system_table: str) -> str:
        """SQL of a system table of all servers."""
        return self.topology.all_servers_sql(f"system.{system_table}")

    @property
    def _query_ids(self) -> str:
        """What the ids of the statements that send rows begin with."""
        names = f"{self.schema_name}\n{self.table_name}"
        return f"load {hashlib.sha256(names.encode()).hexdigest()[:16]} "

    def _settle(self, base: str) -> None:
        """Until all servers have all that was ever sent to these tables, and nothing more comes from a killed load."""
        self._end_statements()
        self._copied(base, *self.parts)

    def _copied(self, base: str, *parts: str) -> None:
        settle(self.engine, self.topology, [quote_table(self.schema_name, self._rows(base, part)) for part in parts])

    def _end_statements(self) -> None:
        """Until no statement runs any more that a load, which was killed, has sent: it may still add rows."""
        for query_id in self.engine.list_running_ids(self._query_ids):
            self.engine.cancel_query(query_id)
        asked = f"startsWith(Settings['log_comment'], {quote_string(self._query_ids)})"
        while self.engine.fetch_table(f"SELECT 1 AS one FROM {self._everywhere('processes')} WHERE {asked}").num_rows:
            time.sleep(0.05)


def _key(part: str, shard: int) -> str:
    return f"{part} {shard}"


def _shard(part: str) -> str:
    """SQL of the number of a row's shard."""
    return SHARD_COLUMN if part else "0"
