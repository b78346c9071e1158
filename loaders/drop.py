"""Taking a table out of the catalogue and the engine."""

from __future__ import annotations

from clickhouse_schema import apply
from loaders.errors import LoadError
from loaders.plan import split_name
from loaders.progress import Reporter
from loaders.staging import Storage
from tap_service.storage.engine import Engine


def drop(engine: Engine, name: str, reporter: Reporter) -> None:
    """Forget the table, then drop it and what is left of a load into it. Raises ``LoadError`` if there is none.

    In this order a query meets an unknown table and never one that is half gone.
    """
    storage = Storage(engine, *split_name(name))
    if not storage.live_exists() and storage.staging_state() is None:
        raise LoadError(f"there is no table {name}; see skyhouse tables")
    apply.unregister(engine, storage.schema_name, storage.table_name)
    storage.drop_live()
    storage.drop_staging()
    reporter.output(f"dropped {name}")
