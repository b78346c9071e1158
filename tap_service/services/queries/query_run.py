"""The life of a prepared query, from its start to its last byte. Runs on one thread; any thread may stop it.

READY ── run ──> RUNNING ──> COMPLETED                     the sink has the complete document
                    │  └───> FAILED                        ``run`` raises the error
                    ├─ stop ──> STOPPING ──> FAILED        the error is the reason of the stop
                    └─ interrupt ──> INTERRUPTING ──> INTERRUPTED ── run ──> RUNNING

A run can be stopped in every state but COMPLETED. A failed run can start again, for example on another server; a run
that was stopped before its start fails at its start. A stop or an interruption that comes too late has no effect.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from enum import StrEnum
from functools import partial
from typing import Protocol

import pyarrow as pa

from tap_service.models.engine_share import EngineShare
from tap_service.models.query_report import QueryReport
from tap_service.serializers import OK, Status, overflow_status
from tap_service.service_errors import ClientGone, ServiceError
from tap_service.services.queries.document_writer import ByteSink, DocumentWriter
from tap_service.services.queries.overlapped_work import OverlappedWork
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.run_errors import log_status, name_engine_error, translate_errors
from tap_service.storage.engine.engine import (
    EngineSilent,
    EngineUnavailable,
    Settings,
    combine_settings,
)
from tap_service.storage.engine.memory_settings import choose_memory_settings


class QueryState(StrEnum):
    """The states of a run; ``_NEXT`` lists the transitions."""

    READY = "ready"
    RUNNING = "running"
    STOPPING = "stopping"
    INTERRUPTING = "interrupting"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    FAILED = "failed"


_NEXT: Mapping[QueryState, frozenset[QueryState]] = {
    QueryState.READY: frozenset({QueryState.RUNNING, QueryState.STOPPING}),
    QueryState.RUNNING: frozenset(
        {QueryState.STOPPING, QueryState.INTERRUPTING, QueryState.COMPLETED, QueryState.FAILED}
    ),
    QueryState.STOPPING: frozenset({QueryState.FAILED, QueryState.COMPLETED}),  # the stop came too late
    QueryState.INTERRUPTING: frozenset(
        {QueryState.STOPPING, QueryState.INTERRUPTED, QueryState.COMPLETED, QueryState.FAILED}
    ),
    QueryState.INTERRUPTED: frozenset({QueryState.RUNNING, QueryState.STOPPING}),
    QueryState.COMPLETED: frozenset(),
    QueryState.FAILED: frozenset({QueryState.RUNNING, QueryState.STOPPING}),  # its owner may start it again
}


class RunObserver(Protocol):
    """Follows the rows of a run, on its threads. An error of an observer fails the run."""

    def note_first_rows(self, batch: pa.RecordBatch) -> None:
        """Take the first batch from the engine, before it is written.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            The rows, also rows beyond the row limit. An empty result has no first batch.
        """

    def note_rows(self, batch: pa.RecordBatch) -> None:
        """Take a batch of the result that was written, in order.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            The rows up to the row limit.
        """


class EngineClock:
    """Measures how long the engine works: the time that a thread is inside ``running()``. Any thread may read it."""

    def __init__(self) -> None:
        self._total = 0.0
        self._since: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        finally:
            since, self._since = self._since, None
            self._total += time.monotonic() - since

    @property
    def seconds(self) -> float:
        since = self._since
        return self._total + (0.0 if since is None else time.monotonic() - since)


class QueryRun:
    """Runs a query, again from its start after an interruption or the loss of a server.

    Parameters
    ----------
    query : PreparedQuery
        The query, which its owner closes.
    report : QueryReport
        Gets the outcome.
    observers : sequence of RunObserver
        Follow the rows.
    """

    def __init__(self, query: PreparedQuery, report: QueryReport, observers: Sequence[RunObserver] = ()) -> None:
        self.query = query
        self.query_id = query.query_id
        self.report = report
        self.state = QueryState.READY
        self.clock = EngineClock()
        #: whether the sink has a whole document: the result, or rows with an error at their end
        self.is_whole = False
        self._observers = observers
        self._share = EngineShare()
        self._reason: ServiceError | None = None
        self._lock = threading.Lock()
        query.start_report(report)

    def run(self, sink: ByteSink, share: EngineShare) -> None:
        """Write the document; it is not complete after an interruption.

        Parameters
        ----------
        sink : ByteSink
            Receives the bytes. A query that fails before its first rows writes none.
        share : EngineShare
            The engine's resources for the query.

        Raises
        ------
        ServiceError
            The query failed, or was stopped.
        """
        try:
            with translate_errors(self.query_id):
                self._start(share)
                with closing(self.query.make_serializer()) as serializer:
                    self._write_document(DocumentWriter(serializer, sink, self.report))
        except ServiceError as error:
            failure = self._reason or error
            self._enter(QueryState.FAILED)
            self.report.end_with_error(log_status(failure), failure, name_engine_error(failure))
            raise failure from failure.__cause__
        finally:
            self.report.seconds["engine"] = self.clock.seconds
        if self.is_whole:
            self._enter(QueryState.COMPLETED)
        else:
            self._reset()  # the run was interrupted

    def stop(self, reason: ServiceError) -> None:
        """Stop the run, from any thread, and cancel its query in the engine.

        Call this again until the run has ended: the engine may not know the query yet.

        Parameters
        ----------
        reason : ServiceError
            What ``run`` raises; a second reason is ignored. A run that is not running fails when it starts.

        Raises
        ------
        EngineUnavailable
            The server of the query does not answer; the query may still run.
        """
        self._enter(QueryState.STOPPING, reason)
        self.query.source.cancel_query(self.query_id)

    def interrupt(self, query_id: str) -> None:
        """Stop a run, from any thread, to start it again later; ``run`` returns.

        Call this again until the run has ended.

        Parameters
        ----------
        query_id : str
            The query id of the run, which the next run changes: later calls are ignored.

        Raises
        ------
        EngineUnavailable
            The server of the query does not answer; the query may still run.
        """
        if query_id == self.query_id:
            self._enter(QueryState.INTERRUPTING)
            self.query.source.cancel_query(query_id)

    def check_stopped(self) -> None:
        """Raise the reason for which the run was stopped."""
        if self._reason is not None:
            raise self._reason

    def has_lost_server(self, failure: ServiceError) -> bool:
        """Return whether a server was lost after the first rows. (Before them, the engine has asked others already.)

        Parameters
        ----------
        failure : ServiceError
            The error of ``run``.
        """
        cause = failure.__cause__
        is_lost = isinstance(cause, EngineUnavailable) and not isinstance(cause, EngineSilent)
        return is_lost and self.report.rows > 0

    def _start(self, share: EngineShare) -> None:
        if self.state is QueryState.FAILED:
            self._reset()
        if not self._enter(QueryState.RUNNING):
            self.check_stopped()
            raise RuntimeError(f"a run that is {self.state} cannot start")
        self._share = share

    def _reset(self) -> None:
        """Prepare the next run, which has all the time of a query."""
        self.query_id = f"{self.query_id}-again"  # the engine may still know the previous run
        self.clock = EngineClock()
        self.is_whole = False
        self.query.start_report(self.report)

    def _enter(self, state: QueryState, reason: ServiceError | None = None) -> bool:
        """Change the state if the table permits it; return whether it did."""
        with self._lock:
            if state not in _NEXT[self.state]:
                return False
            self.state = state
            self._reason = self._reason or reason
            return True

    def _write_document(self, document: DocumentWriter) -> None:
        try:
            with translate_errors(self.query_id):
                status = self._write_rows(document)
                if status is None:
                    self._enter(QueryState.INTERRUPTED)
                    return
                document.finish(status, self.clock.seconds, self.check_stopped)
            self.is_whole = True
        except ServiceError as error:
            if self._enter(QueryState.INTERRUPTED):
                return
            failure = self._reason or error
            if not isinstance(failure, ClientGone):
                self.is_whole = document.finish_with_error(str(failure))
            raise

    def _write_rows(self, document: DocumentWriter) -> Status | None:
        """Write the rows up to the row limit; return the status, or None if the run was interrupted."""
        limit, translation = self.query.row_limit.limit, self.query.translation
        if limit == 0:
            return self._note_overflow()
        stream = self.query.source.stream_batches(
            translation.sql,
            query_id=self.query_id,
            settings=list_engine_settings(self.query, self._share),
            on_shard=translation.on_shard,
        )
        with ExitStack() as stack:
            with self.clock.running():
                batches = stack.enter_context(stream)
            encoding: OverlappedWork | None = None  # the first batch is often the only one
            while (batch := self._next_batch(batches)) is not None:
                is_first, room = not self.report.rows, limit - self.report.rows
                self.report.rows += min(room, batch.num_rows)
                write = partial(self._write_batch, document, batch.slice(0, room))
                if is_first:
                    write()
                else:
                    encoding = encoding or stack.enter_context(OverlappedWork())
                    encoding.run_after_previous(write)
                if batch.num_rows > room:
                    break
            if encoding is not None:
                encoding.finish()
        if self.state is QueryState.INTERRUPTING:
            return None
        return OK if batch is None else self._note_overflow()

    def _note_overflow(self) -> Status:
        status = overflow_status(self.query.row_limit.limit, self.query.row_limit.text_after_cut)
        self.report.add_warning(status.text)
        return status

    def _write_batch(self, document: DocumentWriter, batch: pa.RecordBatch) -> None:
        document.write_rows(batch)
        for observer in self._observers:
            observer.note_rows(batch)

    def _next_batch(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        """Return the next batch, and count the engine's time; None at the end, or if the run is interrupted.

        A cancelled query may end like a complete one.
        """
        self.check_stopped()
        with self.clock.running():
            batch = next(batches, None)
        self.check_stopped()
        if self.state is QueryState.INTERRUPTING:
            return None
        if "first_batch" not in self.report.seconds:
            self.report.seconds["first_batch"] = self.clock.seconds
            for observer in self._observers if batch is not None else ():
                observer.note_first_rows(batch)
        return batch


def list_engine_settings(query: PreparedQuery, share: EngineShare) -> Settings:
    """Return the engine's settings for a query.

    Parameters
    ----------
    query : PreparedQuery
        The query, with the settings of its SQL and its memory limit.
    share : EngineShare
        Its share of the engine's resources.

    Returns
    -------
    Settings
        All settings; the lowest value of each limit.
    """
    return combine_settings(
        query.translation.settings, dict(share.list_settings()), choose_memory_settings(query.memory)
    )
