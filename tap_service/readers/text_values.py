"""Values of text columns without their padding, and NULL for tokens of missing values."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import DOUBLE, LONG, UNICODE, ColumnType

_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][-+]?[0-9]+)?$"
_INTEGER = r"^[-+]?[0-9]+$"
_LEADING_ZERO = r"^[-+]?0[0-9]"


def trim_values(texts: pa.Array, nulls: tuple[str, ...] = (), *, is_number: bool = False) -> pa.Array:
    """Return the values without surrounding blanks; empty values and tokens of missing values are NULL.

    Parameters
    ----------
    texts : pyarrow.StringArray
        The fields as they are in the file. They may not be UTF-8.
    nulls : tuple of str
        The tokens of missing values.
    is_number : bool
        Whether tokens are also compared as numbers: -99 is also -99.00.

    Returns
    -------
    pyarrow.BinaryArray
        The values.
    """
    trimmed = pc.ascii_trim_whitespace(texts)
    _, offsets, values = trimmed.buffers()
    ends = np.frombuffer(offsets, np.int32, len(trimmed) + 1, trimmed.offset * 4)
    present = np.diff(ends) > 0
    if nulls:
        present &= ~_find_tokens(trimmed, nulls, is_number=is_number)
    bitmap = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(
        pa.binary(), len(trimmed), [bitmap, pa.py_buffer(ends), values], null_count=int((~present).sum())
    )


def _find_tokens(values: pa.Array, tokens: tuple[str, ...], *, is_number: bool) -> npt.NDArray[np.bool_]:
    found = pc.is_in(values, pa.array(tokens, pa.string()))
    numbers = pa.array([token for token in tokens if is_number and re.fullmatch(_NUMBER, token)], pa.string())
    if len(numbers):
        marks, _ = parse_numbers(numbers)
        given, _ = parse_numbers(values)
        found = pc.or_(found, pc.and_(pc.is_valid(given), pc.is_in(given, marks)))
    return np.asarray(found.to_numpy(zero_copy_only=False))


def parse_numbers(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return doubles, with NULL for texts that are not numbers, and a mask of these texts (without NULL values)."""
    try:
        return values.cast(pa.string()).cast(pa.float64()), pa.nulls(len(values), pa.bool_()).fill_null(False)
    except pa.ArrowInvalid:  # a sign +, an exponent with D, a text
        fits = pc.fill_null(pc.match_substring_regex(values, _NUMBER), False)
    texts = pc.if_else(fits, values, pa.scalar(None, values.type)).cast(pa.string())
    plain = pc.replace_substring_regex(pc.replace_substring_regex(texts, r"^\+", ""), "[dD]", "e")
    return plain.cast(pa.float64()), pc.and_(pc.is_valid(values), pc.invert(fits))


def guess_type(values: pa.Array) -> ColumnType:
    """Return the type of trimmed values: BIGINT, DOUBLE, or text (also for leading zeros)."""
    values = values.drop_null()
    if not len(values):
        return UNICODE
    if _match_all(values, _INTEGER):
        has_zeros = pc.any(pc.match_substring_regex(values, _LEADING_ZERO)).as_py()
        return UNICODE if has_zeros or not _fits_long(values) else LONG
    return DOUBLE if _match_all(values, _NUMBER) else UNICODE


def _match_all(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _fits_long(values: pa.Array) -> bool:
    try:
        pc.replace_substring_regex(values.cast(pa.string()), r"^\+", "").cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    return True
