"""Cells as text, by columns: the values of TABLEDATA, CSV and TSV before escaping."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import FLOATS, INTEGERS, Field
from tap_service.serializers.columns import absent, lengths, parts, timestamps
from tap_service.serializers.result import SerializationError


def cells(column: pa.Array, field: Field, infinity: str) -> pa.Array:
    """A conformed column as ``large_string``, NULL left NULL. ``infinity`` is the format's word for plus infinity."""
    if field.type.is_text:
        return column
    if field.type.is_timestamp:
        return timestamps(column)
    if not field.type.is_array:
        return _scalars(column, field, infinity)
    flat = column.flatten()
    if flat.null_count and field.type.datatype in INTEGERS:
        raise SerializationError(f"column {field.name!r} has an array with a NULL inside, which this format lacks")
    words = _scalars(flat, field, infinity)
    if words.null_count:
        words = pc.fill_null(words, "NaN" if field.type.datatype in FLOATS else "?")
    offsets = np.concatenate(([0], np.cumsum(lengths(column))))
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), words)
    joined = pc.binary_join(lists, pa.scalar(" ", pa.large_string()))
    return pc.if_else(pa.array(absent(column, field)), pa.scalar(None, pa.large_string()), joined)


def _scalars(column: pa.Array, field: Field, infinity: str) -> pa.Array:
    words = column.cast(pa.large_string())
    if field.type.datatype not in FLOATS or not len(column):
        return words
    unbounded = pc.invert(pc.is_finite(column))
    if not pc.any(unbounded).as_py():
        return words
    named = pc.if_else(
        pc.is_nan(column), "NaN", pc.if_else(pc.greater(column, 0), infinity, "-" + infinity.lstrip("+"))
    ).cast(pa.large_string())
    return pc.if_else(unbounded, named, words)


def has_any(column: pa.Array, characters: str) -> bool:
    """Whether one of these ASCII characters occurs in the text: whole columns are looked through, not rows."""
    run = parts(column)[1].tobytes()
    return any(character.encode() in run for character in characters)
