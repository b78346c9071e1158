"""Waiting until all servers have the same rows.

An INSERT goes to one server of each shard, the others copy it from there; a query asks any of them. So what was written
is not read, nor made known to others, before all have it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from clickhouse_schema.cluster_topology import Topology
from tap_service.storage.engine.engine import Engine, QueryTimeout

#: How long the copying of what was just written may take
_LONGEST_SECONDS = 6 * 3600


def settle(engine: Engine, topology: Topology, tables: Iterable[str]) -> None:
    """Until all servers have all that was ever sent to these tables, quoted names.

    Raises ``EngineError`` if a server does not answer.
    """
    if topology.is_one_server:
        return
    until = time.monotonic() + _LONGEST_SECONDS
    for table in tables:
        while not _is_settled(engine, topology, table):
            engine.fetch_table(
                f"SELECT 1 AS one FROM {topology.all_servers_sql('view(SELECT 1)')}"
            )  # is each still there?
            if time.monotonic() > until:
                raise QueryTimeout(f"the servers do not copy the rows of {table} from each other: see their logs")


def _is_settled(engine: Engine, topology: Topology, table: str) -> bool:
    """A statement for all servers ends after ``distributed_ddl_task_timeout``, far sooner than much is copied."""
    try:
        engine.execute(f"SYSTEM SYNC REPLICA{topology.on_cluster} {table} LIGHTWEIGHT")
    except QueryTimeout:
        return False
    return True
