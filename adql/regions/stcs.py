"""Regions from text: STC-S (TAP 1.0, section 6, and the STC-S note), DALI's shapes, and ASCII MOCs.

    Circle ICRS 10 20 0.5         Polygon 1 2 3 4 5 6         Box 10 20 2 1         Position GALACTIC 0 90
    PositionInterval 10 1 20 2    (its two corners)           AllSky                Convex x y z c ... (x.p >= c)
    Union ICRS (Circle 1 2 3 Not (Box 1 2 3 4))               Intersection, Difference, Not likewise
    circle 1 2 3    polygon 1 2 3 4 5 6    range 1 2 -1 1    point 1 2    one after the other: their union
    4/30-33 5/8     moc 4/30-33 5/8

After a name: ``[fillfactor f] [frame] [refpos] [flavor]``; after the numbers: ``[unit deg]``. Words in any case. The
shapes of a combination have its frame unless they name one. Fill factor, reference position and flavor say nothing of
the region; Cartesian flavors are refused. Ellipses are too: their border is no circle.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from adql.errors import make_printable
from adql.regions.celestial_frames import FLAVORS, FROM_ICRS, REFPOS, SYNONYMS, frame, turned_region
from adql.regions.cone import circle
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon, box
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ShapeError, position

_TOKEN = re.compile(r"[(),]|[^\s(),]+")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(E[+-]?\d+)?")

#: Combinations inside one another
_DEEPEST = 30

#: A tolerance of Convex: its normals are unit vectors to this
_UNIT = 1e-6


def parse(text: str) -> Region:
    """The region that a text stands for. Raises ``ShapeError`` with the place in the text."""
    if re.match(r"\s*(\d+\s*/|moc\b|$)", text, re.IGNORECASE):
        return _moc(text)
    reader = _Reader(text)
    shapes = reader.shapes("ICRS", closed=False)
    return shapes[0] if len(shapes) == 1 else Union(tuple(shapes))


def _moc(text: str) -> Region:
    start = re.match(r"\s*(moc\b)?", text, re.IGNORECASE)
    blank = " " * (start.end() if start else 0)
    if not text.strip():
        raise ShapeError("an empty region", f"write a shape: {', '.join(_SHAPES)}")
    moc = Moc.parse(blank + text[len(blank) :])
    return moc if len(moc.ranges) else Nothing()


class _Reader:
    """Recursive descent over words, numbers and parentheses."""

    def __init__(self, text: str) -> None:
        self._tokens = [(m[0], m.start()) for m in _TOKEN.finditer(text) if m[0] != ","]
        self._end = len(text)
        self._next = 0
        self._depth = 0

    def shapes(self, system: str, *, closed: bool) -> list[Region]:
        """Shapes up to a closing parenthesis, or to the end."""
        found = []
        while self._word != (")" if closed else ""):
            found.append(self._shape(system))
        if not found:
            raise self._error(f"a shape is missing, found {self._shown}")
        if closed:
            self._next += 1
        return found

    def _shape(self, system: str) -> Region:
        name, at = self._word, self._at
        read = _COMBINATIONS.get(name)
        if read is None and name not in _SHAPES:
            hint = "an ellipse may be given as a POLYGON" if name == "ELLIPSE" else f"shapes are {', '.join(_KNOWN)}"
            raise ShapeError(f"{self._shown} at character {at + 1} of the region is not a shape", hint, at)
        self._next += 1
        system = self._system(system)
        try:
            if read is not None:
                return read(self._operands(system))
            numbers = self._numbers()
            self._unit()
            return turned_region(_SHAPES[name](numbers), system, "ICRS")
        except ShapeError as error:
            if error.at:
                raise
            where = f"{error.message}, in the {name.capitalize()} at character {at + 1} of the region"
            raise ShapeError(where, error.hint, at) from None

    def _operands(self, system: str) -> list[Region]:
        if self._word != "(":
            raise self._error(f"'(' is missing, found {self._shown}")
        self._next += 1
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} shapes inside one another")
        found = self.shapes(system, closed=True)
        self._depth -= 1
        return found

    def _system(self, system: str) -> str:
        """``[fillfactor f] [frame] [refpos] [flavor]``"""
        if self._word == "FILLFACTOR":
            self._next += 1
            self._number()
        if self._word and (self._word in FROM_ICRS or self._word in SYNONYMS):
            system = frame(self._word)
            self._next += 1
        if self._word in REFPOS:
            self._next += 1
        if self._word.startswith("CARTESIAN"):
            raise self._error(f"Cartesian coordinates, {self._shown}")
        if self._word in FLAVORS:
            self._next += 1
        return system

    def _numbers(self) -> list[float]:
        found = []
        while self._word and (self._word[0].isdigit() or self._word[0] in "+-."):
            found.append(self._number())
        if self._word not in ("", "(", ")", "UNIT", *_KNOWN):
            raise self._error(f"{self._shown} is not a {'number' if found else 'number or frame'}")
        return found

    def _number(self) -> float:
        if not _NUMBER.fullmatch(self._word):
            raise self._error(f"{self._shown} is not a number")
        value = float(self._word)
        if not math.isfinite(value):
            raise self._error(f"{self._shown} is too large")
        self._next += 1
        return value

    def _unit(self) -> None:
        if self._word == "UNIT":
            self._next += 1
            while self._word in ("DEG", "DEGREE", "DEGREES"):
                self._next += 1
            if self._word and self._word not in (")", *_KNOWN):
                raise self._error(f"unit {self._shown}; coordinates are in degrees")

    @property
    def _word(self) -> str:
        """In capitals; '' at the end."""
        return self._tokens[self._next][0].upper() if self._next < len(self._tokens) else ""

    @property
    def _at(self) -> int:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else self._end

    @property
    def _shown(self) -> str:
        return f"'{make_printable(self._tokens[self._next][0])}'" if self._word else "the end"

    def _error(self, message: str) -> ShapeError:
        return ShapeError(
            f"{message} at character {self._at + 1} of the region", "as in 'Circle ICRS 10 20 0.5'", self._at
        )


def _wants(numbers: Sequence[float], count: int, what: str) -> None:
    if len(numbers) != count:
        raise ShapeError(f"{len(numbers)} numbers instead of {count}", f"it takes {what}, in degrees")


def _circle(numbers: list[float]) -> Region:
    _wants(numbers, 3, "longitude, latitude and radius")
    return circle(*numbers)


def _position(numbers: list[float]) -> Region:
    _wants(numbers, 2, "longitude and latitude")
    return circle(numbers[0], numbers[1], 0.0)


def _polygon(numbers: list[float]) -> Region:
    if len(numbers) % 2:
        raise ShapeError(f"{len(numbers)} numbers, an odd count", "it takes longitude and latitude of each vertex")
    return Polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _box(numbers: list[float]) -> Region:
    _wants(numbers, 4, "longitude and latitude of the centre, width and height")
    return box(*numbers)


def _interval(numbers: list[float]) -> Region:
    _wants(numbers, 4, "two corners, each longitude and latitude")
    return Range(numbers[0], numbers[2], numbers[1], numbers[3])


def _range(numbers: list[float]) -> Region:
    _wants(numbers, 4, "western and eastern longitude, southern and northern latitude")
    return Range(*numbers)


def _convex(numbers: list[float]) -> Region:
    """Half-spaces x.p >= c."""
    if not numbers or len(numbers) % 4:
        raise ShapeError(f"{len(numbers)} numbers", "it takes x, y, z and the least product of each half-space")
    parts: list[Region] = []
    for *axis, least in np.reshape(numbers, (-1, 4)).tolist():
        if abs(math.hypot(*axis) - 1) > _UNIT:
            raise ShapeError(f"({axis[0]:g}, {axis[1]:g}, {axis[2]:g}) is not a unit vector")
        if least > 1:
            return Nothing()
        parts.append(circle(*position(axis), math.degrees(math.acos(max(-1.0, least)))))
    return parts[0] if len(parts) == 1 else Intersection(tuple(parts))


def _all_sky(numbers: list[float]) -> Region:
    _wants(numbers, 0, "no numbers")
    return WholeSky()


def _not(parts: list[Region]) -> Region:
    if len(parts) != 1:
        raise ShapeError(f"Not of {len(parts)} shapes", "give one, or Not (Union (...))")
    return Complement(parts[0])


def _difference(parts: list[Region]) -> Region:
    if len(parts) != 2:
        raise ShapeError(f"Difference of {len(parts)} shapes", "give two: the second is taken from the first")
    return Intersection((parts[0], Complement(parts[1])))


_SHAPES: dict[str, Callable[[list[float]], Region]] = {
    "CIRCLE": _circle,
    "POLYGON": _polygon,
    "BOX": _box,
    "POSITION": _position,
    "POINT": _position,
    "POSITIONINTERVAL": _interval,
    "RANGE": _range,
    "CONVEX": _convex,
    "ALLSKY": _all_sky,
}

_COMBINATIONS: dict[str, Callable[[list[Region]], Region]] = {
    "UNION": lambda parts: Union(tuple(parts)),
    "INTERSECTION": lambda parts: Intersection(tuple(parts)),
    "NOT": _not,
    "DIFFERENCE": _difference,
}

_KNOWN = (*_SHAPES, *_COMBINATIONS)
