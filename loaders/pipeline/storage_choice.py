"""Chooses the storage of a table: on one server or on a cluster."""

from __future__ import annotations

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.schema_model import Table
from loaders.pipeline.table_name import split_name
from loaders.storage.load_state import TableState, parse_state
from loaders.storage.server_storage import open_server_storage
from loaders.storage.storage_protocol import TableStorage
from tap_service.storage.engine.engine import Engine


def choose_storage(engine: Engine, schema_name: str, table: Table, catalogue: Catalogue) -> TableStorage:
    """Return the storage that a table has or will have; nothing is changed.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    schema_name : str
        Name of the table's schema.
    table : Table
        The table; on a cluster its layout determines the storage.
    catalogue : Catalogue
        The current catalogue, with the sharding.

    Returns
    -------
    TableStorage
        The storage on one server or on a cluster.
    """
    if catalogue.sharding is None:
        return open_server_storage(engine, schema_name, table.name)
    return _open_on_cluster(engine, schema_name, table, catalogue)


def find_known_storage(engine: Engine, name: str, catalogue: Catalogue) -> TableStorage | None:
    """Return the storage of a table by its name.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    name : str
        ``schema.table``.
    catalogue : Catalogue
        The current catalogue, with the sharding.

    Returns
    -------
    TableStorage or None
        On one server the storage of any name, whether or not there is a table. On a cluster None if the catalogue does
        not know the table.

    Raises
    ------
    LoadError
        The name is not ``schema.table``.
    """
    schema_name, table_name = split_name(name)
    if catalogue.sharding is None:
        return open_server_storage(engine, schema_name, table_name)
    entry = catalogue.find_entry(schema_name, table_name)
    return _open_on_cluster(engine, schema_name, entry.table, catalogue) if entry else None


def find_unregistered_storage(engine: Engine, name: str) -> TableStorage | None:
    """Return the storage of a table that the catalogue does not know, because its first load was stopped.

    Parameters
    ----------
    engine : Engine
        The engine, whose connected server is searched.
    name : str
        ``schema.table``.

    Returns
    -------
    TableStorage or None
        None if there is no such load.

    Raises
    ------
    LoadError
        The name is not ``schema.table``.
    """
    sql = f"SELECT comment FROM system.tables WHERE startsWith(comment, {quote_string('{')})"
    for row in engine.fetch_table(sql).to_pylist():
        state = parse_state(row["comment"])
        if state is not None and (state.entry.name, state.entry.tables[0].name) == split_name(name):
            return choose_storage(engine, state.entry.name, state.entry.tables[0], read_catalogue(engine))
    return None


def read_live_state(engine: Engine, name: str, catalogue: Catalogue) -> TableState | None:
    """Return the state of a live table.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    name : str
        ``schema.table``.
    catalogue : Catalogue
        The current catalogue.

    Returns
    -------
    TableState or None
        None if there is no such table, or no record of its load.

    Raises
    ------
    LoadError
        The name is not ``schema.table``.
    """
    storage = find_known_storage(engine, name, catalogue)
    return None if storage is None else storage.live.read_state()


def _open_on_cluster(engine: Engine, schema_name: str, table: Table, catalogue: Catalogue) -> TableStorage:
    # imported here, so that commands without a cluster start faster
    from loaders.cluster.cluster_storage import open_cluster_storage

    return open_cluster_storage(engine, schema_name, table, catalogue)
