"""Executes one translated query on a thread: from the engine's rows to bytes in a sink."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

import pyarrow as pa

from adql import Translation
from clickhouse_schema.shard_map import ShardStatement
from tap_service.models.engine_share import EngineShare
from tap_service.models.query_report import QueryReport
from tap_service.models.work_class import SmallReading
from tap_service.scratch_files import NoRoom
from tap_service.serializers import OK, SerializationError, Serializer, Status, overflow_status
from tap_service.service_errors import (
    ClientGone,
    InternalError,
    InvalidQueryError,
    QueryTooHeavy,
    ServiceError,
    ServiceUnavailable,
)
from tap_service.services.queries.encode_ahead import OverlappedWork
from tap_service.services.queries.engine_clock import EngineClock
from tap_service.services.queries.result_spool import SpoolClosed
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.queries.value_errors import explain_value_error
from tap_service.services.uploads.query_uploads import LoadedUploads
from tap_service.storage.engine.engine import (
    EngineError,
    EngineSilent,
    EngineUnavailable,
    EngineValueError,
    FilesUnavailable,
    MemoryLimit,
    QueryCancelled,
    QueryTimeout,
    ResourceLimit,
    Settings,
    StorageFull,
    combine_settings,
)
from tap_service.storage.engine.memory_settings import choose_memory_settings


class ByteSink(Protocol):
    """Receives the bytes. ``anyway`` ignores the limit of a full sink, for the end of a document after an error."""

    def write(self, data: bytes, *, anyway: bool = False) -> None: ...

    def end(self) -> None: ...


class RowSource(Protocol):
    """Returns the rows: the engine, a job in pieces, or a change of a user table. See ``Engine``."""

    def stream_batches(
        self,
        sql: str,
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]: ...

    def cancel_query(self, query_id: str) -> None: ...


def log_status(failure: Exception) -> str:
    """Return the status of a query without a result, for log and metrics."""
    return "GONE" if isinstance(failure, ClientGone) else "ERROR"


def name_engine_error(failure: Exception) -> list[str]:
    """Return the kind of the engine's error that an error is or was caused by, if there is one."""
    found = failure if isinstance(failure, EngineError) else failure.__cause__
    return [type(found).__name__] if isinstance(found, EngineError) else []


class QueryExecution:
    """Runs once, on one thread; any thread may call ``stop``.

    The translated query returns one row more than ``row_limit`` permits; that row reveals an overflow. ``memory``: the
    bytes that it may use in the engine; 0 leaves them to the engine.
    """

    def __init__(
        self,
        engine: RowSource,
        translation: Translation,
        make_serializer: Callable[[], Serializer],
        query_id: str,
        row_limit: RowLimit,
        *,
        memory: int = 0,
    ) -> None:
        self.query_id = query_id
        self.clock = EngineClock()
        self.report = QueryReport(warning=" ".join(translation.warnings))
        #: the error; with ``complete``, the sink has a whole document in spite of it
        self.failure: ServiceError | None = None
        self.complete = False
        self.source: RowSource = engine
        self.translation = translation
        self._make_serializer = make_serializer
        self._serializer = make_serializer()
        self.row_limit = row_limit
        #: what a small query reads, which needs no estimate to be light; otherwise None
        self.small_reading: SmallReading | None = None
        #: uploaded tables of the query, dropped by ``close``
        self.uploads: LoadedUploads | None = None
        #: called with the first batch on the thread of the run; its errors fail the run
        self.on_first_rows: Callable[[pa.RecordBatch], None] | None = None
        #: called with each batch of the result, in order, on a thread of the run; its errors fail the run
        self.on_rows: Callable[[pa.RecordBatch], None] | None = None
        self._stopped: ServiceError | None = None
        self._share = EngineShare()
        self._memory = memory
        self._head = b""
        self._began = False

    @property
    def limit(self) -> int:
        return self.row_limit.limit

    @property
    def engine_settings(self) -> Settings:
        share, memory = dict(self._share.list_settings()), choose_memory_settings(self._memory)
        return combine_settings(self.translation.settings, share, memory)

    def set_engine_share(self, share: EngineShare) -> None:
        self._share = share

    @property
    def has_lost_server(self) -> bool:
        """Whether a server went away after the first rows. (Before them, the engine has asked others already.)"""
        cause = None if self.failure is None else self.failure.__cause__
        is_away = isinstance(cause, EngineUnavailable) and not isinstance(cause, EngineSilent)
        return is_away and self.report.rows > 0

    def make_again(self) -> QueryExecution:
        """Return an execution of the same query, which the engine knows by another name, with the same uploads."""
        again = QueryExecution(
            self.source,
            self.translation,
            self._make_serializer,
            f"{self.query_id}-again",
            self.row_limit,
            memory=self._memory,
        )
        again.uploads = self.uploads
        again.set_engine_share(self._share)
        again.report.engine_errors += self.report.engine_errors
        again.report.seconds |= {step: self.report.seconds[step] for step in _PREPARING & self.report.seconds.keys()}
        return again

    def stop(self, reason: ServiceError) -> None:
        """Stop the run with ``reason``. Call again until it has ended."""
        self._stopped = self._stopped or reason
        self.source.cancel_query(self.query_id)

    def close(self) -> None:
        """Drop the query's tables; call when the query has ended or will not run."""
        try:
            self._serializer.close()
        finally:
            if self.uploads is not None:
                self.uploads.drop_tables()

    def run(self, sink: ByteSink) -> None:
        """Write the whole document and end the sink. Errors go to ``failure``.

        A query that fails before its first rows writes nothing.
        """
        try:
            with translate_errors(self.query_id):
                self._head = self._serializer.write_header()
                status = self._write_rows(sink)
                self.report.status = status.value
                status = replace(status, seconds=self.clock.seconds)
                self._write_bytes(sink, b"")  # the header, if there were no rows
                for piece in self._serializer.write_footer(status):
                    self.check_stopped()
                    self._write_bytes(sink, piece)
                self.report.warning = f"{self.report.warning} {self._serializer.warning}".strip()
            self.complete = True
        except ServiceError as failure:
            self._end_with_failure(sink, self._stopped or failure)
        finally:
            self.report.seconds["engine"] = self.clock.seconds
            sink.end()

    def _write_rows(self, sink: ByteSink) -> Status:
        if self.limit == 0:
            return self._overflow_status()
        stream = self.source.stream_batches(
            self.translation.sql,
            query_id=self.query_id,
            settings=self.engine_settings,
            on_shard=self.translation.on_shard,
        )
        with ExitStack() as stack:
            with self.clock.running():
                batches = stack.enter_context(stream)
            behind = stack.enter_context(OverlappedWork())
            while (batch := self._next_batch(batches)) is not None:
                room = self.limit - self.report.rows
                self.report.rows += min(room, batch.num_rows)
                behind.run_after_previous(partial(self._encode_batch, sink, batch.slice(0, room)))
                if batch.num_rows > room:
                    break
            behind.finish()
        return OK if batch is None else self._overflow_status()

    def _overflow_status(self) -> Status:
        status = overflow_status(self.limit, self.row_limit.text_after_cut)
        self.report.warning = f"{self.report.warning} {status.text}".strip()
        return status

    def _encode_batch(self, sink: ByteSink, batch: pa.RecordBatch) -> None:
        self._write_bytes(sink, self._serializer.write_rows(batch))
        if self.on_rows is not None:
            self.on_rows(batch)

    def _next_batch(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        """Return the next batch, and count the engine's time. A cancelled query may end like a complete one."""
        self.check_stopped()
        with self.clock.running():
            batch = next(batches, None)
        self.check_stopped()
        if "first_batch" not in self.report.seconds:
            self.report.seconds["first_batch"] = self.clock.seconds
            if self.on_first_rows is not None and batch is not None:
                self.on_first_rows(batch)
        return batch

    def check_stopped(self) -> None:
        """Raise the reason for which the run was stopped."""
        if self._stopped is not None:
            raise self._stopped

    def _write_bytes(self, sink: ByteSink, data: bytes) -> None:
        data, self._head = self._head + data, b""
        sink.write(data)
        self._began = self._began or bool(data)
        self.report.bytes += len(data)

    def _end_with_failure(self, sink: ByteSink, failure: ServiceError) -> None:
        """Append the error to rows already written, if the format has a place for it."""
        self.failure = failure
        self.report.status = log_status(failure)
        self.report.error = str(failure)
        self.report.engine_errors += name_engine_error(failure)
        if not self._began or isinstance(failure, ClientGone):
            return
        last_words = b"".join(self._serializer.write_footer(Status("ERROR", str(failure))))
        try:
            sink.write(last_words, anyway=True)
        except (SpoolClosed, OSError):
            return
        self.report.bytes += len(last_words)
        self.complete = bool(last_words)


@contextmanager
def translate_errors(query_id: str) -> Iterator[None]:
    """Translate errors of engine, disk and serializer into errors for the user; log unexpected ones."""
    try:
        yield
    except ServiceError:
        raise
    except EngineValueError as error:
        raise InvalidQueryError(f"the query fails on a value: {explain_value_error(error)}") from error
    except SerializationError as error:
        raise InvalidQueryError(f"the query fails on a value in the data: {error}") from error
    except MemoryLimit as error:
        raise QueryTooHeavy(
            f"the query needs more memory than this service grants one query: {error}. Ask for less at once: a smaller "
            "region, fewer columns to sort or group by. In /async, matches run in pieces of the sky"
        ) from error
    except (ResourceLimit, QueryTimeout) as error:
        raise QueryTooHeavy(
            f"the query needs more than this service grants one query: {error}. "
            "Ask for less at once: a smaller region, fewer columns to sort or group by"
        ) from error
    except NoRoom as error:
        raise QueryTooHeavy(str(error)) from error
    except SpoolClosed as error:
        raise ClientGone("the client has closed the connection") from error
    except FilesUnavailable as error:
        raise ServiceUnavailable(str(error)) from error
    except (EngineUnavailable, QueryCancelled) as error:
        if isinstance(error, EngineUnavailable):
            _log.warning("query %s: %s", query_id, error.detail)
        raise ServiceUnavailable(f"the engine has stopped this query: {error}. Try again later") from error
    except (StorageFull, OSError) as error:
        _log.error("query %s: its result cannot be stored: %s", query_id, error)
        if isinstance(error, StorageFull) or error.errno in _DISK_FULL:
            raise ServiceUnavailable("the service has no room on its disk for this query. Try again later") from error
        raise ServiceUnavailable("the service cannot reach its result store. Try again later") from error
    except Exception as error:
        if isinstance(error, EngineError) and error.code in _MISSING_TABLE_CODES:
            raise ServiceUnavailable("a table of this query was replaced or dropped just now. Try again") from error
        detail = error.detail if isinstance(error, EngineError) else repr(error)
        _log.error("query %s failed: %r", query_id, detail, exc_info=error)
        raise InternalError(
            f"the service failed on this query because of a fault of its own; its log has the reason under {query_id}"
        ) from error


#: steps of the report that are not done again
_PREPARING = frozenset({"translate", "uploads"})

#: ClickHouse's UNKNOWN_TABLE, UNKNOWN_DATABASE and TABLE_IS_DROPPED: the table changed after the translation
_MISSING_TABLE_CODES = (60, 81, 218)

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_log = logging.getLogger("skyhouse")
