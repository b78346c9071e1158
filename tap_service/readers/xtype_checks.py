"""Checks of values by the xtype of their column (DALI 1.2, section 3): intervals, and texts of a given form.

``shape_columns`` checks shapes. NULL passes, and so do empty texts and arrays, which stand for NULL in files.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Check = Callable[[pa.Array, pa.Array], "tuple[pa.Array | None, str]"]

#: characters of RFC 3986 after the scheme
_URI_REST = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"

#: xtype -> a regular expression of its texts, and their description for messages
_FORMS = {
    "hms": (
        r"0*(?:24:0{1,2}:0{1,2}(?:\.0*)?|(?:[01]?\d|2[0-3]):[0-5]?\d:[0-5]?\d(?:\.\d*)?)",
        "hours:minutes:seconds from 0:0:0 to 24:0:0, as in 12:34:56.7",
    ),
    "dms": (
        r"[+-]?(?:90:0{1,2}:0{1,2}(?:\.0*)?|[0-8]?\d:[0-5]?\d:[0-5]?\d(?:\.\d*)?)",
        "degrees:minutes:seconds from -90:0:0 to 90:0:0, as in -12:34:56.7",
    ),
    "uuid": (
        r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
        "a UUID, as in e0b895ca-2ee4-4f0f-b595-cbd83be40b04",
    ),
    "uri": (
        rf"[A-Za-z][A-Za-z0-9+.-]*:{_URI_REST}",
        "a URI: a scheme, a colon, and only characters of RFC 3986 (others as %XX)",
    ),
}


def list_interval_checks(xtype: str) -> list[Check]:
    """Return the checks of an array of intervals; a fixed ``arraysize`` is checked elsewhere."""
    return [_check_intervals] if xtype in ("interval", "multiinterval") else []


def list_text_checks(xtype: str) -> list[Check]:
    """Return the checks of texts with an xtype."""
    if xtype == "json":
        return [_check_json]
    return [_check_form(*_FORMS[xtype])] if xtype in _FORMS else []


def _check_form(pattern: str, description: str) -> Check:
    whole = rf"\A(?:{pattern})?\z"
    return lambda _, array: (pc.invert(pc.match_substring_regex(array, whole)), f"not {description}")


def _check_json(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
    return pa.array([bool(text) and not _is_json(text) for text in array.to_pylist()], pa.bool_()), "not valid JSON"


def _is_json(text: str) -> bool:
    """Return whether a text is JSON as in RFC 8259, nested no deeper than programs read it.

    Numbers are not converted.
    """
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_intervals(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
    """Find odd numbers of bounds, and lower bounds above upper ones; two NaN bounds pass."""
    sizes = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    bounds = array.flatten().to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    index = np.arange(len(bounds)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    lower = np.flatnonzero((index[:-1] % 2 == 0) & (rows[:-1] == rows[1:]))
    low, high = bounds[lower], bounds[lower + 1]
    bad = sizes % 2 == 1
    bad[rows[lower[(low > high) | (np.isnan(low) != np.isnan(high))]]] = True
    return pa.array(bad), "not pairs of a lower and an upper bound, the lower one first"
