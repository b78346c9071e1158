"""The loaded tables, a line each."""

from __future__ import annotations

from clickhouse_schema.engine_tables import append_record, catalogue_log, density_table
from clickhouse_schema.quoting import quote_string
from loaders.pipeline.storage_choice import storage_of
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState, read_state
from tap_service.storage.engine.engine import Engine

_SQL = f"""
SELECT database, name, comment, total_rows, total_bytes FROM system.tables
WHERE startsWith(comment, {quote_string("{")}) ORDER BY database, name
"""


def tables(engine: Engine, reporter: Reporter) -> None:
    """Name, rows, size on disk and time of the last load; loads that wait to be gone on with are named too."""
    catalogue = catalogue_log.read_catalogue(engine)
    found = 0
    for row in engine.fetch_table(_SQL).to_pylist():
        state = read_state(row["comment"])
        if state is None:
            continue
        found += 1
        table = state.entry.tables[0]
        name = f"{state.entry.name}.{table.name}"
        sizes = row["total_rows"] or 0, row["total_bytes"] or 0
        storage = storage_of(engine, state.entry.name, table, catalogue)
        if row["name"] == storage.live_name:
            told = _last(engine, state)
            sizes = _counted(engine, state) if catalogue.sharding else sizes
        else:
            is_load = row["name"] == storage.staging_name
            told = f"{'a load' if is_load else 'left of a move, load or drop'} that was stopped: start it again"
            if not storage.live_exists():  # drop takes the loaded table too
                told += f", or skyhouse drop {name}"
        reporter.output(f"{name:<40}{sizes[0]:>15,} rows {_megabytes(sizes[1]):>12}  {told}")
    if not found:
        reporter.output("no tables yet: skyhouse load FILE --table schema.table")


def _last(engine: Engine, state: TableState) -> str:
    """When rows came last."""
    to = append_record.AppendOrigin(state.entry.name, state.entry.tables[0].name, state.origin)
    return (
        max([append_record.sum_appends(engine, to).last, *(load.finished for load in state.loads[-1:])])
        or "no rows yet"
    )


def _counted(engine: Engine, state: TableState) -> tuple[int, int]:
    """Rows and bytes of all shards, as they were counted."""
    counted = density_table.read_density(engine, state.entry.name, state.entry.tables[0].name)
    return sum(counted["rows"].to_pylist()), sum(counted["bytes"].to_pylist())


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
