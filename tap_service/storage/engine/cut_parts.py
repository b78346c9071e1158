"""Parts of tables that the embedded engine failed to write completely (see ``definition_files``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pyarrow as pa

from clickhouse_schema.quoting import quote_string

#: files of a part that ``bytes_on_disk`` does not count
_NOT_COUNTED = frozenset(
    {
        "checksums.txt",
        "columns.txt",
        "columns_substreams.txt",
        "default_compression_codec.txt",
        "invalidated_system_columns.txt",
        "metadata_version.txt",
        "txn_version.txt",
    }
)

#: files that are not counted, but without which the engine cannot read the others
_NEVER_EMPTY = frozenset({"checksums.txt", "columns.txt"})


def find_cut_parts(fetch_table: Callable[[str], pa.Table], database: str, table: str) -> Iterator[str]:
    """Find the active parts of a table whose files are smaller than the engine believes.

    A part with a truncated file looks complete until the engine is opened again: then its rows are lost.

    Parameters
    ----------
    fetch_table : Callable[[str], pa.Table]
        Runs a query.
    database, table : str
        The table.

    Returns
    -------
    Iterator[str]
        The names of the parts.
    """
    parts = fetch_table(
        "SELECT name, path, bytes_on_disk FROM system.parts"
        f" WHERE active AND database = {quote_string(database)} AND table = {quote_string(table)}"
    )
    return (part["name"] for part in parts.to_pylist() if _is_cut(part["path"], part["bytes_on_disk"]))


def _is_cut(part: str, size: int) -> bool:
    try:
        found = _count_bytes(part)
    except FileNotFoundError:  # merged with other parts in the meantime
        return False
    return (found is None or found < size) and os.path.exists(part)


def _count_bytes(folder: str) -> int | None:
    """Return the bytes of the counted files, also of projections; None if an indispensable file is empty."""
    found = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                inside = _count_bytes(entry.path)
                if inside is None:
                    return None
                found += inside
            elif entry.name not in _NOT_COUNTED:
                found += entry.stat().st_size
            elif entry.name in _NEVER_EMPTY and not entry.stat().st_size:
                return None
    return found
