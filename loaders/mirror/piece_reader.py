"""Opens the files of pieces in order: NULL tokens that are recognised in a file apply to the files after it."""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.mirror.mirror_origin import FetchedPiece, MirrorOrigin
from loaders.pipeline.missing_columns import find_missing_columns, list_some
from loaders.pipeline.reading_notes import describe_reading
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
        The options for reading all files.
    table
        The wanted columns, which every file must have.
    columns
        All columns of the metadata; other columns of the files are reported.
    nulls
        NULL tokens that were recognised in files.
    """

    def __init__(
        self, origin: MirrorOrigin, options: ReadOptions, table: Table, columns: Iterable[str], reporter: Reporter
    ) -> None:
        self._origin = origin
        self._options = options
        self._table = table
        self._columns = set(columns)
        self._reporter = reporter
        self.nulls: tuple[str, ...] = ()

    def open(self, piece: FetchedPiece) -> list[Source]:
        """Open the files of a piece; report how the first piece is read.

        Raises
        ------
        ReadError
            A file cannot be read; the message has its address.
        LoadError
            A file lacks a column.
        """
        name = self._origin.get_name(piece.index)
        options = self._options.add_nulls(self.nulls)
        try:
            sources = [open_source(path, options) for path in piece.paths]
            if not piece.index:
                form = describe_form(piece.paths[0], sources[0])
                self._reporter.message(f"note: {name}: {describe_reading(form, sources[0], self._table)}")
        except ReadError as error:
            raise ReadError(f"{name}: {error}") from error
        self.nulls = sources[0].options.nulls
        self._refuse_missing_columns(name, sources[0])
        self._report_columns(name, sources[0])
        return sources

    def _refuse_missing_columns(self, name: str, source: Source) -> None:
        if missing := find_missing_columns(self._table, source):
            raise LoadError(
                f"{name} has no column {list_some(missing)}: leave it out with --columns, or give the names that the"
                " files have in columns or renamed of the recipe, and start again with --restart"
            )

    def _report_columns(self, name: str, source: Source) -> None:
        """Report columns of a file that the metadata lack, each once."""
        others = [field.name for field in source.fields if not find_matching_name(field.name, self._columns)]
        if others:
            self._columns.update(others)
            self._reporter.message(f"warning: {name}: the table has no column {list_some(others)}: not loaded")
