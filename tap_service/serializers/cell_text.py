"""Formats the cells of columns as text, before a text format quotes and escapes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import FLOATS, INTEGERS, TEXT, Field
from tap_service.serializers.field_arrays import format_timestamps, list_lengths, null_mask, split_text, text_bytes
from tap_service.serializers.serializer import SerializationError


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a format writes special values.

    Attributes
    ----------
    plus_infinity, minus_infinity, nan, true, false : str
        The words for these values.
    null_element : str | None
        The word for a NULL inside an array. If it is None, a NULL float in an array becomes NaN, and a NULL integer the
        number that the column declares.
    """

    plus_infinity: str = "Infinity"
    minus_infinity: str = "-Infinity"
    nan: str = "NaN"
    true: str = "true"
    false: str = "false"
    null_element: str | None = None


def format_cells(column: pa.Array, field: Field, spelling: Spelling) -> pa.Array:
    """Format a conformed column as ``large_string``. NULL stays NULL; array elements are separated by spaces."""
    if not field.type.is_array:
        return format_scalars(column, field, spelling)
    words = _format_elements(column, field, spelling)
    return _join_elements(column, field, _list_offsets(column), words, " ")


def format_nested_lists(column: pa.Array, field: Field, spelling: Spelling, inner: Sequence[int | None]) -> pa.Array:
    """Format arrays as nested lists in brackets.

    Parameters
    ----------
    column, field, spelling
        The conformed column, its description, and the words of the format.
    inner : Sequence[int | None]
        The sizes of all axes but the last, which is the outermost one; None for a variable size.
    """
    words, offsets = _format_elements(column, field, spelling), _list_offsets(column)
    for extent in inner:
        if (offsets % extent).any():
            raise SerializationError(
                f"column {field.name!r} has arraysize {field.type.arraysize}, but a value has another size"
            )
        starts = pa.array(np.arange(0, len(words) + 1, extent), pa.int32())
        words = _add_brackets(_join_runs(starts, words, ","))
        offsets //= extent
    return _add_brackets(_join_elements(column, field, offsets, words, ","))


def axis_sizes(field: Field) -> list[int | None]:
    """Return the sizes of an array's axes, the fastest first; None for a variable one. Complex parts form an axis."""
    return [None if "*" in size else int(size) for size in field.type.stored_type.arraysize.split("x")]


def format_scalars(column: pa.Array, field: Field, spelling: Spelling) -> pa.Array:
    """Format scalars, or the elements of the field's arrays; NULL stays NULL."""
    if field.type.is_timestamp:
        return format_timestamps(column)
    if field.type.datatype in TEXT:
        return column
    if field.type.datatype == "boolean":
        return pc.if_else(column, spelling.true, spelling.false).cast(pa.large_string())
    words = column.cast(pa.large_string())
    if field.type.stored_type.datatype not in FLOATS or not len(column):
        return words
    if not has_any(words, "n"):  # as in nan, inf and -inf
        return words
    unbounded = pc.invert(pc.is_finite(column))
    infinite = pc.if_else(pc.greater(column, 0), spelling.plus_infinity, spelling.minus_infinity)
    named = pc.if_else(pc.is_nan(column), spelling.nan, infinite).cast(pa.large_string())
    return pc.if_else(unbounded, named, words)


def has_any(column: pa.Array, characters: str) -> bool:
    """Return whether a column's text contains one of these ASCII characters; searches the entire buffer at once."""
    data = text_bytes(column)
    return any(character.encode() in data for character in characters)


def _format_elements(column: pa.Array, field: Field, spelling: Spelling) -> pa.Array:
    flat = column.flatten()
    words = format_scalars(flat, field, spelling)
    if not flat.null_count:
        return words
    null_element = spelling.null_element
    if null_element is None and field.type.null is not None:
        null_element = str(field.type.null)
    if null_element is None and field.type.datatype in INTEGERS:
        raise SerializationError(
            f"column {field.name!r} has a NULL inside an array, which this format cannot represent"
        )
    if null_element is None:
        null_element = spelling.nan if field.type.stored_type.datatype in FLOATS else "?"
    return pc.fill_null(words, null_element)


def _list_offsets(column: pa.Array) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(list_lengths(column))))


def _join_elements(column: pa.Array, field: Field, offsets: np.ndarray, words: pa.Array, separator: str) -> pa.Array:
    joined = _join_runs(pa.array(offsets, pa.int32()), words, separator)
    return pc.if_else(pa.array(null_mask(column, field)), pa.scalar(None, pa.large_string()), joined)


def _join_runs(offsets: pa.Array, words: pa.Array, separator: str) -> pa.Array:
    return pc.binary_join(pa.ListArray.from_arrays(offsets, words), pa.scalar(separator, pa.large_string()))


def _add_brackets(words: pa.Array) -> pa.Array:
    opening, closing, nothing = (pa.scalar(word, pa.large_string()) for word in ("[", "]", ""))
    return pc.binary_join_element_wise(opening, words, closing, nothing)


def replace_characters(words: pa.Array, changes: Sequence[tuple[str, str]]) -> pa.Array:
    """Apply the replacements in order, skipping those whose characters do not occur in the column."""
    data = text_bytes(words)
    for old, new in changes:
        if old.encode() in data:
            words = pc.replace_substring(words, old, new)
    return words


def control_characters(words: pa.Array) -> list[int]:
    """Return the character codes below 32 that occur in the text."""
    data = split_text(words)[1]
    return np.flatnonzero(np.bincount(data[data < 32], minlength=32)).tolist() if data.size else []
