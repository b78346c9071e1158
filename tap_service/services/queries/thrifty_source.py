"""The engine as a row source that repeats a query with the least memory if it reaches its memory limit."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain

import pyarrow as pa

from clickhouse_schema.shard_map import ShardStatement
from tap_service.storage.engine.engine import Engine, MemoryLimit, Settings, combine_settings
from tap_service.storage.engine.memory_settings import choose_memory_settings

_log = logging.getLogger("skyhouse")


class ThriftySource:
    """A row source. A query that reaches its memory limit before its first rows runs again, with the least memory.

    Parameters
    ----------
    engine
        The engine.
    memory
        The memory limit of a query in bytes; 0 if it is the engine's own: then nothing runs again.
    """

    def __init__(self, engine: Engine, memory: int) -> None:
        self._engine = engine
        self._frugal = choose_memory_settings(memory, is_frugal=True)

    @contextmanager
    def stream_batches(
        self,
        sql: str,
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        """Implement ``RowSource``. A repeated query keeps its query id.

        Raises
        ------
        MemoryLimit
            The query reaches its memory limit with the least memory too, or after its first rows.
        """

        def open_stream(wanted: Settings) -> Iterator[pa.RecordBatch]:
            stream = self._engine.stream_batches(
                sql, query_id=query_id, settings=wanted, batch_rows=batch_rows, on_shard=on_shard
            )
            batches = stack.enter_context(stream)
            first = next(batches, None)
            return batches if first is None else chain((first,), batches)

        with ExitStack() as stack:
            try:
                batches = open_stream(settings or {})
            except MemoryLimit:
                if not self._frugal:
                    raise
                stack.close()
                _log.info("query %s reached its memory limit and runs again, with the least memory", query_id)
                batches = open_stream(combine_settings(settings or {}, self._frugal))
            yield batches

    def cancel_query(self, query_id: str) -> None:
        """Implement ``RowSource``."""
        self._engine.cancel_query(query_id)
