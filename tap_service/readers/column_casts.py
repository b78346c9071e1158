"""Exact casts of Arrow arrays to the types of columns.

A caster raises ``pyarrow.ArrowInvalid`` or ``ValueError`` if a value has no exact equivalent; ``conform_rows`` finds
the rows. These are allowed: rounding a double to float or a decimal with a scale to double, and cutting times to
microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import INTEGERS, ColumnType
from tap_service.readers.number_casts import cast_number, decimal_to_text
from tap_service.readers.time_casts import arrow_to_text, arrow_to_timestamp, text_to_timestamp

Caster = Callable[[pa.Array], pa.Array]

#: a missing element of an array, in text
NO_VALUE = "null"

#: the reason of a reject with a missing element that the column cannot store
NULL_INSIDE = "has a NULL inside the array"

#: The spellings in CSV, VOTable and FITS; None is NULL.
_BOOLEANS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False, "": None, "?": None}


def find_caster(given: pa.DataType, wanted: ColumnType) -> Caster:
    """Return the cast from an Arrow type to the type of a column; between unrelated types it raises for every value."""
    if pa.types.is_dictionary(given):
        return _chain_casters(lambda array: array.dictionary_decode(), find_caster(given.value_type, wanted))
    if wanted.xtype == "uuid" and pa.types.is_fixed_size_binary(given):
        return _uuid_to_text
    text = _is_text(given)
    if wanted.is_array:
        return _text_to_array(wanted) if text else _cast_lists(wanted)
    if wanted.is_timestamp:
        return _chain_casters(_cast_to_text, text_to_timestamp) if text else arrow_to_timestamp
    if wanted.datatype in ("char", "unicodeChar"):
        return _cast_to_text
    if wanted.is_boolean:
        return _chain_casters(_cast_to_text, _text_to_boolean) if text else _cast_numbers(wanted)
    if text:
        return _chain_casters(_cast_to_text, _text_to_number(wanted))
    return _cast_numbers(wanted)


def replace_with_null(values: pa.Array, missing: object) -> pa.Array:
    """Replace the values that equal ``missing`` by NULL."""
    return pc.if_else(pc.equal(values, missing), pa.scalar(None, values.type), values)


def _is_text(given: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary)
    return any(test(given) for test in (*tests, pa.types.is_large_binary, pa.types.is_binary_view))


def _chain_casters(first: Caster, second: Caster) -> Caster:
    return lambda array: second(first(array))


def _uuid_to_text(array: pa.Array) -> pa.Array:
    """Return the canonical texts of UUIDs of 16 bytes, as Arrow and Parquet store them."""
    return pa.array([None if value is None else str(UUID(bytes=value)) for value in array.to_pylist()], pa.string())


def _cast_numbers(wanted: ColumnType) -> Caster:
    return lambda array: cast_number(array, wanted.arrow)


def _cast_to_text(array: pa.Array) -> pa.Array:
    """Cast to text; strings via binary, since Arrow validates UTF-8 only in the cast from binary to string."""
    if pa.types.is_decimal(array.type):
        return decimal_to_text(array)
    if pa.types.is_temporal(array.type):
        return arrow_to_text(array)
    is_string = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if any(test(array.type) for test in is_string):
        array = array.cast(pa.binary())
    return array.cast(pa.string())


def _text_to_number(wanted: ColumnType) -> Caster:
    def cast(array: pa.Array) -> pa.Array:
        trimmed = pc.ascii_trim_whitespace(array)
        trimmed = replace_with_null(trimmed, "")
        if wanted.is_integer:
            return _text_to_integer(trimmed, wanted.arrow)
        return cast_number(_text_to_double(trimmed), wanted.arrow)

    return cast


def _text_to_integer(text: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Parse integers; nan, which marks a missing integer where NULL cannot be written, is NULL."""
    text = pc.replace_substring_regex(text, r"^\+", "")
    try:
        return text.cast(wanted)
    except pa.ArrowInvalid:
        return replace_with_null(pc.replace_substring_regex(text, r"(?i)^-?nan$", ""), "").cast(wanted)


def _text_to_double(text: pa.Array) -> pa.Array:
    """Parse doubles, including Fortran exponents (1.5D3)."""
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        return pc.replace_substring_regex(text, r"^([-+0-9.]+)[dD]([-+]?[0-9]+)$", r"\1e\2").cast(pa.float64())


def _text_to_boolean(array: pa.Array) -> pa.Array:
    unknown = sorted(set(pc.unique(array).drop_null().to_pylist()) - _BOOLEANS.keys())
    values = {word: _BOOLEANS.get(word.strip().lower(), word) for word in unknown} | _BOOLEANS
    if any(isinstance(value, str) for value in values.values()):
        raise ValueError("not a boolean")
    return pa.array([values.get(word) for word in array.to_pylist()], pa.bool_())


def _cast_lists(wanted: ColumnType) -> Caster:
    """Cast lists. A missing element becomes NaN in floats and NULL in booleans, and is refused in other types."""
    is_float = pa.types.is_floating(wanted.scalar.arrow)

    def cast(array: pa.Array) -> pa.Array:
        lists = _cast_elements(array, wanted.scalar.arrow)
        values = lists.flatten()
        if wanted.null is not None:
            return replace_elements(lists, replace_with_null(values, wanted.null))
        if values.null_count == 0 or wanted.has_null_elements:
            return lists
        if not is_float:
            raise ValueError(NULL_INSIDE)
        return replace_elements(lists, values.fill_null(float("nan")))

    return cast


def _cast_elements(array: pa.Array, wanted: pa.DataType) -> pa.ListArray:
    """Cast the elements of lists of any kind exactly."""
    if pa.types.is_null(array.type):
        return array.cast(pa.list_(wanted))
    lists = array.cast(pa.list_(array.type.value_type))
    return lists if lists.type.value_type == wanted else replace_elements(lists, cast_number(lists.flatten(), wanted))


def replace_elements(lists: pa.Array, values: pa.Array) -> pa.Array:
    """Return the lists with other elements, in the order of ``flatten``."""
    sizes = lists.value_lengths().fill_null(0).to_numpy()
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=lists.is_null())


def _text_to_array(wanted: ColumnType) -> Caster:
    """Parse arrays in text: JSON (ECSV), or values separated by blanks or commas (VOTable, DALI).

    The values may be in parentheses, as in Gaia's CSV.
    """
    if wanted.datatype == "boolean":
        parse = _parse_boolean_list
    else:
        bits = wanted.scalar.arrow.bit_width if wanted.datatype in INTEGERS else 0
        parse = partial(_parse_number_list, bits=bits)
    parsed = pa.float64() if pa.types.is_floating(wanted.scalar.arrow) else wanted.scalar.arrow

    def cast(array: pa.Array) -> pa.Array:
        try:
            rows = [parse(_strip_parentheses(text)) if text else None for text in _cast_to_text(array).to_pylist()]
            return _cast_lists(wanted)(pa.array(rows, pa.list_(parsed)))
        except (ArithmeticError, RecursionError, TypeError) as error:
            raise ValueError(str(error)) from error

    return cast


def _strip_parentheses(text: str) -> str:
    bare = text.strip()
    return bare[1:-1] if bare.startswith("(") and bare.endswith(")") else text


def _flatten_values(values: list[Any]) -> list[Any]:
    """Flatten the nested lists of a multidimensional array; the last axis of ``arraysize`` is outermost."""
    while any(isinstance(value, list) for value in values):
        values = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return values


def _parse_number_list(text: str, bits: int) -> list[Any]:
    """Parse numbers. ``bits``: the width of integers, 0 for floats."""
    if text.lstrip().startswith("["):
        return [float(value) if isinstance(value, str) else value for value in _flatten_values(json.loads(text))]
    if "_" in text:
        raise ValueError("not a number")
    words = text.replace(",", " ").split()
    return [None if word == NO_VALUE else _parse_integer(word, bits) if bits else float(word) for word in words]


def _parse_integer(word: str, bits: int) -> int | float:
    """Parse an integer, including VOTable hexadecimal, which is the two's complement."""
    if word[:2] in ("0x", "0X"):
        value = int(word, 16)
        return value - (1 << bits) if bits > 8 and value >> (bits - 1) else value
    return int(word) if word.lstrip("+-").isdigit() else float(word)


def _parse_boolean_list(text: str) -> list[Any]:
    """Parse booleans; bits may follow each other without a separator (VOTable)."""
    if text.lstrip().startswith("["):
        return _flatten_values(json.loads(text))
    values: list[bool | None] = []
    for word in text.replace(",", " ").lower().split():
        if word in _BOOLEANS:
            values.append(_BOOLEANS[word])
        elif set(word) <= {"0", "1"}:
            values += [bit == "1" for bit in word]
        else:
            raise ValueError("not a boolean")
    return values
