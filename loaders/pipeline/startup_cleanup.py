"""Cleanup when a process starts: finishes killed loads and appends, and drops the tables of killed exports."""

from __future__ import annotations

from clickhouse_schema.engine_tables import addition_record, catalogue_log
from clickhouse_schema.working_tables import STAGING_SUFFIX
from loaders.pipeline.append_rows import finish_all_appends
from loaders.pipeline.kept_additions import KeptAdditions
from loaders.pipeline.latest_rows import open_latest_rows
from loaders.storage.server_storage import ServerLiveTable, open_server_storage
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.query_tables import RESULT_OF_EXPORT, drop_orphan_tables


def finish_killed_loads(engine: Engine, *, is_only_user: bool = True) -> None:
    """Finish loads that were killed after they became visible and before they were registered in the catalogue.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    is_only_user : bool, optional
        Whether no other process uses the engine. If so, appends are finished too, and results of exported queries are
        dropped; otherwise they may still be running.
    """
    if is_only_user:
        drop_orphan_tables(engine, RESULT_OF_EXPORT, lambda _name, _age: True)
        finish_all_appends(engine)
    if catalogue_log.read_sharding(engine) is not None:  # on a cluster, the catalogue makes a load visible
        return
    sql = "SELECT database, name FROM system.tables WHERE startsWith(comment, '{')"
    for row in engine.fetch_table(sql).to_pylist():
        database, name = row["database"], row["name"]
        live = ServerLiveTable(engine, database, name)
        if not name.endswith(STAGING_SUFFIX) and live.read_unregistered_state() is not None:
            open_server_storage(engine, database, name).publication.finish_publishing()
    _finish_latest_versions(engine)
    _record_additions(engine)


def _finish_latest_versions(engine: Engine) -> None:
    """Publish the latest versions of tables that were published before the process was killed."""
    for entry in catalogue_log.read_catalogue(engine).entries:
        latest = open_latest_rows(engine, entry.schema, entry.table)
        live = ServerLiveTable(engine, entry.schema.name, entry.table.name).read_state() if latest else None
        if latest is not None and live is not None:
            latest.finish_publishing(live.fingerprint)


def _record_additions(engine: Engine) -> None:
    """Record the additions to watched tables by loads that were killed after their rows were visible."""
    if addition_record.find_unrecorded(engine, 0):
        for database, name in addition_record.read_watched(engine):
            live = ServerLiveTable(engine, database, name).read_state()
            if live is not None:
                KeptAdditions(engine, live).record_all(live)
