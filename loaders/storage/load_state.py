"""What is recorded about a table's rows, as JSON: in its comment, and in the record of its appends."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.schema_model import Schema

#: What files did to a table: they added rows, corrected stored ones or deleted them.
Change = Literal["load", "update", "delete"]


class FinishedLoad(BaseModel):
    """One finished load, append or correction.

    Attributes
    ----------
    kind
        What it did.
    fingerprint
        Hash of the files' bytes, the table's model, and the loads below it.
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
        All its chunks were counted.
    entry
        The schema with this table alone.
    loads
        The loads that the table contains, and the corrections of its rows, in their order.
    origin
        Random id of the first load or the last replacement; identifies the table's appends.
    added
        Number of appends that the table contained when the load onto it began.
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
        """The rows that loads added and no correction has deleted."""
        return self.sum_rows("load") - self.sum_rows("delete")

    def find_loads(self, kind: Change) -> tuple[FinishedLoad, ...]:
        return tuple(load for load in self.loads if load.kind == kind)

    def sum_rows(self, kind: Change) -> int:
        return sum(load.rows for load in self.find_loads(kind))


class AppendState(BaseModel):
    """What is recorded when the rows of an append are in the gateway table.

    Attributes
    ----------
    load
        The append.
    before
        Rows of each part of the table before the append.
    density
        Stamp of the table's density (``read_density_stamp``) before the append.
    """

    model_config = ConfigDict(frozen=True)

    load: FinishedLoad
    before: dict[str, int]
    density: str


def parse_state(comment: str) -> TableState | None:
    """Return the state in a comment; None if a load was killed before it wrote the comment."""
    try:
        return TableState.model_validate_json(comment)
    except ValidationError:
        return None
