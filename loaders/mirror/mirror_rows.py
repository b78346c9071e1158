"""Loads the rows of a mirror into its staging table, one piece after the other.

    fetch -> journal: started, with the SHA-256 -> chunks of the piece -> journal: loaded, with their rows -> delete

The index of a piece determines the numbers of its chunks. After a kill, an unfinished piece with the same content gets
the chunks that it lacks; a piece with other content is loaded from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator

from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.mirror.mirror_origin import FetchedPiece, MirrorOrigin
from loaders.mirror.mirror_pieces import load_pieces
from loaders.mirror.mirror_progress import MirrorProgress
from loaders.mirror.mirror_state import JournalEntry, MirrorState, find_loaded
from loaders.mirror.piece_reader import PieceReader
from loaders.pipeline.chunk_reader import ChooseRows, Chunk, read_chunks
from loaders.pipeline.piece_chunks import CHUNKS_PER_PIECE, number_chunks
from loaders.pipeline.staging_fill import StagingFill
from loaders.progress_reporter import Reporter


class MirrorRows:
    """Loads ``total`` pieces of ``origin`` as rows of ``table``.

    Parameters
    ----------
    reader : PieceReader
        Opens the files.
    choose_rows : ChooseRows or None
        Returns which rows are wanted; None for all.
    max_files : int
        Maximum number of fetched pieces on the disk.
    """

    def __init__(
        self,
        origin: MirrorOrigin,
        state: MirrorState,
        total: int,
        table: Table,
        reader: PieceReader,
        choose_rows: ChooseRows | None,
        max_files: int,
        reporter: Reporter,
    ) -> None:
        self._origin = origin
        self._state = state
        self._total = total
        self._table = table
        self._reader = reader
        self._choose_rows = choose_rows
        self._max_files = max_files
        self._reporter = reporter
        self._journal = state.read_journal()
        #: Size and number of rows of the rejects file after the last loaded piece
        self._rejects = (0, 0)

    def insert_rows(self, fill: StagingFill) -> None:
        """Load the pieces that the staging table lacks."""
        loaded = find_loaded(self._journal, fill.present)
        for entry in loaded:
            fill.keep_chunks({number: rows for number, rows in (entry.chunks or {}).items() if rows})
        if loaded:
            self._rejects = (loaded[-1].rejects_bytes, loaded[-1].rejects_rows)
            self._reader.nulls = loaded[-1].nulls
            self._reporter.message(f"{len(loaded):,} of {self._total:,} files are loaded already")
        rows = sum(entry.rows for entry in loaded)
        progress = MirrorProgress(self._reporter, self._state.files, self._total, len(loaded), rows)
        load_pieces(
            self._origin,
            range(len(loaded), self._total),
            lambda piece: self._insert_piece(fill, piece, progress),
            self._max_files,
            progress,
            self._reporter,
        )
        reach(Failpoint.MIRROR_PUBLISH)

    def _insert_piece(self, fill: StagingFill, piece: FetchedPiece, progress: MirrorProgress) -> int:
        self._begin_piece(fill, piece)
        chunks = fill.insert_chunks(progress.scale(self._read_chunks(fill, piece)))
        self._rejects = size, count = fill.rejects.size, fill.rejects.count
        entry = JournalEntry(
            file=piece.index,
            digest=piece.digest,
            chunks=chunks,
            rejects_bytes=size,
            rejects_rows=count,
            nulls=self._reader.nulls,
        )
        self._state.write_entry(entry)
        piece.delete()
        reach(Failpoint.MIRROR_DELETE)
        return entry.rows

    def _begin_piece(self, fill: StagingFill, piece: FetchedPiece) -> None:
        """Record that a piece is started, and delete rows of earlier content of it from the staging table."""
        fill.rejects.start(*self._rejects)
        started = self._journal.get(piece.index)
        if started is not None and started.digest == piece.digest:
            return
        if started is not None:
            fill.delete_chunks(number_chunks(piece.index))
        self._journal[piece.index] = JournalEntry(file=piece.index, digest=piece.digest)
        self._state.write_entry(self._journal[piece.index])

    def _read_chunks(self, fill: StagingFill, piece: FetchedPiece) -> Iterator[Chunk]:
        sources = self._reader.open(piece)
        numbers = number_chunks(piece.index)
        for chunk in read_chunks(self._table, sources, fill.rejects, numbers.start, self._choose_rows):
            if chunk.number not in numbers:
                name = self._origin.get_name(piece.index)
                raise LoadError(
                    f"{name} has more than {CHUNKS_PER_PIECE:,} chunks of rows: split it into several files"
                )
            yield chunk
