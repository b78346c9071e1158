"""Executes look-ups of complete rows: reads stored rows from the engine, and returns their columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain

import pyarrow as pa

from adql import StoredRowStatement
from clickhouse_schema.shard_map import ShardStatement
from tap_service.services.queries.row_look_ups import RowLookUps, take_columns
from tap_service.storage.engine.engine import Engine, EngineError, Settings

#: ClickHouse's UNKNOWN_IDENTIFIER, NO_SUCH_COLUMN_IN_TABLE and NOT_FOUND_COLUMN_IN_BLOCK: ``skyhouse schema apply`` has
#: just removed the row store, or has not added it on this server yet
_MISSING_COLUMN_CODES = (47, 16, 10)


class StoredRowSource:
    """The row source of a look-up of complete rows.

    Parameters
    ----------
    engine
        The engine.
    statement
        The look-up of stored rows.
    look_ups
        Combines it with the look-ups of other queries.
    """

    def __init__(self, engine: Engine, statement: StoredRowStatement, look_ups: RowLookUps) -> None:
        self._engine = engine
        self._statement = statement
        self._look_ups = look_ups

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
        rows = self._look_ups.fetch_rows(self._statement, query_id, settings or {})
        if rows is not None:
            yield iter((rows,) if rows.num_rows else ())
            return
        with ExitStack() as stack:
            open_stream = partial(
                self._engine.stream_batches, query_id=query_id, settings=settings, batch_rows=batch_rows
            )
            try:
                stored = stack.enter_context(open_stream(self._statement.sql, on_shard=self._statement.on_shard))
                first = [batch for batch in (next(stored, None),) if batch is not None]
                batches: Iterator[pa.RecordBatch] = (
                    take_columns(batch, self._statement) for batch in chain(first, stored)
                )
            except EngineError as error:
                if error.code not in _MISSING_COLUMN_CODES:
                    raise
                stack.close()
                batches = stack.enter_context(open_stream(sql, on_shard=on_shard))
            yield batches

    def cancel_query(self, query_id: str) -> None:
        """Implement ``RowSource``."""
        self._look_ups.cancel_query(query_id)
        self._engine.cancel_query(query_id)
