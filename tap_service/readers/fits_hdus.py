"""The HDUs of a FITS file (FITS standard 4.0, sections 3 and 4): their headers, and where the data of a table begin."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_HEADER_BYTES

#: Keywords and values; the first value of a repeated keyword
Header = Mapping[str, Any]

_BLOCK_BYTES = 2880
_CARD_BYTES = 80

#: HDUs searched for tables
MAX_HDUS = 1000

#: The extensions that are tables
TABLES = ("BINTABLE", "TABLE")

#: The value of a card with a text, between its quotation marks
_TEXT_VALUE = re.compile(r"= *'((?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class Hdu:
    """A header and data unit.

    Attributes
    ----------
    number : int
        Its number in the file; the primary HDU is 0.
    header : Header
        Its keywords.
    start : int
        The offset of its data in the unpacked file, in bytes.
    """

    number: int
    header: Header
    start: int

    @property
    def is_table(self) -> bool:
        return self.kind in TABLES

    @property
    def kind(self) -> str:
        return read_text(self.header, "XTENSION")

    @property
    def name(self) -> str:
        """EXTNAME, '' if it has none."""
        return read_text(self.header, "EXTNAME")

    def describe(self) -> str:
        """Return number, name and rows, for messages."""
        name = f" {self.name}" if self.name else ""
        return f"{self.number}{name} ({self.header.get('NAXIS2', '?')} rows)"


def iterate_hdus(stream: ByteStream) -> Iterator[Hdu]:
    """Yield the HDUs of a file, whose data are skipped between them.

    Raises
    ------
    ReadError
        A header is broken. What follows the last HDU is none (section 3.5) and ends the file.
    """
    position = 0
    for number in range(MAX_HDUS):
        cards = _read_cards(stream, is_first=not number)
        if not cards:
            return
        header = _parse_cards(cards, stream.path)
        position += len(cards)
        yield Hdu(number, header, position)
        size = -(-_count_data_bytes(HeaderIntegers(header, stream.path)) // _BLOCK_BYTES) * _BLOCK_BYTES
        position += size
        if not stream.skip(size):
            return


def _read_cards(stream: ByteStream, *, is_first: bool) -> bytes:
    """Return the bytes of a header; b"" if no other HDU follows."""
    cards = bytearray()
    while not _has_end(cards):
        block = stream.read(_BLOCK_BYTES)
        if not cards and not is_first and not block.startswith(b"XTENSION="):
            return b""
        if len(block) < _BLOCK_BYTES:
            if is_first:
                raise ReadError(f"{stream.path} has no binary table: it ends inside its first header")
            raise ReadError(f"{stream.path} ends inside a header")
        cards += block
        if len(cards) > MAX_HEADER_BYTES:
            raise ReadError(f"{stream.path} has a header of more than {MAX_HEADER_BYTES} bytes")
    return bytes(cards)


def _has_end(cards: bytearray) -> bool:
    last = range(max(0, len(cards) - _BLOCK_BYTES), len(cards), _CARD_BYTES)
    return any(cards[at : at + 8] == b"END     " for at in last)


def _parse_cards(cards: bytes, path: Path) -> Header:
    """Return the keywords. FITS allows only ASCII; texts with Latin-1, which some programs write, are read so."""
    from astropy.io import fits  # deferred: a third of the start time of a reader

    lines = [cards[at : at + _CARD_BYTES] for at in range(0, len(cards), _CARD_BYTES)]
    plain = b"".join(line for line in lines if line.isascii())
    try:
        parsed = fits.Header.fromstring(plain.decode("ascii"))
        keywords = {card.keyword: card.value for card in reversed(parsed.cards)}
    except (ValueError, fits.VerifyError) as error:
        raise ReadError(f"{path} has a broken header: {error}") from error
    for line in lines:
        text = line.decode("latin-1")
        found = None if line.isascii() else _TEXT_VALUE.match(text[8:])
        if found is not None:
            keywords.setdefault(text[:8].strip(), found[1].replace("''", "'").rstrip())
    return keywords


def read_text(header: Header, key: str) -> str:
    """Return the value as written in the file; '' if there is none."""
    value = header.get(key, "")
    return str(value).strip() if not isinstance(value, bool) else "FT"[value]


class HeaderIntegers:
    """The integers of a header. Raises ``ReadError`` if one without a default is missing, or one is out of range."""

    def __init__(self, header: Header, path: Path) -> None:
        self._header = header
        self._path = path

    def read_integer(self, key: str, default: int | None = None, low: int = 0, high: int = 1 << 62) -> int:
        value = self._header.get(key, default)
        if type(value) is not int or not low <= value <= high:
            raise ReadError(f"{self._path} has a header whose {key} is not a number from {low} to {high}")
        return value


def _count_data_bytes(numbers: HeaderIntegers) -> int:
    count = numbers.read_integer("NAXIS", 0, high=999)
    axes = [numbers.read_integer(f"NAXIS{number}") for number in range(1, count + 1)]
    if not axes:
        return 0
    groups, extra = numbers.read_integer("GCOUNT", 1), numbers.read_integer("PCOUNT", 0)
    item_bytes = abs(numbers.read_integer("BITPIX", low=-64, high=64)) // 8
    return item_bytes * groups * (extra + math.prod(axes))
