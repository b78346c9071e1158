"""Conversion of the columns of a FITS binary table to Arrow, by TFORM and related keywords."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.fits_hdus import Header, read_text
from tap_service.readers.fits_scaling import Scaling, read_scale_and_zero
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS

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

#: STIL's convention for more than 999 columns: the last column holds the others, which have keywords of their own
_CONTAINER = "XT_MORECOLS"
_WIDE_PREFIX = "XT "

#: Bytes by which the container may be longer than its columns, as its TFORM has larger items
_MAX_PADDING = 8

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
    scaling: Scaling
    unusable: str = ""

    def read_values(self, stored: NDArray[Any], heap: Heap | None) -> pa.Array:
        """Convert the column of a row block to Arrow."""
        if heap is not None and self.is_variable:
            return self._read_variable(stored, heap)
        if self.letter == "A":
            length = self.field.type.string_length
            return _split_strings(stored, length) if length else read_fixed_text(stored.reshape(len(stored), -1))
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
        """Convert scalars: booleans, and numbers with TNULL, TSCAL and TZERO."""
        if self.letter == "L":
            is_true, is_false = raw == ord("T"), raw == ord("F")
            return pa.array(is_true, mask=~(is_true | is_false))
        return self.scaling.convert(raw)


def parse_fits_columns(header: Header) -> Iterator[FitsColumn]:
    """Parse the columns of a BINTABLE. Raises ``ValueError`` if its header is inconsistent."""
    offset = 0
    for prefix, number in _list_columns(header):
        column, width = _parse_column(header, prefix, number, offset)
        yield column
        offset += width
    padding = int(header["NAXIS1"]) - offset
    if padding and not (_is_wide(header) and 0 < padding < _MAX_PADDING):
        raise ValueError(f"the columns take {offset} bytes of a row, but NAXIS1 is {header['NAXIS1']}")


def _list_columns(header: Header) -> list[tuple[str, int]]:
    """Return the numbers of the columns, each with the prefix of its keywords."""
    count = int(header["TFIELDS"])
    if not _is_wide(header):
        return [("", number) for number in range(1, count + 1)]
    first, total = int(header.get("XT_ICOL", 0)), int(header.get("XT_NCOL", 0))
    if first != count or not first <= total <= MAX_FILE_COLUMNS or f"{_WIDE_PREFIX}TFORM{first}" not in header:
        raise ValueError(f"its column {count} ({_CONTAINER}) holds others in a form that is not known")
    plain = [("", number) for number in range(1, first)]
    return plain + [(_WIDE_PREFIX, number) for number in range(first, total + 1)]


def _is_wide(header: Header) -> bool:
    return read_text(header, f"TTYPE{header['TFIELDS']}") == _CONTAINER


def _parse_column(header: Header, prefix: str, number: int, offset: int) -> tuple[FitsColumn, int]:
    form = str(header.get(f"{prefix}TFORM{number}", ""))
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
    scaling = _read_scaling(header, prefix, number, letter)
    type_, unusable = _find_type(letter, repeat, is_variable, scaling, header.get(f"{prefix}TDIM{number}"))
    if unusable and width == 0:
        unusable = "it has no values"
    field = describe_field(header, prefix, number, type_)
    return FitsColumn(field.name, field, letter, repeat, offset, stored, is_variable, scaling, unusable), width


def _read_scaling(header: Header, prefix: str, number: int, letter: str) -> Scaling:
    null = header.get(f"{prefix}TNULL{number}") if letter in "BIJK" else None
    scale, zero = read_scale_and_zero(header, prefix, number)
    return Scaling(letter, scale, zero, null if type(null) is int else None)


def describe_field(header: Header, prefix: str, number: int, type_: ColumnType) -> Field:
    """Return the column of a type with its metadata: the standard's keywords and TOPCAT's."""
    return Field(
        str(header.get(f"{prefix}TTYPE{number}", "")).strip(),
        type_,
        unit=str(header.get(f"{prefix}TUNIT{number}", "")).strip(),
        ucd=str(header.get(f"{prefix}TUCD{number}", "")).strip(),
        utype=str(header.get(f"{prefix}TUTYP{number}", "")).strip(),
        description=str(header.get(f"{prefix}TCOMM{number}", "")).strip(),
    )


def _find_stored_dtype(letter: str, repeat: int) -> tuple[int, Any]:
    """Return the bytes in a row, and the dtype."""
    if letter not in _LETTERS:
        raise ValueError(f"FITS does not define the TFORM letter {letter}")
    item = np.dtype(_LETTERS[letter][1])
    count = -(-repeat // 8) if letter == "X" else 2 * repeat if letter in "CM" else repeat
    return count * item.itemsize, (item, (count,))


def _find_type(
    letter: str, repeat: int, is_variable: bool, scaling: Scaling, dimensions: str | None
) -> tuple[ColumnType, str]:
    """Return the type of the column, and the reason if it cannot be read."""
    if letter not in _LETTERS:
        return ColumnType("char", "*"), f"FITS does not define its TFORM letter {letter}"
    if repeat == 0:
        return ColumnType("char", "*"), "it has no values"
    if letter == "X" and is_variable:
        return ColumnType("char", "*"), "variable arrays of bits are not supported"
    shape = "" if is_variable else _read_shape(dimensions, repeat)
    if letter == "A":
        return ColumnType("char", shape or ("*" if is_variable else f"{repeat}*")), ""
    if letter in "CM" and not scaling.is_trivial:
        return ColumnType("char", "*"), "complex numbers with TSCAL or TZERO are not supported"
    is_scaled = letter not in "LX" and not scaling.is_trivial
    datatype = scaling.datatype if is_scaled else _LETTERS[letter][0]
    arraysize = "*" if is_variable else shape or ("" if repeat == 1 else str(repeat))
    return ColumnType(datatype, arraysize), ""


def _read_shape(dimensions: str | None, repeat: int) -> str:
    """Return the arraysize of TDIM, such as 3x2; '' if it has one axis, or does not fit TFORM."""
    sizes = _SIZES.fullmatch(dimensions or "")
    if not sizes or math.prod(map(int, sizes[1].split(","))) != repeat:
        return ""
    return sizes[1].replace(",", "x").replace(" ", "")


def read_fixed_text(characters: NDArray[np.uint8]) -> pa.Array:
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
