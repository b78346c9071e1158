"""The types of the columns of delimited text, guessed from its first rows without changing a value.

A column becomes numeric only if every value keeps its digits: whole numbers beyond BIGINT, whole numbers that DOUBLE
would round, hexadecimal numbers and numbers with leading zeros stay text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC

import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import DOUBLE, LONG, TIMESTAMP, UNICODE, ColumnType, Field, arrow_to_column_type
from tap_service.readers.conform_rows import TIME_RANGE
from tap_service.readers.position_columns import find_position_columns
from tap_service.readers.table_source import TypeNote

#: texts that mark missing numbers in the files of archives, databases and spreadsheets
NULL_WORDS = ("null", "NULL", "\\N", "N/A")

#: a decimal number
NUMBER = r"^ *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *$"

_WHOLE = r"^ *[-+]?[0-9]+ *$"
_LOST_BY_INTEGERS = (
    (r"^ *[-+]?0[0-9]+ *$", "leading zeros"),
    (r"^ *-0 *$", "zeros with a sign"),
    (r"^ *[-+]?0[xX]", "hexadecimal numbers"),
)
_PLAIN = r"^-?[0-9]+(\.[0-9]*)?$"
_NAN = r"(?i)^ *[-+]?nan *$"

#: number of digits below which every whole number is exact in DOUBLE
_MIN_INEXACT_DIGITS = 16

_MAX_HOURS = 24


@dataclass(frozen=True, slots=True)
class Guess:
    """The columns of a text.

    Attributes
    ----------
    fields : tuple of Field
        The columns.
    nulls : tuple of str
        The words that mark missing numbers.
    notes, doubts : tuple of str
        What a sender should know, and what may be wrong.
    """

    fields: tuple[Field, ...]
    nulls: tuple[str, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]


def guess_fields(texts: pa.Table, types: pa.Schema) -> Guess:
    """Guess the columns.

    Parameters
    ----------
    texts : pyarrow.Table
        The first rows, each column as binary; NULL for an empty field.
    types : pyarrow.Schema
        The types that Arrow infers, for which ``NULL_WORDS`` are missing values.

    Returns
    -------
    Guess
        One field for each column of ``texts``, in its order.
    """
    fields: list[Field] = []
    words: set[str] = set()
    words_in_texts: set[str] = set()
    notes: list[str] = []
    for name, values, arrow in zip(texts.column_names, texts.columns, types.types, strict=True):
        found = [word for word in NULL_WORDS if pc.any(pc.equal(values, word.encode())).as_py()]
        kept = values.filter(pc.invert(pc.is_in(values, pa.array([word.encode() for word in found], pa.binary()))))
        type_, note = _choose_type(arrow, kept.drop_null())
        fields.append(Field(name, type_))
        if note:
            notes.append(TypeNote(f"column {name} {note}", name))
        (words_in_texts if type_ == UNICODE else words).update(found)
    if words:  # else a text may be one of them by itself
        words |= words_in_texts
    doubts = tuple(_find_hours(texts, tuple(fields)))
    return Guess(tuple(fields), tuple(sorted(words)), tuple(notes), doubts)


def _choose_type(arrow: pa.DataType, values: pa.ChunkedArray) -> tuple[ColumnType, str]:
    """Return the type of a column, and what a sender should know about the choice."""
    if pa.types.is_integer(arrow):
        return _choose_integer(values)
    if pa.types.is_floating(arrow):
        return _choose_float(values)
    if pa.types.is_timestamp(arrow) or pa.types.is_date(arrow):
        return _choose_time(arrow, values)
    if any(test(arrow) for test in (pa.types.is_string, pa.types.is_binary)):
        return _choose_quoted(values)
    if any(test(arrow) for test in (pa.types.is_time, pa.types.is_null, pa.types.is_duration)):
        return UNICODE, ""
    return arrow_to_column_type(arrow), ""


def _choose_integer(values: pa.ChunkedArray) -> tuple[ColumnType, str]:
    lost = find_lost_characters(values)
    return (UNICODE, f"stays text: {lost}") if lost else (LONG, "")


def _choose_float(values: pa.ChunkedArray) -> tuple[ColumnType, str]:
    is_nan = pc.match_substring_regex(values, _NAN)
    numbers = values.filter(pc.invert(is_nan))
    if pc.all(pc.match_substring_regex(numbers, _WHOLE)).as_py() and len(numbers):
        if not (lost := find_lost_characters(numbers)):
            return LONG, "has whole numbers and nan, which is NULL" if pc.any(is_nan).as_py() else ""
        return UNICODE, f"stays text: {lost}"
    if lost := find_lost_digits(numbers):
        return UNICODE, f"stays text: {lost}"
    return DOUBLE, "has nan, which stays NaN (--null nan makes it NULL)" if pc.any(is_nan).as_py() else ""


def _choose_quoted(values: pa.ChunkedArray) -> tuple[ColumnType, str]:
    """Return the type of a column that Arrow takes for text, perhaps because missing numbers are written as ``""``."""
    filled = values.filter(pc.greater(pc.binary_length(values), 0))
    are_numbers = len(filled) and pc.all(pc.match_substring_regex(filled, NUMBER)).as_py()
    if len(filled) == len(values) or not are_numbers:
        return UNICODE, ""
    is_whole = pc.all(pc.match_substring_regex(filled, _WHOLE)).as_py()
    type_, note = _choose_integer(filled) if is_whole else _choose_float(filled)
    return type_, note or 'has numbers and "", which is NULL'


def _choose_time(arrow: pa.DataType, values: pa.ChunkedArray) -> tuple[ColumnType, str]:
    zoned = pa.timestamp("us", arrow.tz if pa.types.is_timestamp(arrow) else None)
    try:
        bounds = pc.min_max(
            pc.replace_substring_regex(values.cast(pa.string()), "Z$|(\\.[0-9]{6})[0-9]+", "\\1").cast(zoned)
        )
    except pa.ArrowInvalid:
        return TIMESTAMP, ""
    low, high = (bounds[key].as_py().replace(tzinfo=UTC) for key in ("min", "max"))
    if low < TIME_RANGE[0] or high > TIME_RANGE[1]:
        return UNICODE, f"stays text: timestamps are from {TIME_RANGE[0].year} to {TIME_RANGE[1].year}"
    return TIMESTAMP, ""


def find_lost_characters(values: pa.ChunkedArray | pa.Array) -> str:
    """Return what BIGINT would lose of whole numbers in texts; '' for nothing."""
    first = values.filter(pc.less(values, b"1"))  # blanks, signs and 0 come before 1
    for pattern, what in _LOST_BY_INTEGERS:
        found = first.filter(pc.match_substring_regex(first, pattern))
        if len(found):
            return f"it has {what}, as in {_show(found)}"
    long = values.filter(pc.greater_equal(pc.binary_length(values), len(str(2**63))))
    if not len(long) or _is_castable(long):
        return ""
    wide = (number for number in _iterate_integers(long) if not -(2**63) <= number < 2**63)
    return next((f"{number} is beyond BIGINT" for number in wide), "")


def find_lost_digits(values: pa.ChunkedArray | pa.Array) -> str:
    """Return the first whole number among texts that DOUBLE would round; '' if there is none."""
    long = values.filter(pc.greater_equal(pc.binary_length(values), _MIN_INEXACT_DIGITS))
    rounded = (number for number in _iterate_integers(long) if int(float(number)) != number)
    return next((f"DOUBLE would round {number}" for number in rounded), "")


def _is_castable(values: pa.ChunkedArray | pa.Array) -> bool:
    try:
        values.cast(pa.string()).cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def _iterate_integers(values: pa.ChunkedArray | pa.Array) -> Iterator[int]:
    whole = values.filter(pc.match_substring_regex(values, r"^ *[-+]?[0-9]{1,300} *$"))
    return (int(text) for text in whole.to_pylist() if text is not None)


def _find_hours(texts: pa.Table, fields: tuple[Field, ...]) -> Iterator[str]:
    position = find_position_columns(fields)
    if position is None:
        return
    texts_of_ra = pc.ascii_trim_whitespace(texts[position[0]].cast(pa.string()).drop_null())
    longitudes = texts_of_ra.filter(pc.match_substring_regex(texts_of_ra, _PLAIN)).cast(pa.float64())
    if len(longitudes) and pc.max(longitudes).as_py() <= _MAX_HOURS:
        yield (
            f"column {position[0]} has no value above {_MAX_HOURS} in the first rows and is read in degrees: "
            "if it is in hours, multiply it by 15, or leave position out of a --schema"
        )


def _show(values: pa.ChunkedArray) -> str:
    return repr(values[0].as_py().decode(errors="replace").strip()[:40])
