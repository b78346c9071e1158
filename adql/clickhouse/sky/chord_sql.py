"""Whether two unit vectors are within a constant angle of each other, by one comparison of squared chords.

For unit vectors at separation t: |a - b| = 2 sin(t/2) and |a + b| = 2 cos(t/2). The first is compared for angles up to
90 degrees, the second beyond, so that the digits of small and of nearly straight angles are kept.
"""

from __future__ import annotations

import math
import sys

from adql.regions.unit_vectors import ROUNDING


def near_chord(minus: str, plus: str, radius: float, *, strict: bool = False) -> str:
    """SQL of whether the separation is at most ``radius`` degrees, to ``ROUNDING``; or ``strict``: less than it.

    ``minus`` and ``plus`` are SQL of |a - b|^2 and |a + b|^2: of a NULL the condition is NULL. No separation is within
    a radius below 0, each is within one above 180.
    """
    half = math.radians(radius) / 2
    if radius < 0:
        return f"({minus} < 0.)"
    if radius <= 90:
        return f"({minus} {'<' if strict else '<='} {most_chord(radius, strict)!r})"
    if radius > 180 or (radius == 180 and not strict):
        return f"({plus} >= 0.)"
    least = 2 * math.cos(half) - (0 if strict else ROUNDING)
    return f"({plus} {'>' if strict else '>='} {max(0.0, least) ** 2!r})"


def most_chord(radius: float, strict: bool) -> float:
    """The square of the chord of an angle of 0 to 90 degrees, a little longer unless ``strict``.

    Equal positions are nearer than any radius above 0, also than one whose square is too small for a number.
    """
    square = (2 * math.sin(math.radians(radius) / 2) + (0 if strict else ROUNDING)) ** 2
    return max(square, sys.float_info.min) if radius > 0 else square
