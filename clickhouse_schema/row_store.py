"""The row store of a table: a second copy of each row, as the bytes of one column, for look-ups of whole rows by id.

ClickHouse computes the column when rows are inserted (``MATERIALIZED``), so it is written, merged, copied and dropped
with the rows. A look-up reads only this column instead of a granule of every column (``docs/decisions/row-store.md``).
The bytes:

    a flag for each column except arrays, 1 for NULL | the numbers, NULL as 0 | a count for each text and array
        | the characters of each text and the elements of each array

Numbers are little-endian, counts are 32 bits. So the first three parts are at the same positions in all rows of a
table. Arrays whose elements may be NULL have two entries: a flag for each element, then the elements.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Table

#: Rows of a granule of a table with a row store. A look-up reads one granule of about 800 bytes per row: each of 100
#: random ids took 1.0 ms with granules of 2048 rows, 0.45 ms with these
ROW_STORE_GRANULE = 512

#: The bytes of a row are one expression of all columns, which ClickHouse copies for each query of the table
MAX_ROW_COLUMNS = 1000

#: A look-up reads a granule of rows
MAX_FIXED_BYTES = 1 << 20

#: Bytes of a count
COUNT_BYTES = 4

_PREFIX = "__row_"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Slot:
    """Where the bytes of a column are.

    Attributes
    ----------
    kind
        The column's type.
    flag
        Position of the flag for NULL; -1 for arrays, which are never NULL.
    position
        Position of the number; for a text or an array, the index of its count.
    is_counted
        Whether it is a text or an array.
    arrow
        ``kind.arrow``.
    item_bytes
        Bytes of the number, of an element of the array, or of the unit in which the text is counted.
    """

    kind: ColumnType
    flag: int
    position: int
    is_counted: bool
    arrow: pa.DataType
    item_bytes: int


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The positions of all columns in the bytes of a row.

    Attributes
    ----------
    column
        Name of the row store's column. It depends on the columns of the table, so that bytes are never read with a
        wrong layout.
    slots
        The slot of each column, by name.
    flags
        Number of flags, which come first.
    counts_at
        Position of the first count.
    item_bytes
        Bytes of an item of each count; two for an array whose elements may be NULL, which has two counts.
    """

    column: str
    slots: dict[str, Slot]
    flags: int
    counts_at: int
    item_bytes: tuple[int, ...]

    @property
    def fixed_bytes(self) -> int:
        """Bytes before the first character or element."""
        return self.counts_at + COUNT_BYTES * len(self.item_bytes)


def find_row_layout(table: Table) -> RowLayout | None:
    """Return the layout of a table's row store.

    Parameters
    ----------
    table : Table
        The table with its current columns, on which the layout and the name of the row store's column depend.

    Returns
    -------
    RowLayout or None
        The layout; None if the table has no row store.
    """
    if not table.layout.row_store:
        return None
    return _lay_out(tuple((column.name, column.type) for column in sorted(table.columns, key=lambda c: c.name)))


def leave_row_store_out(table: Table) -> Table:
    """Return the table without a row store, for rows that are only stored temporarily; ``table`` is not changed."""
    return table.model_copy(update={"layout": table.layout.model_copy(update={"row_store": False})})


def is_row_column(name: str) -> bool:
    """Return whether a stored column is a row store, of the current or of earlier columns."""
    return name.startswith(_PREFIX)


def row_value_sql(layout: RowLayout) -> str:
    """Return the SQL of the bytes of a row, the value of the MATERIALIZED column.

    Parameters
    ----------
    layout : RowLayout
        The layout of the table.

    Returns
    -------
    str
        SQL of the columns of the table: a String that is not NULL. Only the layout of the same table decodes it.
    """
    kinds = {name: slot.kind for name, slot in layout.slots.items()}
    flags = [f"isNull({quote_identifier(name)})" for name, kind in kinds.items() if not kind.is_array]
    numbers = [_number_sql(name, kind) for name, kind in kinds.items() if not _is_counted(kind)]
    counted = [pair for name, kind in kinds.items() if _is_counted(kind) for pair in _counted_sql(name, kind)]
    counts = [f"toUInt32({count})" for count, _ in counted]
    fixed = f"formatRowNoNewline('RowBinary', {', '.join([*flags, *numbers, *counts])})"
    return f"concat({', '.join([fixed, *(content for _, content in counted)])})" if counted else fixed


@lru_cache(maxsize=1024)
def _lay_out(columns: tuple[tuple[str, ColumnType], ...]) -> RowLayout:
    slots: dict[str, Slot] = {}
    flags = sum(not kind.is_array for _, kind in columns)
    flag, position = 0, flags
    item_bytes: list[int] = []
    for name, kind in columns:
        is_counted, size = _is_counted(kind), _item_size(kind)
        at = len(item_bytes) if is_counted else position
        slots[name] = Slot(kind, -1 if kind.is_array else flag, at, is_counted, kind.arrow, size)
        flag += not kind.is_array
        if is_counted:
            item_bytes += [1, size] if kind.has_null_elements else [size]
        else:
            position += size
    known = repr([_VERSION, *((name, kind.clickhouse) for name, kind in columns)])
    return RowLayout(f"{_PREFIX}{zlib.crc32(known.encode()):08x}", slots, flags, position, tuple(item_bytes))


def _item_size(kind: ColumnType) -> int:
    if kind.is_timestamp:
        return 8
    if kind.is_text:
        return 1
    return max(int(kind.scalar.arrow.bit_width) // 8, 1)


def _is_counted(kind: ColumnType) -> bool:
    return kind.is_array or kind.is_text


def _number_sql(name: str, kind: ColumnType) -> str:
    quoted = quote_identifier(name)
    value = f"toUnixTimestamp64Micro({quoted})" if kind.is_timestamp else quoted
    return f"ifNull({value}, {_zero_sql(kind)})"


def _zero_sql(kind: ColumnType) -> str:
    """Return a zero that does not change the type: ClickHouse copies the expression for each query of the table."""
    return "false" if kind.datatype == "boolean" else "0"


def _counted_sql(name: str, kind: ColumnType) -> Iterator[tuple[str, str]]:
    """Yield the SQL of the counts and of the bytes of a text or an array."""
    quoted = quote_identifier(name)
    if kind.is_text:
        text = f"ifNull({quoted}, '')"
        yield f"length({text})", text
        return
    count = f"length({quoted})"
    elements = quoted
    if kind.has_null_elements:
        yield count, _elements_sql(f"arrayMap(__x -> isNull(__x), {quoted})", count)
        elements = f"arrayMap(__x -> ifNull(__x, {_zero_sql(kind)}), {quoted})"
    yield count, _elements_sql(elements, f"{count} * {_item_size(kind)}")


def _elements_sql(array: str, size: str) -> str:
    """Return the SQL of the bytes of an array's elements: RowBinary starts with their count, in one to five bytes."""
    return f"right(formatRowNoNewline('RowBinary', {array}), {size})"
