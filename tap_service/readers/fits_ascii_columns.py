"""Columns of a FITS ASCII table (FITS standard 4.0, section 7.2), read as texts that the loader converts exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.column_casts import find_caster, replace_with_null
from tap_service.readers.fits_column_reader import Heap, describe_field, read_fixed_text
from tap_service.readers.fits_hdus import Header, read_text
from tap_service.readers.fits_scaling import read_scale_and_zero

_FORM = re.compile(r" *([AIFED])([0-9]+)(\.[0-9]+)? *")

#: Widths up to which every integer is an INTEGER
_MAX_INT_WIDTH = 9

_DOUBLE = ColumnType("double")


@dataclass(frozen=True)
class AsciiColumn:
    """A column. ``stored``: dtype of its characters; ``offset``: byte offset in a row; ``unusable``: always ''."""

    name: str
    field: Field
    offset: int
    stored: Any
    null: str
    scale: float
    zero: int | float
    is_variable: bool = False
    unusable: str = ""

    def read_values(self, stored: NDArray[Any], _heap: Heap | None) -> pa.Array:
        """Return the texts of a row block; numbers with TSCAL or TZERO are computed in float64."""
        texts = read_fixed_text(stored.reshape(len(stored), -1))
        if self.null:
            trimmed = pc.ascii_trim_whitespace(texts.cast(pa.string(), safe=False))
            texts = pc.if_else(pc.equal(trimmed, self.null), pa.scalar(None, texts.type), texts)
        if (self.scale, self.zero) == (1, 0):
            return texts if self.field.type.is_numeric else replace_with_null(texts, b"")
        numbers = find_caster(texts.type, _DOUBLE)(texts)
        return pc.add(pc.multiply(numbers, self.scale), float(self.zero))


def parse_ascii_columns(header: Header) -> Iterator[AsciiColumn]:
    """Parse the columns of a TABLE. Raises ``ValueError`` if its header is inconsistent."""
    for number in range(1, int(header["TFIELDS"]) + 1):
        form = read_text(header, f"TFORM{number}")
        match = _FORM.fullmatch(form)
        if match is None:
            raise ValueError(f"TFORM{number} is invalid in an ASCII table: {form!r}")
        letter, width = match[1], int(match[2])
        start = int(header[f"TBCOL{number}"]) - 1
        if width < 1 or start < 0 or start + width > int(header["NAXIS1"]):
            raise ValueError(f"column {number} has characters {start + 1} to {start + width} of a row that is shorter")
        scale, zero = read_scale_and_zero(header, "", number)
        is_scaled = letter != "A" and (scale, zero) != (1, 0)
        field = describe_field(header, "", number, _DOUBLE if is_scaled else _find_type(letter, width))
        null = read_text(header, f"TNULL{number}")
        stored = (np.uint8, (width,))
        yield AsciiColumn(field.name, field, start, stored, null, scale if is_scaled else 1.0, zero if is_scaled else 0)


def _find_type(letter: str, width: int) -> ColumnType:
    if letter == "A":
        return ColumnType("char", f"{width}*")
    if letter == "I":
        return ColumnType("int" if width <= _MAX_INT_WIDTH else "long")
    return _DOUBLE
