"""Exports a table or the result of a query to one file, in an output format of the service."""

from __future__ import annotations

import tempfile
from pathlib import Path

from loaders.export.export_request import HATS, ExportRequest
from loaders.export.export_source import list_sources, translate_source
from loaders.export.export_target import open_file_target
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.constants import PRODUCT
from tap_service.scratch_files import Budget, NoRoom, ScratchSpace
from tap_service.serializers import OK, ResultInfo, SerializationError
from tap_service.serializers.output_formats import FORMATS, Format, TooManyColumnsError, UnknownFormatError, find_format
from tap_service.storage.engine.engine import Engine

#: Disk space for formats that state the number of rows before the rows, such as FITS
_SCRATCH_BYTES = 1 << 50


def export_file(engine: Engine, request: ExportRequest, reporter: Reporter) -> None:
    """Write all rows into a file, which appears when it is complete.

    Parameters
    ----------
    engine : Engine
        Has the rows.
    request : ExportRequest
        What to export; ``target`` names the file.
    reporter : Reporter
        Receives the number of rows; may stop the export.

    Raises
    ------
    LoadError
        The format is unknown, or cannot hold a value; the table, the query or the target cannot be used.
    EngineError
    """
    written_format = _find_format(request)
    target, name = open_file_target(request.target)
    if not request.replaces_file and target.has_file(name):
        raise LoadError(f"{request.target} exists: name another file, or replace it with --overwrite")
    translation = translate_source(engine, request.source)
    try:
        written_format.check_columns(len(translation.fields))
    except TooManyColumnsError as error:
        raise LoadError(f"{request.source} cannot be written as {request.format}: {error}") from error
    citations, rights = list_sources(translation)
    info = ResultInfo(request.source, citations=citations, rights=rights, software=PRODUCT, links=translation.links)
    scratch = ScratchSpace(Path(tempfile.gettempdir()), Budget(_SCRATCH_BYTES))
    rows = 0
    try:
        with target.create_file(name) as path, path.open("wb") as file:
            serializer = written_format.serializer(translation.fields, info, scratch)
            file.write(serializer.write_header())
            with engine.stream_batches(translation.sql, settings=translation.settings) as batches:
                for batch in batches:
                    file.write(serializer.write_rows(batch))
                    rows += batch.num_rows
                    reporter.check()
            file.writelines(serializer.write_footer(OK))
    except (SerializationError, NoRoom) as error:
        raise LoadError(f"{request.source} cannot be written as {request.format}: {error}") from error
    except OSError as error:
        raise LoadError(f"{request.target} cannot be written: {error.strerror or error}") from error
    reporter.output(f"{request.target}: {rows:,} rows")


def _find_format(request: ExportRequest) -> Format:
    if request.is_verified_only or request.columns:
        option = "--verify" if request.is_verified_only else "--columns"
        raise LoadError(f"{option} is for --format {HATS}; for {request.format} write a query")
    try:
        return find_format(request.format)
    except UnknownFormatError as error:
        known = ", ".join([HATS, *(alias for each in FORMATS for alias in each.aliases)])
        raise LoadError(f"there is no format {request.format!r}; there are {known}") from error
