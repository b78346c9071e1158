"""Regions from text: STC-S (TAP 1.0, section 6, and the STC-S note), DALI's shapes, and ASCII MOCs.

    Circle ICRS 10 20 0.5         Polygon 1 2 3 4 5 6         Box 10 20 2 1         Position GALACTIC 0 90
    PositionInterval 10 1 20 2    (its two corners)           AllSky                Convex x y z c ... (x.p >= c)
    Union ICRS (Circle 1 2 3 Not (Box 1 2 3 4))               Intersection, Difference, Not likewise
    circle 1 2 3    polygon 1 2 3 4 5 6    range 1 2 -1 1    point 1 2    (of several, the union)
    4/30-33 5/8     moc 4/30-33 5/8

A name may be followed by ``[fillfactor f] [frame] [refpos] [flavor]``, and numbers by ``[unit deg]``, in upper or lower
case. The shapes of a combination have its frame unless they have their own. Fill factor, reference position and flavor
do not change the region. Cartesian flavors are refused, and so are ellipses, whose border is not a circle.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from adql.errors import make_printable
from adql.limits import MAX_REGION_SHAPES
from adql.regions.celestial_frames import FLAVORS, FROM_ICRS, REFPOS, SYNONYMS, parse_frame, transform_region
from adql.regions.cone import make_circle
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon, make_box
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ShapeError, vector_to_position

_TOKEN = re.compile(r"[(),]|[^\s(),]+")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(E[+-]?\d+)?")

#: Maximum number of nested combinations
_MAX_DEPTH = 30

#: Maximum difference from 1 of the length of vectors of Convex
_LENGTH_TOLERANCE = 1e-6


def parse_region(text: str) -> Region:
    """Parse a region.

    Parameters
    ----------
    text : str
        STC-S, DALI's shapes, or an ASCII MOC.

    Returns
    -------
    Region
        The region in ICRS.

    Raises
    ------
    ShapeError
        If the text is not a region; with the offset of the error.
    """
    if re.match(r"\s*(\d+\s*/|moc\b|$)", text, re.IGNORECASE):
        return _parse_moc(text)
    reader = _Reader(text)
    shapes = reader.read_shapes("ICRS", closed=False)
    return shapes[0] if len(shapes) == 1 else Union(tuple(shapes))


def _parse_moc(text: str) -> Region:
    start = re.match(r"\s*(moc\b)?", text, re.IGNORECASE)
    blank = " " * (start.end() if start else 0)
    if not text.strip():
        raise ShapeError("an empty region", f"write a shape: {', '.join(_SHAPES)}")
    moc = Moc.parse_ascii(blank + text[len(blank) :])
    return moc if len(moc.ranges) else Nothing()


class _Reader:
    """A recursive descent parser of words, numbers and parentheses."""

    def __init__(self, text: str) -> None:
        self._tokens = [(m[0], m.start()) for m in _TOKEN.finditer(text) if m[0] != ","]
        self._end = len(text)
        self._next = 0
        self._depth = 0
        self._shapes = 0

    def read_shapes(self, system: str, *, closed: bool) -> list[Region]:
        """Read shapes up to a closing parenthesis, or to the end."""
        found = []
        while self._word != (")" if closed else ""):
            found.append(self._read_shape(system))
        if not found:
            raise self._make_error(f"a shape is missing, found {self._shown}")
        if closed:
            self._next += 1
        return found

    def _read_shape(self, system: str) -> Region:
        name, at = self._word, self._at
        read = _COMBINATIONS.get(name)
        if read is None and name not in _SHAPES:
            hint = "approximate an ellipse by a POLYGON" if name == "ELLIPSE" else f"shapes are {', '.join(_KNOWN)}"
            raise ShapeError(f"{self._shown} at character {at + 1} of the region is not a shape", hint, at)
        self._next += 1
        self._shapes += 1
        if self._shapes > MAX_REGION_SHAPES:
            hint = "use a MOC, or upload the shapes as a table and join it (UPLOAD)"
            raise ShapeError(f"the region has more than {MAX_REGION_SHAPES} shapes", hint, at)
        system = self._read_system(system)
        try:
            if read is not None:
                return read(self._read_operands(system))
            numbers = self._read_numbers()
            self._skip_unit()
            return transform_region(_SHAPES[name](numbers), system, "ICRS")
        except ShapeError as error:
            if error.at:
                raise
            where = f"{error.message}, in the {name.capitalize()} at character {at + 1} of the region"
            raise ShapeError(where, error.hint, at) from None

    def _read_operands(self, system: str) -> list[Region]:
        if self._word != "(":
            raise self._make_error(f"'(' is missing, found {self._shown}")
        self._next += 1
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._make_error(f"more than {_MAX_DEPTH} nested shapes")
        found = self.read_shapes(system, closed=True)
        self._depth -= 1
        return found

    def _read_system(self, system: str) -> str:
        """Read ``[fillfactor f] [frame] [refpos] [flavor]`` and return the frame."""
        if self._word == "FILLFACTOR":
            self._next += 1
            self._read_number()
        if self._word and (self._word in FROM_ICRS or self._word in SYNONYMS):
            system = parse_frame(self._word)
            self._next += 1
        if self._word in REFPOS:
            self._next += 1
        if self._word.startswith("CARTESIAN"):
            raise self._make_error(f"Cartesian coordinates are not supported: {self._shown}")
        if self._word in FLAVORS:
            self._next += 1
        return system

    def _read_numbers(self) -> list[float]:
        found = []
        while self._word and (self._word[0].isdigit() or self._word[0] in "+-."):
            found.append(self._read_number())
        if self._word not in ("", "(", ")", "UNIT", *_KNOWN):
            raise self._make_error(f"{self._shown} is not a {'number' if found else 'number or frame'}")
        return found

    def _read_number(self) -> float:
        if not _NUMBER.fullmatch(self._word):
            raise self._make_error(f"{self._shown} is not a number")
        value = float(self._word)
        if not math.isfinite(value):
            raise self._make_error(f"{self._shown} is too large")
        self._next += 1
        return value

    def _skip_unit(self) -> None:
        if self._word == "UNIT":
            self._next += 1
            while self._word in ("DEG", "DEGREE", "DEGREES"):
                self._next += 1
            if self._word and self._word not in (")", *_KNOWN):
                raise self._make_error(f"coordinates are in degrees, not {self._shown}")

    @property
    def _word(self) -> str:
        """The next word in capitals; '' at the end."""
        return self._tokens[self._next][0].upper() if self._next < len(self._tokens) else ""

    @property
    def _at(self) -> int:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else self._end

    @property
    def _shown(self) -> str:
        return f"'{make_printable(self._tokens[self._next][0])}'" if self._word else "the end"

    def _make_error(self, message: str) -> ShapeError:
        return ShapeError(
            f"{message} at character {self._at + 1} of the region", "for example 'Circle ICRS 10 20 0.5'", self._at
        )


def _require_count(numbers: Sequence[float], count: int, what: str) -> None:
    if len(numbers) != count:
        raise ShapeError(f"{len(numbers)} numbers instead of {count}", f"it takes {what}, in degrees")


def _make_circle(numbers: list[float]) -> Region:
    _require_count(numbers, 3, "longitude, latitude and radius")
    return make_circle(*numbers)


def _make_point(numbers: list[float]) -> Region:
    _require_count(numbers, 2, "longitude and latitude")
    return make_circle(numbers[0], numbers[1], 0.0)


def _make_polygon(numbers: list[float]) -> Region:
    if len(numbers) % 2:
        raise ShapeError(f"{len(numbers)} numbers, an odd count", "it takes longitude and latitude of each vertex")
    return Polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _make_box(numbers: list[float]) -> Region:
    _require_count(numbers, 4, "longitude and latitude of the centre, width and height")
    return make_box(*numbers)


def _make_interval(numbers: list[float]) -> Region:
    _require_count(numbers, 4, "two corners, each longitude and latitude")
    return _reduce_range(Range(numbers[0], numbers[2], numbers[1], numbers[3]))


def _make_range(numbers: list[float]) -> Region:
    _require_count(numbers, 4, "western and eastern longitude, southern and northern latitude")
    return _reduce_range(Range(*numbers))


def _reduce_range(region: Range) -> Region:
    """Return a range that is a single position as a point, because it has no border."""
    is_point = region.south == region.north and (region.width == 0 or abs(region.south) == 90)
    return make_circle(region.west, region.south, 0.0) if is_point else region


def _make_convex(numbers: list[float]) -> Region:
    """Intersect half-spaces x.p >= c."""
    if not numbers or len(numbers) % 4:
        raise ShapeError(f"{len(numbers)} numbers", "it takes x, y, z and the minimum product of each half-space")
    parts: list[Region] = []
    for *axis, least in np.reshape(numbers, (-1, 4)).tolist():
        if abs(math.hypot(*axis) - 1) > _LENGTH_TOLERANCE:
            raise ShapeError(f"({axis[0]:g}, {axis[1]:g}, {axis[2]:g}) is not a unit vector")
        if least > 1:
            return Nothing()
        radius = math.degrees(math.acos(max(-1.0, least)))
        parts.append(make_circle(*vector_to_position(axis), radius))
    return parts[0] if len(parts) == 1 else Intersection(tuple(parts))


def _make_all_sky(numbers: list[float]) -> Region:
    _require_count(numbers, 0, "no numbers")
    return WholeSky()


def _make_complement(parts: list[Region]) -> Region:
    if len(parts) != 1:
        raise ShapeError(f"Not takes one shape, not {len(parts)}", "write Not (Union (...)) for several shapes")
    return Complement(parts[0])


def _make_difference(parts: list[Region]) -> Region:
    if len(parts) != 2:
        raise ShapeError(
            f"Difference takes two shapes, not {len(parts)}", "the second shape is subtracted from the first"
        )
    return Intersection((parts[0], Complement(parts[1])))


_SHAPES: dict[str, Callable[[list[float]], Region]] = {
    "CIRCLE": _make_circle,
    "POLYGON": _make_polygon,
    "BOX": _make_box,
    "POSITION": _make_point,
    "POINT": _make_point,
    "POSITIONINTERVAL": _make_interval,
    "RANGE": _make_range,
    "CONVEX": _make_convex,
    "ALLSKY": _make_all_sky,
}

_COMBINATIONS: dict[str, Callable[[list[Region]], Region]] = {
    "UNION": lambda parts: Union(tuple(parts)),
    "INTERSECTION": lambda parts: Intersection(tuple(parts)),
    "NOT": _make_complement,
    "DIFFERENCE": _make_difference,
}

_KNOWN = (*_SHAPES, *_COMBINATIONS)
