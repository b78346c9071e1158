"""Taking a table out of the catalogue and the engine."""

from __future__ import annotations

from clickhouse_schema.cluster_topology import read_topology
from clickhouse_schema.engine_tables import append_record, catalogue_log
from loaders.cluster.orphan_tables import drop_left_over, left_over
from loaders.load_error import LoadError
from loaders.pipeline.load_plan import split_name
from loaders.pipeline.storage_choice import begun_storage, known_storage
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine


def drop(engine: Engine, name: str, reporter: Reporter) -> None:
    """Forget the table, then drop it and what is left of a load into it. Raises ``LoadError`` if there is none.

    In this order a query meets an unknown table and never one that is half gone.
    """
    catalogue = catalogue_log.read_catalogue(engine)
    schema_name, table_name = split_name(name)
    storage = known_storage(engine, name, catalogue) or begun_storage(engine, name)
    is_there = storage is not None and (storage.live_exists() or storage.staging_state() is not None)
    topology = read_topology(engine)
    is_left = topology.is_cluster and bool(left_over(engine, topology, schema_name, table_name).bases)
    if not (is_there or is_left):
        raise LoadError(f"there is no table {name}; see skyhouse tables")
    catalogue_log.unregister_table(engine, schema_name, table_name)
    if storage is not None:
        storage.drop_live()
        storage.drop_staging()
    if topology.is_cluster:
        drop_left_over(engine, topology, schema_name, table_name)
    append_record.forget_appends(engine, schema_name, table_name)
    reporter.output(f"dropped {name}")
