"""The request of ``skyhouse attach``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from loaders.command_request import CommandRequest


class AttachRequest(CommandRequest):
    """One attachment.

    Attributes
    ----------
    address
        The folder of a HATS catalogue, or its URL; '' for the address of the attached table.
    table
        ``schema.table``.
    schema_file
        YAML that describes the table; by default the description is taken from the catalogue or, with ``refresh``,
        from the table.
    strict
        Treat bad units and UCDs as errors.
    refresh
        Read the changed files of an attached table again.
    """

    command: Literal["attach"] = "attach"
    address: str
    table: str
    schema_file: Path | None = None
    strict: bool = False
    refresh: bool = False
