"""Parts of tables that the embedded engine could not write, and believes to be whole (see ``definition_files``)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from clickhouse_schema.quoting import quote_string

#: Files of a part that ``bytes_on_disk`` does not count.
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


def find_cut_parts(fetch_table: Callable[[str], pa.Table], database: str, table: str) -> list[str]:
    """Return the names of the active parts whose files are smaller than the engine believes.

    A part with a cut file looks whole until the engine is opened again: then its rows are gone.
    """
    parts = fetch_table(
        "SELECT name, path, bytes_on_disk FROM system.parts"
        f" WHERE active AND database = {quote_string(database)} AND table = {quote_string(table)}"
    )
    return [part["name"] for part in parts.to_pylist() if _is_cut(Path(part["path"]), part["bytes_on_disk"])]


def _is_cut(part: Path, size: int) -> bool:
    found = 0
    try:
        for folder, _, names in os.walk(part):
            sizes = {name: (Path(folder) / name).stat().st_size for name in names}
            found += sum(bytes_ for name, bytes_ in sizes.items() if name not in _NOT_COUNTED)
            if not sizes.get("checksums.txt", 1) or not sizes.get("columns.txt", 1):
                return True
    except FileNotFoundError:  # merged with others meanwhile
        return False
    return found < size and part.exists()
