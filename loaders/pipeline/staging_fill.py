"""Fills the staging table: chunks are read ahead, inserted in parallel, counted and verified."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property

from clickhouse_schema.engine_tables.catalogue_log import read_registered
from loaders.load_error import LoadError
from loaders.pipeline.chunk_reader import Chunk, plan_chunks, read_chunks, read_planned_chunks, reject_orphans
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.read_ahead import read_ahead
from loaders.pipeline.rejects_file import RejectsFile
from loaders.progress_reporter import Reporter
from loaders.storage.gateway_table import Orphan
from loaders.storage.load_state import TableState
from loaders.storage.storage_protocol import TableStorage
from tap_service.readers.table_source import Source


class StagingFill:
    """Fills the staging table of a load.

    Parameters
    ----------
    storage : TableStorage
        Storage of the table, whose staging table exists.
    request : LoadRequest
        What the operator asks for.
    load_input : LoadInput
        The files and the model of their table.
    live_rows : int
        Number of rows of the live table that the staging table contains at first.
    reporter : Reporter
        Receives the progress; may stop the load.
    """

    def __init__(
        self,
        storage: TableStorage,
        request: LoadRequest,
        load_input: LoadInput,
        live_rows: int,
        reporter: Reporter,
    ) -> None:
        self._storage = storage
        self._request = request
        self._input = load_input
        self._live_rows = live_rows
        self._reporter = reporter
        self.rejects = RejectsFile(request.rejects, request.max_errors)
        #: Number of rows that this run has read
        self._rows = 0
        #: Number of rows that each chunk must have; chunk 0 stands for the rows of the live table
        self._wanted = {0: live_rows} if live_rows else {}

    @cached_property
    def present(self) -> dict[int, int]:
        """The number of rows of each chunk in the staging table, when this was first read."""
        return self._storage.staging.count_chunk_rows()

    def insert_sources(self, sources: list[Source]) -> None:
        """Insert the missing chunks of all files."""
        self.rejects.start()
        plan = plan_chunks(sources)
        if plan is None:
            self.insert_chunks(read_chunks(self._input.table, sources, self.rejects))
            return
        stored = plan.find_stored(self.present)
        self.keep_chunks({number: plan.rows[number] for number in stored})
        self.insert_chunks(read_planned_chunks(self._input.table, plan, stored, self.rejects))

    def keep_chunks(self, rows: Mapping[int, int]) -> None:
        """Expect chunks that the staging table already has, which are not read again.

        Parameters
        ----------
        rows : mapping of int to int
            Number of rows by chunk number, for the verification.
        """
        self._wanted |= rows

    def delete_chunks(self, numbers: range) -> None:
        """Delete the rows of chunks whose file has changed.

        Parameters
        ----------
        numbers : range
            Numbers of the chunks; numbers without rows are ignored. No chunk may be inserted at the same time.
        """
        self._wanted = {number: rows for number, rows in self._wanted.items() if number not in numbers}
        self._storage.staging.delete_chunks(numbers)
        del self.present

    def insert_chunks(self, chunks_to_read: Iterator[Chunk]) -> dict[int, int]:
        """Insert the chunks that the staging table lacks.

        Parameters
        ----------
        chunks_to_read : iterator of Chunk
            All chunks in ascending order; they are read ahead in a thread.

        Returns
        -------
        dict of int to int
            Number of rows of all these chunks by number, without rejected rows.

        Raises
        ------
        ReadError
            A file cannot be read.
        LoadError
            There are too many bad rows.
        LoadCancelled
            The user has stopped the command; the inserted chunks stay.
        """
        staging = self._storage.staging
        plain = staging.find_plain_columns(self._input.table)
        numbers: list[int] = []
        running: deque[tuple[Chunk, Future[list[Orphan]]]] = deque()
        with (
            read_ahead(chunks_to_read) as chunks,
            ThreadPoolExecutor(self._request.insert_threads) as inserters,
        ):
            for chunk in chunks:
                self._reporter.check()
                numbers.append(chunk.number)
                self._wanted[chunk.number] = chunk.rows
                if self.present.get(chunk.number, 0) < chunk.rows:
                    if with_nulls := chunk.find_nulls(plain):
                        self._finish_inserts(running)
                        staging.allow_nulls(self._input.table, with_nulls)
                        plain -= with_nulls
                    insert = inserters.submit(staging.insert_chunk, chunk.number, chunk.batches)
                    running.append((chunk, insert))
                if len(running) > self._request.insert_threads:
                    self._finish_insert(*running.popleft())
                self._rows += chunk.rows
                self._reporter.progress(self._rows, chunk.fraction)
            self._finish_inserts(running)
        return {number: self._wanted[number] for number in numbers}

    def finish(self, state: TableState) -> TableState:
        """Verify all rows, and mark the staging table as verified.

        Parameters
        ----------
        state : TableState
            State of the staging table.

        Returns
        -------
        TableState
            The new state, with the record of this load as the last load.

        Raises
        ------
        LoadError
            All rows are bad, or the staging table differs from the files. It is dropped.
        LoadCancelled
            The user has stopped the command.
        """
        self._reporter.check()
        self.rejects.report_cut_times(self._reporter)
        self._refuse_empty()
        self._verify_rows()
        return self._mark_verified(state)

    def _finish_inserts(self, running: deque[tuple[Chunk, Future[list[Orphan]]]]) -> None:
        while running:
            self._finish_insert(*running.popleft())

    def _finish_insert(self, chunk: Chunk, insert: Future[list[Orphan]]) -> None:
        orphans = insert.result()
        reject_orphans(chunk, orphans, self.rejects)
        self._wanted[chunk.number] = chunk.rows - len(orphans)

    def _refuse_empty(self) -> None:
        """Raise ``LoadError``, and drop the staging table, if it would be empty because all rows are bad."""
        if self.rejects.count and not any(self._wanted.values()):
            self._storage.staging.drop_table()
            raise LoadError(
                f"all {self.rejects.count:,} rows are bad; they are in {self.rejects.path}, each with the reason. "
                "Nothing was changed"
            )

    def _verify_rows(self) -> None:
        """Raise ``LoadError``, and drop the staging table, if it does not have exactly the rows of the files."""
        wanted = {number: rows for number, rows in self._wanted.items() if rows}
        if self._storage.staging.count_chunk_rows() != wanted:
            errors = ["its rows differ from the rows of the files"]
        else:
            errors = self._storage.staging.find_problems()
        if errors:
            self._storage.staging.drop_table()
            raise LoadError(
                f"the staging table of {self._request.table} is wrong: {'; '.join(errors)}."
                " Nothing was changed: start the load again"
            )

    def _mark_verified(self, state: TableState) -> TableState:
        rows = sum(self._wanted.values()) - self._live_rows
        load = self._input.describe_load(state.fingerprint, rows, self.rejects.count)
        storage = self._storage
        version, _ = read_registered(storage.engine, storage.schema_name, storage.table_name)
        state = state.model_copy(update={"verified": True, "loads": (*state.loads, load), "catalogue": version})
        storage.staging.mark_verified(state)
        return state
