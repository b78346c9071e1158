"""How the ClickHouse servers are set up, and all that differs in the DDL for it. Pure, but for ``read_topology``.

one server            no cluster of the name ``placement.CLUSTER`` is in its configuration
a cluster             it is, and each server has the macros ``shard`` and ``replica``: statements go to all servers,
                      tables are replicated, those that are not sharded by all servers
a cluster in one      it is, all its shards are the server itself, and there are no macros: the same queries run as
                      on a cluster, on one machine. A part of a sharded table is a view of those rows of a table
                      (``t__local_rows``) that have the shard's number
"""

from __future__ import annotations

from dataclasses import dataclass

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.shard_map import CLUSTER_NAME, ROWS_SUFFIX, SHARD_COLUMN

_SHARDED = ("/clickhouse/tables/{uuid}/{shard}", "{replica}")
_WHOLE = ("/clickhouse/tables/{uuid}/whole", "{shard}-{replica}")


class ClusterError(Exception):
    """The configuration of the servers cannot be used; the message says what is wrong and the way out."""


@dataclass(frozen=True, slots=True)
class Topology:
    """``shards`` of the cluster, 0 of a single server; ``is_one_server``: all of them are."""

    shards: int = 0
    is_one_server: bool = True

    @property
    def is_cluster(self) -> bool:
        return self.shards > 0

    @property
    def on_cluster(self) -> str:
        """What follows the name in CREATE, DROP and changes of comments, to be done on all servers."""
        return "" if self.is_one_server else f" ON CLUSTER {quote_identifier(CLUSTER_NAME)}"

    @property
    def drop_clause(self) -> str:
        """What follows the name in DROP TABLE, of tables that others may read, who go on to their end.

        Several servers do not wait for them: each does the statements for all servers one after the other, and nothing
        could be loaded while a long query reads a table that is gone.
        """
        return " SYNC" if self.is_one_server else self.on_cluster

    def alter_clause(self, *, is_sharded: bool) -> str:
        """What follows the name in changes of rows, columns and indexes, which replicas tell each other.

        One replica of each shard makes them: of a table that is not sharded, whose replicas are on all shards, they
        would be made more than once.
        """
        return self.on_cluster if is_sharded else ""

    def engine_clause(self, kind: str = "MergeTree", *arguments: str, is_sharded: bool = False) -> str:
        """Engine of a table, of the MergeTree family. One that is not sharded has the same rows on all servers."""
        if not self.is_one_server:
            kind = f"Replicated{kind}"
            arguments = (*(quote_string(text) for text in (_SHARDED if is_sharded else _WHOLE)), *arguments)
        return f"{kind}({', '.join(arguments)})" if arguments else kind

    def settings_clause(self, *own: str) -> str:
        """What CREATE TABLE ends with. Keeper shall not drop a block of rows that is as an earlier one."""
        settings = [*own, *([] if self.is_one_server else ["replicated_deduplication_window = 0"])]
        return f" SETTINGS {', '.join(settings)}" if settings else ""

    def rows_suffix(self, part: str) -> str:
        """Ending of the name of the table that holds the rows of a part, LOCAL or OVERLAP, of a sharded table."""
        return part + ROWS_SUFFIX if self.is_one_server else part

    @property
    def has_row_views(self) -> bool:
        """Whether a part is a view of that table."""
        return self.is_one_server

    def all_servers_sql(self, table: str) -> str:
        """SQL of the rows of all servers in a table that each has of its own, such as a system table."""
        return table if self.is_one_server else f"clusterAllReplicas({quote_string(CLUSTER_NAME)}, {table})"

    def insert_target_sql(self, schema_name: str, base: str, part: str) -> str:
        """What to INSERT INTO, for rows that have their ``placement.SHARD``: the engine sends each to its server."""
        table = ", ".join(quote_string(text) for text in (CLUSTER_NAME, schema_name, base + self.rows_suffix(part)))
        return f"FUNCTION cluster({table}, {SHARD_COLUMN})"


ONE_SERVER = Topology()


def read_topology(engine: Engine) -> Topology:
    """Raises ``ClusterError`` if the servers' configuration is neither of these."""
    [found] = engine.fetch_table(
        "SELECT count(DISTINCT shard_num) AS shards, countIf(NOT is_local) AS remote FROM system.clusters"
        f" WHERE cluster = {quote_string(CLUSTER_NAME)}"
    ).to_pylist()
    if not found["shards"]:
        return ONE_SERVER
    macros = engine.fetch_table("SELECT macro FROM system.macros WHERE macro IN ('shard', 'replica')").num_rows
    if macros < 2 and found["remote"]:
        raise ClusterError(
            f"the cluster {CLUSTER_NAME} is in remote_servers of the ClickHouse server, but the macros"
            " shard and replica are not: give each server both"
        )
    return Topology(int(found["shards"]), macros < 2)
