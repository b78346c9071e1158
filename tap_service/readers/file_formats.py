"""The formats of table files, and the reader of a file.

``open_source`` detects the format by the first bytes, then by the file name. Files from the network are read in the
sandbox: see ``sandboxed_reader``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tap_service.readers.arrow_reader import ArrowSource
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.cds_reader import CdsSource, is_described_beside, is_mrt_start
from tap_service.readers.compression import strip_compression
from tap_service.readers.csv_reader import CsvSource, TsvSource
from tap_service.readers.ecsv_reader import EcsvSource
from tap_service.readers.fits_reader import FitsSource
from tap_service.readers.ipac_header import is_ipac_start
from tap_service.readers.ipac_reader import IpacSource
from tap_service.readers.parquet_reader import ParquetSource
from tap_service.readers.read_error import ReadError
from tap_service.readers.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.table_source import Source
from tap_service.readers.vizier_header import is_vizier_start
from tap_service.readers.vizier_reader import VizierSource
from tap_service.readers.votable_reader import VotableSource


@dataclass(frozen=True, slots=True)
class Format:
    """A readable format.

    ``starts``: the first bytes that identify it, after decompression and leading white space. ``is_start`` tells it by
    the first ``_START_BYTES``.
    """

    name: str
    extensions: tuple[str, ...]
    types: tuple[str, ...]
    starts: tuple[bytes, ...]
    open: Callable[[Path, ReadOptions], Source]
    is_start: Callable[[bytes], bool] | None = None


ECSV = Format("ECSV", (".ecsv",), ("application/x-ecsv", "text/x-ecsv"), (b"# %ECSV",), EcsvSource)
CSV = Format("CSV", (".csv",), ("text/csv",), (), CsvSource)
IPAC = Format("IPAC", (".tbl",), (), (), IpacSource, is_ipac_start)
CDS = Format("CDS", (".mrt",), (), (), CdsSource, is_mrt_start)
VIZIER = Format("VizieR", (), (), (), VizierSource, is_vizier_start)

#: The texts that servers also send as CSV or TSV
_DESCRIBED_TEXTS = (ECSV, IPAC, CDS, VIZIER)

#: The bytes by which a format is detected: VizieR describes columns above their names
_START_BYTES = 1 << 16

FORMATS = (
    Format(
        "Parquet",
        (".parquet", ".parq", ".pq"),
        ("application/vnd.apache.parquet", "application/x-parquet", "application/parquet"),
        (b"PAR1",),
        ParquetSource,
    ),
    Format(
        "Arrow",
        (".arrow", ".arrows", ".feather"),
        ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"),
        (b"ARROW1", b"\xff\xff\xff\xff"),
        ArrowSource,
    ),
    ECSV,
    Format("TSV", (".tsv",), ("text/tab-separated-values",), (), TsvSource),
    CSV,
    Format(
        "VOTable",
        (".vot", ".votable", ".xml"),
        ("application/x-votable+xml", "text/xml", "application/xml"),
        (b"<", b"\xff\xfe<\0", b"\xfe\xff\0<"),
        VotableSource,
    ),
    Format("FITS", (".fits", ".fit", ".fts"), ("application/fits", "image/fits"), (b"SIMPLE  =",), FitsSource),
    IPAC,
    CDS,
    VIZIER,
)


def open_source(path: Path, options: ReadOptions = AS_DETECTED) -> Source:
    """Open the table in a file.

    Parameters
    ----------
    path : Path
        The file, optionally compressed. Its extension matters only if its first bytes identify no format.
    options : ReadOptions
        What the sender says of the file.

    Returns
    -------
    Source
        The fields of the table and an iterator over its row blocks.

    Raises
    ------
    ReadError
        The file cannot be read, or its format is unknown.
    """
    found = _find_format_by_start(read_first_bytes(path))
    if found is None and is_described_beside(path):
        found = CDS
    if found is None:
        name = strip_compression(path.name.lower())
        found = next((format for format in FORMATS if name.endswith(format.extensions)), None)
    if found is not None:
        return found.open(path, options)
    known = ", ".join(f"{format.name} ({' '.join(format.extensions) or 'by content'})" for format in FORMATS)
    raise ReadError(f"{path} has an unknown format; supported formats are {known}")


def open_upload(path: Path, content_type: str, options: ReadOptions = AS_DETECTED) -> Source:
    """Open the table in an uploaded file, which has no name.

    Parameters
    ----------
    path : Path
        The file, optionally compressed.
    content_type : str
        The Content-Type of the upload. If it names no known format, the first bytes decide; a text file that they do
        not identify is read as CSV.
    options : ReadOptions
        What the sender says of the file.

    Returns
    -------
    Source
        The fields of the table and an iterator over its row blocks.

    Raises
    ------
    ReadError
        The file cannot be read, its format is unknown, or ``content_type`` names another format.
    """
    kind = content_type.partition(";")[0].strip().lower()
    declared = next((format for format in FORMATS if kind in format.types), None)
    start = read_first_bytes(path)
    found = _find_format_by_start(start)
    if declared is not None and found is not declared and (found not in (None, *_DESCRIBED_TEXTS) or declared.starts):
        actual = f"is a {found.name} file" if found else f"does not start like a {declared.name} file"
        raise ReadError(f"{path} {actual}, but its Content-Type is for {declared.name}: correct one of them")
    if found is None and declared is None and b"\0" in start:
        known = ", ".join(format.name for format in FORMATS)
        raise ReadError(f"{path} is not a table in a known format; supported formats are {known}")
    return (found or declared or CSV).open(path, options)


def _find_format_by_start(start: bytes) -> Format | None:
    return next((format for format in FORMATS if _matches_start(format, start)), None)


def _matches_start(format: Format, start: bytes) -> bool:
    if format.is_start is not None:
        return format.is_start(start)
    return bool(format.starts) and start.startswith(format.starts)


def read_first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file after decompression, without byte order mark and leading white space."""
    with ByteStream(path) as stream:
        start = stream.read(_START_BYTES)
    if not start:
        raise ReadError(f"{path} is empty")
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()
