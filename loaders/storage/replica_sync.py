"""Waits until all servers have the same rows.

An INSERT goes to one server of each shard, from which the other servers copy it; a query reads from any of them. So
written rows are neither read nor announced before all servers have them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from clickhouse_schema.servers import Servers
from tap_service.storage.engine.engine import Engine, QueryTimeout

#: Maximum time for copying rows that were just written
_MAX_COPY_SECONDS = 6 * 3600


def wait_for_replicas(servers: Servers[Engine], tables: Iterable[str]) -> None:
    """Wait until all servers have all rows that were sent to some tables. Nothing happens without a Keeper.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    tables : iterable of str
        Quoted names of the tables.

    Raises
    ------
    QueryTimeout
        The servers have not copied the rows of a table within ``_MAX_COPY_SECONDS``.
    EngineError
        A server does not answer.
    """
    if not servers.topology.is_replicated:
        return
    deadline = time.monotonic() + _MAX_COPY_SECONDS
    for table in tables:
        while not _is_synchronised(servers, table):
            if time.monotonic() > deadline:
                raise QueryTimeout(f"the servers do not copy the rows of {table} from each other: see their logs")


def _is_synchronised(servers: Servers[Engine], table: str) -> bool:
    """Whether the replicas caught up before ``receive_timeout``, which is shorter than long copies."""
    try:
        servers.execute_everywhere(f"SYSTEM SYNC REPLICA {table} LIGHTWEIGHT")
    except QueryTimeout:
        return False
    return True
