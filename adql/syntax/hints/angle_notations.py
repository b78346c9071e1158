"""Recognition of angles with units, or in hours, minutes and seconds, and their ADQL."""

from __future__ import annotations

import re
from typing import NamedTuple

from adql.errors import Fix, Hint, Span

#: Name or symbol of a unit, in lower case -> number of units in a degree, as text
_UNITS = {
    **dict.fromkeys(("deg", "degree", "degrees", "d", "\N{DEGREE SIGN}"), ""),
    **dict.fromkeys(("arcmin", "arcmins", "arcminute", "arcminutes", "amin", "'", "\N{PRIME}"), "60."),
    **dict.fromkeys(("arcsec", "arcsecs", "arcsecond", "arcseconds", "asec", "as", '"', "\N{DOUBLE PRIME}"), "3600."),
    "mas": "3.6e6",
    "uas": "3.6e9",
}
_ENDS = r"(?![A-Za-z0-9_])"
_WORDS = "|".join(sorted(filter(str.isalpha, _UNITS), key=len, reverse=True))
_SIGNS = "[" + "".join(unit for unit in _UNITS if not unit.isalpha()) + "]"
_WITH_UNIT = re.compile(rf"(\d+\.?\d*|\.\d+)\s*((?:{_WORDS}){_ENDS}|{_SIGNS})", re.IGNORECASE)
_SECONDS = r"(\d+\.?\d*)"
_HOURS = re.compile(rf"(\d+)\s*h(?:\s*(\d+)\s*m(?:\s*{_SECONDS}\s*s?)?)?{_ENDS}", re.IGNORECASE)
_DEGREES = re.compile(
    rf"(\d+)\s*[d\N{{DEGREE SIGN}}]\s*(\d+)\s*[m'\N{{PRIME}}](?:\s*{_SECONDS}\s*[s\"\N{{DOUBLE PRIME}}]?)?{_ENDS}",
    re.IGNORECASE,
)
_COLONS = re.compile(rf"(\d+)\s*:\s*(\d+)(?:\s*:\s*{_SECONDS})?{_ENDS}")
_BLANKS = re.compile(rf"(\d+)\s+(\d+)\s+{_SECONDS}{_ENDS}")
_BEFORE = re.compile(r"(?:\d+\.?\d*|\.\d+)\s*$")
_MAX_NUMBER_CHARACTERS = 100


class Angle(NamedTuple):
    """An angle that ends before offset ``end``. ``adql`` is empty if it may be in hours or in degrees."""

    end: int
    adql: str
    hint: str

    def make_hint(self, span: Span) -> Hint:
        """Return the hint for the angle, which is at ``span`` of the query."""
        return Hint(self.hint, (Fix(span, self.adql),) if self.adql else ())


def find_angle_at(text: str, start: int) -> Angle | None:
    """Find the angle at an offset.

    Parameters
    ----------
    text
        The query.
    start
        The offset of the first digit.

    Returns
    -------
    Angle or None
        The angle; None for a plain number or another text.
    """
    for pattern, function in ((_HOURS, "ivo_hms_to_degrees"), (_DEGREES, "ivo_dms_to_degrees")):
        if found := pattern.match(text, start):
            adql = f"{function}('{_format_sexagesimal(found)}')"
            return Angle(found.end(), adql, f"angles are in degrees: {adql}")
    if found := _WITH_UNIT.match(text, start):
        number, divisor = found[1], _UNITS[found[2].lower()]
        adql = f"{number}/{divisor}" if divisor else number
        return Angle(found.end(), adql, f"angles are in degrees: {adql}")
    if found := _COLONS.match(text, start) or _BLANKS.match(text, start):
        shown = _format_sexagesimal(found)
        of_hours, of_degrees = f"ivo_hms_to_degrees('{shown}')", f"ivo_dms_to_degrees('{shown}')"
        return Angle(found.end(), "", f"angles are in degrees: {of_hours} for hours, {of_degrees} for degrees")
    return None


def _format_sexagesimal(found: re.Match[str]) -> str:
    return f"{found[1]}:{found[2] or '0'}:{found[3] or '0'}"


def parse_angle_text(text: str) -> Angle | None:
    """Parse a text that consists of an angle.

    Parameters
    ----------
    text
        The text, with or without a sign, and blanks around it.

    Returns
    -------
    Angle or None
        The angle, with the sign in its ADQL; its ``end`` counts from the first character that is not a blank. None for
        a plain number or another text.
    """
    bare = text.strip()
    sign = bare[:1] if bare[:1] in ("+", "-") else ""
    found = find_angle_at(bare, len(sign))
    if found is None or found.end != len(bare):
        return None
    return found._replace(adql=sign + found.adql if found.adql else "")


def find_angle_around(text: str, sign: int) -> tuple[Span, Angle] | None:
    """Find the angle whose first number is followed by the character at offset ``sign``; return None without one."""
    digits = _BEFORE.search(text, max(0, sign - _MAX_NUMBER_CHARACTERS), sign)
    found = find_angle_at(text, digits.start()) if digits else None
    if digits is None or found is None or found.end <= sign:
        return None
    return Span(digits.start(), found.end), found
