"""The request of ``skyhouse mirror``."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from loaders.command_request import CommandRequest


class MirrorRequest(CommandRequest):
    """One mirror.

    Attributes
    ----------
    recipe
        Path of the recipe, or address of a TAP service (``tap+https://...``).
    table
        ``schema.table``; '' for the table of the recipe.
    work
        Folder of the state and of fetched files, used only by this mirror.
    rejects
        Path of the rejects file.
    origin_table
        The table of a TAP service.
    by
        The column by whose ranges a TAP service is queried; '' for the position, or else an id.
    piece_rows
        Maximum number of rows per query of a TAP service.
    columns
        The columns to keep; () for all.
    where
        The condition in ADQL for the rows to keep; '' for all.
    mode
        What to do with an existing table.
    max_files
        Maximum number of fetched files on the disk.
    publishes_early
        Whether to publish the rows of each file as soon as it is loaded.
    restarts
        Whether to discard the progress of an earlier run.
    max_errors, insert_threads
        As in ``LoadRequest``.
    """

    command: Literal["mirror"] = "mirror"
    recipe: str
    table: str
    work: Path
    rejects: Path
    origin_table: str = ""
    by: str = ""
    piece_rows: int = 500_000
    columns: tuple[str, ...] = ()
    where: str = ""
    mode: Literal["create", "replace"] = "create"
    max_files: int = 3
    publishes_early: bool = False
    restarts: bool = False
    max_errors: int = 100
    insert_threads: int = 2

    def compute_digest(self, content: str) -> str:
        """Return a hash of everything that determines the rows; ``content``: the content of the recipe."""
        parts = (content, self.table, self.origin_table, self.by, *self.columns, self.where, str(self.publishes_early))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
