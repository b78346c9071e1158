"""The number of arguments of reserved functions, which ADQL's grammar fixes, unlike their types."""

from __future__ import annotations

from collections.abc import Sequence

from adql.errors import NO_HINT, Fix, Hint
from adql.syntax.hints.angle_notations import parse_angle_text
from adql.syntax.nodes import Binary, ColumnRef, Expression, NullLiteral, NumberLiteral, StringLiteral, Unary
from adql.syntax.reserved_functions import ARGUMENTS, GEOMETRIES

_NEVER_POINTS = (NumberLiteral, StringLiteral, NullLiteral, Unary, Binary)

_SYSTEM_NAMES = frozenset({"ICRS", "FK5", "FK4", "J2000", "B1950", "GALACTIC", "ECLIPTIC"})

_GEOMETRY_FORMS = {
    "POINT": "POINT([system,] longitude, latitude)",
    "CIRCLE": "CIRCLE([system,] centre, radius) or CIRCLE([system,] longitude, latitude, radius)",
    "BOX": "BOX([system,] centre, width, height) or BOX([system,] longitude, latitude, width, height)",
    "POLYGON": "POLYGON([system,] three or more points) or POLYGON([system,] three or more longitudes and latitudes)",
}


def find_argument_fault(name: str, args: Sequence[Expression]) -> str:
    """Return what is wrong with the number of arguments of a reserved function; empty if nothing is."""
    if name in GEOMETRIES:
        if _has_geometry_form(name, args):
            return ""
        return f"the arguments of {name} are those of {_GEOMETRY_FORMS[name]}"
    least, most = ARGUMENTS[name]
    count = len(args)
    if least <= count <= most and not (name == "DISTANCE" and count == 3):
        return ""
    return f"{name} takes {_describe_argument_count(name)}, not {count}"


_LOGARITHM = "LOG is the natural logarithm; to another base it is LOG(x) / LOG(base)"
_DISTINCT_ROWS = "count distinct rows by SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM ...) AS q"


def find_argument_hint(name: str, args: Sequence[Expression]) -> Hint:
    """Return the hint for arguments that ``find_argument_fault`` refuses."""
    if name == "COUNT":
        return Hint(_DISTINCT_ROWS if args else "COUNT(*) counts rows")
    if name in ("LOG", "LOG10") and len(args) == 2:
        return Hint(_LOGARITHM)
    if name not in GEOMETRIES or not args:
        return NO_HINT
    first = args[0]
    if name == "CIRCLE" and len(args) - isinstance(first, StringLiteral) == 2:
        return Hint("the radius is missing, in degrees")
    if isinstance(first, ColumnRef) and (system := first.parts[0].name).upper() in _SYSTEM_NAMES:
        return Hint(f"a system is a text: '{system}'", (Fix(first.span, f"'{system}'"),))
    angles = (parse_angle_text(arg.value) for arg in args if isinstance(arg, StringLiteral))
    return Hint(next((angle.hint for angle in angles if angle), ""))


def _describe_argument_count(name: str) -> str:
    least, most = ARGUMENTS[name]
    if name == "DISTANCE":
        return "2 points or 4 coordinates"
    if least == most:
        return {0: "no arguments", 1: "1 argument"}.get(least, f"{least} arguments")
    if most - least == 1:
        return f"{least} or {most} arguments"
    return f"at least {least} argument"


def _has_geometry_form(name: str, args: Sequence[Expression]) -> bool:
    """Return whether the arguments fit one of the two forms: with points, or with each coordinate as an argument."""
    shape = args[1:] if args and isinstance(args[0], StringLiteral | NullLiteral) else args
    count = len(shape)
    if name == "POINT":
        return count == 2
    if name == "POLYGON":
        points = not any(isinstance(arg, _NEVER_POINTS) for arg in shape)
        return (count >= 6 and count % 2 == 0) or (points and count >= 3)
    with_coordinates = 3 if name == "CIRCLE" else 4
    return count == with_coordinates or (count == with_coordinates - 1 and not isinstance(shape[0], _NEVER_POINTS))
