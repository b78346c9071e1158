"""What a load is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tap_service.models.read_options import AS_DETECTED, ReadOptions

Mode = Literal["create", "replace", "append"]


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One load.

    Attributes
    ----------
    files
        Table files (``tap_service.readers.file_formats``); folders of HATS catalogues, or their URLs as text.
    table
        ``schema.table``.
    rejects
        Path of the rejects file.
    schema_file
        YAML that describes the table; by default the description is taken from the first file.
    strict
        Treat bad units and UCDs as errors.
    max_errors
        Number of bad rows beyond which the load stops.
    mode
        What to do with an existing table.
    insert_threads
        Chunks that are inserted at a time: ClickHouse sorts and compresses a chunk on one core.
    options
        What the operator says of the files.
    """

    files: tuple[Path | str, ...]
    table: str
    rejects: Path
    schema_file: Path | None = None
    strict: bool = False
    max_errors: int = 100
    mode: Mode = "create"
    insert_threads: int = 2
    options: ReadOptions = AS_DETECTED
