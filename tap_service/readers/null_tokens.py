"""Tokens that mark missing values: in a text the token itself, in a number every spelling of its value."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc


def replace_tokens(values: pa.Array, tokens: Collection[str]) -> pa.Array:
    """Replace tokens by NULL.

    Parameters
    ----------
    values : pyarrow.Array
        Texts, as strings or bytes, or numbers; other types have no tokens.
    tokens : collection of str
        The tokens. The token ``-999`` also marks the number -999.0; in a text it marks only ``-999``, with or without
        surrounding blanks.

    Returns
    -------
    pyarrow.Array
        The values, of the same type.
    """
    if not tokens:
        return values
    marks = _list_marks(values.type, tokens)
    if marks is None or not len(marks):
        return values
    compared = pc.ascii_trim_whitespace(values.cast(pa.string(), safe=False)) if _is_text(values.type) else values
    is_missing = pc.is_in(compared, marks)
    if "nan" in {token.lower() for token in tokens} and pa.types.is_floating(values.type):
        is_missing = pc.or_(is_missing, pc.fill_null(pc.is_nan(values), False))
    return pc.if_else(is_missing, pa.scalar(None, values.type), values)


def _is_text(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    )


def _list_marks(kind: pa.DataType, tokens: Collection[str]) -> pa.Array | None:
    """Return the tokens in the type with which values are compared; None for types without tokens."""
    if _is_text(kind):
        return pa.array([token.strip() for token in tokens], pa.string())
    if pa.types.is_integer(kind):
        return pa.array([whole for token in tokens if (whole := _parse_integer(token, kind)) is not None], kind)
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        floats = [number for token in tokens if (number := _parse_float(token)) is not None]
        return pa.array(floats, pa.float64()).cast(kind, safe=False)
    return None


def _parse_integer(token: str, kind: pa.DataType) -> int | None:
    number = _parse_float(token)
    if number is None or number != number // 1:
        return None
    try:
        exact = int(token) if token.strip().lstrip("+-").isdigit() else int(number)
        return int(pa.scalar(exact, kind).as_py())
    except (pa.ArrowException, OverflowError, ValueError):
        return None


def _parse_float(token: str) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None
