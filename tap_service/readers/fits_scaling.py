"""TSCAL, TZERO and TNULL of FITS columns: exact integers if the results are integers, else float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: TFORM letter of integers -> bits, and the smallest value
_INTEGERS = {"B": (8, 0), "I": (16, -(2**15)), "J": (32, -(2**31)), "K": (64, -(2**63))}

#: datatypes of signed integers, the narrowest first, with the bits of their values
_SIGNED = (("short", 16), ("int", 32), ("long", 64))

_NUMPY = {"short": "i2", "int": "i4", "long": "i8"}

#: largest TZERO of integers: beyond it no value fits a BIGINT
_MAX_SHIFT = 1 << 64

#: smallest TZERO whose sum with 32-bit integers needs a check
_MAX_SHORT_SHIFT = 1 << 62


@dataclass(frozen=True, slots=True)
class Scaling:
    """The scaling of a column.

    The physical value is ``scale`` times the stored one plus ``zero`` (FITS 4.0, section 7.3.2).

    Attributes
    ----------
    letter : str
        The TFORM letter of numbers.
    scale, zero, null
        TSCAL, TZERO and TNULL.
    """

    letter: str
    scale: float = 1.0
    zero: int | float = 0
    null: int | None = None

    @property
    def is_trivial(self) -> bool:
        return self.scale == 1 and self.zero == 0

    @property
    def is_shift(self) -> bool:
        """Whether the values are integers: stored integers plus an integer."""
        is_integer = type(self.zero) is int and abs(self.zero) <= _MAX_SHIFT
        return is_integer and self.letter in _INTEGERS and self.scale == 1

    @property
    def datatype(self) -> str:
        """The VOTable datatype of scaled values."""
        if not self.is_shift:
            return "double"
        bits, lowest = _INTEGERS[self.letter]
        least, greatest = lowest + self.zero, lowest + (1 << bits) - 1 + self.zero
        for name, width in _SIGNED:
            if -(1 << width - 1) <= least and greatest < 1 << width - 1:
                return name
        return "long"

    def convert(self, raw: NDArray[Any]) -> pa.Array:
        """Return the physical values; NULL for ``null``.

        If some integers exceed BIGINT, all are texts, so that the loader rejects the rows one by one.
        """
        mask = None if self.null is None else raw == self.null
        native = raw.astype(raw.dtype.newbyteorder("="), copy=False)
        if self.is_trivial:
            return pa.array(native, mask=mask)
        if not self.is_shift:
            with np.errstate(over="ignore", invalid="ignore"):
                return pa.array(native.astype(np.float64) * self.scale + float(self.zero), mask=mask)
        zero = int(self.zero)
        if self.letter != "K" and abs(zero) < _MAX_SHORT_SHIFT:
            return pa.array((native.astype(np.int64) + zero).astype(_NUMPY[self.datatype]), mask=mask)
        return _shift_long(native.astype(np.int64, copy=False), zero, mask)


def _shift_long(values: NDArray[Any], zero: int, mask: NDArray[np.bool_] | None) -> pa.Array:
    """Add an integer to 64-bit integers."""
    if zero == 1 << 63:  # unsigned integers
        return pa.array(values.view(np.uint64) ^ np.uint64(zero), mask=mask)
    if -(1 << 63) <= zero < 1 << 63:
        shifted = (values.view(np.uint64) + np.array(zero, np.int64).view(np.uint64)).view(np.int64)
        if not ((shifted < values) if zero > 0 else (shifted > values)).any():  # nothing has wrapped around
            return pa.array(shifted, mask=mask)
    return pa.array([str(value + zero) for value in values.tolist()], pa.string(), mask=mask)
