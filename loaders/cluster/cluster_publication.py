"""Publishes a load on a cluster.

verified tables of number n+1 -> DROP COLUMN __chunk -> density -> catalogue: number n+1
  -> DROP of the tables of number n
"""

from __future__ import annotations

import time

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.failpoints import Failpoint
from loaders.cluster.cluster_live import refuse_moved_shards
from loaders.cluster.cluster_staging import ClusterStagingTable
from loaders.cluster.cluster_tables import ClusterTables
from loaders.load_error import LoadError
from loaders.storage.stored_table import CHUNK_COLUMN, NO_WAIT_SETTINGS, wait_for_mutations
from tap_service.constants import CATALOGUE_POLL_SECONDS

#: How long replaced tables stay for queries that were translated before the publication and still wait
LINGER_SECONDS = 10 + CATALOGUE_POLL_SECONDS


class ClusterPublication:
    """The ``Publication`` of a cluster."""

    def __init__(self, tables: ClusterTables, staging: ClusterStagingTable) -> None:
        self._tables = tables
        self._staging = staging

    def publish_staging(self) -> None:
        tables = self._tables
        refuse_moved_shards(tables)
        state = self._staging.read_state()
        if state is None or not state.verified:
            raise LoadError(f"{tables.schema_name}.{tables.next_base} has disappeared: start the load again")
        number, base_name = tables.next_number, tables.next_base
        for part in tables.parts:
            # of a load that was killed here: ClickHouse refuses to drop a column that is being dropped
            mutations = tables.all_servers_sql("mutations")
            wait_for_mutations(tables.engine, mutations, tables.schema_name, base_name + part)
            dropped = f"DROP COLUMN IF EXISTS {CHUNK_COLUMN}"
            tables.alter_rows(base_name + part, dropped, NO_WAIT_SETTINGS, point=Failpoint.PUBLISH_DROP_CHUNKS)
        update_density(tables.engine, tables.schema_name, tables.table, base_name)
        register_table(tables.engine, state.entry, tables.table, number)
        tables.live_number = number
        if number:
            time.sleep(LINGER_SECONDS)
        self.finish_publishing()

    def finish_publishing(self) -> None:
        self._tables.drop_replaced()
