"""The request of ``skyhouse backup``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from loaders.backup.backup_part import Part
from loaders.command_request import CommandRequest


class BackupRequest(CommandRequest):
    """A backup to create.

    Attributes
    ----------
    data
        Data directory.
    target
        The address of the target.
    parts
        What to copy.
    is_full
        Whether to copy all rows, including rows that an earlier backup has.
    disk
        The disk of the ClickHouse servers for the tables; '' for the target itself.
    keep
        The number of backups that stay, this one included; 0 for all.
    """

    command: Literal["backup"] = "backup"
    data: Path
    target: str
    parts: frozenset[Part]
    is_full: bool = False
    disk: str = ""
    keep: int = 0
