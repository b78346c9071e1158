"""Describes the SQLite file of a store, and the store's name in messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """The file of one store, which the first release of Skyhouse kept in separate tables.

    Attributes
    ----------
    file_name : str
        Name of the SQLite file in the directory for jobs.
    subject : str
        What is stored, for messages: "the store of shares".
    unavailable : Callable[[str], Exception]
        Makes the exception that is raised if the file or Redis cannot be used, of a message.
    former_tables : str
        SQL script: the tables of the first version of the file, as far as ``conversion`` reads them.
    conversion : str
        SQL script: copies the rows of these tables into ``record`` and ``member``, and drops the tables.
    pragma : str
        Set when the file is opened; by default acknowledged changes survive a power cut.
    reserve_name : str
        A file that keeps room on the disk while a file with a write-ahead log is opened and closed; '' for none.
    """

    file_name: str
    subject: str
    unavailable: Callable[[str], Exception]
    former_tables: str
    conversion: str
    pragma: str = "synchronous = FULL"
    reserve_name: str = ""
