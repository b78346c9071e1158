"""The part of ``tap_service.storage.engine.engine.Engine`` that this package uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import pyarrow as pa


class Engine(Protocol):
    """A connection to ClickHouse: to one server, or to all servers of a cluster."""

    def execute(
        self, sql: str, settings: Mapping[str, str | int | float] | None = None, *, query_id: str = ""
    ) -> None: ...

    def fetch_table(self, sql: str) -> pa.Table: ...

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch]) -> None: ...

    def require_servers(self) -> Sequence[Engine]: ...
