"""Jobs in pieces: the query runs over one range of cells after another, and the result store keeps each finished piece.

A worker that resumes a job starts at its first unfinished piece. All pieces of a result must come from the same data:
when a table changes, the finished pieces are discarded.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import replace
from typing import NoReturn

import pyarrow as pa

from adql import Division, Piece, Translation, Undivided, choose_borders, divide_query
from clickhouse_schema.engine_tables.catalogue_log import read_content_stamps
from clickhouse_schema.shard_map import ShardStatement
from tap_service.config import Config
from tap_service.constants import MAX_PIECES, MAX_RESTARTS, STORE_RETRY_SECONDS, VERSION
from tap_service.models.piece_progress import Part, PieceWork
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Info, Job
from tap_service.service_errors import ServiceUnavailable
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.storage.engine.engine import Engine, QueryCancelled, Settings
from tap_service.storage.engine.merge_tables import hold_merge_table, merge_table_name
from tap_service.storage.engine.query_tables import DATABASE
from tap_service.storage.jobs.job_store import UNFINISHED, IllegalTransition, JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.result_parts import read_part, write_part
from tap_service.storage.results.result_store import ResultMissing, ResultStore


class DataChanged(ServiceUnavailable):
    """A table has changed: the finished pieces of a job are discarded."""


class PiecewiseJobs:
    """Decides which jobs run in pieces, and divides them."""

    def __init__(self, config: Config, engine: Engine, preparation: QueryPreparation, stores: JobStores) -> None:
        self._max_piece_seconds = config.piece_seconds
        self._engine = engine
        self._preparation = preparation
        self._stores = stores

    def plan_job(self, job: Job, translation: Translation) -> PiecewiseRun | Undivided:
        """Divide a job into pieces, resuming its finished ones, or return the reason why it runs as a whole."""
        seconds = job.foreseen.seconds if job.foreseen else 0.0
        if not self._max_piece_seconds or seconds <= self._max_piece_seconds:
            return Undivided("it is not expected to take long")
        if translation.bound is None:
            return Undivided("it is no ADQL query")
        division = divide_query(translation.bound)
        if isinstance(division, Undivided):
            return division
        order, rows = self._preparation.estimate_row_spread(translation, division.scan.entry)
        count = min(math.ceil(seconds / self._max_piece_seconds), MAX_PIECES)
        basis = self._data_fingerprint(translation, division)
        work = PieceWork(basis, choose_borders(rows, order, count))
        if job.pieces is not None:
            work = job.pieces if job.pieces.basis == work.basis else replace(work, changes=job.pieces.changes)
        return PiecewiseRun(
            self._engine, self._stores, job, division, work, lambda: self._data_fingerprint(translation, division)
        )

    def delete_parts(self, job: Job) -> None:
        """Delete the parts and the uploaded files of a job that has ended; the sweep deletes what cannot be now."""
        with suppress(NoSuchJob, JobStoreUnavailable, OSError):
            last = self._stores.jobs.get_job(job.job_id)
            if last.phase not in UNFINISHED:
                for key in (*last.part_keys, *(file.key for file in last.files)):
                    self._stores.results.delete_result(key)

    def _data_fingerprint(self, translation: Translation, division: Division) -> str:
        """Return a hash that is the same for the same query over the same data."""
        tables = [(entry.schema.name, entry.table.name) for entry in translation.tables]
        hashed = [VERSION, translation.portable_sql, division.scan.relation, read_content_stamps(self._engine, tables)]
        return hashlib.sha256(json.dumps(hashed).encode()).hexdigest()


class PiecewiseRun:
    """The row source of a job in pieces: an execution reads it in place of the engine."""

    def __init__(
        self,
        engine: Engine,
        stores: JobStores,
        job: Job,
        division: Division,
        work: PieceWork,
        data_fingerprint: Callable[[], str],
    ) -> None:
        self._engine = engine
        self._jobs: JobStore = stores.jobs
        self._results: ResultStore = stores.results
        self._job = job
        self._division = division
        self._pieces: tuple[Piece, ...] = division.make_pieces(work.borders)
        self._work = work
        self._data_fingerprint = data_fingerprint
        self._began = time.monotonic()
        self._n_done_before = len(work.parts)
        self._cancelled = threading.Event()

    def stream_batches(
        self,
        sql: str,  # noqa: ARG002 (each piece has its own SQL)
        *,
        query_id: str = "",
        settings: Settings | None = None,
        batch_rows: int = 16384,
        on_shard: ShardStatement | None = None,  # noqa: ARG002
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """Implement ``RowSource``."""
        return closing(self._stream_pieces(query_id, settings or {}, batch_rows))

    def cancel_query(self, query_id: str) -> None:
        self._cancelled.set()
        self._engine.cancel_query(query_id)

    @property
    def plan(self) -> str:
        text = (
            f"in {len(self._pieces)} pieces of {self._division.scan.entry.qualified_name}, by ranges of HEALPix cells"
        )
        return text if self._division.groups is None else text + ", whose groups are merged"

    def pieces_info(self) -> Info:
        """Return the progress for jobInfo."""
        n_done, n_pieces = len(self._work.parts), len(self._pieces)
        percent = min(n_done * 100 // n_pieces, 99)
        info: dict[str, str | int | float] = {"pieces": n_pieces, "piecesDone": n_done, "percent": percent}
        if n_done > self._n_done_before:
            seconds_each = (time.monotonic() - self._began) / (n_done - self._n_done_before)
            info["secondsLeft"] = round(seconds_each * (n_pieces - n_done), 1)
        return info

    def _stream_pieces(
        self, query_id: str, settings: Settings, batch_rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        self._store_plan()
        if self._division.groups is not None:
            yield from self._stream_groups(query_id, settings, batch_rows)
            return
        left = self._division.limit
        for number in range(len(self._pieces)):
            if number == len(self._work.parts):
                self._execute_piece(number, query_id, settings, batch_rows)
            for batch in self._read_part(number):
                yield batch if left is None else batch.slice(0, left)
                left = None if left is None else left - batch.num_rows
                if left is not None and left <= 0:
                    return

    def _stream_groups(self, query_id: str, settings: Settings, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Merge the groups of all pieces in the engine."""
        for number in range(len(self._work.parts), len(self._pieces)):
            self._execute_piece(number, query_id, settings, batch_rows)
        bare = self._division.make_statement(self._pieces[-1], bare=True)
        described = self._engine.fetch_table(f"DESCRIBE TABLE ({bare.sql})", {**bare.settings, **settings})
        types = dict(zip(described["name"].to_pylist(), described["type"].to_pylist(), strict=True))
        name = merge_table_name(self._job.result_key)
        parts = (batch for number in range(len(self._pieces)) for batch in self._read_part(number))
        with hold_merge_table(self._engine, name, types, self._stop_when_cancelled(parts)):
            merging = self._division.make_merging_statement(DATABASE, name, types)
            all_settings = {**merging.settings, **settings}
            with self._engine.stream_batches(
                merging.sql, query_id=query_id, settings=all_settings, batch_rows=batch_rows
            ) as batches:
                yield from self._stop_when_cancelled(batches)

    def _store_plan(self) -> None:
        """Store the plan, and delete parts of an outdated plan."""
        if self._job.pieces == self._work:
            return
        self._store_progress(self._work)
        for key in self._job.part_keys:
            self._results.delete_result(key)

    def _execute_piece(self, number: int, query_id: str, settings: Settings, batch_rows: int) -> None:
        """Execute the first unfinished piece, which has this number."""
        self._check_cancelled()
        statement = self._division.make_statement(self._pieces[number])
        all_settings = {**statement.settings, **settings}
        key = self._job.part_key(self._job.attempt, number)
        with self._engine.stream_batches(
            statement.sql, query_id=query_id, settings=all_settings, batch_rows=batch_rows
        ) as batches:
            rows, size = write_part(self._results, key, self._stop_when_cancelled(batches))
        try:
            self._check_data()
            part = Part(self._job.attempt, rows, size)
            self._store_progress(replace(self._work, parts=(*self._work.parts, part)))
        except BaseException:
            self._results.delete_result(key)
            raise

    def _stop_when_cancelled(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Raise QueryCancelled when the job was stopped: a cancelled query may end like a complete one."""
        for batch in batches:
            self._check_cancelled()
            yield batch
        self._check_cancelled()

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise QueryCancelled("the job was stopped")

    def _check_data(self) -> None:
        self._check_cancelled()
        if self._data_fingerprint() != self._work.basis:
            self._restart_job("a table of this query was replaced")

    def _read_part(self, number: int) -> Iterator[pa.RecordBatch]:
        part = self._work.parts[number]
        if not part.size:
            return
        try:
            yield from read_part(self._results, self._job.part_key(part.attempt, number), part.size)
        except ResultMissing:
            self._restart_job("a part of the result was lost")

    def _restart_job(self, reason: str) -> NoReturn:
        """Discard the finished pieces and raise DataChanged, or ServiceUnavailable after MAX_RESTARTS."""
        done = replace(self._job, pieces=self._work).part_keys
        changes = self._work.changes + 1
        self._store_progress(PieceWork(changes=changes))
        for key in done:
            self._results.delete_result(key)
        if changes > MAX_RESTARTS:
            raise ServiceUnavailable(f"{reason} while the job ran, the {changes}th time. Run it again later")
        raise DataChanged(f"{reason} while the job ran: it starts again")

    def _store_progress(self, work: PieceWork) -> None:
        """Store the progress; retry while the store is unavailable, until the job is stopped."""
        while True:
            try:
                self._jobs.set_pieces(self._job.job_id, self._job.attempt, now(), work)
            except (NoSuchJob, IllegalTransition) as error:
                raise QueryCancelled("the job was aborted") from error
            except JobStoreUnavailable:
                if self._cancelled.wait(STORE_RETRY_SECONDS):
                    raise
                continue
            self._work = work
            return
