"""Tables that a killed drop or first load left on a cluster. The catalogue does not know them; their names do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clickhouse_schema.cluster_ddl import drop_sharded_sql
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import BASE_PATTERN, LOCAL, MARGIN, OVERLAP
from loaders.storage.stored_table import CHUNK_COLUMN
from tap_service.storage.engine.engine import Engine

_PARTS = "|".join([LOCAL, OVERLAP, MARGIN])
_NAME_PATTERN = re.compile(rf"(?P<base>{BASE_PATTERN})(?P<part>{_PARTS})?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OrphanTables:
    """The ``base_names`` of orphan tables. ``is_filled``: whether some have rows, or a load had started."""

    base_names: tuple[str, ...]
    is_filled: bool


def find_orphan_tables(servers: Servers[Engine], schema_name: str, table_name: str) -> OrphanTables:
    """Find all tables that loads created for a table, with any number, on any server.

    A whole table is recognised by the chunk column or the comment of a load: its name alone proves nothing.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the cluster.
    schema_name, table_name : str
        The table, which the catalogue does not know.

    Returns
    -------
    OrphanTables
    """
    has_chunks = f"position(create_table_query, {quote_string(f'`{CHUNK_COLUMN}` ')}) > 0"
    found = servers.engine.fetch_table(
        f"SELECT name, max({has_chunks}) AS has_chunks, max(startsWith(comment, '{{')) AS has_state,"
        f" sum(ifNull(total_rows, 0)) AS rows FROM {servers.topology.all_servers_sql('system.tables')}"
        f" WHERE database = {quote_string(schema_name)} AND startsWith(name, {quote_string(table_name)})"
        " GROUP BY name ORDER BY name"
    ).to_pylist()
    base_names, is_filled = [], False
    for row in found:
        parsed = _NAME_PATTERN.fullmatch(row["name"])
        if parsed is None or parsed["table"] != table_name:
            continue
        if parsed["part"] or row["has_chunks"] or row["has_state"]:
            base_names.append(parsed["base"])
            is_filled |= bool(row["has_chunks"] or row["rows"])
    return OrphanTables(tuple(dict.fromkeys(base_names)), is_filled)


def drop_orphan_tables(servers: Servers[Engine], schema_name: str, table_name: str) -> None:
    """Drop all tables that ``find_orphan_tables`` finds.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the cluster.
    schema_name, table_name : str
        Exact names of a table that the catalogue does not know.
    """
    for base_name in find_orphan_tables(servers, schema_name, table_name).base_names:
        servers.execute_everywhere(*drop_sharded_sql(schema_name, base_name, servers.topology))
