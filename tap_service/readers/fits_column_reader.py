"""Conversion of the columns of a FITS binary table to Arrow, by TFORM and related keywords."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.fits_fields import describe_field
from tap_service.readers.fits_header import Header
from tap_service.readers.fits_heap import MAX_HEAP_OFFSET, Heap
from tap_service.readers.fits_scaling import Scaling
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

#: STIL's convention for more than 999 columns: the last column holds the others, which have separate keywords
_CONTAINER = "XT_MORECOLS"
_WIDE_PREFIX = "XT "

#: bytes by which the container may be longer than its columns, since its TFORM has larger items
_MAX_PADDING = 8

_FORM = re.compile(r"\s*(\d*)([A-Z])([A-Z]?)(\d*)")

#: why a column of repeat 0 cannot be read
NO_VALUES = "it has no values"

#: TDIM with more than one axis
_SIZES = re.compile(r"\s*\(\s*([1-9][0-9]{0,8}(?:\s*,\s*[1-9][0-9]{0,8}){1,4})\s*\)\s*")

#: limit of a variable array, so that 32-bit offsets suffice
_MAX_ARRAY_BYTES = 1 << 30


@dataclass(frozen=True)
class FitsColumn:
    """A column of a binary table.

    Attributes
    ----------
    path : Path
        The file, for messages.
    name, field
        Its name and description.
    letter, repeat
        Of TFORM.
    offset, stored
        Byte offset in a row, and dtype in a row.
    is_variable : bool
        Whether its values are in the heap.
    scaling : Scaling
        TSCAL, TZERO and TNULL.
    unusable : str
        Why it cannot be read; '' if it can.
    """

    path: Path
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

    def count_heap_bytes(self, stored: NDArray[Any]) -> NDArray[np.int64]:
        """Return the bytes in the heap of each row of a variable column."""
        item_bytes = np.dtype(_LETTERS[self.letter][1]).itemsize * self._items_per_value
        counts = stored[:, 0].astype(np.int64)
        if ((counts < 0) | (counts > _MAX_ARRAY_BYTES // item_bytes)).any():
            raise ReadError(f"{self.path}: column {self.name} has variable arrays of invalid length")
        return counts * item_bytes

    def _read_variable(self, stored: NDArray[Any], heap: Heap) -> pa.Array:
        item = np.dtype(_LETTERS[self.letter][1])
        sizes = self.count_heap_bytes(stored)
        offsets = np.where(sizes, stored[:, 1], 0).astype(np.int64)
        if ((offsets < 0) | (offsets > MAX_HEAP_OFFSET)).any():
            raise ReadError(f"{self.path}: column {self.name} has variable arrays at invalid offsets")
        data = heap.read_arrays(offsets, sizes)
        offsets = np.r_[0, np.cumsum(sizes // item.itemsize)].astype(np.int32)
        if self.letter == "A":
            return _trim_texts(_split_bytes(data, offsets), has_nul=b"\0" in data)
        return pa.ListArray.from_arrays(pa.array(offsets), self._convert_scalars(np.frombuffer(data, item)))

    def _convert_scalars(self, raw: NDArray[Any]) -> pa.Array:
        """Convert scalars: booleans, and numbers with TNULL, TSCAL and TZERO."""
        if self.letter == "L":
            is_true, is_false = raw == ord("T"), raw == ord("F")
            return pa.array(is_true, mask=~(is_true | is_false))
        return self.scaling.convert(raw)


def parse_fits_columns(header: Header) -> Iterator[FitsColumn]:
    """Parse the columns of a BINTABLE. Raise ``ValueError`` if its header is inconsistent."""
    offset = 0
    for prefix, number in _list_columns(header):
        column, width = _parse_column(header, prefix, number, offset)
        yield column
        offset += width
    padding = header.read_integer("NAXIS1") - offset
    if padding and not (_is_wide(header) and 0 < padding < _MAX_PADDING):
        raise ValueError(f"the columns take {offset} bytes of a row, but NAXIS1 is {offset + padding}")


def _list_columns(header: Header) -> list[tuple[str, int]]:
    """Return the numbers of the columns, each with the prefix of its keywords."""
    count = header.read_integer("TFIELDS")
    if not _is_wide(header):
        return [("", number) for number in range(1, count + 1)]
    first, total = header.read_integer("XT_ICOL", 0), header.read_integer("XT_NCOL", 0)
    if first != count or not first <= total <= MAX_FILE_COLUMNS or f"{_WIDE_PREFIX}TFORM{first}" not in header:
        raise ValueError(f"its column {count} ({_CONTAINER}) holds other columns in an unknown form")
    plain = [("", number) for number in range(1, first)]
    return plain + [(_WIDE_PREFIX, number) for number in range(first, total + 1)]


def _is_wide(header: Header) -> bool:
    return header.read_text(f"TTYPE{header.read_integer('TFIELDS')}") == _CONTAINER


def _parse_column(header: Header, prefix: str, number: int, offset: int) -> tuple[FitsColumn, int]:
    form = header.read_text(f"{prefix}TFORM{number}").upper()
    match = _FORM.match(form)
    if match is None:
        raise ValueError(f"TFORM{number} is invalid: {form!r}")
    repeat, letter, element = int(match[1] or 1), match[2], match[3]
    is_variable = letter in ("P", "Q")
    shape: tuple[int, ...] = ()
    if is_variable:
        width = repeat * (8 if letter == "P" else 16)
        stored: Any = (">i4" if letter == "P" else ">i8", (2,))
        letter = element
    else:
        width = _count_cell_bytes(letter, repeat)
        shape = _read_shape(header.read_text(f"{prefix}TDIM{number}"), repeat)
        if not shape and letter == "A":
            shape = _divide_text(repeat, int(match[4] or 0))
        repeat = math.prod(shape) if shape else repeat
        stored = _find_stored_dtype(letter, repeat)
    scaling = _read_scaling(header, prefix, number, letter)
    type_, unusable = _find_type(letter, repeat, is_variable, scaling, shape)
    if is_variable and (repeat > 1 or letter not in _LETTERS):
        unusable = f"FITS does not define its TFORM {form}"
    field = describe_field(header, prefix, number, type_)
    return FitsColumn(
        header.path, field.name, field, letter, repeat, offset, stored, is_variable, scaling, unusable
    ), width


def _read_scaling(header: Header, prefix: str, number: int, letter: str) -> Scaling:
    scale = header.read_number(f"{prefix}TSCAL{number}", 1)
    zero = header.read_number(f"{prefix}TZERO{number}", 0)
    null = header.get(f"{prefix}TNULL{number}") if letter in "BIJK" else None
    if null is not None:
        null = header.read_number(f"{prefix}TNULL{number}", 0)
    return Scaling(letter, float(scale), zero, null if type(null) is int else None)


def _count_cell_bytes(letter: str, repeat: int) -> int:
    if letter not in _LETTERS:
        raise ValueError(f"FITS does not define the TFORM letter {letter}")
    item_type, count = _find_stored_dtype(letter, repeat)
    return int(item_type.itemsize * count[0])


def _find_stored_dtype(letter: str, repeat: int) -> tuple[np.dtype[Any], tuple[int]]:
    """Return the dtype of the items in a cell, and their number."""
    count = -(-repeat // 8) if letter == "X" else 2 * repeat if letter in "CM" else repeat
    return np.dtype(_LETTERS[letter][1]), (count,)


def _find_type(
    letter: str, repeat: int, is_variable: bool, scaling: Scaling, shape: tuple[int, ...]
) -> tuple[ColumnType, str]:
    """Return the type of the column, and the reason if it cannot be read."""
    if repeat == 0:
        return ColumnType("char", "*"), NO_VALUES
    if letter not in _LETTERS:
        return ColumnType("char", "*"), "FITS does not define its TFORM"
    if letter == "X" and is_variable:
        return ColumnType("char", "*"), "variable arrays of bits are not supported"
    arraysize = "*" if is_variable else "x".join(map(str, shape))
    if letter == "A":
        return ColumnType("char", arraysize or f"{repeat}*"), ""
    if letter in "CM" and not scaling.is_trivial:
        return ColumnType("char", "*"), "complex numbers with TSCAL or TZERO are not supported"
    is_scaled = letter not in "LX" and not scaling.is_trivial
    datatype = scaling.datatype if is_scaled else _LETTERS[letter][0]
    return ColumnType(datatype, arraysize or ("" if repeat == 1 else str(repeat))), ""


def _read_shape(dimensions: str, repeat: int) -> tuple[int, ...]:
    """Return the axes of TDIM; () for one axis, or if TDIM has more items than TFORM.

    Items beyond TDIM are fill values (section 7.3.2).
    """
    sizes = _SIZES.fullmatch(dimensions)
    shape = tuple(map(int, sizes[1].split(","))) if sizes else ()
    return shape if math.prod(shape) <= repeat else ()


def _divide_text(repeat: int, length: int) -> tuple[int, ...]:
    """Return the shape of a text of TFORM rAw: an array of strings of w characters, the convention before TDIM."""
    return (length, repeat // length) if 0 < length < repeat and repeat % length == 0 else ()


def read_fixed_text(characters: NDArray[np.uint8]) -> pa.Array:
    """Convert fixed-width strings, without trailing blanks; NUL ends a string."""
    width = characters.shape[1]
    columns = np.arange(1, width + 1)
    ended = np.minimum.accumulate(characters != 0, axis=1)
    lengths = np.max(np.where(ended & (characters != ord(" ")), columns, 0), axis=1, initial=0)
    values = characters[columns <= lengths[:, None]]
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int32)
    return _split_bytes(np.ascontiguousarray(values), offsets)


def _split_strings(characters: NDArray[np.uint8], length: int) -> pa.Array:
    """Convert arrays of strings, each padded with blanks from its first NUL."""
    each = characters.reshape(-1, length)
    ended = np.minimum.accumulate(each != 0, axis=1)
    rows = np.where(ended, each, np.uint8(ord(" "))).reshape(len(characters), -1)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return _split_bytes(rows.tobytes(), offsets)


def _trim_texts(texts: pa.Array, *, has_nul: bool) -> pa.Array:
    """Return texts without trailing blanks, up to a NUL, as in fixed-width strings."""
    strings = texts.cast(pa.string(), safe=False)
    if has_nul:
        strings = pc.replace_substring_regex(texts, r"(?s)\x00.*$", "").cast(pa.string(), safe=False)
    return pc.ascii_rtrim(strings, " ").cast(pa.binary())


def _split_bytes(data: bytes | NDArray[np.uint8], offsets: NDArray[np.int32]) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _group_into_lists(values: pa.Array, length: int, rows: int) -> pa.Array:
    offsets = np.arange(rows + 1, dtype=np.int32) * length
    return pa.ListArray.from_arrays(pa.array(offsets), values)
