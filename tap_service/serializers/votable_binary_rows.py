"""Encodes columns as rows of VOTable BINARY and BINARY2 (VOTable 1.5, chapter 5).

A row is a sequence of *groups*: a big-endian numpy record of fixed-width cells, then at most one cell of variable
width; the record's last member is the item count of this cell. Arrow joins records and variable cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import FLOATS, INTEGERS, TEXT, Field
from tap_service.serializers.field_arrays import (
    as_numpy,
    bools_to_ascii,
    build_binary,
    fill_nulls,
    format_timestamps,
    join_rows,
    list_lengths,
    null_mask,
    split_text,
)
from tap_service.serializers.serializer import MAX_REMEMBERED, SerializationError


def fixed_size(field: Field) -> int | None:
    """Return the number of items of a cell (1 for a scalar, 2 for a complex number), None if it varies."""
    arraysize = field.type.stored_type.arraysize
    if field.type.is_timestamp or "*" in arraysize:
        return None
    return math.prod(map(int, arraysize.split("x"))) if arraysize else 1


@dataclass(frozen=True, slots=True)
class _Group:
    record: np.dtype
    fixed: tuple[int, ...]
    variable: int | None


class RowEncoder:
    """Encodes conformed columns.

    Without flags, and inside arrays, a NULL integer becomes the number that its type declares.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns.
    flags : bool
        Whether to write BINARY2's null flags before each row.
    utf8 : bool
        Whether ``char`` of varying length is UTF-8, as in VOTable 1.6; otherwise it is ASCII.
    """

    def __init__(self, fields: Sequence[Field], *, flags: bool, utf8: bool = False) -> None:
        self._fields = tuple(
            replace(field, type=field.type.stored_type) if field.type.is_complex else field for field in fields
        )
        self._parts = tuple(2 if field.type.is_complex else 1 for field in fields)
        self._flags = flags
        self._utf8 = utf8
        self._groups = self._plan_groups()

    def _plan_groups(self) -> list[_Group]:
        groups: list[_Group] = []
        members: list[tuple[str, str, tuple[int, ...]]] = []
        fixed: list[int] = []
        if self._flags:
            members.append(("flags", "u1", ((len(self._fields) + 7) // 8,)))
        for index, field in enumerate(self._fields):
            size = fixed_size(field)
            if size is None:
                members.append(("count", ">u4", ()))
                groups.append(_Group(np.dtype(members), tuple(fixed), index))
                members, fixed = [], []
            else:
                shape = (size * _item_width(field),) if field.type.arraysize else ()
                members.append((str(index), _item_dtype(field), shape))
                fixed.append(index)
        if members:
            groups.append(_Group(np.dtype(members), tuple(fixed), None))
        return groups

    def encode_rows(self, columns: Sequence[pa.Array]) -> bytes:
        """Return the bytes of rows. Raise ``SerializationError`` if a value does not fit the arraysize or NULL."""
        count = len(columns[0])
        if not count:
            return b""
        parts: list[pa.Array] = []
        for number, group in enumerate(self._groups):
            record = np.zeros(count, group.record)
            if number == 0 and self._flags:
                record["flags"] = self._null_flags(columns, count)
            for index in group.fixed:
                record[str(index)] = self._fixed_cells(columns[index], self._fields[index])
            if group.variable is not None:
                counts, cells = self._variable_cells(columns[group.variable], self._fields[group.variable])
                record["count"] = counts // self._parts[group.variable]
                parts += [_record_to_binary(record), cells]
            elif not parts:
                return record.tobytes()
            else:
                parts.append(_record_to_binary(record))
        return join_rows(parts)

    def _null_flags(self, columns: Sequence[pa.Array], count: int) -> np.ndarray:
        """Return one bit for each column, the first column in the highest bit of the first byte; shape (n, bytes)."""
        flags = np.zeros((count, (len(columns) + 7) // 8), np.uint8)
        for index, (column, field) in enumerate(zip(columns, self._fields, strict=True)):
            if column.null_count or field.type.is_array:
                flags[:, index // 8] |= null_mask(column, field).astype(np.uint8) << (7 - index % 8)
        return flags

    def _fixed_cells(self, column: pa.Array, field: Field) -> np.ndarray:
        """Return cells of fixed width, of shape (n,) for scalars and (n, arraysize) for arrays."""
        if field.type.datatype in TEXT:
            return _padded_text(column, field)
        if not field.type.is_array:
            return self._to_items(column, field)
        size = fixed_size(field) or 1
        counts = list_lengths(column)
        present = counts != 0
        if (counts[present] != size).any():
            raise SerializationError(
                f"column {field.name!r} is declared with {size} items, but a value has more or fewer"
            )
        items = self._to_items(column.flatten(), field).reshape(-1, size)
        if present.all():
            return items
        cells = np.full((len(column), size), _null_value(field), _item_dtype(field))
        cells[present] = items
        return cells

    def _variable_cells(self, column: pa.Array, field: Field) -> tuple[np.ndarray, pa.Array]:
        """Return the item counts and the bytes of cells of variable width."""
        if field.type.datatype in TEXT:
            offsets, data = _text_parts(column, field, utf8=self._utf8)
            return np.diff(offsets) // _item_width(field), build_binary(offsets, data)
        counts = list_lengths(column)
        items = self._to_items(column.flatten(), field).astype(_item_dtype(field))
        offsets = _from_zero(np.cumsum(counts)) * items.itemsize
        return counts, build_binary(offsets, items.view(np.uint8))

    def _to_items(self, array: pa.Array, field: Field) -> np.ndarray:
        """Return a column's scalars or array elements in native byte order, with NULLs replaced."""
        if field.type.datatype == "boolean":
            return bools_to_ascii(array)
        if array.null_count:
            if field.type.null is None and field.type.datatype in INTEGERS and (field.type.is_array or not self._flags):
                raise SerializationError(
                    f"column {field.name!r} has a NULL inside an array, which this format does not support"
                )
            wanted = field.type.scalar.arrow  # wider than the rows' if BINARY needed it
            return fill_nulls(array if array.type == wanted else array.cast(wanted), _null_value(field))
        return as_numpy(array)


@lru_cache(MAX_REMEMBERED)
def find_row_encoder(fields: tuple[Field, ...], *, flags: bool, utf8: bool = False) -> RowEncoder:
    """Return the cached encoder of these fields, which several results may use at once."""
    return RowEncoder(fields, flags=flags, utf8=utf8)


def _null_value(field: Field) -> float | int:
    """Return the value written for a NULL."""
    return float("nan") if field.type.datatype in FLOATS else field.type.null or 0


def _item_dtype(field: Field) -> str:
    """Return the numpy dtype of an encoded item, of one byte for text."""
    return "u1" if field.type.datatype in (*TEXT, "boolean") else field.type.scalar.numpy


def _item_width(field: Field) -> int:
    """Return the number of array elements per item: two for the bytes of a UTF-16 unit."""
    return 2 if field.type.datatype == "unicodeChar" else 1


def _record_to_binary(record: np.ndarray) -> pa.Array:
    width = record.dtype.itemsize
    return build_binary(np.arange(len(record) + 1, dtype=np.int64) * width, record.view(np.uint8))


def _padded_text(column: pa.Array, field: Field) -> np.ndarray:
    """Pad text with NUL to its declared length."""
    size = fixed_size(field) or 0
    width = size * _item_width(field)
    offsets, data = _text_parts(column, field)
    if (np.diff(offsets) > width).any():
        raise SerializationError(f"column {field.name!r} is declared with {size} characters, but a value is longer")
    return pad_with_nul(offsets, data, width)


def pad_with_nul(offsets: np.ndarray, data: np.ndarray, width: int) -> np.ndarray:
    """Pad cells of at most ``width`` bytes with NUL; shape (n, width)."""
    cells = np.zeros((len(offsets) - 1, width), np.uint8)
    cells[np.arange(width) < np.diff(offsets)[:, None]] = data
    return cells


def _text_parts(column: pa.Array, field: Field, *, utf8: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and bytes in the column's encoding: UTF-16BE; UTF-8, or ASCII with '?' for other characters."""
    text = format_timestamps(column) if field.type.is_timestamp else column
    text = pc.fill_null(text, "") if text.null_count else text
    offsets, data = split_text(text)
    wide = field.type.datatype == "unicodeChar"
    if not data.size or data.max() < 0x80 or (utf8 and not wide):
        return (offsets * 2, _encode_utf16(data)) if wide else (offsets, data)
    if not wide:
        return split_text(pc.replace_substring_regex(text, r"[^\x00-\x7f]", "?"))
    units = as_numpy(pc.utf8_length(text)).astype(np.int64)
    pairs = data >= 0xF0  # first UTF-8 byte of a character that needs a surrogate pair
    if pairs.any():
        units += np.diff(_from_zero(np.cumsum(pairs))[offsets])
    return _from_zero(np.cumsum(units)) * 2, _encode_utf16(data)


def _from_zero(ends: np.ndarray) -> np.ndarray:
    return np.concatenate((np.zeros(1, np.int64), ends))


def _encode_utf16(data: np.ndarray) -> np.ndarray:
    return np.frombuffer(data.tobytes().decode().encode("utf-16-be"), np.uint8)
