"""Whole tables, of which every server of a cluster has all rows: creating, changing and reading them.

Servers with a Keeper copy the rows from each other. Without a Keeper, each gets the same rows from the client.
"""

from __future__ import annotations

from clickhouse_schema.cluster_topology import NEW_TABLE, ReplicatedTable, Statement, Topology
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.servers import Servers


def create_database(servers: Servers[Engine], name: str) -> None:
    """Create a database on every server that lacks it.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    name : str
        Name, not quoted.
    """
    servers.execute_everywhere(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(name)}")


#: Old parts that one thread removes: for more, ClickHouse starts a hundred threads that stay, with three files each
_REMOVED_TOGETHER = 100_000


def create_whole_table(
    servers: Servers[Engine],
    database: str,
    name: str,
    columns: str,
    order_by: str,
    kind: str = "MergeTree",
    *arguments: str,
) -> None:
    """Create a table on every server that lacks it.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    database, name : str
        Names, not quoted; the database exists.
    columns : str
        SQL of the column definitions, separated by commas.
    order_by : str
        SQL of the sort key, in parentheses for several columns.
    kind : str, optional
        Engine of the MergeTree family, for ``Topology.engine_clause``.
    *arguments : str
        SQL of the engine's arguments.
    """
    topology = servers.topology
    others = find_replicated_table(servers.engine, topology, database, name)
    table = f"{quote_identifier(database)}.{quote_identifier(name)}{topology.uuid_clause(others)}"
    settings = topology.settings_clause(f"concurrent_part_removal_threshold = {_REMOVED_TOGETHER}")
    storage = f"ENGINE = {topology.engine_clause(kind, *arguments)} ORDER BY {order_by}{settings}"
    servers.execute_everywhere(f"CREATE TABLE IF NOT EXISTS {table} ({columns}) {storage}")


def delete_rows_later(servers: Servers[Engine], table: str, where: str) -> None:
    """Delete rows that are no longer read, without waiting for the merges that remove them.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    table : str
        Quoted name of a whole table.
    where : str
        Condition of the rows to delete.
    """
    target = servers.topology.choose_rows_target(is_sharded=False)
    servers.execute_statement(Statement(f"ALTER TABLE {table} DELETE WHERE {where}", target), {"mutations_sync": 0})


def read_columns(engine: Engine, database: str) -> dict[str, list[tuple[str, str]]]:
    """Return the columns of all tables of a database.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse, whose connected server answers.
    database : str
        Name, not quoted.

    Returns
    -------
    dict of str to list of tuple of str
        Name and ClickHouse type of each column in their order, by table; {} if the database does not exist.
    """
    columns = "SELECT table, name, type FROM system.columns WHERE database = "
    found: dict[str, list[tuple[str, str]]] = {}
    for row in engine.fetch_table(f"{columns}{quote_string(database)} ORDER BY table, position").to_pylist():
        found.setdefault(row["table"], []).append((row["name"], row["type"]))
    return found


def find_replicated_table(engine: Engine, topology: Topology, database: str, name: str) -> ReplicatedTable:
    """Return the properties of a table that all its replicas share, from any server that has it.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    topology : Topology
        How the servers are set up.
    database, name : str
        Names, not quoted.

    Returns
    -------
    ReplicatedTable
        ``NEW_TABLE`` if no server has the table, or if tables are not replicated.
    """
    if not topology.is_replicated:
        return NEW_TABLE
    granularity = "toUInt32OrZero(extract(engine_full, 'index_granularity = ([0-9]+)'))"
    sql = (
        f"SELECT toString(any(uuid)) AS uuid, any({granularity}) AS granularity"
        f" FROM {topology.all_servers_sql('system.tables')}"
        f" WHERE database = {quote_string(database)} AND name = {quote_string(name)} HAVING count() > 0"
    )
    found = engine.fetch_table(sql).to_pylist()
    return ReplicatedTable(str(found[0]["uuid"]), int(found[0]["granularity"])) if found else NEW_TABLE


def find_table_comment(engine: Engine, topology: Topology, database: str, name: str) -> str:
    """Return the comment of a table from any server. Comments are not replicated.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    topology : Topology
        How the servers are set up.
    database, name : str
        Names, not quoted.

    Returns
    -------
    str
        '' if no server has a comment. If comments differ, the last in the order of texts.
    """
    sql = (
        f"SELECT max(comment) AS comment FROM {topology.all_servers_sql('system.tables')}"
        f" WHERE database = {quote_string(database)} AND name = {quote_string(name)}"
    )
    return str(engine.fetch_table(sql).to_pylist()[0]["comment"])
