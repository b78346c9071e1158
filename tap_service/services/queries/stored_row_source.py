"""Executes look-ups of whole rows: stored rows from the engine, columns to the reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain

import pyarrow as pa

from adql import StoredRowStatement
from clickhouse_schema.row_decoder import decode_rows
from clickhouse_schema.shard_map import ShardStatement
from tap_service.storage.engine.engine import Engine, EngineError, Settings

#: ClickHouse's UNKNOWN_IDENTIFIER, NO_SUCH_COLUMN_IN_TABLE and NOT_FOUND_COLUMN_IN_BLOCK: ``skyhouse schema apply`` has
#: just removed the row store, or has not added it on this server yet
_MISSING_COLUMN_CODES = (47, 16, 10)


class StoredRowSource:
    """The row source of a look-up of whole rows; an execution reads it in place of the engine."""

    def __init__(self, engine: Engine, statement: StoredRowStatement) -> None:
        self._engine = engine
        self._statement = statement

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
        """Implement ``RowSource``. A table without its row store is read by ``sql``, from its columns."""
        with ExitStack() as stack:
            try:
                stored = stack.enter_context(
                    self._engine.stream_batches(
                        self._statement.sql,
                        query_id=query_id,
                        settings=settings,
                        batch_rows=batch_rows,
                        on_shard=self._statement.on_shard,
                    )
                )
                first = [batch for batch in (next(stored, None),) if batch is not None]
                batches: Iterator[pa.RecordBatch] = map(self._take_columns, chain(first, stored))
            except EngineError as error:
                if error.code not in _MISSING_COLUMN_CODES:
                    raise
                stack.close()
                batches = stack.enter_context(
                    self._engine.stream_batches(
                        sql, query_id=query_id, settings=settings, batch_rows=batch_rows, on_shard=on_shard
                    )
                )
            yield batches

    def cancel_query(self, query_id: str) -> None:
        self._engine.cancel_query(query_id)

    def _take_columns(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of a batch whose first column is a stored row."""
        columns = self._statement.columns
        names = [name for name in columns if isinstance(name, str)]
        decoded = iter(decode_rows(batch.column(0), self._statement.layout, names))
        arrays = [batch.column(each) if isinstance(each, int) else next(decoded) for each in columns]
        return pa.RecordBatch.from_arrays(arrays, [f"c{number}" for number in range(len(arrays))])
