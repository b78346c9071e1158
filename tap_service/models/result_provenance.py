"""From which data a result came, and the checksum of its rows: what is cited with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A table at the moment of a query.

    Attributes
    ----------
    name
        ``schema.table`` as published.
    version
        Changes whenever rows or description of the table change; '' if unknown.
    changed
        The instant of that change; None if unknown.
    rows
        The number of its rows; None if unknown.
    """

    name: str
    version: str = ""
    changed: datetime | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class ResultProvenance:
    """What a job with CHECKSUM=true notes about its result.

    ``checksum``: in hexadecimal (``services/jobs/row_checksum.py``). ``is_cut``: the row limit has cut the rows.
    ``tables``: without uploads, as they were before the query and still after it. ``citations``: how they want to be
    cited. ``uploads``: names of the uploaded tables that the query has read; None in records of earlier versions.
    """

    checksum: str
    rows: int
    is_cut: bool
    tables: tuple[TableVersion, ...]
    citations: tuple[str, ...] = ()
    uploads: tuple[str, ...] | None = None
