"""The request of ``skyhouse export``."""

from __future__ import annotations

import os
from typing import Literal

from clickhouse_schema.hats.partition_limits import MARGIN_THRESHOLD, MAX_PARTITION_ROWS
from loaders.command_request import CommandRequest

HATS = "hats"


class ExportRequest(CommandRequest):
    """One export.

    Attributes
    ----------
    source
        ``schema.table``, or an ADQL query.
    target
        A directory or file, or a URL such as s3://bucket/folder.
    format
        'hats', or an output format of the service, which is written to one file.
    max_rows
        Maximum number of rows of a partition.
    margin
        Width of the margins in arcseconds; 0 for none.
    columns
        Columns to write; all by default.
    has_index
        Whether to write an index by id.
    is_verified_only
        Whether to only check the files of an earlier export.
    replaces_file
        Whether to replace the file ``target`` if it exists.
    threads
        Number of partitions that are written at a time.
    """

    command: Literal["export"] = "export"
    source: str
    target: str
    format: str = HATS
    max_rows: int = MAX_PARTITION_ROWS
    margin: float = MARGIN_THRESHOLD
    columns: tuple[str, ...] = ()
    has_index: bool = True
    is_verified_only: bool = False
    replaces_file: bool = False
    threads: int = os.cpu_count() or 1

    @property
    def is_hats(self) -> bool:
        return self.format == HATS
