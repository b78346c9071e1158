"""The engine: what Skyhouse asks of ClickHouse, the same for the embedded chDB and for a server over HTTP.

Nothing here knows ADQL or HTTP. SQL comes from ``adql.clickhouse``, ``clickhouse_schema`` and ``loaders`` only.

    EngineError                 the engine failed; an own fault unless a subclass says otherwise
    ├── QueryTimeout            max_execution_time was reached
    ├── QueryCancelled          ``cancel_query`` was called
    ├── ResourceLimit           memory, rows or bytes limit of the engine
    ├── ValueFault              a value in the query's data: division by zero, cast that does not fit, ...
    ├── StorageFull             no space left
    └── EngineUnavailable       cannot be reached or is shutting down
        ├── EngineUnreachable   there was no connection: nothing has been sent
        └── EngineSilent        it has sent nothing for as long as it may
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

Settings = Mapping[str, str | int | float]

#: Of every call. Generated SQL may hold covers of thousands of cells, so the parser's limit of 256 kB is lifted.
#: ClickHouse 26 puts INSERTs together by itself: it writes such a one even when its statement was stopped, and versions
#: before 26.9 drop one that is as an earlier one, whatever ``replicated_deduplication_window`` says.
DEFAULT_SETTINGS: dict[str, str | int | float] = {
    "session_timezone": "UTC",
    "max_query_size": 64 << 20,
    "async_insert": 0,
}

#: One block however many rows: what makes an INSERT all or nothing and its parts the same each time. (Of a table with
#: a part for each year it is cut up once more, and a server that dies in between may keep some of its years.)
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


def check_settings(settings: Settings) -> dict[str, str | int | float]:
    """The settings, if their names are names: they are pasted into SQL or an address."""
    for name in settings:
        if not re.fullmatch(r"\w+", name):
            raise ValueError(f"not the name of a setting: {name!r}")
    return dict(settings)


class EngineError(Exception):
    """``code`` is ClickHouse's error code, 0 where there is none; ``detail`` its text, for the log alone."""

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


class ValueFault(EngineError):
    pass


class StorageFull(EngineError):
    pass


class EngineUnavailable(EngineError):
    pass


class EngineUnreachable(EngineUnavailable):
    pass


class EngineSilent(EngineUnavailable):
    pass


@dataclass(frozen=True, slots=True)
class Progress:
    """What the engine has done for a running query. ``total_rows`` is its guess of the rows to read, 0 = unknown.

    ``peak_memory`` in bytes, on the busiest server of a cluster. ``joined_rows``: pairs that its joins have found, by
    their keys alone; of a cluster those of the server that was asked.
    """

    read_rows: int
    read_bytes: int
    total_rows: int
    peak_memory: int
    joined_rows: int = 0


class Engine(Protocol):
    """Safe to call from several threads at once."""

    def execute(self, sql: str, settings: Settings | None = None, *, query_id: str = "") -> None:
        """Run a statement without a result (DDL, INSERT SELECT, KILL); ``cancel_query`` takes its ``query_id``."""

    def fetch_table(self, sql: str, settings: Settings | None = None) -> pa.Table:
        """Run a query whose result is small, whole in memory."""

    def stream_batches(
        self, sql: str, *, query_id: str = "", settings: Settings | None = None, batch_rows: int = 16384
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """Arrow batches as the engine makes them. Leaving the context early cancels the query.

        An empty result yields no batch; the names in the batches are the engine's own and are not to be relied on.
        """

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], settings: Settings | None = None) -> None:
        """Append batches to ``table`` (quoted, qualified name), columns matched by name."""

    def cancel_query(self, query_id: str) -> None:
        """Stop a running query in the engine; its reader gets ``QueryCancelled``. Unknown ids are ignored."""

    def read_progress(self, query_ids: Sequence[str]) -> dict[str, Progress]:
        """Of those of these queries that are running now."""

    def list_running_ids(self, prefix: str) -> list[str]:
        """The ids of running queries that begin so."""

    def list_servers(self) -> Sequence[Engine]:
        """One for each server that answers: what each of them has for itself is looked for on each."""

    def explain_query(self, sql: str, settings: Settings | None = None) -> str:
        """The engine's plan with the indexes, parts and granules used."""

    def ping(self) -> None:
        """Raise ``EngineUnavailable`` unless the engine answers."""

    def close(self) -> None: ...
