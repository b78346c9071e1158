"""Functions of angles written in hours or degrees, minutes and seconds."""

from __future__ import annotations

from adql.functions.function import Function, Parameter
from clickhouse_schema.datatypes import DOUBLE
from clickhouse_schema.quoting import quote_string

_MINUTES = r"([0-5]?\d)"
_SECONDS = r"([0-5]?\d(?:\.\d*)?)"


def _build_patterns(sign: str, whole: str, packed: str, letter: str) -> tuple[str, ...]:
    """Return regular expressions with the groups sign, whole part, minutes and seconds. A text matches at most one."""
    seconds = r"([0-5]\d(?:\.\d*)?)"
    return (
        rf"^\s*({sign})({whole})(?:\s*:\s*){_MINUTES}\s*:\s*{_SECONDS}\s*$",
        rf"^\s*({sign})({whole})\s+{_MINUTES}\s+{_SECONDS}\s*$",
        rf"^\s*({sign})({whole})\s*[{letter}]\s*{_MINUTES}\s*[mM]\s*{_SECONDS}\s*[sS]\s*$",
        rf"^\s*({sign})({packed})([0-5]\d){seconds}\s*$",
    )


def _angle_sql(text: str, forms: tuple[str, ...], unit: str) -> str:
    """Return the SQL of the angle in degrees, NULL for other texts; ``unit`` is the number of seconds in a degree."""
    known = f"ifNull({text}, {quote_string('')})"
    parts = f"arrayConcat({', '.join(f'extractGroups({known}, {quote_string(form)})' for form in forms)})"
    whole, minutes, seconds = (f"toFloat64OrZero({parts}[{group}])" for group in (2, 3, 4))
    value = f"({whole} * 3600 + {minutes} * 60 + {seconds}) / {unit}"
    return f"if(empty({parts}), NULL, if({parts}[1] = '-', -{value}, {value}))"


_HOURS = _build_patterns("", r"\d|[01]\d|2[0-4]", r"[01]\d|2[0-4]", "hH")
_DEGREES = _build_patterns("[+-]?", r"[0-2]?\d?\d|3[0-5]\d|360", r"\d\d", "dD")

SEXAGESIMAL_FUNCTIONS = (
    Function("ivo_hms_to_degrees", (Parameter("hms", "text", "TEXT"),), DOUBLE,
             lambda text: _angle_sql(text, _HOURS, "240"),
             "An angle in hours, written as h:m:s, h m s, hhmmss or hHmMsS, in degrees. Seconds may have decimals; "
             "any other text is NULL.", returns="REAL"),
    Function("ivo_dms_to_degrees", (Parameter("dms", "text", "TEXT"),), DOUBLE,
             lambda text: _angle_sql(text, _DEGREES, "3600"),
             "An angle written as d:m:s, d m s, ddmmss or dDmMsS in degrees. It may have a sign and decimals of "
             "seconds; any other text is NULL.", returns="REAL"),
)  # fmt: skip
