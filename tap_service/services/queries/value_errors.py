"""Explains the engine's errors about values to the author of the query."""

from __future__ import annotations

import re

from adql import make_printable
from tap_service.storage.engine.engine import EngineValueError

#: ADQL names of ClickHouse types
_ADQL_TYPES = {
    "Int16": "SMALLINT",
    "Int32": "INTEGER",
    "Int64": "BIGINT",
    "Float32": "REAL",
    "Float64": "DOUBLE PRECISION",
}

_OUT_OF_RANGE = re.compile(r"cannot be safely converted into type (\w+)")
_PATTERN = re.compile(r"cannot compile re2: (.*?), error: (.*?)(?:: .*)?\. Look at", re.DOTALL)
_TEXT = re.compile(r"Cannot parse string '(.*?)' as (\w+)", re.DOTALL)
_NO_INTEGER = re.compile(r"Cannot parse string to type (\w+)")

#: text of the engine -> explanation
_MEANINGS = (
    (
        "Unexpected inf or nan",
        "CAST of NaN or infinity to an integer: leave such rows out, with ABS(x) < 1e300",
    ),
    ("Cannot read DateTime", "a text is no timestamp: write timestamps as '2026-01-31T12:00:00'"),
    ("Cannot parse DateTime", "a text is no timestamp: write timestamps as '2026-01-31T12:00:00'"),
    ("Cannot read floating point value", "a text is no number: leave such rows out, with LIKE or CASE"),
    (
        "Scalar subquery returned more than one row",
        "a subquery that stands for a value gave several rows: use MAX, or IN",
    ),
)


def explain_value_error(error: EngineValueError) -> str:
    """Return one sentence; the engine's own message if it is unknown."""
    message = str(error)
    if found := _OUT_OF_RANGE.search(message):
        kind = _ADQL_TYPES.get(found[1], found[1])
        if kind == "DOUBLE PRECISION":
            return (
                "a BIGINT has too many digits for a column of DOUBLE: CAST the values of DOUBLE to BIGINT, or"
                " the others AS DOUBLE PRECISION, which rounds them"
            )
        if "Int128" in message:
            return f"an integer result does not fit {kind}: compute with CAST(... AS DOUBLE PRECISION)"
        return f"a value does not fit {kind}: CAST it to a wider type"
    if found := _TEXT.search(message):
        return (
            f"the text '{found[1]}' is no {_ADQL_TYPES.get(found[2], found[2])}: leave such rows out, with LIKE or CASE"
        )
    if found := _NO_INTEGER.search(message):
        kind = _ADQL_TYPES.get(found[1], found[1])
        return f"a text is no {kind}, or beyond its range: leave such rows out, with LIKE or CASE"
    if found := _PATTERN.search(message):
        return f"'{make_printable(found[1])}' is no regular expression: {found[2]}; write it in the syntax of RE2"
    return next((text for sign, text in _MEANINGS if sign in message), message)
