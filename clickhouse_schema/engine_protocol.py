"""The part of ``tap_service.storage.engine.engine.Engine`` that this package uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import pyarrow as pa


class Engine(Protocol):
    def execute(self, sql: str) -> None: ...

    def fetch_table(self, sql: str) -> pa.Table: ...

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch]) -> None: ...
