"""Columns of a FITS binary table: a first pass over the values chooses the form, a second one writes the cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import FLOATS, SCALARS, ColumnType, Field
from tap_service.serializers.field_arrays import (
    as_numpy,
    bools_to_ascii,
    format_timestamps,
    list_lengths,
    split_text,
)
from tap_service.serializers.fits_header import Card
from tap_service.serializers.null_values import NullMark
from tap_service.serializers.padded_text import Widths
from tap_service.serializers.serializer import SerializationError
from tap_service.serializers.votable_binary_rows import fixed_size, pad_with_nul


class FitsColumn(ABC):
    """A column of the table.

    Call ``observe_batch`` for each batch, then ``choose_form``; afterwards ``record_member`` and ``header_cards``, and
    ``fill_cells`` and ``to_heap_bytes`` for each batch again.
    """

    def __init__(self, field: Field, name: str) -> None:
        self.field = field
        self._name = name
        #: numbers per item
        self._parts = 2 if field.type.is_complex else 1

    def observe_batch(self, array: pa.Array) -> pa.Array:
        """Record the sizes and NULLs of a batch; return the array that ``fill_cells`` takes."""
        return array

    def choose_form(self, rows: int) -> int:  # noqa: ARG002 (for text)
        """Choose the form of the column after the last batch; return its number of bytes in the heap."""
        return 0

    @abstractmethod
    def record_member(self, descriptor: str) -> tuple[str, tuple[int, ...]]:
        """Return the dtype and shape of a cell; ``descriptor`` is the dtype of integers that point to the heap."""

    @abstractmethod
    def fill_cells(self, cells: np.ndarray, array: pa.Array, heap_at: int) -> int:
        """Write the cells of a batch whose heap bytes start at ``heap_at``; return the position where they end."""

    def to_heap_bytes(self, array: pa.Array) -> bytes:  # noqa: ARG002 (for cells of variable length)
        """Return the bytes of a batch in the heap."""
        return b""

    @property
    def written_field(self) -> Field:
        """The field with the type in the file; TOPCAT ignores a description of another type."""
        return self.field

    @abstractmethod
    def tform_value(self, descriptor: str) -> str:
        """Return the value of TFORM."""

    def header_cards(self, descriptor: str) -> dict[str, Card]:
        """Return the column's standard keywords and TOPCAT's, without the column number."""
        field = self.field
        cards = {
            "TTYPE": self._name,
            "TFORM": self.tform_value(descriptor),
            "TUNIT": field.unit,
            "TCOMM": field.description,
            "TUCD": field.ucd,
            "TUTYP": field.utype,
        }
        return {key: to_ascii(value) for key, value in cards.items() if value}


class _Fixed(FitsColumn):
    """Numbers, booleans and arrays of a fixed size. A NULL array is written as NULL items."""

    def __init__(self, field: Field, name: str) -> None:
        super().__init__(field, name)
        self._size = fixed_size(field) or 1
        self._mark = NullMark(field, fills_arrays=True)

    def observe_batch(self, array: pa.Array) -> pa.Array:
        counts = list_lengths(array) if self.field.type.is_array else None
        if counts is not None and ((counts != 0) & (counts != self._size)).any():
            raise SerializationError(
                f"column {self.field.name!r} is declared with {self._size} items, but a value has more or fewer"
            )
        self._mark.observe_values(array)
        return array

    def choose_form(self, rows: int) -> int:  # noqa: ARG002
        self._mark.choose_value()
        return 0

    @property
    def _datatype(self) -> str:
        return self._mark.datatype

    def record_member(self, descriptor: str) -> tuple[str, tuple[int, ...]]:  # noqa: ARG002
        dtype = "u1" if self._datatype == "boolean" else SCALARS[self._datatype].numpy
        return dtype, (self._size,) if self.field.type.is_array else ()

    def fill_cells(self, cells: np.ndarray, array: pa.Array, heap_at: int) -> int:
        if not self.field.type.is_array:
            cells[:] = self._to_items(array)
            return heap_at
        present = list_lengths(array) != 0
        cells[present] = self._to_items(array.flatten()).reshape(-1, self._size)
        cells[~present] = self._null_value
        return heap_at

    def tform_value(self, descriptor: str) -> str:  # noqa: ARG002
        letter = SCALARS[self._datatype].fits
        return f"{self._size // self._parts}{letter}" if self.field.type.is_array else letter

    def header_cards(self, descriptor: str) -> dict[str, Card]:
        cards = super().header_cards(descriptor)
        if self._mark.number is not None:
            cards["TNULL"] = self._mark.number
        if "x" in self.field.type.arraysize:
            cards["TDIM"] = _tdim_value(self.field.type.arraysize)
        return cards

    @property
    def written_field(self) -> Field:
        return self._mark.apply_to_field(self.field)

    @property
    def _null_value(self) -> float | int:
        if self._datatype in FLOATS or self.field.type.is_complex:
            return float("nan")
        return self._mark.number or 0

    def _to_items(self, array: pa.Array) -> np.ndarray:
        if self._datatype == "boolean":
            return bools_to_ascii(array)
        if not array.null_count:
            return as_numpy(array)
        wide = array.cast(SCALARS[self._datatype].arrow)
        return as_numpy(pc.fill_null(wide, pa.scalar(self._null_value, wide.type)))


class _Variable(FitsColumn):
    """Arrays of variable size, stored in the heap; a NULL array has no items."""

    def __init__(self, field: Field, name: str) -> None:
        super().__init__(field, name)
        self._mark = NullMark(field, fills_arrays=False)
        self._max_items = self._item_count = 0

    def observe_batch(self, array: pa.Array) -> pa.Array:
        counts = list_lengths(array)
        self._mark.observe_values(array)
        self._max_items = max(self._max_items, int(counts.max(initial=0)))
        self._item_count += int(counts.sum())
        return array

    def choose_form(self, rows: int) -> int:  # noqa: ARG002
        self._mark.choose_value()
        return self._item_count * self._item.itemsize

    @property
    def _item(self) -> np.dtype:
        datatype = self._mark.datatype
        return np.dtype("u1" if datatype == "boolean" else SCALARS[datatype].numpy)

    def record_member(self, descriptor: str) -> tuple[str, tuple[int, ...]]:
        return descriptor, (2,)

    def fill_cells(self, cells: np.ndarray, array: pa.Array, heap_at: int) -> int:
        counts = list_lengths(array) // self._parts
        return _fill_descriptors(cells, counts, self._parts * self._item.itemsize, heap_at)

    def to_heap_bytes(self, array: pa.Array) -> bytes:
        items = array.flatten()
        if self.field.type.datatype == "boolean":
            return bools_to_ascii(items).tobytes()
        if items.null_count:
            items = items.cast(SCALARS[self._mark.datatype].arrow)
            items = pc.fill_null(items, float("nan") if self._mark.number is None else self._mark.number)
        return as_numpy(items).astype(self._item).tobytes()

    def header_cards(self, descriptor: str) -> dict[str, Card]:
        cards = super().header_cards(descriptor)
        return cards if self._mark.number is None else cards | {"TNULL": self._mark.number}

    @property
    def written_field(self) -> Field:
        field = self._mark.apply_to_field(self.field)
        return replace(field, type=replace(field.type, arraysize="*"))

    def tform_value(self, descriptor: str) -> str:
        letter = SCALARS[self._mark.datatype].fits
        return f"1{_descriptor_letter(descriptor)}{letter}({self._max_items // self._parts})"


class _Text(FitsColumn):
    """Text, padded to the longest value in the rows, or in the heap if padding would waste space."""

    def __init__(self, field: Field, name: str) -> None:
        super().__init__(field, name)
        self._widths = Widths()
        self._is_in_rows = True

    def observe_batch(self, array: pa.Array) -> pa.Array:
        text = format_timestamps(array) if self.field.type.is_timestamp else array
        text = pc.fill_null(text, "") if text.null_count else text
        data = split_text(text)[1]
        if data.size and (data.min() < 0x20 or data.max() > 0x7E):
            text = pc.replace_substring_regex(text, "\r\n|[\t\r\n]", " ")
            text = pc.replace_substring_regex(text, "[^\x20-\x7e]", "?")
        self._widths.observe_sizes(pc.binary_length(text))
        return text

    def choose_form(self, rows: int) -> int:
        self._is_in_rows = self._widths.can_pad(rows)
        return 0 if self._is_in_rows else self._widths.total

    def record_member(self, descriptor: str) -> tuple[str, tuple[int, ...]]:
        return ("u1", (self._width,)) if self._is_in_rows else (descriptor, (2,))

    def fill_cells(self, cells: np.ndarray, array: pa.Array, heap_at: int) -> int:
        offsets, data = split_text(array)
        if not self._is_in_rows:
            return _fill_descriptors(cells, np.diff(offsets), 1, heap_at)
        cells[:] = pad_with_nul(offsets, data, self._width)
        return heap_at

    def to_heap_bytes(self, array: pa.Array) -> bytes:
        return b"" if self._is_in_rows else split_text(array)[1].tobytes()

    def tform_value(self, descriptor: str) -> str:
        return f"{self._width}A" if self._is_in_rows else f"1{_descriptor_letter(descriptor)}A({self._width})"

    def header_cards(self, descriptor: str) -> dict[str, Card]:
        cards = super().header_cards(descriptor)
        if self._is_in_rows and "x" in self._arraysize:
            cards["TDIM"] = _tdim_value(self._arraysize)
        return cards

    @property
    def written_field(self) -> Field:
        return replace(self.field, type=ColumnType("char", self._arraysize, self.field.type.xtype))

    @property
    def _arraysize(self) -> str:
        """The arraysize in the file. An array of strings remains one if each cell holds complete strings."""
        length = self.field.type.string_length
        if not self._is_in_rows:
            return f"{length}x*" if length else "*"
        is_whole = length and self._width % length == 0
        return f"{length}x{self._width // length}" if is_whole else str(self._width)

    @property
    def _width(self) -> int:
        return max(self._widths.longest, 1)


def new_fits_column(field: Field, name: str) -> FitsColumn:
    """Create the writer of a column; ``name`` is its ASCII name in the header."""
    if field.type.is_text or field.type.is_timestamp:
        return _Text(field, name)
    return _Variable(field, name) if fixed_size(field) is None else _Fixed(field, name)


def _tdim_value(arraysize: str) -> str:
    """Return the value of TDIM."""
    return f"({arraysize.replace('x', ',')})"


def _fill_descriptors(cells: np.ndarray, counts: np.ndarray, size: int, heap_at: int) -> int:
    """Write the item count and the heap position of each cell; return the position after the last."""
    ends = heap_at + np.cumsum(counts) * size
    cells[:, 0] = counts
    cells[:, 1] = ends - counts * size
    return int(ends[-1])


def _descriptor_letter(descriptor: str) -> str:
    return "Q" if descriptor == ">i8" else "P"


def to_ascii(value: str) -> str:
    """Replace non-ASCII characters by '?' and runs of white space by one space, for a header."""
    return "".join(character if " " <= character <= "~" else "?" for character in " ".join(value.split()))
