"""Reads the engine's list of running queries, the same for all engines. ``log_comment`` has the id of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from clickhouse_schema import quoting
from tap_service.storage.engine.engine import Progress


def read_progress(query: Callable[[str], pa.Table], query_ids: Sequence[str]) -> dict[str, Progress]:
    """Return the progress of the running queries among ``query_ids``, by id.

    Parameters
    ----------
    query : Callable[[str], pa.Table]
        Runs a query.
    query_ids : Sequence[str]
        The ids. A server that queries itself as a shard has two entries with the same id; the initial one counts
        everything.
    """
    wanted = ", ".join(quoting.quote_string(query_id) for query_id in query_ids) or "NULL"
    found = query(
        "SELECT Settings['log_comment'] AS asked, read_rows, read_bytes, total_rows_approx, peak_memory_usage,"
        " ProfileEvents['JoinResultRowCount'] AS joined_rows "
        f"FROM system.processes WHERE asked IN ({wanted}) AND is_initial_query"
    )
    return {
        row["asked"]: Progress(
            row["read_rows"],
            row["read_bytes"],
            row["total_rows_approx"],
            max(row["peak_memory_usage"], 0),
            row["joined_rows"],
        )
        for row in found.to_pylist()
    }


def list_running_ids(query: Callable[[str], pa.Table], prefix: str) -> list[str]:
    """Return the ids of running queries that start with ``prefix``; ``query`` runs a query."""
    found = query(
        "SELECT DISTINCT Settings['log_comment'] AS asked FROM system.processes"
        f" WHERE startsWith(asked, {quoting.quote_string(prefix)}) AND is_initial_query"
    )
    return [row["asked"] for row in found.to_pylist()]
