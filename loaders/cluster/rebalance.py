"""``skyhouse shards``: which shard has how much, and a new map for the rows of all tables, while the service runs.

A map has tables of its own, whose names have its generation in them (``clickhouse_schema.shard_map``):

    tables of generation g+1 on all servers -> rows from their old shards to their new ones, parents before children
      -> copies into the overlaps -> every row and copy checked -> the map in the catalogue, by one INSERT
      -> DROP of the tables of generation g

Who reads has all rows of the one generation or all of the other, for a query keeps the names that it was translated to.
A move that was killed before the INSERT has changed nothing, one killed after it is done: the next move drops what is
left. The rows are there twice meanwhile: each server needs as much free space as it holds. Nothing may be loaded until
the move is done; where something was, the move ends without a change.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.cluster_ddl import create_sharded_sql, drop_sharded_sql
from clickhouse_schema.cluster_topology import Topology, read_topology
from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.overlap_sql import Overlap
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.replicated_tables import find_table_comment
from clickhouse_schema.schema_drift import create_missing_sql
from clickhouse_schema.shard_balance import balance_shards, sum_cell_weights, sum_moved_weight, sum_shard_weights
from clickhouse_schema.shard_map import BASE_PATTERN, LOCAL, OVERLAP, SHARD_COLUMN, Sharding, quote_table
from clickhouse_schema.table_ddl import HPX29, given_columns
from clickhouse_schema.tap_schema import TAP_SCHEMA
from loaders.cluster.cluster_storage import LINGER_SECONDS
from loaders.cluster.verify_shards import home_faults, overlap_faults, row_hash, server_faults
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from loaders.storage.gateway_table import APPEND
from loaders.storage.replica_sync import settle
from tap_service.storage.engine.engine import Engine

#: As ``Placement.base`` makes it
_BASE = re.compile(BASE_PATTERN, re.DOTALL)

#: How much more than in a balanced map the fullest shard may have
_UNEVEN = 1.1

#: Rows go by the server connected to: the shards would keep theirs otherwise. A shard may get none for long: the cells
#: that are read are those of others.
_BY_HERE = {"parallel_distributed_insert_select": 0, "max_partitions_per_insert_block": 0, "receive_timeout": 86400}

#: Of a row on its way: the index that says where it belongs
_AT = "__at"


def plan(engine: Engine, shards: int, reporter: Reporter) -> None:
    """Rows and bytes of each shard, as they are and as ``move`` would have them. ``shards``: 0 = all there are."""
    cluster = _Cluster(engine, shards)
    sizes = [cluster.weights(what) for what in ("rows", "bytes")]
    maps = (cluster.placement.map, cluster.wanted.map)
    table = [sum_shard_weights(weights, map_) for map_ in maps for weights in sizes]
    for shard in range(max(map_.shard_count for map_ in maps)):
        rows, size, new_rows, new_size = (float(each[shard]) if shard < len(each) else 0.0 for each in table)
        now = f"{rows:,.0f} rows, {size / 1e6:,.1f} MB"
        reporter.output(f"shard {shard}: {now}; balanced: {new_rows:,.0f} rows, {new_size / 1e6:,.1f} MB")
    rows = sum_moved_weight(sizes[0], *maps)
    reporter.output(f"{rows:,.0f} of {sizes[0].sum():,.0f} rows would be on another shard: skyhouse shards move")


def prepare(engine: Engine, reporter: Reporter) -> None:
    """Make the tables on the servers that do not have them, such as a new one, through which this is called.

    Of those that are whole everywhere each server reads its own rows, so it gets them before it is asked.
    """
    _complete(engine, reporter)
    entries = catalogue_log.read_catalogue(engine).entries
    settle(engine, read_topology(engine), [entry.storage_sql for entry in entries if not entry.is_sharded])
    reporter.output("all servers have all tables")


def _complete(engine: Engine, reporter: Reporter) -> None:
    topology, catalogue = read_topology(engine), catalogue_log.read_catalogue(engine)
    for entry in catalogue.entries:
        if entry.schema.name == TAP_SCHEMA.name:  # ``apply.initialise`` has made those
            continue
        statements = create_missing_sql(engine, topology, entry.schema.name, entry.table, entry.engine_table[1])
        if statements:
            reporter.output(f"making {entry.qualified_name}")
        for statement in statements:
            engine.execute(statement)


def move(engine: Engine, shards: int, reporter: Reporter) -> None:
    """Give the cluster a balanced map, and the rows their places in it. Raises ``LoadError``; then nothing changed."""
    cluster = _Cluster(engine, shards)
    cluster.drop_all_but(cluster.placement)
    if cluster.wanted == cluster.placement:
        reporter.output("the shards are balanced")
        return
    cluster.refuse_loads()
    _complete(engine, reporter)
    try:
        _fill(cluster, reporter)
    except LoadError:
        cluster.drop_all_but(cluster.placement)
        raise
    catalogue_log.write_sharding(engine, cluster.wanted)
    reporter.output(f"{len(cluster.entries)} tables have balanced shards")
    time.sleep(LINGER_SECONDS)
    cluster.drop_all_but(cluster.wanted)


def _fill(cluster: _Cluster, reporter: Reporter) -> None:
    """The tables of the next generation, all rows in them checked."""
    before = cluster.version()
    for entry in cluster.entries:
        reporter.check()
        reporter.message(f"moving {entry.qualified_name}")
        cluster.make(entry)
        cluster.copy(entry)
        cluster.check(entry)
    cluster.refuse_loads()
    if cluster.version() != before:
        raise LoadError("something was loaded meanwhile, so nothing was moved: start the same shards move again")


@dataclass(frozen=True, slots=True)
class _Found:
    """Tables whose names begin with ``base``; ``entry`` is None if the catalogue knows no sharded table of theirs."""

    database: str
    base: str
    name: str
    entry: TableEntry | None
    generation: int
    number: int

    @property
    def told(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def way_out(self) -> str:
        """If a load has made it that did not end."""
        if self.base.endswith(APPEND):
            return "any load into it finishes that"
        return "start it again" + ("" if self.entry else f", or skyhouse drop {self.told}")


class _Cluster:
    """The sharded tables, as ``placement`` has them and as they are ``wanted``."""

    def __init__(self, engine: Engine, shards: int) -> None:
        self._engine = engine
        self._topology: Topology = read_topology(engine)
        self._catalogue: Catalogue = catalogue_log.read_catalogue(engine)
        if self._catalogue.sharding is None:
            raise LoadError("this is one server, which has no shards")
        if shards > self._topology.shards:
            raise LoadError(f"the cluster has {self._topology.shards} shards in remote_servers, not {shards}")
        self.placement: Sharding = self._catalogue.sharding
        sharded = [entry for entry in self._catalogue.entries if entry.is_sharded]
        self.entries = sorted(sharded, key=lambda entry: len(self._line(entry)))
        self.wanted = self._balanced(shards or self._topology.shards)

    def _line(self, entry: TableEntry) -> list[TableEntry]:
        """The table, its parent, the parent of that, and so on."""
        line = [entry]
        while (key := line[-1].table.parent_key) is not None:
            schema_name, _, name = key.referenced_table.rpartition(".")
            parents = self._catalogue.find_tables(name, True, schema_name, True)
            if not parents:
                told = f"rows of {line[-1].qualified_name} are with those of {key.referenced_table}, which is not there"
                raise LoadError(f"{told}: load it, or drop {line[-1].qualified_name}")
            line.append(parents[0])
        return line

    def _balanced(self, shards: int) -> Sharding:
        """The placement as it is, unless another map is better by more than a new load may make it worse again."""
        weights, map_ = self.weights("bytes"), self.placement.map
        better = balance_shards(weights, shards)
        if (
            map_.shard_count == shards
            and sum_shard_weights(weights, map_).max() <= _UNEVEN * sum_shard_weights(weights, better).max()
        ):
            return self.placement
        return replace(self.placement, map=better, generation=self.placement.generation + 1)

    # --- sizes --------------------------------------------------------------------------------------------------------

    def weights(self, what: str) -> NDArray[np.float64]:
        """Rows or bytes by cell of the map."""
        each = [sum_cell_weights([]), *(self._weights_of(entry, what) for entry in self.entries)]
        return np.asarray(np.sum(each, axis=0), dtype=np.float64)

    def _weights_of(self, entry: TableEntry, what: str) -> NDArray[np.float64]:
        own = self._counted(entry, what)
        if entry.table.layout.position:
            return own
        above = self._weights_of(self._line(entry)[1], "rows")
        inside: NDArray[np.float64] = own.sum() * above / (above.sum() or 1.0)  # it is where its parents are
        return inside

    def _counted(self, entry: TableEntry, what: str) -> NDArray[np.float64]:
        counted = density_table.read_density(self._engine, entry.schema.name, entry.table.name)
        order = entry.table.layout.healpix_order
        cells = zip(counted["cell"].to_pylist(), counted[what].to_pylist(), strict=True)
        return sum_cell_weights((order, cell, weight) for cell, weight in cells)

    # --- what changes -------------------------------------------------------------------------------------------------

    def version(self) -> tuple[int, int]:
        """Another one when anything was loaded, added or dropped, through whatever server."""
        settle(self._engine, self._topology, ["skyhouse.catalogue", "skyhouse.appends"])
        added = self._engine.fetch_table("SELECT max(version) AS version FROM skyhouse.appends").column(0)[0].as_py()
        return catalogue_log.read_catalogue_version(self._engine), int(added)

    def refuse_loads(self) -> None:
        """Raises ``LoadError`` if some load has begun and not ended: its rows would be left behind."""
        for found in self._found():
            entry = found.entry
            if entry is None or (found.generation == self.placement.generation and found.number > entry.number):
                raise LoadError(f"a load into {found.told} has not ended, so nothing was moved: {found.way_out}")

    def _found(self) -> Iterator[_Found]:
        """All that the engine has of sharded tables, and gateways of rows that are added to one."""
        rows = self._topology.rows_suffix(LOCAL)
        ends = " OR ".join(f"endsWith(name, {quote_string(end)})" for end in (rows, APPEND))
        sql = f"SELECT database, name FROM system.tables WHERE {ends} ORDER BY database, name"
        by_name = {(entry.schema.name, entry.table.name): entry for entry in self.entries}
        for row in self._engine.fetch_table(sql).to_pylist():
            base = row["name"].removesuffix(rows)
            parsed = _BASE.fullmatch(base.removesuffix(APPEND))
            assert parsed is not None  # noqa: S101  the pattern takes any name
            name, generation, number = parsed.groups("0")
            entry = None if base.endswith(APPEND) else by_name.get((row["database"], name))
            yield _Found(row["database"], base, name, entry, int(generation), int(number))

    def make(self, entry: TableEntry) -> None:
        base = self._base(entry, self.wanted)
        for statement in create_sharded_sql(entry.table, entry.schema.name, base, self._topology):
            self._engine.execute(statement)

    def copy(self, entry: TableEntry) -> None:
        """The rows to their new shards, then their copies from there. All servers have what is read, and then all."""
        names = ", ".join(quote_identifier(name) for name in given_columns(entry.table))
        base = self._base(entry, self.wanted)
        self._settle(entry, self.placement, LOCAL)
        into = self._topology.insert_target_sql(entry.schema.name, base, LOCAL)
        home = self.wanted.map.shard_sql(_AT)
        sql = f"INSERT INTO {into} ({names}, {SHARD_COLUMN}) SELECT {names}, {home} FROM {self._leaving(entry)}"
        self._engine.execute(sql, _BY_HERE)
        self._settle(entry, self.wanted, LOCAL)
        if self._overlaps(entry):
            into = self._topology.insert_target_sql(entry.schema.name, base, OVERLAP)
            holders = f"arrayJoin({self._overlap(entry).copy_shards_sql(HPX29, SHARD_COLUMN)})"
            rows = self._all(entry, self.wanted)
            sql = f"INSERT INTO {into} ({names}, {SHARD_COLUMN}) SELECT {names}, {holders} FROM {rows}"
            self._engine.execute(sql, _BY_HERE)
            self._settle(entry, self.wanted, OVERLAP)
        self._copy_comment(entry)

    def _settle(self, entry: TableEntry, placement: Sharding, part: str) -> None:
        name = quote_table(entry.schema.name, self._base(entry, placement), self._topology.rows_suffix(part))
        settle(self._engine, self._topology, [name])

    def _leaving(self, entry: TableEntry) -> str:
        """SQL of all rows, each with the index that its place is told by: its own, or that of the top of its line."""
        return f"cluster({quote_string(self.placement.cluster)}, view({self._told(entry, given_columns(entry.table))}))"

    def _told(self, entry: TableEntry, columns: Iterable[str]) -> str:
        """SQL of these columns of a shard's own rows, with that index. Each shard has the parents of its rows."""
        names = ", ".join(f"t.{quote_identifier(name)} AS {quote_identifier(name)}" for name in columns)
        key = entry.table.parent_key
        if key is None:
            return f"SELECT {names}, t.{HPX29} AS {_AT} FROM {entry.part_sql(LOCAL)} AS t"
        parents = self._told(self._line(entry)[1], key.referenced_columns)
        pairs = zip(key.columns, key.referenced_columns, strict=True)
        equal = " AND ".join(f"t.{quote_identifier(one)} = p.{quote_identifier(other)}" for one, other in pairs)
        joined = f"{entry.part_sql(LOCAL)} AS t LEFT ANY JOIN ({parents}) AS p ON {equal}"
        return f"SELECT {names}, p.{_AT} AS {_AT} FROM {joined}"

    def _copy_comment(self, entry: TableEntry) -> None:
        rows = self._topology.rows_suffix(LOCAL)
        old, new = (self._base(entry, placement) + rows for placement in (self.placement, self.wanted))
        text = quote_string(find_table_comment(self._engine, self._topology, entry.schema.name, old))
        name = quote_table(entry.schema.name, new)
        self._engine.execute(f"ALTER TABLE {name}{self._topology.on_cluster} MODIFY COMMENT {text}")

    def check(self, entry: TableEntry) -> None:
        """Raises ``LoadError`` unless the new tables have what the old ones have, where it belongs."""
        old, new = (self._all(entry, placement) for placement in (self.placement, self.wanted))
        sums = f"SELECT count() AS rows, sum({row_hash(entry.table)}) AS hashes FROM"
        faults = []
        before, after = (self._engine.fetch_table(f"{sums} {rows}").to_pylist() for rows in (old, new))
        if before != after:
            faults.append("its rows are not those that were there")
        if len(self._line(entry)) == 1:
            faults += home_faults(self._engine, self.wanted.map, new)
        local = (self.wanted.cluster, entry.schema.name, self._base(entry, self.wanted) + LOCAL)
        faults += server_faults(self._engine, f"cluster({', '.join(quote_string(text) for text in local)})")
        if self._overlaps(entry):
            copies = self._all(entry, self.wanted, OVERLAP)
            faults += overlap_faults(self._engine, entry.table, self._overlap(entry), new, copies)
        if faults:
            raise LoadError(f"{entry.qualified_name} could not be moved, so nothing was: {'; '.join(faults)}")

    def drop_all_but(self, placement: Sharding) -> None:
        """Drop the tables of all other generations, those of unfinished moves and those that were moved from."""
        for found in self._found():
            if found.entry is not None and found.generation != placement.generation:
                for statement in drop_sharded_sql(found.database, found.base, self._topology):
                    self._engine.execute(statement)

    # --- names --------------------------------------------------------------------------------------------------------

    def _base(self, entry: TableEntry, placement: Sharding) -> str:
        return placement.base_name(entry.table.name, entry.number)

    def _all(self, entry: TableEntry, placement: Sharding, part: str = LOCAL) -> str:
        """SQL of a table of all rows of a part, those of all shards."""
        base = self._base(entry, placement)
        if self._topology.is_one_server:
            return quote_table(entry.schema.name, base, self._topology.rows_suffix(part))
        names = ", ".join(quote_string(text) for text in (placement.cluster, entry.schema.name, base + part))
        return f"cluster({names})"

    def _overlap(self, entry: TableEntry) -> Overlap:
        return Overlap(self.wanted.map, entry.table.layout.overlap_radius)

    @staticmethod
    def _overlaps(entry: TableEntry) -> bool:
        return bool(entry.table.layout.position and entry.table.layout.overlap_radius)
