"""The state of a table's rows, recorded as JSON in its comment and in the record of its appends."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.schema_model import Schema

#: The effect of files on a table: adding rows, correcting stored rows or deleting them
Change = Literal["load", "update", "delete"]


class FinishedLoad(BaseModel):
    """One finished load, append or correction.

    Attributes
    ----------
    kind
        What it did.
    fingerprint
        Hash of the files' bytes, the table's model and the earlier loads.
    files
        Paths of the files.
    digests
        SHA-256 of each file.
    rows
        Number of rows of the table that were added, corrected or deleted.
    rejected
        Number of rows in the rejects file.
    finished
        Time, UTC.
    """

    model_config = ConfigDict(frozen=True)

    kind: Change = "load"
    fingerprint: str
    files: tuple[str, ...]
    digests: tuple[str, ...] = ()
    rows: int
    rejected: int
    finished: str


class TableState(BaseModel):
    """The content of a table's comment.

    Attributes
    ----------
    fingerprint
        Fingerprint of the load for which the staging table was created.
    verified
        Whether all its chunks were counted.
    entry
        The schema with only this table.
    loads
        The loads that the table contains and the corrections of its rows, in order.
    origin
        Random id of the first load or the last replacement; identifies the table's appends.
    added
        Number of appends that the table contained when the load onto it started.
    catalogue
        Version of the table in the catalogue when it was verified; -1 if not recorded.
    """

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    verified: bool = False
    entry: Schema
    loads: tuple[FinishedLoad, ...] = ()
    origin: str = ""
    added: int = 0
    catalogue: int = -1

    @property
    def rows(self) -> int:
        """The number of rows that loads have added and no correction has deleted."""
        return self.sum_rows("load") - self.sum_rows("delete")

    def find_loads(self, kind: Change) -> tuple[FinishedLoad, ...]:
        """Return the loads or corrections of one kind, in their order."""
        return tuple(load for load in self.loads if load.kind == kind)

    def sum_rows(self, kind: Change) -> int:
        """Return the number of rows that the loads or corrections of one kind have added or changed."""
        return sum(load.rows for load in self.find_loads(kind))


class AppendState(BaseModel):
    """The state of an append whose rows are in the gateway table.

    Attributes
    ----------
    load
        The append.
    before
        Number of rows of each part of the table before the append.
    density
        Stamp of the table's density (``read_density_stamp``) before the append.
    """

    model_config = ConfigDict(frozen=True)

    load: FinishedLoad
    before: dict[str, int]
    density: str


def parse_state(comment: str) -> TableState | None:
    """Return the state in the comment of a table.

    Parameters
    ----------
    comment : str
        Any comment.

    Returns
    -------
    TableState or None
        None if it is not the JSON of a state: the table is not from a load, or its load was killed before it wrote the
        comment.
    """
    try:
        return TableState.model_validate_json(comment)
    except ValidationError:
        return None
