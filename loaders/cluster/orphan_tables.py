"""What a drop or a first load that was killed has left on a cluster: tables that no catalogue knows, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clickhouse_schema.cluster_ddl import drop_sharded_sql
from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.shard_map import BASE_PATTERN, LOCAL, MARGIN, OVERLAP, ROWS_SUFFIX
from loaders.storage.server_storage import CHUNK
from tap_service.storage.engine.engine import Engine

_ENDS = "|".join([LOCAL, OVERLAP, LOCAL + ROWS_SUFFIX, OVERLAP + ROWS_SUFFIX, MARGIN])
_NAME = re.compile(rf"(?P<base>{BASE_PATTERN})(?P<part>{_ENDS})?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LeftOver:
    """``bases``: what the names of the tables begin with. ``is_filled``: some have rows, or a load had begun."""

    bases: tuple[str, ...]
    is_filled: bool


def left_over(engine: Engine, topology: Topology, schema_name: str, table_name: str) -> LeftOver:
    """All that loads have made for this table, whatever the numbers in its names are, on any of the servers.

    A table that is whole everywhere is known by what loads alone give a table; it may be anybody's otherwise.
    """
    is_chunked = f"position(create_table_query, {quote_string(f'`{CHUNK}` ')}) > 0"
    found = engine.fetch_table(
        f"SELECT name, max({is_chunked}) AS is_chunked, max(startsWith(comment, '{{')) AS is_told,"
        f" sum(ifNull(total_rows, 0)) AS rows FROM {topology.all_servers_sql('system.tables')}"
        f" WHERE database = {quote_string(schema_name)} AND startsWith(name, {quote_string(table_name)})"
        " GROUP BY name ORDER BY name"
    ).to_pylist()
    bases, is_filled = [], False
    for row in found:
        parsed = _NAME.fullmatch(row["name"])
        if parsed and parsed["table"] == table_name and (parsed["part"] or row["is_chunked"] or row["is_told"]):
            bases.append(parsed["base"])
            is_filled |= bool(row["is_chunked"] or row["rows"])
    return LeftOver(tuple(dict.fromkeys(bases)), is_filled)


def drop_left_over(engine: Engine, topology: Topology, schema_name: str, table_name: str) -> None:
    """Drop all of it. Only for tables that the catalogue does not know."""
    for base in left_over(engine, topology, schema_name, table_name).bases:
        for statement in drop_sharded_sql(schema_name, base, topology):
            engine.execute(statement)
