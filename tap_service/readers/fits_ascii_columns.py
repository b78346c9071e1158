"""Columns of a FITS ASCII table (FITS standard 4.0, section 7.2), read as texts that the loader converts exactly.

A blank field of a number is NULL.
"""

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
from tap_service.readers.fits_column_reader import read_fixed_text
from tap_service.readers.fits_fields import describe_field
from tap_service.readers.fits_header import Header
from tap_service.readers.fits_heap import Heap
from tap_service.readers.fits_scaling import Scaling

_FORM = re.compile(r" *([AIFED])([0-9]+)(?:\.([0-9]{1,3}))? *")

#: widths up to which every integer is an INTEGER
_MAX_INT_WIDTH = 9

_DOUBLE = ColumnType("double")

#: a number in RE2, and a number whose exponent lacks the letter
_NUMBER = r"^ *[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[EeDd][-+]?[0-9]+)? *$"
_SHORT_EXPONENT = r"^( *[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([-+][0-9]+ *)$"


@dataclass(frozen=True)
class AsciiColumn:
    """A column.

    Attributes
    ----------
    name, field
        Its name and description.
    offset, stored
        Byte offset in a row, and dtype of its characters.
    decimals : int
        The digits after the point of numbers that are written without a point.
    null : str
        TNULL.
    scaling : Scaling
        TSCAL and TZERO.
    unusable : str
        Always ''.
    """

    name: str
    field: Field
    offset: int
    stored: Any
    decimals: int
    null: str
    scaling: Scaling
    is_variable: bool = False
    unusable: str = ""

    def read_values(self, stored: NDArray[Any], _heap: Heap | None) -> pa.Array:
        """Return the texts of a row block, also of scaled numbers."""
        texts = read_fixed_text(stored.reshape(len(stored), -1)).cast(pa.string(), safe=False)
        if self.null:
            texts = pc.if_else(pc.equal(pc.ascii_trim_whitespace(texts), self.null), pa.scalar(None, texts.type), texts)
        if self.scaling.letter == "A":
            return replace_with_null(texts, "").cast(pa.binary())
        if self.scaling.letter != "I":
            texts = _write_exponents(_write_points(texts, self.decimals))
        if not self.scaling.is_trivial:
            texts = _scale_texts(texts, self.scaling)
        return texts.cast(pa.binary())


def parse_ascii_columns(header: Header) -> Iterator[AsciiColumn]:
    """Parse the columns of a TABLE. Raise ``ValueError`` if its header is inconsistent."""
    for number in range(1, header.read_integer("TFIELDS") + 1):
        form = header.read_text(f"TFORM{number}").upper()
        match = _FORM.fullmatch(form)
        if match is None:
            raise ValueError(f"TFORM{number} is invalid in an ASCII table: {form!r}")
        letter, width, decimals = match[1], int(match[2]), int(match[3] or 0)
        start = header.read_integer(f"TBCOL{number}", low=1) - 1
        if width < 1 or start + width > header.read_integer("NAXIS1"):
            raise ValueError(f"column {number} has characters {start + 1} to {start + width} of a shorter row")
        scaling = Scaling(letter)
        if letter != "A":
            scale, zero = header.read_number(f"TSCAL{number}", 1), header.read_number(f"TZERO{number}", 0)
            scaling = Scaling(letter, float(scale), zero)
        field = describe_field(header, "", number, _find_type(scaling, width))
        null = header.read_text(f"TNULL{number}")
        yield AsciiColumn(field.name, field, start, (np.uint8, (width,)), decimals, null, scaling)


def _find_type(scaling: Scaling, width: int) -> ColumnType:
    if scaling.letter == "A":
        return ColumnType("char", f"{width}*")
    if scaling.letter == "I" and scaling.is_trivial:
        return ColumnType("int" if width <= _MAX_INT_WIDTH else "long")
    return ColumnType("long") if _is_shift(scaling) else _DOUBLE


def _is_shift(scaling: Scaling) -> bool:
    return scaling.letter == "I" and scaling.scale == 1 and type(scaling.zero) is int


def _write_points(texts: pa.Array, decimals: int) -> pa.Array:
    """Write the decimal points that TFORM implies: 12345 in F8.3 is 12.345."""
    has_point = pc.match_substring(texts, ".")
    if not decimals or pc.all(has_point).as_py():
        return texts
    padded = pc.replace_substring_regex(texts, r"^( *[-+]?)([0-9])", rf"\1{'0' * decimals}\2")
    pattern = rf"^( *[-+]?[0-9]*)([0-9]{{{decimals}}})((?:[EeDd+-][^.]*)? *)$"
    written = pc.replace_substring_regex(padded, pattern, r"\1.\2\3")
    return pc.if_else(pc.and_not(pc.match_substring(written, "."), has_point), written, texts)


def _write_exponents(texts: pa.Array) -> pa.Array:
    """Write the missing letter of exponents: 1.5-7 is 1.5E-7."""
    return pc.replace_substring_regex(texts, _SHORT_EXPONENT, r"\1E\2")


def _scale_texts(texts: pa.Array, scaling: Scaling) -> pa.Array:
    """Return the texts of scaled numbers: integers plus an integer, else numbers in float64; other texts stay."""
    is_number = pc.match_substring_regex(texts, _NUMBER)
    numbers = pc.if_else(is_number, texts, pa.scalar(None, texts.type))
    if _is_shift(scaling):
        scaled = pa.array([_shift_text(text, int(scaling.zero)) for text in numbers.to_pylist()], pa.string())
    else:
        values = find_caster(texts.type, _DOUBLE)(numbers)
        scaled = pc.add(pc.multiply(values, scaling.scale), float(scaling.zero)).cast(pa.string())
    return pc.if_else(is_number, scaled, texts)


def _shift_text(text: str | None, zero: int) -> str | None:
    is_integer = text is not None and text.strip().lstrip("+-").isdigit()
    return str(int(text) + zero) if text is not None and is_integer else text
