"""The HDUs of a FITS file (FITS standard 4.0, section 3), and where their data start."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_header import CARD_BYTES, Header
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_HEADER_BYTES

_BLOCK_BYTES = 2880

#: maximum number of HDUs searched for tables
_MAX_HDUS = 10_000

#: extensions that are tables; A3DTABLE is the name of BINTABLE before it became a standard
_TABLES = ("BINTABLE", "TABLE", "A3DTABLE")


@dataclass(frozen=True, slots=True)
class Hdu:
    """A header and data unit.

    Attributes
    ----------
    number : int
        Its number in the file; the primary HDU is 0.
    header : Header
        Its keywords.
    start, size : int
        The offset of its data in the unpacked file, and their size with the padding, in bytes.
    """

    number: int
    header: Header
    start: int
    size: int

    @property
    def is_table(self) -> bool:
        return self.kind in _TABLES and not self.is_packed_image

    @property
    def is_packed_image(self) -> bool:
        """Whether the table is the form of a compressed image (section 10.1)."""
        return self.header.read_text("ZIMAGE") == "T"

    @property
    def is_ascii(self) -> bool:
        return self.kind == "TABLE"

    @property
    def kind(self) -> str:
        return self.header.read_text("XTENSION")

    @property
    def name(self) -> str:
        """EXTNAME, '' if it has none."""
        return self.header.read_text("EXTNAME")

    def describe(self) -> str:
        """Return number, name and rows, for messages."""
        name = f" {self.name}" if self.name else ""
        return f"{self.number}{name} ({self.header.get('NAXIS2', '?')} rows)"


def iterate_hdus(stream: ByteStream) -> Iterator[Hdu]:
    """Yield the HDUs of a file; their data are skipped.

    Other data after the last HDU end the file without an error (section 3.5).

    Raises
    ------
    ReadError
        A header is broken.
    """
    position = 0
    for number in range(_MAX_HDUS):
        cards = _read_cards(stream, is_first=not number)
        if not cards:
            return
        header = Header(cards, stream.path)
        position += len(cards)
        size = -(-_count_data_bytes(header) // _BLOCK_BYTES) * _BLOCK_BYTES
        yield Hdu(number, header, position, size)
        position += size
        if not stream.skip(size):
            return
    raise ReadError(f"{stream.path} has more than {_MAX_HDUS} HDUs")


def _read_cards(stream: ByteStream, *, is_first: bool) -> bytes:
    """Return the cards of a header up to END, and the padding; b"" if no other HDU follows."""
    cards = bytearray()
    while (end := _find_end(cards)) < 0:
        block = stream.read(_BLOCK_BYTES)
        if not cards and not is_first and not block.startswith(b"XTENSION="):
            return b""
        if not cards and is_first and not block.startswith(b"SIMPLE"):
            raise ReadError(
                f"{stream.path} is not a FITS file: it does not start with SIMPLE. Give its format with --format"
            )
        if len(block) < _BLOCK_BYTES:
            if is_first:
                raise ReadError(f"{stream.path} has no binary table: it ends inside its first header")
            raise ReadError(f"{stream.path} ends inside a header")
        cards += block
        if len(cards) > MAX_HEADER_BYTES:
            raise ReadError(f"{stream.path} has a header of more than {MAX_HEADER_BYTES} bytes")
    return bytes(cards[:end]).ljust(len(cards))


def _find_end(cards: bytearray) -> int:
    """Return the index of END in the last block, -1 if it is not there."""
    last = range(max(0, len(cards) - _BLOCK_BYTES), len(cards), CARD_BYTES)
    return next((at for at in last if cards[at : at + 8] == b"END     "), -1)


def _count_data_bytes(header: Header) -> int:
    """Return the size of the data; in random groups (section 6), the first axis has the length 0."""
    count = header.read_integer("NAXIS", 0, high=999)
    axes = [header.read_integer(f"NAXIS{number}") for number in range(1, count + 1)]
    if not axes:
        return 0
    if axes[0] == 0 and header.read_text("GROUPS") == "T":
        axes = axes[1:]
    groups, extra = header.read_integer("GCOUNT", 1), header.read_integer("PCOUNT", 0)
    item_bytes = abs(header.read_integer("BITPIX", low=-64, high=64)) // 8
    return item_bytes * groups * (extra + math.prod(axes))
