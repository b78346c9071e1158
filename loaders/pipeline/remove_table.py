"""Removes one table from the catalogue and the engine."""

from __future__ import annotations

from clickhouse_schema.engine_tables.append_record import forget_appends
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, unregister_table
from clickhouse_schema.servers import Servers
from loaders.cluster.orphan_tables import drop_orphan_tables, find_orphan_tables
from loaders.pipeline.storage_choice import find_known_storage, find_unregistered_storage
from loaders.pipeline.table_name import split_name
from tap_service.storage.engine.engine import Engine


def remove_table(engine: Engine, name: str) -> bool:
    """Remove a table from the catalogue, then drop it and what is left of its loads.

    In this order, a query finds an unknown table but never a partly dropped one. The files of an attached table stay.

    Parameters
    ----------
    engine : Engine
        The engine with the table.
    name : str
        ``schema.table``.

    Returns
    -------
    bool
        Whether there was such a table, or a stopped load of it.

    Raises
    ------
    LoadError
        The name is not ``schema.table``.
    """
    catalogue = read_catalogue(engine)
    schema_name, table_name = split_name(name)
    entry = catalogue.find_entry(schema_name, table_name)
    if entry is not None and entry.attached is not None:  # its files stay where they are
        unregister_table(engine, schema_name, table_name)
        return True
    storage = find_known_storage(engine, name, catalogue) or find_unregistered_storage(engine, name)
    has_storage = storage is not None and (storage.live.has_table() or storage.staging.read_state() is not None)
    servers = Servers(engine)
    is_cluster = servers.topology.is_cluster
    has_orphans = is_cluster and bool(find_orphan_tables(servers, schema_name, table_name).base_names)
    if not (has_storage or has_orphans):
        return False
    unregister_table(engine, schema_name, table_name)
    if storage is not None:
        storage.live.drop_table()
        storage.staging.drop_table()
    if is_cluster:
        drop_orphan_tables(servers, schema_name, table_name)
    forget_appends(engine, schema_name, table_name)
    return True
