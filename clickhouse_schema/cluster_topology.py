"""How the ClickHouse servers are set up, and what this changes in the DDL.

one server                 its configuration has no cluster ``CLUSTER_NAME``
a cluster                  the configuration has this cluster, with one server for each shard. A table that is not
                           sharded is written to every server
a cluster with replicas    each server also has the macros ``shard`` and ``replica``, and a Keeper: tables are
                           replicated, and a table that is not sharded has a replica on every server

``clickhouse_schema.servers`` sends statements to the servers.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.shard_map import CLUSTER_NAME, SHARD_COLUMN

_SHARDED = ("/clickhouse/tables/{uuid}/{shard}", "{replica}")
_WHOLE = ("/clickhouse/tables/{uuid}/whole", "{shard}-{replica}")

_MACROS = ("shard", "replica")


class ClusterError(Exception):
    """The configuration of the servers cannot be used; the message names the problem and how to solve it."""


class Target(Enum):
    """The servers that execute a statement."""

    EVERY_SERVER = "every server"
    EVERY_SHARD = "one server of each shard"
    ONE_SERVER = "one server"


class Statement(NamedTuple):
    sql: str
    target: Target = Target.EVERY_SERVER


@dataclass(frozen=True, slots=True)
class Topology:
    """``shards``: number of shards, 0 without a cluster; ``is_replicated``: servers copy rows from each other."""

    shards: int = 0
    is_replicated: bool = False

    @property
    def is_cluster(self) -> bool:
        return self.shards > 0

    def choose_rows_target(self, *, is_sharded: bool) -> Target:
        """Return the servers that execute changes of a table's rows, columns and indexes, which replicas copy.

        Parameters
        ----------
        is_sharded : bool
            Whether the table is sharded; otherwise every server has all rows of it.

        Returns
        -------
        Target
            Every server without a Keeper. With a Keeper, one server of each shard for a sharded table, and one server
            of the cluster for other tables.
        """
        if not self.is_replicated:
            return Target.EVERY_SERVER
        return Target.EVERY_SHARD if is_sharded else Target.ONE_SERVER

    @property
    def drop_clause(self) -> str:
        """Clause after the name in DROP TABLE, for tables that running queries may still read.

        A cluster does not wait for these queries: nothing could be loaded while a long query reads a dropped table.
        """
        return "" if self.is_cluster else " SYNC"

    def uuid_clause(self, others: ReplicatedTable) -> str:
        """Return the UUID clause of CREATE TABLE: replicas share the UUID of a table, and a new table gets its own.

        Parameters
        ----------
        others : ReplicatedTable
            The replicas on other servers; ``NEW_TABLE`` if there are none.

        Returns
        -------
        str
            Clause with a leading space, random for a new table; '' unless tables are replicated.
        """
        return f" UUID {quote_string(others.uuid or str(uuid.uuid4()))}" if self.is_replicated else ""

    def engine_clause(self, kind: str = "MergeTree", *arguments: str, is_sharded: bool = False) -> str:
        """Return the MergeTree engine of a table.

        Parameters
        ----------
        kind : str, optional
            Name of the engine without 'Replicated', such as ReplacingMergeTree.
        *arguments : str
            SQL of the engine's arguments, which follow the path and the name of the replica.
        is_sharded : bool, optional
            Whether only the servers of one shard are replicas of each other. Otherwise all servers of the cluster have
            the same rows.

        Returns
        -------
        str
            The engine without the keyword ENGINE.
        """
        if self.is_replicated:
            kind = f"Replicated{kind}"
            arguments = (*(quote_string(text) for text in (_SHARDED if is_sharded else _WHOLE)), *arguments)
        return f"{kind}({', '.join(arguments)})" if arguments else kind

    def settings_clause(self, *own: str) -> str:
        """Return the SETTINGS of CREATE TABLE, without deduplication: equal blocks of rows must all be inserted."""
        settings = [*own, *(["replicated_deduplication_window = 0"] if self.is_replicated else [])]
        return f" SETTINGS {', '.join(settings)}" if settings else ""

    def all_servers_sql(self, table: str) -> str:
        """Return the SQL that reads a table on all servers, such as a system table, which differs between servers.

        Parameters
        ----------
        table : str
            Quoted name, or a table function.

        Returns
        -------
        str
            ``table`` itself on a single server. On a cluster it includes all replicas, so replicated rows occur several
            times.
        """
        return f"clusterAllReplicas({quote_string(CLUSTER_NAME)}, {table})" if self.is_cluster else table

    def insert_target_sql(self, schema_name: str, base: str, part: str) -> str:
        """Return the target of INSERT for rows with ``SHARD_COLUMN``: ClickHouse sends each row to its shard.

        Parameters
        ----------
        schema_name : str
            Name of the table's schema.
        base : str
            Base name of the parts of the table (``Sharding.base_name``).
        part : str
            Suffix of the part, such as ``LOCAL``.

        Returns
        -------
        str
            The table function after INSERT INTO; only for a cluster.
        """
        table = ", ".join(quote_string(text) for text in (CLUSTER_NAME, schema_name, base + part))
        return f"FUNCTION cluster({table}, {SHARD_COLUMN})"


ONE_SERVER = Topology()


class ReplicatedTable(NamedTuple):
    """What a replica must have in common with the replicas of the table on other servers.

    Attributes
    ----------
    uuid
        '' for a table that no other server has.
    granularity
        Rows of a granule; 0 for the number of a new table.
    """

    uuid: str = ""
    granularity: int = 0


NEW_TABLE = ReplicatedTable()


class ReplicaId(NamedTuple):
    """The numbers of a server in a cluster, both from 1."""

    shard: int
    replica: int

    def __str__(self) -> str:
        return f"shard {self.shard}, replica {self.replica}"


def find_replica_ids(engine: Engine) -> list[ReplicaId]:
    """Return the numbers that the server of an engine has in the cluster, by its own configuration.

    Parameters
    ----------
    engine : Engine
        Connection to one server.

    Returns
    -------
    list of ReplicaId
        One entry if the configuration is right; none if the server does not recognise its own address in
        remote_servers, several if it is listed repeatedly.
    """
    found = engine.fetch_table(
        f"SELECT shard_num, replica_num FROM system.clusters WHERE cluster = {quote_string(CLUSTER_NAME)} AND is_local"
    )
    return [ReplicaId(int(row["shard_num"]), int(row["replica_num"])) for row in found.to_pylist()]


def read_topology(engine: Engine) -> Topology:
    """Read how the servers are set up.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.

    Returns
    -------
    Topology
        ``ONE_SERVER`` if the configuration has no cluster ``CLUSTER_NAME``.

    Raises
    ------
    ClusterError
        Only one of the macros ``shard`` and ``replica`` is defined, or a shard has several replicas but the macros are
        missing.
    """
    [found] = engine.fetch_table(
        "SELECT count(DISTINCT shard_num) AS shards, count() AS servers FROM system.clusters"
        f" WHERE cluster = {quote_string(CLUSTER_NAME)}"
    ).to_pylist()
    if not found["shards"]:
        return ONE_SERVER
    given = engine.fetch_table("SELECT macro FROM system.macros WHERE macro IN ('shard', 'replica')")
    missing = [name for name in _MACROS if name not in given.column(0).to_pylist()]
    is_replicated = not missing
    if len(missing) == 1:
        raise ClusterError(f"the macro {missing[0]} is missing in the configuration of the ClickHouse server")
    if not is_replicated and found["servers"] > found["shards"]:
        raise ClusterError(
            f"a shard of the cluster {CLUSTER_NAME} in remote_servers has several replicas: these need a Keeper, and"
            " the macros shard and replica on each server"
        )
    return Topology(int(found["shards"]), is_replicated)
