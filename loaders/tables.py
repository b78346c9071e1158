"""The loaded tables, a line each."""

from __future__ import annotations

from clickhouse_schema.quoting import string
from loaders.progress import Reporter
from loaders.staging import SUFFIX, read_state
from tap_service.storage.engine import Engine

_SQL = f"""
SELECT database, name, comment, total_rows, total_bytes FROM system.tables
WHERE startsWith(comment, {string("{")}) ORDER BY database, name
"""


def tables(engine: Engine, reporter: Reporter) -> None:
    """Name, rows, size on disk and time of the last load; loads that wait to be gone on with are named too."""
    found = 0
    for row in engine.query(_SQL).to_pylist():
        state = read_state(row["comment"])
        if state is None:
            continue
        found += 1
        name = f"{row['database']}.{row['name'].removesuffix(SUFFIX)}"
        size = f"{row['total_rows'] or 0:>15,} rows {_megabytes(row['total_bytes'] or 0):>12}"
        if row["name"].endswith(SUFFIX):
            reporter.output(f"{name:<40}{size}  a load that was stopped: start it again, or skyhouse drop {name}")
        else:
            reporter.output(f"{name:<40}{size}  {state.loads[-1].finished}")
    if not found:
        reporter.output("no tables yet: skyhouse load FILE --table schema.table")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
