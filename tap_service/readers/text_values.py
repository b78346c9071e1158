"""Values of text columns without their padding, and NULL for what means a missing value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][-+]?[0-9]+)?$"
_INTEGER = r"^[-+]?[0-9]+$"
_LEADING_ZERO = r"^[-+]?0[0-9]"


def trim_values(texts: pa.Array, nulls: tuple[str, ...] = (), *, is_number: bool = False) -> pa.Array:
    """Return the values without the blanks around them; those that are empty or mean a missing value are NULL.

    Parameters
    ----------
    texts : pyarrow.StringArray
        The fields as they stand in the file. They may be no UTF-8.
    nulls : tuple of str
        The tokens of missing values.
    is_number : bool
        Whether tokens are compared as numbers too: -99 is also -99.00.

    Returns
    -------
    pyarrow.BinaryArray
        The values.
    """
    trimmed = pc.ascii_trim_whitespace(texts)
    missing = pc.equal(trimmed, "")
    for token in nulls:
        missing = pc.or_(missing, _find_token(trimmed, token, is_number=is_number))
    present = pc.invert(pc.fill_null(missing, True)).to_numpy(zero_copy_only=False)
    bitmap = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.binary(), len(trimmed), [bitmap, *trimmed.buffers()[1:]], offset=trimmed.offset)


def _find_token(values: pa.Array, token: str, *, is_number: bool) -> pa.Array:
    is_token = pc.equal(values, token)
    if not (is_number and pc.match_substring_regex(pa.scalar(token), _NUMBER).as_py()):
        return is_token
    numbers, _ = parse_numbers(values)
    return pc.or_(is_token, pc.fill_null(pc.equal(numbers, parse_numbers(pa.array([token]))[0][0]), False))


def parse_numbers(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return doubles, with NULL for what is no number, and which values are that (not those that are NULL)."""
    try:
        return values.cast(pa.string()).cast(pa.float64()), pa.nulls(len(values), pa.bool_()).fill_null(False)
    except pa.ArrowInvalid:  # a sign +, an exponent with D, a text
        fits = pc.fill_null(pc.match_substring_regex(values, _NUMBER), False)
    texts = pc.if_else(fits, values, pa.scalar(None, values.type)).cast(pa.string())
    plain = pc.replace_substring_regex(pc.replace_substring_regex(texts, r"^\+", ""), "[dD]", "e")
    return plain.cast(pa.float64()), pc.and_(pc.is_valid(values), pc.invert(fits))


def guess_datatype(values: pa.Array) -> str:
    """Return the VOTable datatype of trimmed values: long, double, or unicodeChar (also for leading zeros)."""
    values = values.drop_null()
    if not len(values):
        return "unicodeChar"
    if _match_all(values, _INTEGER):
        has_zeros = pc.any(pc.match_substring_regex(values, _LEADING_ZERO)).as_py()
        return "unicodeChar" if has_zeros or not _fits_long(values) else "long"
    return "double" if _match_all(values, _NUMBER) else "unicodeChar"


def _match_all(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _fits_long(values: pa.Array) -> bool:
    try:
        pc.replace_substring_regex(values.cast(pa.string()), r"^\+", "").cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    return True
