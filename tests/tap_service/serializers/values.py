"""Every type with values that formats may get wrong, and what each format loses (as in docs/formats.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from clickhouse_schema.datatypes import (
    BOOLEAN,
    CHAR,
    CIRCLE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    MOC,
    POINT,
    POLYGON,
    REGION,
    SHORT,
    TIMESTAMP,
    UNICODE,
    ColumnType,
)

NAN, INF = float("nan"), float("inf")

VOTABLES = ("votable/b2", "votable/b", "votable/td")
OTHERS = ("csv", "tsv", "fits", "parquet", "arrow", "arrow-file", "json", "ecsv", "html", "text")
ALL = (*VOTABLES, *OTHERS)
#: formats whose cells are words without a type
WORDS = ("csv", "tsv", "html", "text")

WORDS_OF_WOE = [
    "plain",
    "NULL",
    "NaN",
    "\\N",
    "-",
    "1",
    "true",
    "a,b;c|d",
    'it\'s "so"',
    "<b>&amp;]]>",
    "=1+1",
    "a\\nb",
]
ODD_TEXTS = [
    *("two\nlines", "cr\r\nlf", "tab\there", "bell\x07", "unit\x1fseparator", "delete\x7f"),
    *(" before", "behind ", "é", "𝄞α", "\ufffd", "line\u2028separator", "next\x85line", "a\u200db", "\ufeffbom"),
]

VALUES: dict[ColumnType, list[Any]] = {
    BOOLEAN: [True, False],
    ColumnType("unsignedByte"): [0, 7, 254],
    SHORT: [0, -(2**15) + 1, 2**15 - 1],
    INT: [0, -(2**31) + 1, 2**31 - 1],
    LONG: [0, -(2**63) + 1, 2**63 - 1, 2**53 + 1],
    FLOAT: [0.0, 0.10000000149011612, -3.4028234663852886e38, 1.401298464324817e-45, INF, -INF, NAN],
    DOUBLE: [0.0, 0.1, -1.7976931348623157e308, 5e-324, 1e16, 123456789.12345679, INF, -INF, NAN],
    CHAR: ["", *WORDS_OF_WOE, *ODD_TEXTS],
    ColumnType("char", "4"): ["abcd", "ab"],
    ColumnType("char", "12*"): ["", *WORDS_OF_WOE],
    UNICODE: ["", *WORDS_OF_WOE, *ODD_TEXTS],
    ColumnType("unicodeChar", "5"): ["abcde", "é𝄞α"],
    ColumnType("unicodeChar", "17*"): ["", *WORDS_OF_WOE, *ODD_TEXTS],
    TIMESTAMP: [
        datetime(2000, 1, 1, 12, tzinfo=UTC),
        datetime(1900, 1, 1, 0, 0, 0, 1, UTC),
        datetime(2262, 4, 12, 1, 2, 3, 450000, UTC),
    ],
    POINT: [[0.0, -90.0], [359.99999999999994, 1e-10], [NAN, NAN]],
    CIRCLE: [[10.0, -20.0, 0.001]],
    POLYGON: [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]],
    ColumnType("double", "2", "interval"): [[-1.5, 2.5], [-INF, INF]],
    REGION: ["CIRCLE ICRS 10 20 0.5", "10 20 0.5"],
    MOC: ["0/1-3 5 2/", "29/0-4"],
    ColumnType("boolean", "*"): [[True], [True, False]],
    ColumnType("unsignedByte", "3"): [[0, 7, 254]],
    ColumnType("short", "*"): [[1], [-5, 2**15 - 1]],
    ColumnType("int", "*"): [[1, -1, 2**31 - 1]],
    ColumnType("int", "3*"): [[1, -1], [1, 2, 3]],
    ColumnType("long", "*"): [[2**63 - 1], [0, -(2**63) + 1]],
    ColumnType("float", "*"): [[1.5, NAN, INF]],
    ColumnType("double", "*"): [[0.1], [-INF, 1.0]],
    ColumnType("double", "2x3"): [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ColumnType("int", "2x*"): [[1, 2, 3, 4]],
    ColumnType("boolean", "3"): [[True, None, False]],
    ColumnType("int", "*", null=-99): [[1, None, 2], [3]],
    ColumnType("unsignedByte", "2", null=255): [[None, 0], [1, 254]],
    ColumnType("floatComplex"): [[1.5, -2.0], [INF, 1.401298464324817e-45]],
    ColumnType("doubleComplex"): [[0.1, -5e-324]],
    ColumnType("floatComplex", "*"): [[1.5, -2.0], [1.0, 2.0, 3.0, 4.0]],
    ColumnType("doubleComplex", "2"): [[0.1, -2.0, 3.0, -INF]],
    ColumnType("doubleComplex", "2x3"): [[float(number) for number in range(12)]],
}


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss of ``formats``: ``becomes`` returns what a reader finds instead of a value, or the value if nothing is lost.

    ``said``: the words of docs/formats.md; empty if the reader ``by`` causes the loss, not the format.
    """

    formats: tuple[str, ...]
    said: str
    becomes: Callable[[ColumnType, Any], Any]
    by: str = ""


def _text(change: Callable[[str], Any]) -> Callable[[ColumnType, Any], Any]:
    return lambda kind, value: change(value) if isinstance(value, str) and kind.is_text else value


def _char(change: Callable[[str], Any]) -> Callable[[ColumnType, Any], Any]:
    return lambda kind, value: change(value) if isinstance(value, str) and kind.datatype == "char" else value


def _nan(kind: ColumnType, value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, float) and math.isnan(item) for item in value):
        return None
    return None if isinstance(value, float) and math.isnan(value) else value


def _nan_inside(kind: ColumnType, value: Any) -> Any:
    return [_nan(kind, item) for item in value] if isinstance(value, list) and "*" in kind.arraysize else value


def _line_by_line(text: str) -> str:
    """astropy strips each line of a file, drops empty lines, and knows no line ends but LF."""
    first, *rest = re.split("\r\n|\r|\n", text)
    if not rest:
        return text.strip(" \t")
    inner = [line.strip() for line in rest[:-1] if line.strip()]
    return "\n".join([first.rstrip(), *inner, rest[-1].lstrip()]).strip(" \t")


#: What no astropy reads. It counts other items than VOTable 1.5, section 5.4, and STILTS, which reads these in test_stilts
NOT_READ = {
    ColumnType("int", "2x*"): ("votable/b2", "votable/b"),
    # and it has no empty cell for complex numbers
    ColumnType("doubleComplex", "2"): ("votable/td",),
    ColumnType("doubleComplex", "2x3"): ("votable/td",),
}

LOSSES = (
    Loss(
        VOTABLES, "`char` is ASCII: other characters become `?`", _char(lambda text: re.sub(r"[^\x00-\x7f]", "?", text))
    ),
    Loss(
        ("votable/td",),
        "control characters, which XML forbids, become U+FFFD, and `?` in `char`",
        lambda kind, value: _text(
            lambda text: re.sub(
                r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]",
                "?" if kind.datatype == "char" else "\ufffd",
                text,
            )
        )(kind, value),
    ),
    Loss(
        ("html",),
        "control characters, which XML forbids, become U+FFFD",
        _text(lambda text: re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text)),
    ),
    Loss(
        ("fits",),
        "text is ASCII: other characters become `?`, and tabs and line ends become a space",
        _text(lambda text: re.sub(r"[^\x20-\x7e]", "?", re.sub(r"\r\n|[\t\r\n]", " ", text))),
    ),
    Loss(("fits",), "blanks at the end of a text are lost", _text(lambda text: text.rstrip(" "))),
    Loss(
        ("tsv",), "tabs and line ends in text become a space", _text(lambda text: re.sub(r"\r\n|[\t\r\n]", " ", text))
    ),
    Loss(
        ("text",),
        "control characters in text, including tabs and line ends, become a space",
        _text(lambda text: re.sub(r"\r\n|[\x00-\x1f]", " ", text)),
    ),
    Loss(("text",), "blanks around a text are lost", _text(lambda text: text.strip(" "))),
    Loss(
        ("votable/td", "votable/b", "tsv", "fits", "ecsv", "html", "text"),
        "an empty text cannot be distinguished from NULL",
        _text(lambda text: text or None),
    ),
    Loss(("votable/b", "fits"), "NaN cannot be distinguished from NULL", _nan),
    Loss(
        WORDS,
        "a NULL within an array of whole numbers is written as the number that represents it",
        lambda kind, value: (
            [kind.null if item is None else item for item in value] if kind.null is not None and value else value
        ),
    ),
    Loss(("votable/b2", "votable/td"), "", _nan, by="astropy"),
    Loss(VOTABLES, "", _nan_inside, by="astropy"),
    Loss(("votable/b2",), "", _text(lambda text: text or None), by="astropy"),
    Loss(
        ("ecsv",),
        "line ends other than LF and CR LF (U+000B, U+000C, U+001C to U+001E, U+0085, U+2028, U+2029) become a space",
        _text(lambda text: re.sub("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text)),
    ),
    Loss(("ecsv",), "", _text(lambda text: _line_by_line(text) or None), by="astropy"),
    Loss(("votable/td",), "", _text(lambda text: text.strip() or None), by="astropy"),
)


def found(form: str, kind: ColumnType, value: Any) -> Any:
    """What a reader of this format finds of a value."""
    if isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat()
        return text.rstrip("0").rstrip(".") if "." in text else text
    for loss in LOSSES:
        if form in loss.formats:
            value = loss.becomes(kind, value)
    return value
