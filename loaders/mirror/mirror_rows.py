"""The rows of a mirror go into its staging table, one piece after the other.

    fetch -> journal: begun, with the SHA-256 -> chunks of the piece -> journal: loaded, with their rows -> delete

The chunks of a piece have numbers that follow from its position. So a piece that was begun is finished after a kill
with the chunks that it lacks, if it has the same content, and else begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.mirror.fetch_ahead import FetchLimit, fetch_ahead
from loaders.mirror.mirror_origin import FetchedPiece, MirrorOrigin
from loaders.mirror.mirror_progress import MirrorProgress
from loaders.mirror.mirror_state import JournalEntry, MirrorState, find_loaded
from loaders.pipeline.chunk_reader import ChooseRows, Chunk, read_chunks
from loaders.pipeline.staging_fill import StagingFill
from loaders.progress_reporter import Reporter
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tap_service.readers.read_options import ReadOptions
from tap_service.readers.table_source import Source

#: Numbers of chunks that a piece has: at 64 MB, 256 GB of rows
CHUNKS_PER_PIECE = 4096


class MirrorRows:
    """The rows of ``total`` pieces of ``origin`` as rows of ``table``.

    Parameters
    ----------
    options
        How the files are read.
    choose_rows
        Which rows are wanted; None for all.
    max_files
        Pieces that are on the disk at a time.
    """

    def __init__(
        self,
        origin: MirrorOrigin,
        state: MirrorState,
        total: int,
        table: Table,
        options: ReadOptions,
        choose_rows: ChooseRows | None,
        max_files: int,
        reporter: Reporter,
    ) -> None:
        self._origin = origin
        self._state = state
        self._total = total
        self._table = table
        self._options = options
        self._choose_rows = choose_rows
        self._limit = FetchLimit(max_files)
        self._reporter = reporter
        self._journal: Mapping[int, JournalEntry] = {}
        #: size of the rejects file behind the last piece that is loaded, and its rows
        self._rejects = (0, 0)

    def insert_rows(self, fill: StagingFill) -> None:
        """Load the pieces that the staging table lacks."""
        self._journal = self._state.read_journal()
        loaded = find_loaded(self._journal, fill.present)
        for entry in loaded:
            fill.keep_chunks({number: rows for number, rows in (entry.chunks or {}).items() if rows})
        if loaded:
            self._rejects = (loaded[-1].rejects_bytes, loaded[-1].rejects_rows)
            self._reporter.message(f"{len(loaded):,} of {self._total:,} files are loaded already")
        rows = sum(entry.rows for entry in loaded)
        progress = MirrorProgress(self._reporter, self._state.files, self._total, len(loaded), rows)
        fill.rejects.start(*self._rejects)
        with fetch_ahead(self._fetch, range(len(loaded), self._total), self._limit) as pieces:
            for piece in pieces:
                progress.add_piece(self._load_piece(fill, piece, progress))
                self._limit.give_room()
        reach(Failpoint.MIRROR_PUBLISH)

    def _fetch(self, position: int) -> FetchedPiece:
        return self._origin.fetch(position, self._check)

    def _check(self) -> None:
        self._limit.check()
        self._reporter.check()

    def _load_piece(self, fill: StagingFill, piece: FetchedPiece, progress: MirrorProgress) -> int:
        """Load a piece, which is fetched again if it cannot be read; return its rows."""
        try:
            return self._insert_piece(fill, piece, self._journal.get(piece.position), progress)
        except LoadError:
            raise
        except ReadError as error:
            self._origin.forget(piece.position)
            again = self._fetch(piece.position)
            if again.digest == piece.digest:
                name = self._origin.get_name(piece.position)
                raise LoadError(f"{name} cannot be read, also when it is fetched again: {error}") from error
            self._reporter.message(f"{error}: it was fetched again, with another content")
            begun = JournalEntry(file=piece.position, digest=piece.digest)
            fill.rejects.start(*self._rejects)
            return self._insert_piece(fill, again, begun, progress)

    def _insert_piece(
        self, fill: StagingFill, piece: FetchedPiece, begun: JournalEntry | None, progress: MirrorProgress
    ) -> int:
        position = piece.position
        if begun is not None and begun.digest != piece.digest:
            first = _number_first(position)
            fill.delete_chunks(range(first, first + CHUNKS_PER_PIECE))
        if begun is None or begun.digest != piece.digest:
            self._state.write_entry(JournalEntry(file=position, digest=piece.digest))
        chunks = fill.insert_chunks(progress.scale(self._read_chunks(fill, piece)))
        self._rejects = (fill.rejects.size, fill.rejects.count)
        size, count = self._rejects
        entry = JournalEntry(file=position, digest=piece.digest, chunks=chunks, rejects_bytes=size, rejects_rows=count)
        self._state.write_entry(entry)
        piece.delete()
        reach(Failpoint.MIRROR_DELETE)
        return entry.rows

    def _read_chunks(self, fill: StagingFill, piece: FetchedPiece) -> Iterator[Chunk]:
        sources = [self._open(path, piece.position) for path in piece.paths]
        first = _number_first(piece.position)
        for chunk in read_chunks(self._table, sources, fill.rejects, first, self._choose_rows):
            if chunk.number >= first + CHUNKS_PER_PIECE:
                name = self._origin.get_name(piece.position)
                raise LoadError(f"{name} has more than {CHUNKS_PER_PIECE:,} chunks of rows: cut it into several files")
            yield chunk

    def _open(self, path: Path, position: int) -> Source:
        try:
            return open_source(path, self._options)
        except ReadError as error:
            raise ReadError(f"{self._origin.get_name(position)}: {error}") from error


def _number_first(position: int) -> int:
    """Return the number of the first chunk of a piece; 0 are the rows of a live table."""
    return position * CHUNKS_PER_PIECE + 1
