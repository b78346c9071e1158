"""``skyhouse tables``: lists the loaded and the attached tables."""

from __future__ import annotations

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.append_record import AppendOrigin, sum_appends
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.hats.attachment import Attachment
from clickhouse_schema.latest_versions import find_versioned_table
from clickhouse_schema.quoting import quote_string
from loaders.pipeline.storage_choice import choose_storage
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState, parse_state
from tap_service.storage.engine.engine import Engine

_SQL = f"""
SELECT database, name, comment, total_rows, total_bytes FROM system.tables
WHERE startsWith(comment, {quote_string("{")}) ORDER BY database, name
"""


def list_tables(engine: Engine, reporter: Reporter) -> None:
    """Report the name, rows, size on disk and last load of each table, and the loads that can be resumed."""
    catalogue = read_catalogue(engine)
    has_tables = False
    for row in engine.fetch_table(_SQL).to_pylist():
        state = parse_state(row["comment"])
        if state is None:
            continue
        has_tables = True
        name = f"{state.entry.name}.{state.entry.tables[0].name}"
        sizes = row["total_rows"] or 0, row["total_bytes"] or 0
        rows, size, status = _describe_table(engine, catalogue, state, row["name"], sizes)
        reporter.output(_format_line(name, rows, size, status))
    for entry in catalogue.entries:
        if entry.attached is not None:
            has_tables = True
            reporter.output(_describe_attached(entry.qualified_name, entry.attached.attachment))
    if not has_tables:
        reporter.output("no tables yet: skyhouse load FILE --table schema.table")


def _format_line(name: str, rows: int, size: int, status: str) -> str:
    return f"{name:<40}{rows:>15,} rows {f'{size / 1e6:,.1f} MB':>12}  {status}"


def _describe_attached(name: str, attachment: Attachment) -> str:
    return _format_line(name, attachment.rows, attachment.size, f"attached: {attachment.address}")


def _describe_table(
    engine: Engine, catalogue: Catalogue, state: TableState, stored_name: str, sizes: tuple[int, int]
) -> tuple[int, int, str]:
    """Return the rows, bytes and status of a table in the engine; ``sizes``: rows and bytes on the connected server."""
    table = state.entry.tables[0]
    storage = choose_storage(engine, state.entry.name, table, catalogue)
    if stored_name == storage.live.name:
        if catalogue.sharding is not None:
            sizes = _sum_density(engine, state)
        elif find_versioned_table(catalogue.schemas, state.entry.name, table.name) is not None:
            sizes = state.rows, sizes[1]  # ClickHouse counts masked rows too
        return *sizes, _find_last_load(engine, state)
    kind = "a load" if stored_name == storage.staging.name else "a move, load or drop"
    status = f"{kind} that was stopped: start it again"
    if not storage.live.has_table():  # drop would remove the loaded table too
        status += f", or skyhouse drop {state.entry.name}.{table.name}"
    return *sizes, status


def _find_last_load(engine: Engine, state: TableState) -> str:
    """Return the time of the last load or append."""
    origin = AppendOrigin(state.entry.name, state.entry.tables[0].name, state.origin)
    times = [sum_appends(engine, origin).last, *(load.finished for load in state.loads[-1:])]
    return max(times) or "no rows yet"


def _sum_density(engine: Engine, state: TableState) -> tuple[int, int]:
    """Return the rows and bytes of all shards."""
    density = read_density(engine, state.entry.name, state.entry.tables[0].name)
    return sum(density["rows"].to_pylist()), sum(density["bytes"].to_pylist())
