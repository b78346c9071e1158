"""What is done when a process starts: the rest of loads and additions that were killed."""

from __future__ import annotations

from clickhouse_schema.engine_tables import catalogue_log
from loaders.pipeline.append_rows import complete_all
from loaders.storage.server_storage import SUFFIX, Storage
from tap_service.storage.engine.engine import Engine


def recover(engine: Engine, *, is_ours: bool = True) -> None:
    """Finish the loads that were killed between becoming visible and being known to the catalogue.

    And additions, if no other process has the engine (``is_ours``): elsewhere they may be running.
    """
    if is_ours:
        complete_all(engine)
    if catalogue_log.read_sharding(engine) is not None:  # a load of a cluster is visible when the catalogue knows it
        return
    sql = "SELECT database, name FROM system.tables WHERE startsWith(comment, '{')"
    for row in engine.fetch_table(sql).to_pylist():
        storage = Storage(engine, row["database"], row["name"])
        if not row["name"].endswith(SUFFIX) and storage.unknown() is not None:
            storage.finish()
