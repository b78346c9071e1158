"""A mirror whose pieces are published one by one: the first creates the table, the others are appended to it.

Each piece is a separate load, so after a kill the table shows whether it has the piece.
"""

from __future__ import annotations

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.schema_model import Schema
from loaders.load_error import LoadError
from loaders.mirror.mirror_origin import FetchedPiece, MirrorOrigin
from loaders.mirror.mirror_pieces import load_pieces
from loaders.mirror.mirror_progress import MirrorProgress
from loaders.mirror.mirror_state import JournalEntry, MirrorState
from loaders.mirror.piece_reader import PieceReader
from loaders.pipeline.chunk_reader import ChooseRows, read_chunks
from loaders.pipeline.load_input import LoadInput
from loaders.pipeline.load_job import LoadJob, is_loaded, load_rows, open_load, report_load
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import append_few_rows
from loaders.pipeline.named_input import NamedInput
from loaders.pipeline.staging_fill import StagingFill
from loaders.pipeline.storage_choice import read_live_state
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState
from tap_service.readers.table_source import Source
from tap_service.storage.engine.engine import Engine


class PublishedPieces:
    """Loads and publishes the pieces. ``request``: the load of the first piece; ``schema``: of the table to create."""

    def __init__(
        self,
        engine: Engine,
        request: LoadRequest,
        schema: Schema,
        origin: MirrorOrigin,
        state: MirrorState,
        reader: PieceReader,
        choose_rows: ChooseRows | None,
        reporter: Reporter,
    ) -> None:
        self._engine = engine
        self._request = request
        self._schema = schema
        self._origin = origin
        self._state = state
        self._reader = reader
        self._choose_rows = choose_rows
        self._reporter = reporter
        #: Number of rows of the loaded pieces
        self._rows = 0

    def load_all(self, total: int, max_files: int) -> None:
        """Load the pieces that the journal does not have."""
        journal = self._state.read_journal()
        done = next(number for number in range(total + 1) if number not in journal)
        if done:
            self._reporter.message(f"{done:,} of {total:,} files are loaded already")
            self._reader.nulls = journal[done - 1].nulls
        self._rows = sum(entry.rows for entry in journal.values())
        progress = MirrorProgress(self._reporter, self._state.files, total, done, self._rows)
        load_pieces(self._origin, range(done, total), self._load_piece, max_files, progress, self._reporter)

    def _load_piece(self, piece: FetchedPiece) -> int:
        catalogue = read_catalogue(self._engine)
        sources = self._reader.open(piece)
        rejects = self._request.rejects
        request = self._request.model_copy(
            update={
                "files": (self._origin.get_name(piece.index),),
                "mode": "append" if piece.index else self._request.mode,
                "rejects": rejects.with_name(f"{rejects.stem}.{piece.index:06d}{rejects.suffix}"),
            }
        )
        found = NamedInput(str(request.files[0]), piece.digest, tuple(sources))
        live = read_live_state(self._engine, request.table, catalogue)
        schema = self._find_schema(request, live)
        load_input = LoadInput([found], schema.tables[0])
        job = open_load(self._engine, catalogue, request, load_input, schema, live, self._reporter)
        if is_loaded(job, catalogue):  # a process was killed before it wrote the journal
            rows = _count_rows(job) - self._rows
        else:
            rows = self._load_rows(job, sources, piece.index)
        self._rows += rows
        nulls = self._reader.nulls
        self._state.write_entry(JournalEntry(file=piece.index, digest=piece.digest, chunks={0: rows}, nulls=nulls))
        piece.delete()
        reach(Failpoint.MIRROR_DELETE)
        return rows

    def _find_schema(self, request: LoadRequest, live: TableState | None) -> Schema:
        if request.mode != "append":
            return self._schema
        if live is None:
            raise LoadError(
                f"{request.table}, which had the earlier files, does not exist any more: start again with --restart"
            )
        return live.entry

    def _load_rows(self, job: LoadJob, sources: list[Source], index: int) -> int:
        _refuse_other_files(job, index)

        def insert_rows(fill: StagingFill) -> None:
            fill.rejects.start()
            fill.insert_chunks(read_chunks(job.table, sources, fill.rejects, choose_rows=self._choose_rows))

        load = load_rows(job, insert_rows, lambda: append_few_rows(job, sources, self._choose_rows))
        report_load(job, load)
        return load.rows


def _count_rows(job: LoadJob) -> int:
    """Return the number of rows of the live table, with its appends."""
    return (job.live.rows if job.live else 0) + (job.appends.sum_appends().rows if job.appends else 0)


def _refuse_other_files(job: LoadJob, index: int) -> None:
    """Raise ``LoadError`` if the table has more files than the pieces before ``index``: rows would be loaded twice."""
    if job.base is None or job.appends is None:
        return
    files = len(job.base.find_loads("load")) + job.appends.sum_appends().appends
    if files > index:
        raise LoadError(
            f"{job.request.table} has rows of other files than the files before {job.request.files[0]}: the origin has"
            " changed its files, or something else was loaded. Start again with --restart --replace"
        )
