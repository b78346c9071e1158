"""How the ClickHouse servers are set up, and what differs in the DDL for it. Pure, except ``read_topology``.

one server            its configuration has no cluster ``CLUSTER_NAME``
a cluster             the configuration has it, and each server has the macros ``shard`` and ``replica``: statements
                      go to all servers, tables are replicated, those that are not sharded by all servers
a cluster in one      the configuration has it, all its shards are the server itself, and there are no macros: the
                      queries of a cluster run on one machine. A part of a sharded table is a view of those rows of
                      a table (``t__local_rows``) that have the shard's number
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.shard_map import CLUSTER_NAME, ROWS_SUFFIX, SHARD_COLUMN

_SHARDED = ("/clickhouse/tables/{uuid}/{shard}", "{replica}")
_WHOLE = ("/clickhouse/tables/{uuid}/whole", "{shard}-{replica}")


class ClusterError(Exception):
    """The configuration of the servers cannot be used; the message names the fault and the way out."""


@dataclass(frozen=True, slots=True)
class Topology:
    """``shards``: number of shards, 0 without a cluster; ``is_one_server``: all shards are one server."""

    shards: int = 0
    is_one_server: bool = True

    @property
    def is_cluster(self) -> bool:
        return self.shards > 0

    @property
    def on_cluster(self) -> str:
        """Clause after the name in CREATE, DROP and changes of comments, which all servers execute."""
        return "" if self.is_one_server else f" ON CLUSTER {quote_identifier(CLUSTER_NAME)}"

    @property
    def drop_clause(self) -> str:
        """Clause after the name in DROP TABLE, for tables that running queries may still read.

        Several servers do not wait for these queries: each server executes the statements for all servers one after
        the other, and nothing could be loaded while a long query reads a dropped table.
        """
        return " SYNC" if self.is_one_server else self.on_cluster

    def alter_clause(self, *, is_sharded: bool) -> str:
        """Return the clause after the name in changes of rows, columns and indexes, which are replicated.

        One replica of each shard executes them. The replicas of a table that is not sharded are on all shards, and
        would execute them several times.
        """
        return self.on_cluster if is_sharded else ""

    def engine_clause(self, kind: str = "MergeTree", *arguments: str, is_sharded: bool = False) -> str:
        """Return the MergeTree engine of a table; one that is not sharded has the same rows on all servers."""
        if not self.is_one_server:
            kind = f"Replicated{kind}"
            arguments = (*(quote_string(text) for text in (_SHARDED if is_sharded else _WHOLE)), *arguments)
        return f"{kind}({', '.join(arguments)})" if arguments else kind

    def settings_clause(self, *own: str) -> str:
        """Return the SETTINGS of CREATE TABLE. Without deduplication: equal blocks of rows are inserted twice."""
        settings = [*own, *([] if self.is_one_server else ["replicated_deduplication_window = 0"])]
        return f" SETTINGS {', '.join(settings)}" if settings else ""

    def rows_suffix(self, part: str) -> str:
        """Return the suffix of the table that holds the rows of a part (LOCAL or OVERLAP) of a sharded table."""
        return part + ROWS_SUFFIX if self.is_one_server else part

    @property
    def has_row_views(self) -> bool:
        """Whether a part is a view of the table that holds its rows."""
        return self.is_one_server

    def all_servers_sql(self, table: str) -> str:
        """Return SQL of a table that each server has of its own, such as a system table, on all servers."""
        return table if self.is_one_server else f"clusterAllReplicas({quote_string(CLUSTER_NAME)}, {table})"

    def insert_target_sql(self, schema_name: str, base: str, part: str) -> str:
        """Return the target of INSERT for rows with ``SHARD_COLUMN``: ClickHouse sends each row to its shard."""
        table = ", ".join(quote_string(text) for text in (CLUSTER_NAME, schema_name, base + self.rows_suffix(part)))
        return f"FUNCTION cluster({table}, {SHARD_COLUMN})"


ONE_SERVER = Topology()


class ReplicatedTable(NamedTuple):
    """What a table has on other servers, and a replica that joins them must have too.

    Attributes
    ----------
    uuid
        '' for a table that no other server has.
    granularity
        Rows of a granule; 0 for those of a new table.
    """

    uuid: str = ""
    granularity: int = 0


NEW_TABLE = ReplicatedTable()


def read_topology(engine: Engine) -> Topology:
    """Read how the servers are set up. Raises ``ClusterError`` if the configuration is incomplete."""
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
