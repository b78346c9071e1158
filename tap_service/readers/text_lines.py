"""Text files in blocks of complete lines, and headers that are read at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_HEADER_BYTES

_BLOCK_BYTES = 2 << 20

#: maximum length of a line; rows of published catalogues have some thousand bytes
MAX_LINE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Complete lines, which end with ``\\n``; the first is ``line`` of the file.

    ``fraction``: the part that is read.
    """

    text: bytes
    line: int
    fraction: float


@dataclass(frozen=True, slots=True)
class Start:
    """Where the rows of a table start.

    Attributes
    ----------
    offset : int
        The number of bytes before the first row.
    line : int
        The 1-based number of its line.
    """

    offset: int
    line: int


def read_line_blocks(stream: ByteStream, start: Start, *, keeps_returns: bool = False) -> Iterator[LineBlock]:
    """Yield the lines of a file, which end with LF or CR LF.

    Parameters
    ----------
    stream : ByteStream
        The file.
    start : Start
        The first line.
    keeps_returns : bool
        Whether to leave CR in the text, so that its length is the length in the file.

    Raises
    ------
    ReadError
        A line is too long.
    """
    stream.skip(start.offset)
    line = start.line
    rest = b""
    while read := stream.read(_BLOCK_BYTES):
        rest += read
        cut = rest.rfind(b"\n") + 1
        if cut:
            text = rest[:cut]
            kept = text if keeps_returns or b"\r" not in text else text.replace(b"\r\n", b"\n")
            yield LineBlock(kept, line, stream.fraction_read)
            line += text.count(b"\n")
            rest = rest[cut:]
        if len(rest) > MAX_LINE_BYTES:
            hint = "; its lines end with CR alone: convert them to LF" if rest.count(b"\r") > 1 else ""
            raise ReadError(f"{stream.path}: line {line} has more than {MAX_LINE_BYTES} bytes{hint}")
    if rest:
        yield LineBlock(rest.rstrip(b"\r") + b"\n", line, 1.0)


def read_text(stream: ByteStream) -> bytes:
    """Return the start of the stream, up to the limit of a header and to a line end."""
    text = stream.read(MAX_HEADER_BYTES)
    return text[: text.rfind(b"\n") + 1] if len(text) == MAX_HEADER_BYTES else text


def decode_text(text: bytes) -> str:
    """Decode UTF-8, or Latin-1 as in older headers."""
    try:
        return text.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")
