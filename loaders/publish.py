"""What follows once a table is visible: the catalogue knows it, the density table counts it, the old table goes.

Each step may be repeated, so that a load killed in between is finished by the next start of any command or service.
"""

from __future__ import annotations

from clickhouse_schema import apply
from loaders.staging import SUFFIX, Storage, TableState, read_state
from tap_service.storage.engine import Engine


def finish(engine: Engine, storage: Storage, state: TableState) -> None:
    """Bring catalogue and density up to the live table of ``state``, then drop what it replaced."""
    table = state.entry.tables[0]
    apply.update_density(engine, state.entry.name, table)
    apply.register(engine, state.entry, table)  # the last: who sees the new catalogue sees the new counts
    storage.drop_staging()


def recover(engine: Engine) -> None:
    """Finish the loads that were killed between becoming visible and being known to the catalogue."""
    known = {
        (schema.name, table.name): table for schema in apply.read_catalogue(engine).schemas for table in schema.tables
    }
    sql = "SELECT database, name, comment FROM system.tables WHERE startsWith(comment, '{')"
    for row in engine.query(sql).to_pylist():
        state = read_state(row["comment"])
        if state is None or row["name"].endswith(SUFFIX):
            continue
        if known.get((row["database"], row["name"])) != state.entry.tables[0]:
            finish(engine, Storage(engine, row["database"], row["name"]), state)
