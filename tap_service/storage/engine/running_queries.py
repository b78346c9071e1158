"""What the engine's list of running queries tells, the same for every back end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from clickhouse_schema import quoting
from tap_service.storage.engine.engine import Progress


def read_progress(query: Callable[[str], pa.Table], query_ids: Sequence[str]) -> dict[str, Progress]:
    """Of those of these queries that are running now; a query goes by its ``log_comment``.

    A server that asks itself as one shard of a cluster has the same comment on both entries: the first one counts all.
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
    """The ids that begin so of the queries that are running now."""
    found = query(
        "SELECT DISTINCT Settings['log_comment'] AS asked FROM system.processes"
        f" WHERE startsWith(asked, {quoting.quote_string(prefix)}) AND is_initial_query"
    )
    return [row["asked"] for row in found.to_pylist()]
