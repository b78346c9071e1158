"""The storage of one table on a cluster."""

from __future__ import annotations

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Table
from loaders.cluster.cluster_live import ClusterAppendTarget, ClusterLiveTable
from loaders.cluster.cluster_publication import ClusterPublication
from loaders.cluster.cluster_staging import ClusterStagingTable
from loaders.cluster.cluster_tables import ClusterTables
from loaders.cluster.row_sender import RowSender
from loaders.storage.storage_protocol import TableStorage
from tap_service.storage.engine.engine import Engine


def open_cluster_storage(engine: Engine, schema_name: str, table: Table, catalogue: Catalogue) -> TableStorage:
    """Return the storage of a table on a cluster; nothing is changed.

    Parameters
    ----------
    engine : Engine
        The engine of the cluster.
    schema_name : str
        Name of the table's schema.
    table : Table
        The table, whose layout determines whether it is sharded.
    catalogue : Catalogue
        The current catalogue, with the sharding.

    Returns
    -------
    TableStorage
        The storage.
    """
    tables = ClusterTables(engine, schema_name, table, catalogue)
    sender = RowSender(tables)
    staging = ClusterStagingTable(tables, sender)
    return TableStorage(
        engine=engine,
        schema_name=schema_name,
        table_name=table.name,
        is_cluster=True,
        live=ClusterLiveTable(tables),
        staging=staging,
        appends=ClusterAppendTarget(tables, sender),
        publication=ClusterPublication(tables, staging),
    )
