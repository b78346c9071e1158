"""Converts rows of a row store to Arrow columns: bytes are cut out and copied, no value is converted.

Every length is checked against the existing bytes before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.row_store import RowLayout, Slot

_Bytes = NDArray[np.uint8]

#: Maximum number of items of one Arrow array
_MAX_ITEMS = 2**31 - 1


class RowStoreError(Exception):
    """The length of a stored row does not agree with its layout or its counts."""


def decode_rows(rows: pa.Array, layout: RowLayout, names: Iterable[str]) -> list[pa.Array]:
    """Return columns of stored rows.

    Parameters
    ----------
    rows : pyarrow.Array
        The values of the row store, a string or binary array without NULLs.
    layout : RowLayout
        The layout of the table's row store.
    names : iterable of str
        The wanted columns.

    Returns
    -------
    list of pyarrow.Array
        The columns, of the types ``ColumnType.arrow``.

    Raises
    ------
    RowStoreError
        If a value is not a row of this layout.
    """
    cutter = _RowCutter(rows, layout)
    return [cutter.cut_column(layout.slots[name]) for name in names]


class _RowCutter:
    """The bytes of rows, with the positions of all counted values.

    ``_fixed`` has shape (rows, fixed bytes). With shape (rows, counts), ``_sizes`` and ``_starts`` have the sizes of
    counted values in bytes and where they start, and ``_ends`` has the sums of the counts of all rows up to each row.
    """

    def __init__(self, rows: pa.Array, layout: RowLayout) -> None:
        self._rows = len(rows)
        offsets, self._bytes = _read_buffers(rows)
        lengths = np.diff(offsets)
        if (lengths < layout.fixed_bytes).any():
            raise RowStoreError("a stored row is shorter than its fixed columns")
        self._fixed: _Bytes = self._bytes[offsets[:-1, None] + np.arange(layout.fixed_bytes)]
        counts = np.ascontiguousarray(self._fixed[:, layout.counts_at :]).view("<u4").astype(np.int64)
        self._sizes = counts * np.array(layout.item_bytes, np.int64)
        ends = layout.fixed_bytes + np.cumsum(self._sizes, axis=1)
        if (lengths != layout.fixed_bytes + self._sizes.sum(axis=1)).any():
            raise RowStoreError("the length of a stored row differs from its columns")
        self._starts = offsets[:-1, None] + ends - self._sizes
        self._ends = np.cumsum(counts, axis=0)
        self._has_null = self._fixed[:, : layout.flags].any(axis=0).tolist()

    def cut_column(self, slot: Slot) -> pa.Array:
        if not slot.is_counted:
            numbers = self._fixed[:, slot.position : slot.position + slot.item_bytes]
            return _make_numbers(slot, slot.arrow, self._rows, numbers, self._find_validity(slot))
        offsets = self._find_offsets(slot.position)
        if slot.flag >= 0:
            buffers = [self._find_validity(slot), offsets, _to_buffer(self._cut_counted(slot.position))]
            return pa.Array.from_buffers(slot.arrow, self._rows, buffers)
        elements = self._cut_elements(slot)
        return pa.Array.from_buffers(slot.arrow, self._rows, [None, offsets], children=[elements])

    def _cut_elements(self, slot: Slot) -> pa.Array:
        position, validity = slot.position, None
        if slot.kind.has_null_elements:
            validity = _pack_bits(self._cut_counted(position) == 0)
            position += 1
        elements = self._cut_counted(position)
        return _make_numbers(slot, slot.arrow.value_type, len(elements) // slot.item_bytes, elements, validity)

    def _find_validity(self, slot: Slot) -> pa.Buffer | None:
        return _pack_bits(self._fixed[:, slot.flag] == 0) if self._has_null[slot.flag] else None

    def _find_offsets(self, position: int) -> pa.Buffer:
        if self._rows and self._ends[-1, position] > _MAX_ITEMS:
            raise RowStoreError("stored rows have more characters than an Arrow array")
        offsets = np.zeros(self._rows + 1, np.int32)
        offsets[1:] = self._ends[:, position]
        return pa.py_buffer(offsets)

    def _cut_counted(self, position: int) -> _Bytes:
        """Return the bytes of a counted value of all rows, concatenated."""
        starts, sizes = self._starts[:, position].tolist(), self._sizes[:, position].tolist()
        parts = [self._bytes[start : start + size] for start, size in zip(starts, sizes, strict=True) if size]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, np.uint8)


def _read_buffers(rows: pa.Array) -> tuple[NDArray[np.int64], _Bytes]:
    """Return where each row starts and where the last row ends, and all bytes."""
    _, offsets, data = rows.buffers()
    width = np.int64 if pa.types.is_large_string(rows.type) or pa.types.is_large_binary(rows.type) else np.int32
    if offsets is None or not len(rows):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    found = np.frombuffer(offsets, width)[rows.offset : rows.offset + len(rows) + 1].astype(np.int64)
    return found, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def _make_numbers(slot: Slot, arrow: pa.DataType, count: int, numbers: _Bytes, validity: pa.Buffer | None) -> pa.Array:
    values = _pack_bits(numbers != 0) if slot.kind.datatype == "boolean" else _to_buffer(numbers)
    return pa.Array.from_buffers(arrow, count, [validity, values])


def _to_buffer(values: _Bytes) -> pa.Buffer:
    return pa.py_buffer(values.tobytes())


def _pack_bits(is_set: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(is_set, bitorder="little"))
