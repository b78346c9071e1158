"""The formats of table files, and the reader of a file.

``open_source`` detects the format by the first bytes, then by the file name. Files from the network are read in the
sandbox: see ``sandboxed_reader``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.arrow_reader import ArrowSource
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.cds_reader import CdsSource, is_described_by_readme, is_mrt_start
from tap_service.readers.csv_reader import CsvSource, TsvSource
from tap_service.readers.ecsv_reader import EcsvSource
from tap_service.readers.fits_reader import FitsSource
from tap_service.readers.ipac_header import is_ipac_start
from tap_service.readers.ipac_reader import IpacSource
from tap_service.readers.parquet_reader import ParquetSource
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Source, TableHeader
from tap_service.readers.vizier_header import is_vizier_start
from tap_service.readers.vizier_reader import VizierSource
from tap_service.readers.votable_reader import VotableSource

#: choices of ``ReadOptions`` that all formats accept
_COMMON_CHOICES = frozenset({"format", "nulls", "case_matters"})

#: choices of delimited text
_TEXT_CHOICES = frozenset({"delimiter", "header", "columns", "comment"})

#: names of the choices in messages
_CHOICE_NAMES = {"table": "--table-index", "header": "--header and --no-header"}


@dataclass(frozen=True, slots=True)
class Format:
    """A readable format.

    Attributes
    ----------
    name : str
        Its name, for messages and ``ReadOptions.format``.
    extensions, types : tuple of str
        The extensions of file names; the media types.
    starts : tuple of bytes
        The first bytes that identify it, after decompression and leading white space.
    open : callable
        Opens a file.
    choices : frozenset of str
        The choices of ``ReadOptions`` that it accepts in addition to the choices of all formats.
    may_be_compressed : bool
        Whether a compressed file is read; other formats have internal compression.
    is_start : callable or None
        Returns whether the first ``_START_BYTES`` are of this format, if ``starts`` cannot tell.
    """

    name: str
    extensions: tuple[str, ...]
    types: tuple[str, ...]
    starts: tuple[bytes, ...]
    open: Callable[[Path, ReadOptions], Source]
    choices: frozenset[str] = frozenset()
    may_be_compressed: bool = True
    is_start: Callable[[bytes], bool] | None = None


ECSV = Format("ECSV", (".ecsv",), ("application/x-ecsv", "text/x-ecsv"), (b"# %ECSV",), EcsvSource)
CSV = Format("CSV", (".csv", ".psv"), ("text/csv",), (), CsvSource, _TEXT_CHOICES)
IPAC = Format("IPAC", (".tbl",), (), (), IpacSource, is_start=is_ipac_start)
CDS = Format("CDS", (".mrt",), (), (), CdsSource, is_start=is_mrt_start)
VIZIER = Format("VizieR", (), (), (), VizierSource, frozenset({"table"}), is_start=is_vizier_start)

#: formats that servers also send as CSV or TSV
_DESCRIBED_TEXTS = (ECSV, IPAC, CDS, VIZIER)

#: number of bytes by which a format is detected: VizieR describes columns above their names
_START_BYTES = 1 << 16

FORMATS = (
    Format(
        "Parquet",
        (".parquet", ".parq", ".pq"),
        ("application/vnd.apache.parquet", "application/x-parquet", "application/parquet"),
        (b"PAR1",),
        ParquetSource,
        may_be_compressed=False,
    ),
    Format(
        "Arrow",
        (".arrow", ".arrows", ".feather"),
        ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"),
        (b"ARROW1", b"\xff\xff\xff\xff"),
        ArrowSource,
        may_be_compressed=False,
    ),
    ECSV,
    Format("TSV", (".tsv",), ("text/tab-separated-values",), (), TsvSource, _TEXT_CHOICES),
    CSV,
    Format(
        "VOTable",
        (".vot", ".votable", ".xml"),
        ("application/x-votable+xml", "text/xml", "application/xml"),
        (b"<", b"\xff\xfe<\0", b"\xfe\xff\0<"),
        VotableSource,
        frozenset({"table"}),
    ),
    Format(
        "FITS",
        (".fits", ".fit", ".fts"),
        ("application/fits", "image/fits"),
        (b"SIMPLE  =",),
        FitsSource,
        frozenset({"hdu"}),
    ),
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
        What the sender says about the file.

    Returns
    -------
    Source
        The fields of the table and an iterator over its row blocks.

    Raises
    ------
    ReadError
        The file cannot be read, its format is unknown, or ``options`` are for files of another format.
    """
    return _open_file(_find_format(path, options), path, options)


def describe_form(path: Path, source: TableHeader) -> str:
    """Return how a file is read, for its sender: format, compression, and what the reader has recognised.

    Parameters
    ----------
    path : Path
        The file.
    source : TableHeader
        The table in it.

    Returns
    -------
    str
        Such as "CSV, gzip, delimiter comma, names in line 1".
    """
    with ByteStream(path) as stream:
        packed = stream.compression.name if stream.compression else ""
    nulls = f"NULL is {' or '.join(source.options.nulls)}" if source.options.nulls else ""
    name = next(format_.name for format_ in FORMATS if format_.open is type(source))
    return ", ".join(part for part in (name, packed, source.form, nulls) if part)


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
        What the sender says about the file; its format has priority over ``content_type``.

    Returns
    -------
    Source
        The fields of the table and an iterator over its row blocks.

    Raises
    ------
    ReadError
        The file cannot be read, its format is unknown, ``content_type`` names another format, or ``options`` are for
        files of another format.
    """
    if options.format:
        return open_source(path, options)
    kind = content_type.partition(";")[0].strip().lower()
    declared = next((format for format in FORMATS if kind in format.types), None)
    start, _ = read_first_bytes(path)
    found = _find_format_by_start(start)
    if declared is not None and found is not declared and (found not in (None, *_DESCRIBED_TEXTS) or declared.starts):
        actual = f"is a {found.name} file" if found else f"does not start like a {declared.name} file"
        raise ReadError(f"{path} {actual}, but its Content-Type is for {declared.name}: correct one of them")
    if found is None and declared is None and b"\0" in start:
        known = ", ".join(format.name for format in FORMATS)
        raise ReadError(f"{path} is not a table in a known format; supported formats are {known}")
    return _open_file(found or declared or CSV, path, options)


def _open_file(format_: Format, path: Path, options: ReadOptions) -> Source:
    taken = format_.choices | _COMMON_CHOICES
    for choice in options.list_given():
        if choice not in taken:
            owners = " and ".join(other.name for other in FORMATS if choice in other.choices)
            name = _CHOICE_NAMES.get(choice, f"--{choice}")
            raise ReadError(f"{path} is a {format_.name} file: {name} is for files of {owners}")
    return format_.open(path, options)


def _find_format(path: Path, options: ReadOptions) -> Format:
    start, name = read_first_bytes(path)
    found = _find_named_format(path, options.format) if options.format else _find_format_by_start(start)
    if found is None and is_described_by_readme(path):
        found = CDS
    if found is None:
        found = next((format for format in FORMATS if name.endswith(format.extensions)), None)
    if found is None and options.list_given() & _TEXT_CHOICES:
        found = CSV
    if found is None:
        known = ", ".join(f"{format.name} ({' '.join(format.extensions) or 'by content'})" for format in FORMATS)
        raise ReadError(f"{path} has an unknown format; supported formats are {known}: give it with --format")
    if not found.may_be_compressed:
        with ByteStream(path) as stream:
            if stream.compression is not None:
                packed = stream.compression.name
                raise ReadError(f"{path} is a {found.name} file inside a {packed} file: unpack it first")
    return found


def _find_named_format(path: Path, name: str) -> Format:
    for format_ in FORMATS:
        if format_.name.lower() == name.lower():
            return format_
    known = ", ".join(format_.name for format_ in FORMATS)
    raise ReadError(f"{path}: there is no format {name[:40]}; the formats are {known}")


def _find_format_by_start(start: bytes) -> Format | None:
    return next((format for format in FORMATS if _matches_start(format, start)), None)


def _matches_start(format: Format, start: bytes) -> bool:
    if format.is_start is not None:
        return format.is_start(start)
    return bool(format.starts) and start.startswith(format.starts)


def read_first_bytes(path: Path) -> tuple[bytes, str]:
    """Return the first bytes of a file, and the name of the unpacked file in lower case.

    The bytes are decompressed, without byte order mark and leading white space.
    """
    with ByteStream(path) as stream:
        start, name = stream.read(_START_BYTES), stream.name.lower()
    if not start:
        raise ReadError(f"{path} is empty")
    return start.removeprefix(b"\xef\xbb\xbf").lstrip(), name
