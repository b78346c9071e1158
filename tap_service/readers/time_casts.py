"""Casts of times to TIMESTAMP, which has microseconds in UTC, and of Arrow's times to texts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NAIVE = pa.timestamp("us")
_TIMESTAMP = pa.timestamp("us", tz="UTC")

#: note on columns whose times may be finer than TIMESTAMP, as the end of a sentence
CUT_NANOSECONDS = "is in nanoseconds, which are cut to microseconds: the datatype string keeps all digits"

#: shorter texts have at most six decimals: 2024-02-29T12:00:00.123456
_MAX_MICROSECONDS_LENGTH = 26

#: a time with more than six decimals, a time that loses some of them, and a date or a time without a zone
_FINER = r"^([^.]*\.[0-9]{6})[0-9]+(Z|[-+][0-9:]+)?$"
_LOSSY = r"\.[0-9]{6}[0-9]*[1-9]"
_DATE = r"^([-+]?[0-9]+-[0-9]{2}-[0-9]{2})$"
_ZONELESS = r"^(.*[T ][0-9:.]+)$"


def count_cut_times(given: pa.Array) -> int:
    """Count the times that lose decimals in TIMESTAMP, which has microseconds.

    Parameters
    ----------
    given : pyarrow.Array
        A column of a file: texts in ISO 8601 as string or binary, or timestamps. Other types lose nothing.

    Returns
    -------
    int
        The number of values with a digit other than 0 after the microseconds.
    """
    if pa.types.is_timestamp(given.type) and given.type.unit == "ns":
        return int(np.count_nonzero(given.drop_null().view(pa.int64()).to_numpy() % 1000))
    if not (pa.types.is_string(given.type) or pa.types.is_binary(given.type)):
        return 0
    if (pc.max(pc.binary_length(given)).as_py() or 0) <= _MAX_MICROSECONDS_LENGTH:
        return 0
    return int(pc.sum(pc.match_substring_regex(given, _LOSSY)).as_py() or 0)


def describe_cut_times(counts: Mapping[str, int]) -> list[str]:
    """Describe the times that were cut, for the sender of the file.

    Parameters
    ----------
    counts : mapping of str to int
        The number of cut times by column.

    Returns
    -------
    list of str
        A note for each column with cut times.
    """
    cut = {name: f"{count:,} time{'s were' if count > 1 else ' was'}" for name, count in counts.items() if count}
    return [f"column {name}: {times} cut to microseconds" for name, times in cut.items()]


def text_to_timestamp(array: pa.Array) -> pa.Array:
    """Parse ISO 8601, with or without time of day and time zone; a time without a zone is UTC, as in DALI.

    Decimals beyond microseconds are cut. Raise ``pyarrow.ArrowInvalid``.
    """
    trimmed = pc.ascii_trim_whitespace(array)
    trimmed = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)
    try:
        return pc.replace_substring_regex(trimmed, "Z$", "").cast(_NAIVE).cast(_TIMESTAMP)
    except pa.ArrowInvalid:
        return _read_zones(pc.replace_substring_regex(trimmed, _FINER, r"\1\2"))


def _read_zones(times: pa.Array) -> pa.Array:
    dated = pc.replace_substring_regex(times, _DATE, r"\1T00:00:00Z")
    return pc.replace_substring_regex(dated, _ZONELESS, r"\1Z").cast(_TIMESTAMP)


def arrow_to_timestamp(array: pa.Array) -> pa.Array:
    """Cast times and dates; without a time zone they are UTC. Nanoseconds are cut to microseconds, towards the past."""
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
        array = pc.floor_temporal(array.view(pa.timestamp("ns")), unit="microsecond")
    if pa.types.is_date(array.type) or (pa.types.is_timestamp(array.type) and array.type.tz is None):
        return array.cast(_NAIVE).cast(_TIMESTAMP)
    return array.cast(_TIMESTAMP)


def arrow_to_text(array: pa.Array) -> pa.Array:
    """Write times and dates in DALI's form, with the decimals that are not 0."""
    if pa.types.is_timestamp(array.type):
        array = array.view(pa.timestamp(array.type.unit))  # a time with a zone is stored in UTC
    texts = array.cast(pa.string())
    if pc.any(pc.starts_with(texts, "<")).as_py():  # Arrow writes this instead of an error
        raise ValueError("beyond the years that can be written")
    texts = pc.replace_substring(texts, " ", "T")
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"\.0+$", ""), r"(\.[0-9]*[1-9])0+$", r"\1")
