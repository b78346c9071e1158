"""The balanced sharding of a cluster, from the density of its tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_balance import balance_shards, sum_cell_weights, sum_shard_weights
from clickhouse_schema.shard_map import Sharding
from loaders.load_error import LoadError
from tap_service.storage.engine.engine import Engine

#: A map is kept while its fullest shard has at most this multiple of the fullest shard of a balanced map.
_MAX_UNEVENNESS = 1.1

Measure = Literal["rows", "bytes"]


class ShardPlan:
    """The present and the wanted sharding of a cluster.

    Parameters
    ----------
    engine : Engine
        The connected server.
    shard_count : int
        Number of shards to use; 0 for all.

    Attributes
    ----------
    current, wanted : Sharding
    entries : list of TableEntry
        The sharded tables, parents before their children.

    Raises
    ------
    LoadError
        This is a single server, or the cluster has fewer shards.
    """

    def __init__(self, engine: Engine, shard_count: int) -> None:
        self.engine = engine
        self.servers = Servers(engine)
        self.topology: Topology = self.servers.topology
        self._catalogue: Catalogue = read_catalogue(engine)
        if self._catalogue.sharding is None:
            raise LoadError("this is a single server, which has no shards")
        if shard_count > self.topology.shards:
            raise LoadError(f"the cluster has {self.topology.shards} shards in remote_servers, not {shard_count}")
        self.current: Sharding = self._catalogue.sharding
        sharded = [entry for entry in self._catalogue.entries if entry.is_sharded]
        self.entries = sorted(sharded, key=lambda entry: len(self.find_ancestry(entry)))
        self.wanted = self._choose_sharding(shard_count or self.topology.shards)

    def find_ancestry(self, entry: TableEntry) -> list[TableEntry]:
        """Return the table, its parent, the parent's parent, and so on. Raises ``LoadError`` if one does not exist."""
        ancestry = [entry]
        while (key := ancestry[-1].table.parent_key) is not None:
            schema_name, _, name = key.referenced_table.rpartition(".")
            parent = self._catalogue.find_entry(schema_name, name)
            if parent is None:
                child = ancestry[-1].qualified_name
                raise LoadError(
                    f"rows of {child} are stored with rows of {key.referenced_table}, which does not exist:"
                    f" load it, or drop {child}"
                )
            ancestry.append(parent)
        return ancestry

    def _choose_sharding(self, shard_count: int) -> Sharding:
        """Return the current sharding unless a balanced map is clearly better."""
        weights, shard_map = self.sum_weights("bytes"), self.current.map
        better = balance_shards(weights, shard_count)
        if shard_map.shard_count == shard_count:
            fullest = sum_shard_weights(weights, shard_map).max()
            if fullest <= _MAX_UNEVENNESS * sum_shard_weights(weights, better).max():
                return self.current
        return replace(self.current, map=better, generation=self.current.generation + 1)

    def sum_weights(self, measure: Measure) -> NDArray[np.float64]:
        """Return the rows or bytes of all tables in each cell of the map, as a one-dimensional array."""
        tables = [self._sum_table_weights(entry, measure) for entry in self.entries]
        return np.asarray(np.sum([sum_cell_weights([]), *tables], axis=0), dtype=np.float64)

    def _sum_table_weights(self, entry: TableEntry, measure: Measure) -> NDArray[np.float64]:
        own = self._read_weights(entry, measure)
        if entry.table.layout.position:
            return own
        # rows without positions are stored with their parents
        parents = self._sum_table_weights(self.find_ancestry(entry)[1], "rows")
        spread: NDArray[np.float64] = own.sum() * parents / (parents.sum() or 1.0)
        return spread

    def _read_weights(self, entry: TableEntry, measure: Measure) -> NDArray[np.float64]:
        density = read_density(self.engine, entry.schema.name, entry.table.name)
        order = entry.table.layout.healpix_order
        cells = zip(density["cell"].to_pylist(), density[measure].to_pylist(), strict=True)
        return sum_cell_weights((order, cell, weight) for cell, weight in cells)
