"""Long queries of a command, which end when the user stops the command, not only when the next rows are ready."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine, Settings

#: Interval of checks whether the user has stopped the command
_CHECK_SECONDS = 0.5

_BATCH_ROWS = 65_536

_Result = TypeVar("_Result")


@contextmanager
def stream_until_stopped(
    engine: Engine, sql: str, settings: Settings, reporter: Reporter
) -> Iterator[Iterator[pa.RecordBatch]]:
    """Stream a query's result as ``Engine.stream_batches`` does, and cancel the query when the command is stopped.

    The engine is read in a thread: until its rows are ready, a signal would wait for them.

    Raises
    ------
    LoadCancelled, KeyboardInterrupt
        The user has stopped the command.
    EngineError
        The query failed.
    """
    query_id = f"command-{uuid.uuid4().hex}"
    stream = ExitStack()
    with ThreadPoolExecutor(1, thread_name_prefix="command query") as reader:

        def run_step(step: Callable[[], _Result]) -> _Result:
            future = reader.submit(step)
            try:
                reporter.check()
                while not wait([future], _CHECK_SECONDS).done:
                    reporter.check()
            except BaseException:
                _cancel_until_done(engine, query_id, future)
                raise
            return future.result()

        opened = engine.stream_batches(sql, query_id=query_id, settings=settings, batch_rows=_BATCH_ROWS)
        try:
            batches = run_step(partial(stream.enter_context, opened))
            yield iter(partial(run_step, partial(next, batches, None)), None)
        finally:
            reader.submit(stream.close).result()  # by the thread that reads it


def _cancel_until_done(engine: Engine, query_id: str, future: Future[Any]) -> None:
    """Cancel a query repeatedly until it ends: the engine may not know a query yet that has just started."""
    while True:
        engine.cancel_query(query_id)
        if wait([future], _CHECK_SECONDS).done:
            return
