"""The interface to ClickHouse, the same for embedded chDB and for servers over HTTP.

Nothing here knows ADQL or HTTP. SQL comes only from ``adql.clickhouse``, ``clickhouse_schema`` and ``loaders``.

    EngineError                 the engine failed; a bug of Skyhouse unless a subclass says otherwise
    ├── QueryTimeout            the query reached max_execution_time
    ├── QueryCancelled          ``cancel_query`` stopped the query
    ├── ResourceLimit           a limit of memory, rows or bytes
    │   └── MemoryLimit         the memory limit of the query
    ├── EngineValueError        a value in the query's data: division by zero, a cast that does not fit, ...
    ├── StorageFull             no space left
    ├── FilesUnavailable        files of an attached table cannot be read, or have changed
    └── EngineUnavailable       unreachable, shutting down, or not ready for this statement
        ├── EngineUnreachable   no connection: nothing was sent
        ├── EngineSilent        no bytes for as long as the settings allow
        ├── TablesApart         the statement needs tables of different servers
        └── ShardUnavailable    the server answers, but another server, which holds a part of the data, does not
            └── ShardLost       ... and became unreachable during the query

Users read the messages of all of them. Messages name no server, user or path of the engine: ``detail`` does, for the
log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # commands that hand their work over import the errors
    import pyarrow as pa

    from clickhouse_schema.shard_map import ShardStatement

Settings = Mapping[str, str | int | float]

#: Settings of all calls. Generated SQL may contain covers of thousands of cells, more than the default 256 kB.
#: Asynchronous INSERTs, the default of ClickHouse 26, are written even when their statement is cancelled, and versions
#: before 26.9 drop one that equals an earlier one, whatever ``replicated_deduplication_window`` is. Arrow's compression
#: doubles the processor time of a scan, and saves 8 % of the bytes of numbers. Blocks of four times the default bytes
#: save a third of a scan of many columns with few matches (2 M rows x 12: 191 -> 122 ms); larger blocks save no more.
DEFAULT_SETTINGS: dict[str, str | int | float] = {
    "session_timezone": "UTC",
    "max_query_size": 64 << 20,
    "async_insert": 0,
    "output_format_arrow_compression_method": "none",
    "preferred_block_size_bytes": 4_000_000,
}

#: Settings that write an INSERT as one block, whatever its number of rows: all or nothing, always in the same parts.
#: (A table partitioned by year splits the block again; a server that dies in between may keep some years.)
SINGLE_BLOCK_SETTINGS: dict[str, str | int | float] = {
    "max_block_size": 1 << 30,
    "max_insert_threads": 1,
    "max_insert_block_size": 1 << 30,
    "min_insert_block_size_rows": 1 << 30,
    "min_insert_block_size_bytes": 0,
    "max_partitions_per_insert_block": 0,
    "insert_null_as_default": 0,
    "input_format_null_as_default": 0,
}

#: settings that limit the resources of a query; each reason for a limit may lower them
_BOUNDS = frozenset({"max_threads", "max_block_size", "max_memory_usage", "preferred_block_size_bytes"})


def check_settings(settings: Settings) -> dict[str, str | int | float]:
    """Check the names of settings.

    Parameters
    ----------
    settings : Settings
        ClickHouse settings by name.

    Returns
    -------
    dict[str, str | int | float]
        A copy of the settings.

    Raises
    ------
    ValueError
        A name is not an identifier, and could break out of SQL or a URL.
    """
    for name in settings:
        if not name.isidentifier():
            raise ValueError(f"not the name of a setting: {name!r}")
    return dict(settings)


def combine_settings(*parts: Settings) -> dict[str, str | int | float]:
    """Merge settings: the lowest value of a limit, the last value of other settings.

    Parameters
    ----------
    *parts : Settings
        Settings by name. ``max_threads``, ``max_block_size``, ``max_memory_usage`` and ``preferred_block_size_bytes``
        are limits.

    Returns
    -------
    dict[str, str | int | float]
        The settings of all parts.
    """
    combined: dict[str, str | int | float] = {}
    for part in parts:
        lower = {name: min(combined[name], part[name]) for name in _BOUNDS & combined.keys() & part.keys()}
        combined |= {**part, **lower}
    return combined


class EngineError(Exception):
    """The engine failed; users read the message.

    Attributes
    ----------
    code : int
        ClickHouse's error code, 0 if there is none.
    detail : str
        The complete text of the error, for operators only.
    """

    def __init__(self, message: str, code: int = 0, detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail or message


class QueryTimeout(EngineError):
    pass


class QueryCancelled(EngineError):
    pass


class ResourceLimit(EngineError):
    pass


class MemoryLimit(ResourceLimit):
    pass


class EngineValueError(EngineError):
    pass


class StorageFull(EngineError):
    pass


class FilesUnavailable(EngineError):
    pass


class EngineUnavailable(EngineError):
    pass


class EngineUnreachable(EngineUnavailable):
    pass


class EngineSilent(EngineUnavailable):
    pass


class TablesApart(EngineUnavailable):
    pass


class ShardUnavailable(EngineUnavailable):
    pass


class ShardLost(ShardUnavailable):
    pass


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running query.

    Attributes
    ----------
    read_rows, read_bytes : int
        Rows and bytes read so far.
    total_rows : int
        The engine's estimate of the rows to read; 0 if unknown.
    peak_memory : int
        In bytes, on the busiest server of a cluster.
    joined_rows : int
        The number of pairs that joins found by their keys, on a cluster in the initiating server.
    """

    read_rows: int
    read_bytes: int
    total_rows: int
    peak_memory: int
    joined_rows: int = 0


class Engine(Protocol):
    """A ClickHouse engine. All methods are thread-safe and raise ``EngineError``."""

    def execute(self, sql: str, settings: Settings | None = None, *, query_id: str = "") -> None:
        """Run a statement without a result, such as DDL or INSERT SELECT.

        Parameters
        ----------
        sql : str
            The statement.
        settings : Settings | None
            ClickHouse settings of this statement.
        query_id : str
            The id by which ``cancel_query`` stops it.
        """

    def fetch_table(self, sql: str, settings: Settings | None = None) -> pa.Table:
        """Run a query and return its complete result, which must be small.

        Parameters
        ----------
        sql : str
            The query.
        settings : Settings | None
            ClickHouse settings of this query.

        Returns
        -------
        pyarrow.Table
            The result, completely in memory.
        """

    def stream_batches(
        self,
        sql: str,
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """Stream a query's result as it is computed. Leaving the context early cancels the query.

        Parameters
        ----------
        sql : str
            The query.
        query_id : str
            The id that the other methods take; by default a new one.
        settings : Settings | None
            ClickHouse settings of this query.
        batch_rows : int
            Maximum number of rows of a batch.
        on_shard : ShardStatement | None
            The same query for the servers of one shard, which need no other server for it. An engine of several servers
            prefers it.

        Returns
        -------
        AbstractContextManager[Iterator[pyarrow.RecordBatch]]
            The batches; none for an empty result. Do not rely on their column names.

        Raises
        ------
        EngineError
            When the context is entered, or while the batches are read.
        """

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], settings: Settings | None = None) -> None:
        """Append batches to a table as one block.

        All rows are in memory at once, and become visible together or not at all.

        Parameters
        ----------
        table : str
            A quoted, qualified name.
        batches : Iterable[pa.RecordBatch]
            Batches whose columns are matched with the columns of the table by name.
        settings : Settings | None
            ClickHouse settings of the INSERT.
        """

    def cancel_query(self, query_id: str) -> None:
        """Cancel a running query; its reader gets ``QueryCancelled``.

        Does not wait until the query has stopped.

        Parameters
        ----------
        query_id : str
            The id that ``execute`` or ``stream_batches`` was given, also in another process. Unknown ids are ignored.

        Raises
        ------
        EngineUnavailable
            The server of the query does not answer; the query may still run.
        """

    def read_progress(self, query_ids: Sequence[str]) -> dict[str, Progress]:
        """Read the progress of running queries.

        Parameters
        ----------
        query_ids : Sequence[str]
            The ids that ``stream_batches`` was given.

        Returns
        -------
        dict[str, Progress]
            The progress by id; ended and unknown queries are missing.
        """

    def list_running_ids(self, prefix: str) -> list[str]:
        """List running queries, of all processes that use the engine's servers.

        Parameters
        ----------
        prefix : str
            How their ids start.

        Returns
        -------
        list[str]
            The ids, without duplicates, in any order.
        """

    def list_servers(self) -> Sequence[Engine]:
        """Return one engine for each reachable server, for state that servers do not share. Do not close them."""

    def require_servers(self) -> Sequence[Engine]:
        """Return one engine for each server of the settings. Raise EngineUnavailable if one does not answer."""

    def pin_server(self) -> Engine:
        """Return an engine that sends all statements to one server, which reads what it has written."""

    def explain_query(self, sql: str, settings: Settings | None = None) -> str:
        """Explain how the engine would run a query.

        Parameters
        ----------
        sql : str
            The query.
        settings : Settings | None
            ClickHouse settings of this query.

        Returns
        -------
        str
            The plan in the lines of EXPLAIN PLAN, with the indexes, parts and granules that it uses.
        """

    def ping(self) -> None:
        """Raise ``EngineUnavailable`` unless the engine answers."""

    def close(self) -> None:
        """Release the engine. May be called twice."""
