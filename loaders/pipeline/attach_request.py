"""What an attachment is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AttachRequest:
    """One attachment.

    Attributes
    ----------
    address
        The folder of a HATS catalogue, or its URL; '' for that of the attached table.
    table
        ``schema.table``.
    schema_file
        YAML that describes the table; by default the description is taken from the catalogue, and when it is read
        again, from the table.
    strict
        Treat bad units and UCDs as errors.
    refresh
        Read the files of an attached table again, which have changed.
    """

    address: str
    table: str
    schema_file: Path | None = None
    strict: bool = False
    refresh: bool = False
