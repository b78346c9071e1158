"""The missing values of a VOTable: the null of VALUES, which is a number if the column has numbers."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import ColumnType
from tap_service.readers.column_casts import NO_VALUE, replace_elements, replace_with_null

#: cells of numbers, booleans and times that some programs write for missing values
NULL_CELLS = ("", "NULL", "null")


def parse_null(text: str) -> int | float | None:
    """Parse the null of VALUES: a decimal or hexadecimal integer, or a float; None if it is not a VOTable number."""
    if re.fullmatch(r"\s*[-+]?(0[xX][0-9a-fA-F]{1,16}|[1-9][0-9]{0,18}|0)\s*", text):
        return int(text, 0)
    try:
        return float(text)
    except ValueError:
        return None


def replace_null_cells(cells: pa.Array, null: str, kind: ColumnType) -> pa.Array:
    """Replace the cells of TABLEDATA that are missing values by NULL.

    Parameters
    ----------
    cells : pyarrow.Array
        The texts of a column.
    null : str
        The null of its VALUES; '' for none. For numbers every spelling of it counts: ``-999.0`` is ``-9.99E2``.
    kind : ColumnType
        The type of the column. In arrays the elements become ``NO_VALUE``, not the cells.
    """
    null = null.strip()
    if kind.is_text:
        return _replace_texts(cells, ("", null))
    cells = _replace_texts(pc.ascii_trim_whitespace(cells), NULL_CELLS)
    if kind.is_array:
        return _mark_elements(cells, null, kind) if null else cells
    number = parse_null(null) if kind.is_numeric else None
    return _replace_texts(cells, (null,)) if number is None else _replace_numbers(cells, number, kind.arrow)


def replace_null_values(values: pa.Array, null: str) -> pa.Array:
    """Replace the numbers or texts that equal the null of VALUES by NULL, also within lists."""
    if pa.types.is_list(values.type):
        return replace_elements(values, replace_null_values(values.flatten(), null))
    if pa.types.is_string(values.type):
        return _replace_texts(values, (null.strip(),) if null.strip() else ())
    number = _convert_null(parse_null(null), values.type)
    return values if number is None else replace_with_null(values, number)


def _replace_texts(cells: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    is_missing = pc.is_in(cells, pa.array(missing, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, cells.type), cells)


def _convert_null(null: float | None, kind: pa.DataType) -> pa.Scalar | None:
    """Return a null in the type of the values; None if no value can equal it."""
    if null is None:
        return None
    try:
        if pa.types.is_floating(kind):
            return pa.scalar(float(null), pa.float64()).cast(kind, safe=False)
        return pa.scalar(int(null), kind) if pa.types.is_integer(kind) and null == int(null) else None
    except (pa.ArrowInvalid, OverflowError, ValueError):
        return None


def _replace_numbers(cells: pa.Array, null: float, kind: pa.DataType) -> pa.Array:
    number = _convert_null(null, kind)
    if number is None:
        return cells
    try:
        is_null = pc.equal(cells.cast(kind), number)
    except pa.ArrowInvalid:  # some cell is not a number
        wanted = number.as_py()
        is_null = pa.array([cell is not None and _is_number(cell, wanted, kind) for cell in cells.to_pylist()])
    return pc.if_else(pc.fill_null(is_null, False), pa.scalar(None, pa.string()), cells)


def _is_number(cell: str, wanted: float, kind: pa.DataType) -> bool:
    number = parse_null(cell)
    if number is None or not pa.types.is_float32(kind):
        return number == wanted
    with np.errstate(over="ignore"):
        return bool(np.float32(number) == wanted)


def _mark_elements(cells: pa.Array, null: str, kind: ColumnType) -> pa.Array:
    """Replace the missing elements of arrays by ``NO_VALUE``."""
    number = _convert_null(parse_null(null), kind.scalar.arrow)
    wanted = None if number is None else number.as_py()

    def is_missing(word: str) -> bool:
        return word == null or (wanted is not None and _is_number(word, wanted, kind.scalar.arrow))

    words = {word: NO_VALUE for cell in cells.to_pylist() for word in set((cell or "").split()) if is_missing(word)}
    marked = [cell and " ".join(words.get(word, word) for word in cell.split()) for cell in cells.to_pylist()]
    return pa.array(marked, pa.string())
