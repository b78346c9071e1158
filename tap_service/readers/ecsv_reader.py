"""Reader of ECSV (Enhanced Character-Separated Values, astropy APE 6): CSV with a YAML header of types and units."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.ecsv_header import list_columns, list_fields, parse_header, read_description
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS, MAX_HEADER_BYTES
from tap_service.readers.text_dialect import Dialect


class EcsvSource(CsvSource):
    """An ECSV file.

    See ``Source``. ``null`` is NULL, as an empty field is: Gaia's files have it in columns of all types.
    """

    null_words: ClassVar[tuple[str, ...]] = ("null",)
    _joins_blanks: ClassVar[bool] = False

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        header, line = _read_header(path)
        columns = list_columns(header, f"{path}: the ECSV header")
        if len(columns) > MAX_FILE_COLUMNS:
            raise ReadError(f"{path} has {len(columns)} columns; the limit is {MAX_FILE_COLUMNS}")
        names = tuple(column["name"] for column in columns)
        unusable: dict[str, str] = {}
        fields = tuple(list_fields(columns, unusable))
        if (delimiter := header.get("delimiter", " ")) not in (" ", ","):
            raise ReadError(f"{path}: the delimiter in the ECSV header is neither a space nor a comma")
        super().__init__(path, options, Dialect(delimiter, names, line + 1, line), fields, read_description(header))
        self.unusable = unusable


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the YAML above the data, and the number of the line that names the columns."""
    lines = []
    length = 0
    with ByteStream(path) as stream:
        line = 1
        while (text := stream.readline(MAX_HEADER_BYTES + 1)).startswith(b"#"):
            lines.append(text[1:].removeprefix(b" "))
            line += 1
            length += len(text)
            if length > MAX_HEADER_BYTES:
                raise ReadError(f"{path}: the ECSV header has more than {MAX_HEADER_BYTES} bytes")
    return parse_header(b"".join(lines[1:]), f"{path}: the ECSV header", 2), line
