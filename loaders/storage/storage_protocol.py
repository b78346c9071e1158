"""The interface between a load and the storage of its table, on one server or on a cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from clickhouse_schema.schema_model import Schema, Table
from loaders.storage.gateway_table import Gateway, Orphan
from loaders.storage.load_state import TableState
from tap_service.storage.engine.engine import Engine


class LiveTable(Protocol):
    """The table that queries read."""

    @property
    def name(self) -> str:
        """The name of the table in the engine whose comment holds the state."""

    @property
    def rows_sql(self) -> str:
        """The SQL of all rows that queries read."""

    @property
    def is_one_table(self) -> bool:
        """Whether the rows are in one table on the connected server, which is read in the order of its parts."""

    @property
    def storage_names(self) -> list[str]:
        """The quoted names of the tables that hold rows, on each server of a cluster."""

    def has_table(self) -> bool:
        """Whether there is a table, with or without a state."""

    def read_state(self) -> TableState | None:
        """Return the state, with the catalogue's description of the table, which may be newer than the comment."""

    def check_shards(self) -> tuple[list[str], list[str]]:
        """Check the distribution of the rows over the shards.

        Returns
        -------
        tuple of list of str
            Lines for the user, one for each shard, and the problems; both [] on one server.
        """

    def drop_table(self) -> None:
        """Drop the table and the gateway of its appends."""


class StagingTable(Protocol):
    """The table that a load fills."""

    @property
    def name(self) -> str:
        """The name of the table in the engine whose comment holds the state."""

    @property
    def rows_sql(self) -> str:
        """The SQL of all rows, without copies."""

    def read_state(self) -> TableState | None:
        """Return the state in the comment; None if there is no staging table, or if its creation was interrupted."""

    def create_table(
        self, schema: Schema, table: Table, state: TableState, *, onto_live: bool, has_chunks: bool = True
    ) -> None:
        """Create the table, and drop an earlier one.

        Parameters
        ----------
        schema : Schema
            The schema of the table.
        table : Table
            The description of the table.
        state : TableState
            The state for its comment.
        onto_live : bool
            Whether it contains links to the live table's parts instead of being empty.
        has_chunks : bool, optional
            Whether rows have the numbers of chunks.
        """

    def find_plain_columns(self, table: Table) -> set[str]:
        """Return the nullable columns that are not stored as Nullable (``clickhouse_schema.stored_nulls``).

        Parameters
        ----------
        table : Table
            The description of the table.

        Returns
        -------
        set of str
            Names of columns that must become Nullable before their first NULL is inserted.
        """

    def allow_nulls(self, table: Table, columns: Collection[str]) -> None:
        """Make columns Nullable, while nothing is inserted; return when all parts have the change.

        Parameters
        ----------
        table : Table
            The description of the table.
        columns : collection of str
            Names from ``find_plain_columns``.
        """

    def count_chunk_rows(self) -> dict[int, int]:
        """Return the number of rows by chunk number; 0 stands for the rows of the live table."""

    def insert_chunk(self, number: int, batches: Sequence[pa.RecordBatch]) -> list[Orphan]:
        """Insert a complete chunk or nothing. Chunks may be inserted at the same time from several threads.

        Parameters
        ----------
        number : int
            Number of the chunk, from 1. A chunk that the table has completely must not be inserted again.
        batches : sequence of pyarrow.RecordBatch
            Rows with the columns that inserted rows have (``given_columns``).

        Returns
        -------
        list of Orphan
            The rows that belong to no shard and are not inserted.
        """

    def delete_chunks(self, numbers: range) -> None:
        """Delete the rows and copies of chunks.

        Parameters
        ----------
        numbers : range
            Numbers of the chunks; numbers without rows are ignored.
        """

    def change_rows(self, change: str) -> None:
        """Change rows and copies by ALTER TABLE on all servers, and wait until the change is done.

        Parameters
        ----------
        change : str
            SQL after the name of the table in ALTER TABLE.

        Raises
        ------
        StorageFull
            The rewritten parts do not fit on the disk.
        EngineError
            The change fails.
        """

    def open_gateway(self, table: Table) -> Gateway:
        """Return a gateway for rows that are inserted without a chunk number.

        Parameters
        ----------
        table : Table
            The description of the table.

        Returns
        -------
        Gateway
            The gateway, whose tables the caller drops.
        """

    def insert_gateway(self, gateway: Gateway) -> None:
        """Insert the rows of a gateway, all rows or none on each server.

        Parameters
        ----------
        gateway : Gateway
            A filled gateway from ``open_gateway``, which stays.
        """

    def find_problems(self) -> list[str]:
        """Return the problems of a completely filled table, except a wrong number of rows."""

    def mark_verified(self, state: TableState) -> None:
        """Record that all rows were counted, after which the table can be published.

        Parameters
        ----------
        state : TableState
            The new state for the comment.
        """

    def drop_table(self) -> None:
        """Drop the table, if it exists."""


class AppendTarget(Protocol):
    """The live table as the target of an append."""

    def open_gateway(self, table: Table) -> Gateway:
        """Return a gateway for the rows of an append, which survives restarts.

        Parameters
        ----------
        table : Table
            The description of the table.

        Returns
        -------
        Gateway
            The gateway, whose tables the caller drops.
        """

    def count_part_rows(self) -> dict[str, int]:
        """Return the number of rows of each part of the table.

        Returns
        -------
        dict of str to int
            Number of rows by name of the part; a single server has one part, ''.
        """

    def sum_own_rows(self, part_rows: Mapping[str, int]) -> int:
        """Return the number of rows without the copies in overlaps.

        Parameters
        ----------
        part_rows : mapping of str to int
            Number of rows of each part, from ``count_part_rows``.

        Returns
        -------
        int
            Number of rows that queries read.
        """

    def find_plain_columns(self, table: Table) -> set[str]:
        """Return the nullable columns that are not stored as Nullable (``clickhouse_schema.stored_nulls``).

        Parameters
        ----------
        table : Table
            The description of the table.

        Returns
        -------
        set of str
            Names of columns that must become Nullable before their first NULL is inserted.
        """

    def allow_nulls(self, table: Table, columns: Collection[str]) -> None:
        """Make columns Nullable, while queries read the table.

        Parameters
        ----------
        table : Table
            The description of the table.
        columns : collection of str
            Names from ``find_plain_columns``.
        """

    def insert_rows(self, gateway: Gateway, parts: Collection[str]) -> None:
        """Insert the gateway's rows into parts of the table, into each part all rows or none.

        Parameters
        ----------
        gateway : Gateway
            The filled gateway, which stays.
        parts : collection of str
            Names from ``count_part_rows``; the other parts already have the rows.
        """

    def refuse_moved_shards(self) -> None:
        """Check that the shards have not moved since the storage was opened.

        Raises
        ------
        LoadError
            They were moved, or are being moved.
        """


class Publication(Protocol):
    """Makes the staging table the live table."""

    def publish_staging(self) -> None:
        """Make the verified staging table visible to all readers in one step, and drop the table that it replaces."""

    def finish_publishing(self) -> None:
        """Finish an interrupted publication. May be repeated."""


@dataclass(frozen=True, slots=True)
class TableStorage:
    """The storage of one table of the catalogue."""

    engine: Engine
    schema_name: str
    table_name: str
    is_cluster: bool
    live: LiveTable
    staging: StagingTable
    appends: AppendTarget
    publication: Publication
