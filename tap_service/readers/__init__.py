"""Readers of table files, one file a format. ``open_source`` finds the reader by the first bytes, then the name."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tap_service.readers.csv import CsvSource
from tap_service.readers.ecsv import EcsvSource
from tap_service.readers.errors import ReadError
from tap_service.readers.fits import FitsSource
from tap_service.readers.parquet import ParquetSource
from tap_service.readers.source import Source
from tap_service.readers.votable import VotableSource


@dataclass(frozen=True, slots=True)
class Format:
    """``starts`` are first bytes (after gunzip and leading white space) that only this format has."""

    name: str
    extensions: tuple[str, ...]
    starts: tuple[bytes, ...]
    open: Callable[[Path], Source]


FORMATS = (
    Format("Parquet", (".parquet", ".parq", ".pq"), (b"PAR1",), ParquetSource),
    Format("ECSV", (".ecsv",), (b"# %ECSV",), EcsvSource),
    Format("CSV or TSV", (".csv", ".tsv"), (), CsvSource),
    Format("VOTable", (".vot", ".votable", ".xml"), (b"<?xml", b"<VOTABLE", b"<vot:VOTABLE"), VotableSource),
    Format("FITS", (".fits", ".fit", ".fts"), (b"SIMPLE  =",), FitsSource),
)


def open_source(path: Path) -> Source:
    """The table in a file. Raises ``ReadError`` if it cannot be read or its format is not known."""
    start = _first_bytes(path)
    name = path.name.lower().removesuffix(".gz")
    for format in FORMATS:
        if format.starts and start.startswith(format.starts):
            return format.open(path)
    for format in FORMATS:
        if name.endswith(format.extensions):
            return format.open(path)
    known = ", ".join(f"{format.name} ({' '.join(format.extensions)})" for format in FORMATS)
    raise ReadError(f"{path} is of no format that can be loaded; known are {known}")


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            start = file.read(64)
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(path) as unzipped:
                start = unzipped.read(64)
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not start:
        raise ReadError(f"{path} is empty")
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()
