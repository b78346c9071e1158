"""The request of ``skyhouse update`` and ``skyhouse delete``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from loaders.command_request import CommandRequest


class CorrectionRequest(CommandRequest):
    """Stored rows to correct, or to delete.

    Attributes
    ----------
    command
        "update": the files have ids and new values; "delete": ids.
    files
        Table files (``tap_service.readers.file_formats``).
    table
        ``schema.table``.
    rejects
        Path of the rejects file.
    max_errors
        Number of bad rows, and of ids without a row, beyond which nothing is corrected.
    again
        Apply files that were applied before.
    """

    command: Literal["update", "delete"]
    files: tuple[Path, ...]
    table: str
    rejects: Path
    max_errors: int = 100
    again: bool = False
