"""Statements of a killed command, which continue to run in the engine and may still add rows."""

from __future__ import annotations

import time

from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.quoting import quote_string
from tap_service.storage.engine.engine import Engine


def end_statements(engine: Engine, topology: Topology, prefix: str) -> None:
    """Cancel the statements whose ids start with ``prefix``, and wait for their end on all servers."""
    for query_id in engine.list_running_ids(prefix):
        engine.cancel_query(query_id)
    where = f"startsWith(Settings['log_comment'], {quote_string(prefix)})"
    sql = f"SELECT 1 AS one FROM {topology.all_servers_sql('system.processes')} WHERE {where}"
    while engine.fetch_table(sql).num_rows:
        time.sleep(0.05)
