"""The request of ``skyhouse load``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import PlainValidator

from loaders.command_request import CommandRequest
from tap_service.models.read_options import AS_DETECTED, ReadOptions

Mode = Literal["create", "replace", "append"]


def _read_input_name(name: Path | str) -> Path | str:
    return name if "://" in str(name) else Path(name)


#: A table file, a folder, or a URL as text
InputName = Annotated[Path | str, PlainValidator(_read_input_name)]


class LoadRequest(CommandRequest):
    """One load.

    Attributes
    ----------
    files
        Table files (``tap_service.readers.file_formats``); folders of HATS catalogues, or their URLs as text.
    table
        ``schema.table``.
    rejects
        Path of the rejects file.
    schema_file
        YAML that describes the table; by default the description is taken from the first file.
    strict
        Treat bad units and UCDs as errors.
    max_errors
        Number of bad rows beyond which the load stops.
    mode
        What to do with an existing table.
    insert_threads
        Number of chunks that are inserted at a time: ClickHouse sorts and compresses a chunk on one core.
    options
        What the operator says about the files.
    """

    command: Literal["load"] = "load"
    files: tuple[InputName, ...]
    table: str
    rejects: Path
    schema_file: Path | None = None
    strict: bool = False
    max_errors: int = 100
    mode: Mode = "create"
    insert_threads: int = 2
    options: ReadOptions = AS_DETECTED
