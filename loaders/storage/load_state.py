"""What is written about a table's rows, as JSON: in its comment, and in the record of what was added to it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.schema_model import Schema


class Load(BaseModel):
    """One finished load. ``fingerprint`` stands for the files' bytes, the table's model and what it was loaded onto;
    ``digests`` for the bytes of each of the ``files``."""

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    files: tuple[str, ...]
    digests: tuple[str, ...] = ()
    rows: int
    rejected: int
    finished: str


class TableState(BaseModel):
    """What a table's comment tells. ``entry`` is the schema with this table alone; ``loads`` are those inside it.

    ``fingerprint`` is that of the load a staging table is for. ``verified``: all its chunks were counted. ``origin`` is
    made up when a table is first loaded or replaced: what was added to it later (``additions``) is known by it.
    ``added``: how many additions were in the table that the load was begun onto. ``catalogue``: version of what the
    catalogue said of the table when it was verified; -1 = not noted.
    """

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    verified: bool = False
    entry: Schema
    loads: tuple[Load, ...] = ()
    origin: str = ""
    added: int = 0
    catalogue: int = -1

    @property
    def rows(self) -> int:
        return sum(load.rows for load in self.loads)


class AppendState(BaseModel):
    """What is noted when the rows of an addition are gathered: the addition ``load``, and what the table was before it.

    ``before``: rows by part of the table; ``density``: ``apply.density_stamp``.
    """

    model_config = ConfigDict(frozen=True)

    load: Load
    before: dict[str, int]
    density: str


def read_state(comment: str) -> TableState | None:
    """The state in a comment, None in a comment that is not one (a load killed before it wrote it)."""
    try:
        return TableState.model_validate_json(comment)
    except ValidationError:
        return None
