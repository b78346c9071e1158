"""Exact casts of Arrow's numbers: an integer stays the same or is refused, whatever the types of file and column."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

#: limits from which on doubles and floats are rounded integers: 2^53 + 1 is 2^53 in a double
_EXACT_LIMITS = {pa.float16(): 2.0**11, pa.float32(): 2.0**24, pa.float64(): 2.0**53}


class Misfit(ValueError):
    """A value has no equivalent in the type of a column; the message is the reason of a reject."""


def cast_number(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cast numbers, booleans or NULLs exactly; only floats and decimals with a scale may be rounded, to floats.

    Parameters
    ----------
    array : pyarrow.Array
        The values.
    wanted : pyarrow.DataType
        The type of the column.

    Returns
    -------
    pyarrow.Array
        The values in this type.

    Raises
    ------
    Misfit, pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError
        A value, or the type, has no equivalent.
    """
    given = array.type
    if given == wanted:
        return array
    if pa.types.is_floating(wanted):
        if pa.types.is_integer(given):
            return _integers_to_floats(array, wanted)
        if pa.types.is_decimal(given) and given.scale <= 0:
            return _integers_to_floats(array.cast(pa.int64()), wanted)
        if pa.types.is_decimal(given):  # through text: Arrow's cast is wrong by one bit for many values
            array = array.cast(pa.string()).cast(pa.float64())
        return _narrow_floats(array, wanted) if pa.types.is_floating(array.type) else array.cast(wanted)
    if pa.types.is_integer(wanted) and pa.types.is_floating(given):
        return _floats_to_integers(array, wanted)
    return array.cast(wanted)


def decimal_to_text(array: pa.Array) -> pa.Array:
    """Write decimals with all digits of their scale, and without an exponent."""
    if array.type.scale < 0:
        array = array.cast(pa.decimal256(76, 0))
    return pa.array([None if value is None else f"{value:f}" for value in array.to_pylist()], pa.string())


def _narrow_floats(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Round floats to another width; refuse values beyond its range, which would become infinite."""
    floats = array.cast(wanted, safe=False)
    is_wider = array.type.bit_width > wanted.bit_width
    if is_wider and pc.any(pc.and_(pc.is_inf(floats), pc.is_finite(array))).as_py():
        raise ValueError("beyond the largest float")
    return floats


def _integers_to_floats(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    floats = array.cast(wanted, safe=False)
    low, high = -(2.0**63), 2.0**64 if pa.types.is_uint64(array.type) else 2.0**63
    is_inside = pc.and_(pc.greater_equal(floats, low), pc.less(floats, high))  # the cast back is undefined beyond
    back = pc.if_else(is_inside, floats, 0.0).cast(array.type, safe=False)
    if pc.any(pc.or_(pc.invert(is_inside), pc.not_equal(back, array))).as_py():
        raise Misfit(
            f"an integer that {_name_float(wanted)} would round: the datatype long in a --schema file keeps it"
        )
    return floats


def _floats_to_integers(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cast floats without fractions; NaN becomes NULL."""
    limit = _EXACT_LIMITS[array.type]
    floats = array.cast(pa.float64())
    floats = pc.if_else(pc.is_nan(floats), pa.scalar(None, pa.float64()), floats)
    if pc.any(pc.greater_equal(pc.abs(floats), limit)).as_py():
        kind = _name_float(array.type)
        raise Misfit(f"a {kind} in the file, which rounds integers of this size: the datatype double accepts it")
    return floats.cast(wanted)


def _name_float(kind: pa.DataType) -> str:
    return "DOUBLE" if pa.types.is_float64(kind) else "REAL"
