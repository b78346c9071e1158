"""Conversion of the columns of a FITS binary table to Arrow, by TFORM and related keywords."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.read_error import ReadError

#: TFORM letter -> VOTable datatype and stored dtype, for complex numbers the dtype of each part
_LETTERS = {
    "L": ("boolean", "u1"),
    "X": ("boolean", "u1"),
    "B": ("unsignedByte", "u1"),
    "I": ("short", ">i2"),
    "J": ("int", ">i4"),
    "K": ("long", ">i8"),
    "A": ("char", "u1"),
    "E": ("float", ">f4"),
    "D": ("double", ">f8"),
    "C": ("floatComplex", ">f4"),
    "M": ("doubleComplex", ">f8"),
}

#: TFORM letter and TZERO of integers without a FITS type -> numpy and VOTable types
_UNSIGNED = {
    ("B", -128): ("i1", "short"),
    ("I", 1 << 15): ("u2", "int"),
    ("J", 1 << 31): ("u4", "long"),
    ("K", 1 << 63): ("u8", "long"),
}

#: Keywords and values; the first value of a repeated keyword
Header = Mapping[str, Any]

_FORM = re.compile(r"\s*(\d*)([A-Z])([A-Z]?)")

#: TDIM with more than one axis
_SIZES = re.compile(r"\s*\(\s*([1-9][0-9]{0,8}(?:\s*,\s*[1-9][0-9]{0,8}){1,4})\s*\)\s*")

#: The limit for the variable arrays of a row block, so that 32-bit offsets suffice
_MAX_HEAP_BYTES = 1 << 30


class Heap:
    """The heap of a table, with its variable arrays."""

    def __init__(self, file: IO[bytes], start: int, path: Path) -> None:
        self._file = file
        self._start = start
        self._path = path

    def read_arrays(self, places: NDArray[np.int64], sizes: NDArray[np.int64]) -> bytes:
        """Return the concatenated bytes of the arrays at byte offsets ``places`` with ``sizes`` in bytes."""
        if ((places < 0) | (sizes < 0)).any():
            raise ReadError(f"{self._path} has variable arrays at invalid offsets")
        if sizes.sum(dtype=np.float64) > _MAX_HEAP_BYTES:
            raise ReadError(
                f"{self._path} has variable arrays of more than {_MAX_HEAP_BYTES} bytes in {len(sizes)} rows"
            )
        parts = []
        for place, size in zip(*_join_adjacent(places, sizes), strict=True):
            part = os.pread(self._file.fileno(), size, self._start + place)
            if len(part) < size:
                raise ReadError(f"{self._path} ends inside its variable arrays")
            parts.append(part)
        return b"".join(parts)


def _join_adjacent(places: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Merge arrays without gaps between them into single reads."""
    held = sizes > 0
    places, sizes = places[held], sizes[held]
    if not len(places):
        return [], []
    starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1] + sizes[:-1]])
    return places[starts].tolist(), np.add.reduceat(sizes, starts).tolist()


@dataclass(frozen=True)
class FitsColumn:
    """A column. ``stored``: dtype in a row; ``offset``: byte offset in a row; ``unusable``: why it cannot be read."""

    name: str
    field: Field
    letter: str
    repeat: int
    offset: int
    stored: Any
    is_variable: bool
    scale: float
    zero: float
    null: int | None
    unusable: str = ""

    def read_values(self, stored: NDArray[Any], heap: Heap | None) -> pa.Array:
        """Convert the column of a row block to Arrow."""
        if heap is not None and self.is_variable:
            return self._read_variable(stored, heap)
        if self.letter == "A":
            length = self.field.type.string_length
            return _split_strings(stored, length) if length else _read_fixed_text(stored.reshape(len(stored), -1))
        if self.letter == "X":
            padded = np.unpackbits(stored.reshape(len(stored), -1), axis=1)
            bits = padded[:, : self.repeat].astype(bool)
            if self.repeat == 1:
                return pa.array(bits[:, 0])
            return _group_into_lists(pa.array(bits.ravel()), self.repeat, len(bits))
        values = self._convert_scalars(stored.reshape(-1))
        if not self.field.type.is_array:
            return values
        return _group_into_lists(values, self._items_per_value * self.repeat, len(stored))

    @property
    def _items_per_value(self) -> int:
        return 2 if self.field.type.is_complex else 1

    def _read_variable(self, stored: NDArray[Any], heap: Heap) -> pa.Array:
        counts, places = stored[:, 0].astype(np.int64), stored[:, 1].astype(np.int64)
        item = np.dtype(_LETTERS[self.letter][1])
        counts *= self._items_per_value
        if (counts > _MAX_HEAP_BYTES).any():
            raise ReadError(f"column {self.name} has an array of {counts.max()} values")
        data = heap.read_arrays(places, counts * item.itemsize)
        offsets = np.r_[0, np.cumsum(counts)].astype(np.int32)
        if self.letter == "A":
            return _split_bytes(data, offsets)
        return pa.ListArray.from_arrays(pa.array(offsets), self._convert_scalars(np.frombuffer(data, item)))

    def _convert_scalars(self, raw: NDArray[Any]) -> pa.Array:
        """Convert scalars: booleans, TNULL, TSCAL and TZERO."""
        if self.letter == "L":
            is_true, is_false = raw == ord("T"), raw == ord("F")
            return pa.array(is_true, mask=~(is_true | is_false))
        mask = None if self.null is None else raw == self.null
        native = raw.astype(raw.dtype.newbyteorder("="))
        unsigned = _UNSIGNED.get((self.letter, int(self.zero))) if self.scale == 1 else None
        if unsigned:
            target = np.dtype(unsigned[0])
            raw_type = f"u{target.itemsize}"
            first_bit = np.array(1 << (8 * target.itemsize - 1), raw_type)
            native = (native.view(raw_type) ^ first_bit).view(target)  # adding TZERO flips the first bit
        elif (self.scale, self.zero) != (1, 0):
            native = native * self.scale + self.zero
        return pa.array(native, mask=mask)


def parse_fits_columns(header: Header) -> Iterator[FitsColumn]:
    """Parse the columns of a BINTABLE. Raises ``ValueError`` if its header is inconsistent."""
    offset = 0
    for number in range(1, int(header["TFIELDS"]) + 1):
        column, width = _parse_column(header, number, offset)
        yield column
        offset += width
    if offset != int(header["NAXIS1"]):
        raise ValueError(f"the columns take {offset} bytes of a row, but NAXIS1 is {header['NAXIS1']}")


def _parse_column(header: Header, number: int, offset: int) -> tuple[FitsColumn, int]:
    form = str(header.get(f"TFORM{number}", ""))
    match = _FORM.match(form)
    if match is None:
        raise ValueError(f"TFORM{number} is invalid: {form!r}")
    repeat, letter, element = int(match[1] or 1), match[2], match[3]
    is_variable = letter in ("P", "Q")
    if is_variable:
        width = repeat * (8 if letter == "P" else 16)
        stored: Any = (">i4" if letter == "P" else ">i8", (2,))
        letter = element
    else:
        width, stored = _find_stored_dtype(letter, repeat)
    name = str(header.get(f"TTYPE{number}", f"col{number}")).strip()
    scale, zero = float(header.get(f"TSCAL{number}", 1)), float(header.get(f"TZERO{number}", 0))
    type_, unusable = _find_type(letter, repeat, is_variable, scale, zero, header.get(f"TDIM{number}"))
    if unusable and width == 0:
        unusable = "it has no values"
    field = Field(
        name,
        type_,
        unit=str(header.get(f"TUNIT{number}", "")).strip(),
        ucd=str(header.get(f"TUCD{number}", "")).strip(),
        utype=str(header.get(f"TUTYP{number}", "")).strip(),
        description=str(header.get(f"TCOMM{number}", "")).strip(),
    )
    null = header.get(f"TNULL{number}") if letter in "BIJK" else None
    null = null if type(null) is int else None
    return FitsColumn(name, field, letter, repeat, offset, stored, is_variable, scale, zero, null, unusable), width


def _find_stored_dtype(letter: str, repeat: int) -> tuple[int, Any]:
    """Return the bytes in a row, and the dtype."""
    if letter not in _LETTERS:
        raise ValueError(f"FITS does not define the TFORM letter {letter}")
    item = np.dtype(_LETTERS[letter][1])
    count = -(-repeat // 8) if letter == "X" else 2 * repeat if letter in "CM" else repeat
    return count * item.itemsize, (item, (count,))


def _find_type(
    letter: str, repeat: int, is_variable: bool, scale: float, zero: float, dimensions: str | None
) -> tuple[ColumnType, str]:
    """Return the type of the column, and the reason if it cannot be read."""
    if letter not in _LETTERS:
        return ColumnType("char", "*"), f"FITS does not define its TFORM letter {letter}"
    if repeat == 0:
        return ColumnType("char", "*"), "it has no values"
    if letter == "X" and is_variable:
        return ColumnType("char", "*"), "variable arrays of bits are not supported"
    datatype = _LETTERS[letter][0]
    if letter == "A":
        sizes = _SIZES.fullmatch(dimensions or "")
        if sizes and not is_variable and math.prod(map(int, sizes[1].split(","))) == repeat:
            return ColumnType("char", sizes[1].replace(",", "x").replace(" ", "")), ""
        return ColumnType("char", "*" if is_variable else f"{repeat}*"), ""
    if letter in "CM" and (scale, zero) != (1, 0):
        return ColumnType("char", "*"), "complex numbers with TSCAL or TZERO are not supported"
    if letter not in "LX" and (scale, zero) != (1, 0):
        unsigned = _UNSIGNED.get((letter, int(zero))) if scale == 1 else None
        datatype = unsigned[1] if unsigned else "double"
    arraysize = "*" if is_variable else "" if repeat == 1 else str(repeat)
    return ColumnType(datatype, arraysize), ""


def _read_fixed_text(characters: NDArray[np.uint8]) -> pa.Array:
    """Convert fixed-width strings, without trailing blanks; NUL ends a string."""
    width = characters.shape[1]
    places = np.arange(1, width + 1)
    ended = np.minimum.accumulate(characters != 0, axis=1)
    lengths = np.max(np.where(ended & (characters != ord(" ")), places, 0), axis=1, initial=0)
    values = characters[places <= lengths[:, None]]
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int32)
    return _split_bytes(np.ascontiguousarray(values), offsets)


def _split_strings(characters: NDArray[np.uint8], length: int) -> pa.Array:
    """Convert arrays of strings, each padded with blanks from its first NUL."""
    each = characters.reshape(-1, length)
    ended = np.minimum.accumulate(each != 0, axis=1)
    rows = np.where(ended, each, np.uint8(ord(" "))).reshape(len(characters), -1)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return _split_bytes(rows.tobytes(), offsets)


def _split_bytes(data: bytes | NDArray[np.uint8], offsets: NDArray[np.int32]) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _group_into_lists(values: pa.Array, length: int, rows: int) -> pa.Array:
    offsets = np.arange(rows + 1, dtype=np.int32) * length
    return pa.ListArray.from_arrays(pa.array(offsets), values)
