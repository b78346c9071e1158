"""The servers of an engine, and which of them execute a statement.

A statement that changes something that is not replicated is sent to every server. If a server does not answer, the
statement fails; it may have been executed on other servers, so every statement must be repeatable. All other servers
execute it at the same time, and the connected server after them: so all servers have what the connected server has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Generic, TypeVar, cast

import pyarrow as pa

from clickhouse_schema.cluster_topology import (
    ClusterError,
    ReplicaId,
    Statement,
    Target,
    Topology,
    find_replica_ids,
    read_topology,
)
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.shard_map import CLUSTER_NAME

_OF_CLUSTER = f"FROM system.clusters WHERE cluster = {quote_string(CLUSTER_NAME)}"

AnyEngine = TypeVar("AnyEngine", bound=Engine, covariant=True)

_MAX_THREADS = 32


class Servers(Generic[AnyEngine]):
    """The servers of an engine.

    Parameters
    ----------
    engine : Engine
        The connected server, which answers queries.

    Raises
    ------
    ClusterError
        If the configuration of the servers is incomplete.
    """

    def __init__(self, engine: AnyEngine) -> None:
        self.engine = engine
        self.topology: Topology = read_topology(engine)

    def execute_statement(
        self,
        statement: Statement,
        settings: Mapping[str, str | int | float] | None = None,
        *,
        point: Failpoint | None = None,
    ) -> None:
        """Execute a statement on each server of its target.

        Parameters
        ----------
        statement : Statement
            A statement that may be repeated: if a server fails, other servers may have executed it.
        settings : mapping of str to (str or int or float), optional
            ClickHouse settings of the statement.
        point : Failpoint, optional
            Failpoint that each server reaches after it.

        Raises
        ------
        ClusterError
            The engine does not know a server of the cluster.
        EngineError
            A server rejects the statement or does not answer; its subclasses say why.
        """
        engines = self.list_engines(statement.target)
        _call_each(engines, lambda engine: engine.execute(statement.sql, settings), point)

    def execute_everywhere(self, *statements: str, point: Failpoint | None = None) -> None:
        """Execute statements on every server, one statement after the other.

        Parameters
        ----------
        *statements : str
            SQL of statements that may be repeated.
        point : Failpoint, optional
            Failpoint that each server reaches after each statement.

        Raises
        ------
        ClusterError
            The engine does not know a server of the cluster.
        EngineError
            A server rejects a statement or does not answer; the following statements are not executed.
        """
        for sql in statements:
            self.execute_statement(Statement(sql), point=point)

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], *, point: Failpoint | None = None) -> None:
        """Insert rows into a table of which every server has all rows.

        Parameters
        ----------
        table : str
            Quoted name.
        batches : iterable of pyarrow.RecordBatch
            The rows; all are held in memory.
        point : Failpoint, optional
            Failpoint that each server reaches after the insertion.

        Raises
        ------
        ClusterError
            The engine does not know a server of the cluster.
        EngineError
            A server rejects the rows or does not answer. Without a Keeper, other servers may have them
            (``whole_table_repair``).
        """
        block = list(batches)
        engines = self.list_engines(self.topology.choose_rows_target(is_sharded=False))
        _call_each(engines, lambda engine: engine.insert_batches(table, block), point)

    def list_engines(self, target: Target = Target.EVERY_SERVER) -> list[AnyEngine]:
        """Return the servers of a target, the connected server last.

        Parameters
        ----------
        target : Target, optional
            The servers that execute a statement.

        Returns
        -------
        list of AnyEngine
            Connections that the engine owns. The connected server is the only one for ``ONE_SERVER`` and without a
            cluster.

        Raises
        ------
        ClusterError
            The engine does not know a server of the cluster.
        EngineUnavailable
            A server does not answer.
        """
        if target == Target.ONE_SERVER or not self.topology.is_cluster:
            return [self.engine]
        if target == Target.EVERY_SHARD:
            return [*{shard: engine for (shard, _), engine in self._engines.items()}.values()]
        return [*self._engines.values()]

    def get_shard_engine(self, shard: int) -> AnyEngine:
        """Return a server of a shard.

        Parameters
        ----------
        shard : int
            Number of the shard, from 0.

        Returns
        -------
        AnyEngine
            Connection to one replica, which the engine owns.

        Raises
        ------
        StopIteration
            The cluster has no such shard.
        """
        return next(engine for (number, _), engine in self._engines.items() if number == shard + 1)

    def get_shard(self, engine: Engine) -> int:
        """Return the shard of a server.

        Parameters
        ----------
        engine : Engine
            One of ``list_engines``, compared by identity.

        Returns
        -------
        int
            Number of the shard, from 0.

        Raises
        ------
        StopIteration
            The connection is not one of ``list_engines``.
        """
        return next(number - 1 for (number, _), each in self._engines.items() if each is engine)

    @cached_property
    def _engines(self) -> dict[ReplicaId, AnyEngine]:
        connected = _find_replica_id(self.engine)
        found: dict[ReplicaId, AnyEngine] = {}
        for engine in cast(Iterable[AnyEngine], self.engine.require_servers()):
            replica_id = _find_replica_id(engine)
            if replica_id in found:
                raise ClusterError(f"SKYHOUSE_CLICKHOUSE_URL names the server of {replica_id} twice")
            found[replica_id] = engine
        self._refuse_missing(found.keys())
        del found[connected]
        return {**found, connected: self.engine}

    def _refuse_missing(self, replica_ids: Iterable[ReplicaId]) -> None:
        rows = self.engine.fetch_table(f"SELECT shard_num, replica_num, host_name, port {_OF_CLUSTER}").to_pylist()
        named = {*replica_ids}
        missing = [
            f"{row['host_name']}:{row['port']}"
            for row in rows
            if ReplicaId(int(row["shard_num"]), int(row["replica_num"])) not in named
        ]
        if missing:
            raise ClusterError(
                f"SKYHOUSE_CLICKHOUSE_URL lacks servers of the cluster {CLUSTER_NAME}: {', '.join(missing)}"
                " (addresses in remote_servers). Changes are sent to each server: name all servers"
            )


def _call_each(engines: Sequence[Engine], work: Callable[[Engine], None], point: Failpoint | None) -> None:
    """Call ``work`` with each engine; with the last engine after the others are done."""

    def call(engine: Engine) -> None:
        work(engine)
        reach(point)

    *others, connected = engines
    if others:
        with ThreadPoolExecutor(min(len(others), _MAX_THREADS)) as threads:
            for done in [threads.submit(call, engine) for engine in others]:
                done.result()
    call(connected)


def _find_replica_id(engine: Engine) -> ReplicaId:
    """Return the numbers of an engine's server in the cluster."""
    replica_ids = find_replica_ids(engine)
    if len(replica_ids) != 1:
        raise ClusterError(
            f"a ClickHouse server is {len(replica_ids)} times in the cluster {CLUSTER_NAME} of its own configuration,"
            " not once: each server must be in remote_servers with the address and the port at which it listens"
        )
    return replica_ids[0]
