"""Waiting until all servers have the same rows.

An INSERT goes to one server of each shard, from which the others copy it; a query asks any of them. So what was written
is neither read nor announced before all servers have it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from clickhouse_schema.cluster_topology import Topology
from tap_service.storage.engine.engine import Engine, QueryTimeout

#: How long the copying of rows that were just written may take.
_MAX_COPY_SECONDS = 6 * 3600


def wait_for_replicas(engine: Engine, topology: Topology, tables: Iterable[str]) -> None:
    """Wait until all servers have everything that was sent to these tables, by quoted name.

    Raises ``EngineError`` if a server does not answer.
    """
    if topology.is_one_server:
        return
    deadline = time.monotonic() + _MAX_COPY_SECONDS
    for table in tables:
        while not _is_synchronised(engine, topology, table):
            # fails if a server is gone
            engine.fetch_table(f"SELECT 1 AS one FROM {topology.all_servers_sql('view(SELECT 1)')}")
            if time.monotonic() > deadline:
                raise QueryTimeout(f"the servers do not copy the rows of {table} from each other: see their logs")


def _is_synchronised(engine: Engine, topology: Topology, table: str) -> bool:
    """Whether the replicas caught up before ``distributed_ddl_task_timeout``, which is shorter than long copies."""
    try:
        engine.execute(f"SYSTEM SYNC REPLICA{topology.on_cluster} {table} LIGHTWEIGHT")
    except QueryTimeout:
        return False
    return True
