"""The provenance of a result, for citations: the versions of its tables, and the checksum of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TableVersion:
    """The version of a table that a query read.

    Attributes
    ----------
    name : str
        ``schema.table`` as published.
    version : str
        A text that changes with the rows and with the description of the table; '' if unknown.
    changed : datetime or None
        The instant of the table's last change; None if unknown.
    rows : int or None
        The number of rows; None if unknown.
    """

    name: str
    version: str = ""
    changed: datetime | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class ResultProvenance:
    """The provenance of the result of a job with CHECKSUM=true.

    Attributes
    ----------
    checksum : str
        The checksum of the rows, in hexadecimal (``services/jobs/row_checksum.py``).
    rows : int
        The number of rows.
    is_cut : bool
        Whether the row limit cut the result.
    tables : tuple of TableVersion
        The tables except uploads, whose versions did not change during the query.
    citations : tuple of str
        The references that the tables ask to cite.
    uploads : tuple of str or None
        The names of the uploads that the query read; None in records of earlier versions of Skyhouse.
    """

    checksum: str
    rows: int
    is_cut: bool
    tables: tuple[TableVersion, ...]
    citations: tuple[str, ...] = ()
    uploads: tuple[str, ...] | None = None
