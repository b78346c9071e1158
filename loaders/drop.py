"""Taking a table out of the catalogue and the engine."""

from __future__ import annotations

from clickhouse_schema import appends, apply
from loaders.errors import LoadError
from loaders.progress import Reporter
from loaders.storages import begun_storage, known_storage
from tap_service.storage.engine import Engine


def drop(engine: Engine, name: str, reporter: Reporter) -> None:
    """Forget the table, then drop it and what is left of a load into it. Raises ``LoadError`` if there is none.

    In this order a query meets an unknown table and never one that is half gone.
    """
    storage = known_storage(engine, name, apply.read_catalogue(engine)) or begun_storage(engine, name)
    if storage is None or not (storage.live_exists() or storage.staging_state() is not None):
        raise LoadError(f"there is no table {name}; see skyhouse tables")
    apply.unregister(engine, storage.schema_name, storage.table_name)
    storage.drop_live()
    storage.drop_staging()
    appends.forget(engine, storage.schema_name, storage.table_name)
    reporter.output(f"dropped {name}")
