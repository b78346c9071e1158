"""What is recorded about a table's rows, as JSON: in its comment, and in the record of its appends."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.schema_model import Schema


class FinishedLoad(BaseModel):
    """One finished load or append.

    Attributes
    ----------
    fingerprint
        Hash of the files' bytes, the table's model, and the loads below it.
    files
        Paths of the files.
    digests
        SHA-256 of each file.
    rejected
        Number of rows in the rejects file.
    finished
        Time, UTC.
    """

    model_config = ConfigDict(frozen=True)

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
        The loads that the table contains.
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
        return sum(load.rows for load in self.loads)


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
