"""Exports a table as a HATS collection: one file for each piece, several pieces at a time.

A file of an earlier run is kept if its footer has the number of rows of the plan. The rows and the options, which
``export_state`` pins, determine every file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import DATASET, parse_path
from loaders.export.export_request import ExportRequest
from loaders.export.export_source import ExportSource, is_query, open_export_source, read_stamp
from loaders.export.export_state import STATE_FILE, ExportState, read_state, write_state
from loaders.export.export_target import ExportTarget
from loaders.export.verify_hats import list_partition_files, read_footers, verify_collection
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.hats.writing.catalogue_files import (
    METADATA,
    Collection,
    write_collection_files,
    write_footer,
)
from tap_service.hats.writing.catalogue_plan import plan_catalogue
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.hats.writing.index_files import write_index
from tap_service.hats.writing.partition_files import write_margin, write_partition
from tap_service.serializers import SerializationError
from tap_service.storage.engine.engine import Engine

#: Each piece uses one core: the engine and the writer take turns.
_PIECE_SETTINGS = {"max_threads": 1}

#: For queries with TOP, random numbers, sums of doubles and the like
_UNSTEADY = "the query may return other rows each time it runs"


def export_hats(engine: Engine, request: ExportRequest, reporter: Reporter) -> None:
    """Write and verify a HATS collection, or continue a stopped export.

    Parameters
    ----------
    engine : Engine
        Has the rows.
    request : ExportRequest
        What to export; with ``is_verified_only``, nothing is written.
    reporter : Reporter
        Receives progress and messages; may stop the export.

    Raises
    ------
    LoadError
        The export is impossible or failed, or files are damaged.
    EngineError
        The engine failed.
    """
    target = ExportTarget(request.target)
    engine = engine.pin_server() if is_query(request.source) else engine  # the server that has the result
    with target.hold_lock(f"another export to {target.address}", is_private=False):
        state = ExportState.begin(request, read_stamp(engine, request.source)[0])
        names = target.list_files()
        earlier = read_state(target, names)
        _check_target(target, state, earlier, request)
        with open_export_source(engine, request.source, target.address) as source:
            collection = _plan_collection(engine, source, request, reporter)
            if not request.is_verified_only:
                state = state.model_copy(update={"folders": collection.folders})
                _keep_or_delete(target, state, earlier, names, reporter)
                _PieceWriter(engine, target, collection, reporter).write_all(request.threads)
            verify_collection(target, collection, reporter, reads_pages=request.is_verified_only)
        if state.stamp and read_stamp(engine, request.source)[0] != state.stamp:
            raise LoadError(f"{request.source} has changed during the export: start it again, from the beginning")
        if not request.is_verified_only:
            target.flush()
            write_state(target, state.model_copy(update={"is_complete": True}))


def _check_target(
    target: ExportTarget, state: ExportState, earlier: ExportState | None, request: ExportRequest
) -> None:
    """Raise ``LoadError`` if the target has an export of another source, or nothing to verify."""
    if request.replaces_file:
        raise LoadError(
            "--overwrite is for one file: an export to a folder keeps its files, or replaces them by itself"
        )
    if earlier is not None and earlier.source != state.source:
        raise LoadError(f"{target.address} is an export of {earlier.source}: name another target")
    if not request.is_verified_only:
        return
    if earlier is None:
        raise LoadError(f"{target.address} has no export: leave out --verify to write one")
    if not state.stamp:
        raise LoadError(
            f"{_UNSTEADY}, so that {target.address} cannot be compared with it: "
            f"skyhouse verify {target.address} --rows reads the files alone"
        )
    if not state.continues(earlier):
        raise LoadError(
            f"{target.address} is an export of {earlier.source} with other options, or of rows that have changed "
            "since: export again"
        )


def _keep_or_delete(
    target: ExportTarget, state: ExportState, earlier: ExportState | None, names: dict[str, int], reporter: Reporter
) -> None:
    """Keep files of the same export, delete files of another one, and write the state. Raises ``LoadError``."""
    if earlier is not None and state.continues(earlier):
        reporter.message("the export is complete" if earlier.is_complete else "continuing the stopped export")
    elif earlier is not None:
        changed = f"{state.source} or the options have changed since the last export" if state.stamp else _UNSTEADY
        reporter.message(f"{changed}: exporting everything again")
        # the state stays, so that the target of an export that is killed now is recognised
        target.delete_all([name for name in names if name != STATE_FILE], earlier.is_own)
    if earlier is not None:
        target.delete_parts(earlier.is_own)
    write_state(target, state)


def _plan_collection(engine: Engine, source: ExportSource, request: ExportRequest, reporter: Reporter) -> Collection:
    try:
        rows = HatsRows(source.entry, request.columns)
        plan = plan_catalogue(engine, rows, max_rows=request.max_rows, margin_threshold=request.margin)
    except HatsError as error:
        raise LoadError(str(error)) from error
    collection = Collection(rows, plan, source.changed, request.has_index)
    if not plan.partitions and plan.without_position:
        raise LoadError(f"no row of {request.source} has a position: there is nothing to export")
    for warning in plan.warnings:
        reporter.message(f"warning: {warning}")
    if request.has_index and not collection.index_name:
        reporter.message("no single column identifies rows: the collection has no index")
    return collection


class _PieceWriter:
    """Writes the files of a collection, several at a time."""

    def __init__(self, engine: Engine, target: ExportTarget, collection: Collection, reporter: Reporter) -> None:
        self._engine = engine
        self._target = target
        self._collection = collection
        self._reporter = reporter
        plan = collection.plan
        self._total = plan.rows + sum(plan.margins.values()) + (plan.rows if collection.index_name else 0)
        self._footers: dict[str, pq.FileMetaData] = {}
        self._index_footers: dict[str, pq.FileMetaData] = {}
        self._kept = 0
        self._written = 0
        self._counting = threading.Lock()
        self._is_stopped = threading.Event()

    def write_all(self, threads: int) -> None:
        """Write the missing files, largest first, and then the files that describe them."""
        names = self._target.list_files()
        self._footers, self._index_footers = read_footers(self._target, self._collection, names)
        self._kept = sum(footer.num_rows for footer in (*self._footers.values(), *self._index_footers.values()))
        work: list[Callable[[], None]] = [
            partial(self._write_piece, name) for name in list_partition_files(self._collection)
        ]
        if self._collection.index_name and not self._index_footers:
            work.insert(0, self._write_index)
        self._run_all(work, threads)
        for name, content in write_collection_files(self._collection).items():
            self._target.write_file(name, content)
        self._write_metadata()

    def _run_all(self, work: list[Callable[[], None]], threads: int) -> None:
        pool = ThreadPoolExecutor(max(1, threads), thread_name_prefix="export")
        try:
            running = {pool.submit(each) for each in work}
            while running:
                done, running = wait(running, timeout=1, return_when=FIRST_EXCEPTION)
                for each in done:
                    each.result()
                self._reporter.check()
        finally:
            self._is_stopped.set()
            pool.shutdown(cancel_futures=True)

    def _write_piece(self, name: str) -> None:
        pixel = parse_path(name)
        if pixel is None or name in self._footers:
            return
        rows, plan = self._collection.rows, self._collection.plan
        write = write_partition if name.startswith(f"{self._collection.name}/") else write_margin
        with _translate_errors(self._target.address), self._target.create_file(name) as path:
            self._footers[name] = write(
                self._engine, rows, plan, pixel, path, settings=_PIECE_SETTINGS, on_rows=self._count_rows
            )

    def _write_index(self) -> None:
        folder = self._collection.index_name

        def create_file(name: str) -> AbstractContextManager[Path]:
            return self._target.create_file(f"{folder}/{name}")

        with _translate_errors(self._target.address):
            footers = write_index(self._engine, self._collection, create_file, on_rows=self._count_rows)
        self._index_footers = {f"{folder}/{name}": footer for name, footer in footers.items()}

    def _write_metadata(self) -> None:
        """Write the footers of all files of each catalogue into one file."""
        collection, rows = self._collection, self._collection.rows
        for catalogue in collection.folders:
            start = f"{catalogue}/{DATASET}/"
            is_index = catalogue == collection.index_name
            found = self._index_footers if is_index else self._footers
            footers = {name.removeprefix(start): found[name] for name in sorted(found) if name.startswith(start)}
            schema = rows.index_schema if is_index else rows.schema
            self._target.write_file(f"{catalogue}/{METADATA}", write_footer(schema, footers))

    def _count_rows(self, rows: int) -> None:
        if self._is_stopped.is_set():
            raise LoadCancelled
        self._reporter.check()
        with self._counting:
            self._written += rows
            self._reporter.progress(self._written, (self._kept + self._written) / max(self._total, 1))


@contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    try:
        yield
    except SerializationError as error:
        raise LoadError(f"the table cannot be exported: {error}") from error
    except OSError as error:
        raise LoadError(f"a file cannot be written in {address}: {error}") from error
