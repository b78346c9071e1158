"""TSCAL, TZERO and TNULL of FITS columns: exact integers where the result is one, else float64."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tap_service.readers.fits_hdus import Header

#: TFORM letter of integers -> bits, and the smallest value
_INTEGERS = {"B": (8, 0), "I": (16, -(2**15)), "J": (32, -(2**31)), "K": (64, -(2**63))}

#: Datatypes of signed integers, narrowest first, with the bits of their values
_SIGNED = (("short", 16), ("int", 32), ("long", 64))

_NUMPY = {"short": "i2", "int": "i4", "long": "i8"}


@dataclass(frozen=True, slots=True)
class Scaling:
    """The physical value is ``scale`` times the stored one plus ``zero`` (FITS 4.0, section 7.3.2); ``null``: TNULL.

    ``letter``: the TFORM letter of numbers.
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
        return self.letter in _INTEGERS and self.scale == 1 and type(self.zero) is int

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

        Integers that no BIGINT holds are decimals, for the loader to refuse one by one.
        """
        mask = None if self.null is None else raw == self.null
        native = raw.astype(raw.dtype.newbyteorder("="), copy=False)
        if self.is_trivial:
            return pa.array(native, mask=mask)
        if not self.is_shift:
            return pa.array(native.astype(np.float64) * self.scale + float(self.zero), mask=mask)
        if self.letter != "K":
            return pa.array((native.astype(np.int64) + int(self.zero)).astype(_NUMPY[self.datatype]), mask=mask)
        return _shift_long(native, int(self.zero), mask)


def _shift_long(values: NDArray[Any], zero: int, mask: NDArray[np.bool_] | None) -> pa.Array:
    """Add an integer to 64-bit integers."""
    if zero == 1 << 63:  # unsigned integers
        return pa.array(values.view(np.uint64) ^ np.uint64(zero), mask=mask)
    if -(1 << 63) <= zero < 1 << 63:
        shifted = (values.view(np.uint64) + np.array(zero, np.int64).view(np.uint64)).view(np.int64)
        if not ((shifted < values) if zero > 0 else (shifted > values)).any():  # nothing has wrapped around
            return pa.array(shifted, mask=mask)
    exact = [value + zero for value in values.tolist()]
    return pa.array(exact, pa.decimal128(38, 0), mask=mask)


def read_scale_and_zero(header: Header, prefix: str, number: int) -> tuple[float, int | float]:
    """Return TSCAL and TZERO of a column. Raises ``ValueError`` if one is not a finite number."""
    values = [header.get(f"{prefix}{key}{number}", default) for key, default in (("TSCAL", 1), ("TZERO", 0))]
    for key, value in zip(("TSCAL", "TZERO"), values, strict=True):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{key}{number} is not a number: {str(value)[:40]!r}")
    return float(values[0]), read_zero(values[1])


def read_zero(value: float) -> int | float:
    """Return TZERO as an integer if it is one, however it is written: 32768, 32768.0, 9.223372036854775808E18."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
