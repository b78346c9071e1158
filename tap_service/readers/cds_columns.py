"""The columns of a byte-by-byte description: formats, and what explanations say about missing values.

Standard for Documentation of Astronomical Catalogues 2.0 (CDS, 2000), section 3: formats are FORTRAN formats; an
explanation starts with the limits in brackets, ``?`` or ``?=value`` if values may be missing, and ``+`` or ``-`` if
rows are in the order of the column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from clickhouse_schema.datatypes import DOUBLE, INT, LONG, SHORT, UNICODE, ColumnType

#: number of characters up to which each integer is in the range of the type
_INTEGER_WIDTHS = ((4, SHORT), (9, INT))

#: maximum number of dashes that mean a missing value where one dash does (``?=-``)
_MAX_DASHES = 8

FORMAT = re.compile(r"(?P<repeat>\d*)(?P<letter>[AIFEDG])(?P<width>\d+)?(?:\.\d+)?", re.IGNORECASE)

_EXPLANATION = re.compile(
    r"""(?P<note>\*)?\s*
    (?P<limits>[\[\]][^\[\]]*[\[\]])?\s*
    (?:(?P<nullable>\?)(?:=(?P<null>""|\S*))?)?
    (?:\s*[-+]=?(?=\s|$))?\s*
    (?P<text>.*)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A parsed explanation.

    Attributes
    ----------
    text : str
        The explanation after these marks, with the limits, but without ``[]``, which stands for unknown limits.
    nulls : tuple of str
        The tokens of missing values other than blanks.
    is_nullable : bool
        Whether values may be missing.
    has_note : bool
        Whether a note on the label follows the table (``*``).
    """

    text: str
    nulls: tuple[str, ...] = ()
    is_nullable: bool = False
    has_note: bool = False


def parse_explanation(text: str) -> Explanation:
    """Parse the explanation of a column."""
    found = _EXPLANATION.fullmatch(" ".join(text.split()))
    if found is None:
        return Explanation(text)
    limits = found["limits"] if found["limits"] != "[]" else ""
    words = [word for word in (limits, found["text"]) if word]
    null = (found["null"] or "").rstrip(";,")
    nulls: tuple[str, ...] = () if null in ("", '""') else (null,)
    if null and not null.strip("-"):
        nulls = tuple("-" * count for count in range(1, _MAX_DASHES + 1))
    return Explanation(" ".join(words), nulls, found["nullable"] is not None, found["note"] is not None)


def find_format_type(format_: str, width: int) -> ColumnType | None:
    """Return the type of a column in a FORTRAN format; None for an unknown format.

    Numbers with a point are DOUBLE, which has all their digits. Several values in a column stay text.

    Parameters
    ----------
    format_ : str
        The format, such as F8.3.
    width : int
        The bytes of the column.
    """
    found = FORMAT.fullmatch(format_)
    if found is None:
        return None
    if found["repeat"] not in ("", "1") or found["letter"] in "Aa":
        return UNICODE
    if found["letter"] in "Ii":
        return next((type_ for limit, type_ in _INTEGER_WIDTHS if width <= limit), LONG)
    return DOUBLE
