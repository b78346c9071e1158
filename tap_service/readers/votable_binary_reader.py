"""Conversion of BINARY and BINARY2 rows of a VOTable (VOTable 1.5, sections 5.3 and 5.4) to Arrow.

Only the lengths of variable arrays are read row by row; all values are converted as vectors.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.datatypes import TEXT, count_characters
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_ROW_BYTES
from tap_service.readers.votable_nulls import replace_null_values
from tap_service.readers.votable_xml_reader import VotableField

_ITEMS = {
    "boolean": "u1",
    "bit": "u1",
    "unsignedByte": "u1",
    "short": ">i2",
    "int": ">i4",
    "long": ">i8",
    "float": ">f4",
    "double": ">f8",
    "char": "u1",
    "unicodeChar": ">u2",
    "floatComplex": ">f4",
    "doubleComplex": ">f8",
}
_TRUE = np.frombuffer(b"Tt1", np.uint8)
_FALSE = np.frombuffer(b"Ff0", np.uint8)


#: offsets or item counts, one for each row
_Integers = NDArray[np.int64]

#: number of rows, the offsets and item counts of each column, and the bytes that the rows take
_Rows = tuple[int, list[_Integers], list[_Integers], int]


@dataclass(frozen=True)
class _Layout:
    """A column in a row: ``count`` items; if that is None, a four-byte count precedes the items."""

    column: VotableField
    item: np.dtype[Any]
    count: int | None

    @property
    def width(self) -> int:
        """The bytes of a column of fixed length."""
        return self.count_bytes(self.count or 0)

    @property
    def values_per_item(self) -> int:
        """2 for complex numbers, else 1."""
        return 2 if self.column.field.type.is_complex else 1

    def count_bytes(self, count: int) -> int:
        return -(-count // 8) if self.column.datatype == "bit" else count * self.values_per_item * self.item.itemsize


class BinaryRows:
    """Splits a byte stream into rows, and rows into Arrow columns."""

    def __init__(self, columns: Sequence[VotableField], *, with_mask: bool) -> None:
        self._mask_bytes = -(-len(columns) // 8) if with_mask else 0
        self._layouts = [_find_layout(column) for column in columns]
        width = self._mask_bytes + sum(4 if layout.count is None else layout.width for layout in self._layouts)
        if not 0 < width <= MAX_ROW_BYTES:
            raise ReadError(
                f"the FIELDs of the VOTable declare rows of {width} or more bytes, not 1 to {MAX_ROW_BYTES}"
            )

    def take_rows(self, data: bytes, max_rows: int) -> _Rows:
        """Split off complete rows.

        Parameters
        ----------
        data : bytes
            The bytes.
        max_rows : int
            Maximum number of rows.

        Returns
        -------
        tuple
            The number of rows, the offsets and item counts of each column, and the bytes used.
        """
        if all(layout.count is not None for layout in self._layouts):
            return self._take_fixed(data, max_rows)
        return self._take_variable(data, max_rows)

    def _take_fixed(self, data: bytes, max_rows: int) -> _Rows:
        widths = [layout.width for layout in self._layouts]
        row = self._mask_bytes + sum(widths)
        rows = min(max_rows, len(data) // row)
        starts = np.arange(rows, dtype=np.int64) * row + self._mask_bytes
        offsets = np.r_[0, np.cumsum(widths)][:-1]
        cell_starts = [starts + offset for offset in offsets]
        counts = [np.full(rows, layout.count, np.int64) for layout in self._layouts]
        return rows, cell_starts, counts, rows * row

    def _take_variable(self, data: bytes, max_rows: int) -> _Rows:
        cell_starts: list[list[int]] = [[] for _ in self._layouts]
        counts: list[list[int]] = [[] for _ in self._layouts]
        length = struct.Struct(">I").unpack_from
        used = rows = 0
        size = len(data)
        while rows < max_rows:
            at = used + self._mask_bytes
            row = []
            for layout in self._layouts:
                count = layout.count
                if count is None:
                    if at + 4 > size:
                        break
                    (count,) = length(data, at)
                    at += 4
                row.append((at, count))
                at += layout.count_bytes(count)
            if len(row) < len(self._layouts) or at > size or at == used:
                break
            for (offset, count), all_offsets, all_counts in zip(row, cell_starts, counts, strict=True):
                all_offsets.append(offset)
                all_counts.append(count)
            used = at
            rows += 1
        offset_arrays = [np.array(column, np.int64) for column in cell_starts]
        count_arrays = [np.array(column, np.int64) for column in counts]
        return rows, offset_arrays, count_arrays, used

    def decode_columns(
        self,
        data: bytes,
        cell_starts: list[_Integers],
        counts: list[_Integers],
        names: Sequence[str],
    ) -> list[pa.Array]:
        """Decode the named columns of the rows from ``take_rows``."""
        whole = np.frombuffer(data, np.uint8)
        mask_starts = cell_starts[0] - self._mask_bytes - (4 if self._layouts[0].count is None else 0)
        found = {}
        for number, layout in enumerate(self._layouts):
            if layout.column.field.name in names:
                null = None
                if self._mask_bytes:
                    null = (whole[mask_starts + number // 8] >> (7 - number % 8) & 1).astype(bool)
                found[layout.column.field.name] = _decode_column(
                    layout, whole, cell_starts[number], counts[number], null
                )
        return [found[name] for name in names]


def _find_layout(column: VotableField) -> _Layout:
    size = column.arraysize
    item = np.dtype(_ITEMS[column.datatype])
    if size.endswith("*"):
        return _Layout(column, item, None)
    return _Layout(column, item, math.prod(int(part) for part in size.split("x")) if size else 1)


def _decode_column(
    layout: _Layout,
    whole: NDArray[np.uint8],
    cell_starts: _Integers,
    counts: _Integers,
    null: NDArray[np.bool_] | None,
) -> pa.Array:
    """Decode a column: gather its bytes, read them as items, and split these into rows."""
    type_ = layout.column.field.type
    if layout.column.datatype == "bit":
        return _decode_bits(whole, cell_starts, counts, null, is_array=type_.is_array)
    counts = counts * layout.values_per_item
    gathered = _gather_bytes(whole, cell_starts, counts * layout.item.itemsize)
    if layout.column.datatype in TEXT:
        return _decode_texts(layout, gathered, counts, null)
    items = _decode_items(layout, gathered.view(layout.item))
    if type_.is_array:
        return pa.ListArray.from_arrays(
            pa.array(_counts_to_offsets(counts)), items, mask=None if null is None else pa.array(null)
        )
    if null is not None:
        items = pa.compute.if_else(pa.array(null), pa.scalar(None, items.type), items)
    return items


def _gather_bytes(whole: NDArray[np.uint8], cell_starts: _Integers, widths: _Integers) -> NDArray[np.uint8]:
    if len(widths) and (widths == widths[0]).all():
        return np.ascontiguousarray(whole[cell_starts[:, None] + np.arange(widths[0])]).reshape(-1)
    ends = np.cumsum(widths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - widths, widths)
    gathered: NDArray[np.uint8] = whole[np.repeat(cell_starts, widths) + within]
    return gathered


def _decode_items(layout: _Layout, raw: NDArray[Any]) -> pa.Array:
    if layout.column.datatype == "boolean":
        true, false = np.isin(raw, _TRUE), np.isin(raw, _FALSE)
        return pa.array(true, mask=~(true | false))
    return replace_null_values(pa.array(raw.astype(raw.dtype.newbyteorder("="))), layout.column.null)


def _decode_texts(
    layout: _Layout, gathered: NDArray[np.uint8], counts: _Integers, null: NDArray[np.bool_] | None
) -> pa.Array:
    """Decode texts up to their first NUL; texts of fixed length lose their trailing blanks.

    Without NULL flags (BINARY), an empty text is NULL.
    """
    type_ = layout.column.field.type
    size = 2 if type_.datatype == "unicodeChar" else 1
    decode = _decode_utf16 if size == 2 else _decode_text
    length = type_.string_length
    data = gathered.tobytes()
    texts: list[str | None] = []
    start = 0
    for end in np.cumsum(counts * size).tolist():
        if length:
            chunks = (data[at : min(at + length * size, end)] for at in range(start, end, length * size))
            pieces = ((decode(chunk), len(chunk) // size) for chunk in chunks)
            text = "".join(piece + " " * (count - count_characters(piece, type_)) for piece, count in pieces)
        else:
            text = decode(data[start:end])
            text = text if layout.count is None else text.rstrip(" ")
        texts.append(text if null is not None or text.strip(" ") else None)
        start = end
    return replace_null_values(pa.array(texts, pa.string(), mask=null), layout.column.null)


def _decode_utf16(data: bytes) -> str:
    return data.decode("utf-16-be", "replace").split("\0", 1)[0]


def _decode_text(data: bytes) -> str:
    """Decode text, ASCII by the standard; some programs write UTF-8, and STIL writes Latin-1."""
    data = data.split(b"\0", 1)[0]
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _decode_bits(
    whole: NDArray[np.uint8],
    cell_starts: _Integers,
    counts: _Integers,
    null: NDArray[np.bool_] | None,
    *,
    is_array: bool,
) -> pa.Array:
    widths = -(-counts // 8)
    if not is_array:  # programs write a single bit at either end of its byte
        return pa.array(whole[cell_starts] != 0, mask=null)
    bits = np.unpackbits(_gather_bytes(whole, cell_starts, widths))
    starts = np.cumsum(widths * 8) - widths * 8
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    values = pa.array(bits[np.repeat(starts, counts) + within].astype(bool))
    return pa.ListArray.from_arrays(
        pa.array(_counts_to_offsets(counts)), values, mask=None if null is None else pa.array(null)
    )


def _counts_to_offsets(counts: _Integers) -> NDArray[np.int32]:
    offsets: NDArray[np.int32] = np.r_[0, np.cumsum(counts)].astype(np.int32)
    return offsets
