"""Opens the files of pieces in the order of the pieces: what one shows of missing values counts in those behind it."""

from __future__ import annotations

from collections.abc import Iterable

from loaders.mirror.mirror_origin import FetchedPiece, MirrorOrigin
from loaders.progress_reporter import Reporter
from tap_service.models.read_options import ReadOptions
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.file_formats import describe_form, open_source
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Source


class PieceReader:
    """Opens the pieces of ``origin``.

    Attributes
    ----------
    options
        How all files are read.
    columns
        All columns that the metadata have; others of the files are reported.
    nulls
        NULL tokens that were recognised in files.
    """

    def __init__(self, origin: MirrorOrigin, options: ReadOptions, columns: Iterable[str], reporter: Reporter) -> None:
        self._origin = origin
        self._options = options
        self._columns = set(columns)
        self._reporter = reporter
        self.nulls: tuple[str, ...] = ()

    def open(self, piece: FetchedPiece) -> list[Source]:
        """Open the files of a piece; of the first one, report the form. Raises ``ReadError`` with its address."""
        name = self._origin.get_name(piece.position)
        options = self._options.add_nulls(self.nulls)
        try:
            sources = [open_source(path, options) for path in piece.paths]
            if not piece.position:
                said = "; ".join((describe_form(piece.paths[0], sources[0]), *sources[0].notes))
                self._reporter.message(f"note: {name}: {said}")
        except ReadError as error:
            raise ReadError(f"{name}: {error}") from error
        self.nulls = sources[0].options.nulls
        self._report_columns(name, sources[0])
        return sources

    def _report_columns(self, name: str, source: Source) -> None:
        """Report columns of a file that the metadata lack, each once."""
        others = [field.name for field in source.fields if not find_matching_name(field.name, self._columns)]
        if others:
            self._columns.update(others)
            self._reporter.message(f"warning: {name}: the table has no column {', '.join(others)}: not loaded")
