"""Jobs in pieces: the query runs over one range of cells after another, and the result store keeps each finished piece.

A job has pieces so that each takes a limited time, and so that the rows that its cross-matches keep fit into memory. A
piece that still reaches the memory limit is cut in two, repeatedly.

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
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adql import Division, Piece, Translation, Undivided, choose_borders, divide_query, find_middle
from clickhouse_schema.engine_tables.catalogue_log import read_content_stamps
from clickhouse_schema.shard_map import ShardStatement
from tap_service.config import Config
from tap_service.constants import MAX_CUT_PIECES, MAX_PIECES, MAX_RESTARTS, STORE_RETRY_SECONDS, VERSION
from tap_service.models.piece_work import Part, PieceWork
from tap_service.models.timestamps import now
from tap_service.models.uws_job import Info, Job
from tap_service.service_errors import ServiceUnavailable
from tap_service.services.estimates.row_density import RowDensity
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.queries.thrifty_source import ThriftySource
from tap_service.storage.engine.engine import Engine, MemoryLimit, QueryCancelled, Settings, combine_settings
from tap_service.storage.engine.memory_settings import choose_memory_settings, find_memory_of_join
from tap_service.storage.engine.merge_tables import hold_merge_table, merge_table_name
from tap_service.storage.engine.query_tables import DATABASE
from tap_service.storage.jobs.job_store import UNFINISHED, IllegalTransition, JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.result_parts import read_part, write_part
from tap_service.storage.results.result_store import ResultMissing, ResultStore


class DataChanged(ServiceUnavailable):
    """A table has changed: the finished pieces of a job are discarded, and the job returns to the queue."""


@dataclass(frozen=True, slots=True)
class _Spread:
    """The rows to divide among the pieces: ``rows`` of the driving table in each NESTED cell of an ``order``."""

    order: int
    rows: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _PiecePlan:
    """The division of a job's query, its borders and finished pieces, and a reason that its plan gives."""

    division: Division
    work: PieceWork
    spread: _Spread
    reason: str = ""


class PiecewiseJobs:
    """Decides which jobs run in pieces, and divides them."""

    def __init__(self, config: Config, engine: Engine, preparation: QueryPreparation, stores: JobStores) -> None:
        self._max_piece_seconds = config.piece_seconds
        self._memory = config.query_memory
        self._engine = engine
        self._preparation = preparation
        self._stores = stores

    def plan_job(self, job: Job, translation: Translation) -> PiecewiseRun | Undivided:
        """Divide a job into pieces, resuming its finished ones, or return the reason why it runs undivided."""
        if not self._max_piece_seconds:
            return Undivided("jobs are not divided here")
        seconds = job.foreseen.seconds if job.foreseen else 0.0
        n_by_time = math.ceil(seconds / self._max_piece_seconds)
        kept = self._preparation.estimate_kept_bytes(translation)
        n_by_memory = self._count_by_memory(kept)
        if max(n_by_time, n_by_memory) < 2 and job.pieces is None:
            return Undivided("it is not expected to take long")
        if translation.bound is None:
            return Undivided("it is no ADQL query")
        division = divide_query(translation.bound)
        if isinstance(division, Undivided):
            return division
        spread = self._find_spread(translation, division)
        parts = _scale_to(spread.rows, n_by_time)
        if n_by_memory > 1:  # so that no piece exceeds either limit
            parts = np.maximum(parts, _scale_to(kept.spread_to(spread.order), n_by_memory))
        count = min(math.ceil(round(float(parts.sum()), 6)), MAX_PIECES)
        work = PieceWork(self._data_fingerprint(translation, division), choose_borders(parts, spread.order, count))
        if job.pieces is not None:
            work = job.pieces if job.pieces.basis == work.basis else replace(work, changes=job.pieces.changes)
        has_more = n_by_memory > n_by_time or len(work.borders) >= count  # than the time requires, or pieces were cut
        reason = "so that each fits into memory" if has_more else ""
        return self._make_run(job, translation, _PiecePlan(division, work, spread, reason))

    def cut_job(self, job: Job, translation: Translation) -> bool:
        """Store that a job that exceeded its memory continues in two pieces; return False if it is indivisible."""
        division = Undivided("") if translation.bound is None else divide_query(translation.bound)
        if isinstance(division, Undivided) or not self._max_piece_seconds:
            return False
        spread = self._find_spread(translation, division)
        work = PieceWork(self._data_fingerprint(translation, division), choose_borders(spread.rows, spread.order, 2))
        if not work.borders:
            return False
        self._make_run(job, translation, _PiecePlan(division, work, spread)).store_plan()
        return True

    def _count_by_memory(self, kept: RowDensity) -> int:
        """Return the number of pieces whose kept rows each fit into a join's memory."""
        return math.ceil(float(kept.rows.sum()) / find_memory_of_join(self._memory)) if self._memory else 1

    def _find_spread(self, translation: Translation, division: Division) -> _Spread:
        return _Spread(*self._preparation.estimate_row_spread(translation, division.scan.entry))

    def _make_run(self, job: Job, translation: Translation, plan: _PiecePlan) -> PiecewiseRun:
        find_fingerprint = partial(self._data_fingerprint, translation, plan.division)
        return PiecewiseRun(self._engine, self._stores, job, plan, find_fingerprint, self._memory)

    def delete_parts(self, job: Job) -> None:
        """Delete the parts and the uploaded files of a job that has ended. After an error, the sweep deletes them."""
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
    """The row source of a job in pieces."""

    def __init__(
        self,
        engine: Engine,
        stores: JobStores,
        job: Job,
        plan: _PiecePlan,
        data_fingerprint: Callable[[], str],
        memory: int,
    ) -> None:
        self._engine = engine
        self._thrifty = ThriftySource(engine, memory)
        self._frugal = choose_memory_settings(memory, is_frugal=True)
        self._spread = plan.spread
        self._reason = plan.reason
        self._jobs: JobStore = stores.jobs
        self._results: ResultStore = stores.results
        self._job = job
        self._division = plan.division
        self._pieces: tuple[Piece, ...] = plan.division.make_pieces(plan.work.borders)
        self._work = plan.work
        self._data_fingerprint = data_fingerprint
        self._began = time.monotonic()
        self._n_done_before = len(plan.work.parts)
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
        parts = [
            f"in {len(self._pieces)} pieces of {self._division.scan.entry.qualified_name}, by ranges of HEALPix cells",
            *([] if self._division.groups is None else ["whose groups are merged"]),
            *([self._reason] if self._reason else []),
        ]
        return ", ".join(parts)

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
        self.store_plan()
        if self._division.groups is not None:
            yield from self._stream_groups(query_id, settings, batch_rows)
            return
        left, number = self._division.limit, 0
        while number < len(self._pieces):
            while number == len(self._work.parts):
                self._execute_piece(number, query_id, settings, batch_rows)
            for batch in self._read_part(number):
                yield batch if left is None else batch.slice(0, left)
                left = None if left is None else left - batch.num_rows
                if left is not None and left <= 0:
                    return
            number += 1

    def _stream_groups(self, query_id: str, settings: Settings, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Merge the groups of all pieces in the engine."""
        while (number := len(self._work.parts)) < len(self._pieces):
            self._execute_piece(number, query_id, settings, batch_rows)
        bare = self._division.make_statement(self._pieces[-1], bare=True)
        described = self._engine.fetch_table(f"DESCRIBE TABLE ({bare.sql})", combine_settings(bare.settings, settings))
        types = dict(zip(described["name"].to_pylist(), described["type"].to_pylist(), strict=True))
        name = merge_table_name(self._job.result_key)
        parts = (batch for number in range(len(self._pieces)) for batch in self._read_part(number))
        with hold_merge_table(self._engine, name, types, self._stop_when_cancelled(parts)):
            merging = self._division.make_merging_statement(DATABASE, name, types)
            with self._thrifty.stream_batches(
                merging.sql,
                query_id=query_id,
                settings=combine_settings(merging.settings, settings),
                batch_rows=batch_rows,
            ) as batches:
                yield from self._stop_when_cancelled(batches)

    def store_plan(self) -> None:
        """Store the plan, and delete parts of an outdated plan."""
        if self._job.pieces == self._work:
            return
        self._store_progress(self._work)
        for key in self._job.part_keys:
            self._results.delete_result(key)

    def _execute_piece(self, number: int, query_id: str, settings: Settings, batch_rows: int) -> None:
        """Execute the first unfinished piece, which has this number, or cut it if it does not fit into memory.

        A piece that is too small to be cut is executed again, with the least memory.
        """
        try:
            self._write_piece(number, query_id, settings, batch_rows)
        except MemoryLimit:
            if not self._cut_piece(number):
                self._write_piece(number, query_id, combine_settings(settings, self._frugal), batch_rows)

    def _cut_piece(self, number: int) -> bool:
        """Cut a piece in two of about equal numbers of rows; return False if it is too small, or a file."""
        piece = self._pieces[number]
        middle = find_middle(self._spread.rows, self._spread.order, piece.first, piece.end)
        if middle is None or len(self._pieces) >= MAX_CUT_PIECES:
            return False
        work = replace(self._work, borders=tuple(sorted((*self._work.borders, middle))))
        pieces = self._division.make_pieces(work.borders)
        if len(pieces) == len(self._pieces):
            return False
        self._store_progress(work)
        self._pieces = pieces
        return True

    def _write_piece(self, number: int, query_id: str, settings: Settings, batch_rows: int) -> None:
        """Execute a piece, and store its rows and the progress."""
        self._check_cancelled()
        statement = self._division.make_statement(self._pieces[number])
        all_settings = combine_settings(statement.settings, settings)
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
        """Raise QueryCancelled if the job was stopped: a cancelled query may end like a complete one."""
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
        raise DataChanged(f"{reason} while the job was running: the job restarts")

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


def _scale_to(rows: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Return rows in the same proportions with this sum, or none."""
    return rows * (total / rows.sum()) if rows.any() else rows
