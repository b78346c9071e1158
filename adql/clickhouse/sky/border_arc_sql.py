"""Relations of stored regions of several shapes, by the pieces of their borders, as ClickHouse SQL.

A piece is an arc of a great or small circle, p(t) = (1 - k) a + r (cos t u + sin t v) for t from 0 to its length: as
numbers [-1, own, a, k, r, u, v, length], vectors by their components. ``own`` is 1 if the piece belongs to the region,
as those of complements do not. The region is on one side of it alone, so a connected shape that no piece meets is
wholly inside of the region, or outside.
"""

from __future__ import annotations

import math

import numpy as np

from adql.clickhouse.sky.row_shape_sql import (
    Circle,
    Edges,
    RowShape,
    Vector,
    cross_product,
    dot,
    inside,
    let,
    separation,
)
from adql.regions.area_centroid import border_pieces
from adql.regions.borders import Curve
from adql.regions.region import Region
from adql.regions.unit_vectors import ROUNDING

_AXIS: Vector = ("s[3]", "s[4]", "s[5]")
_U: Vector = ("s[8]", "s[9]", "s[10]")
_V: Vector = ("s[11]", "s[12]", "s[13]")
_LENGTH = "s[14]"
_TURN = repr(2 * math.pi)

#: Steps to either side of a piece's middle, in pieces and in radians; and the least angle between two cuts
_ASIDE, _LEAST_ASIDE, _APART = 1e-7, 1e-13, 1e-12

#: Crossings this near to a piece's end, in its lengths, are left to the next piece
_END = 1e-9

_START: Vector = ("e.1", "e.2", "e.3")
_STOP: Vector = ("e.4", "e.5", "e.6")
_NORMAL: Vector = ("e.7", "e.8", "e.9")


def numbers(region: Region) -> list[list[float]]:
    """The pieces of a constant region's border."""
    found = border_pieces(region)
    middles = [curve.at(np.array([(start + stop) / 2]))[0] for curve, start, stop in found]
    own = region.contains(np.array(middles).reshape(-1, 3))
    return [_numbers(*piece, float(belongs)) for piece, belongs in zip(found, own, strict=True)]


def _numbers(curve: Curve, start: float, stop: float, own: float) -> list[float]:
    start, stop = min(start, stop), max(start, stop)
    c, s = math.cos(start), math.sin(start)
    u, v = c * curve.u + s * curve.v, c * curve.v - s * curve.u
    # 1 - height, exact for small circles
    k = curve.radius**2 / (1 + curve.height) if curve.height > 0 else 1 - curve.height
    return [-1.0, own, *curve.axis.tolist(), k, curve.radius, *u.tolist(), *v.tolist(), stop - start]


def touches(shape: RowShape) -> str:
    """SQL of whether a shape meets the region at piece ``s``; at one that is not the region's own, by crossing it."""
    if isinstance(shape, Circle):
        slack = f"if(s[2] > 0, {ROUNDING!r}, -{ROUNDING!r})"
        return f"arrayMin({_separations(shape, 'near')}) <= radians({shape.radius}) + {slack}"
    return f"({_inside(f'if(s[2] > 0, 0, {_LENGTH} / 2)', shape, border='s[2] > 0')} OR {_crosses(shape)})"


def enters(shape: RowShape) -> str:
    """SQL of whether piece ``s`` has directions inside of a shape, off its border."""
    if isinstance(shape, Circle):
        return f"arrayMin({_separations(shape, 'near')}) < radians({shape.radius}) - {ROUNDING!r}"
    return f"({_inside(f'{_LENGTH} / 2', shape, border='0')} OR {_crosses(shape)})"


def stays_in(shape: RowShape) -> str:
    """SQL of whether all of piece ``s`` is in a shape."""
    if isinstance(shape, Circle):
        return f"arrayMax({_separations(shape, 'far')}) <= radians({shape.radius}) + {ROUNDING!r}"
    return f"({_inside(f'{_LENGTH} / 2', shape)} AND NOT {_crosses(shape)})"


#: The direction at angle t of the piece, as ``_at`` names it
_PLACE: Vector = ("px", "py", "pz")


def _at(t: str, body: str) -> str:
    """``body`` with ``_PLACE``."""
    axes = zip(_PLACE, _AXIS, _U, _V, strict=True)
    place = {p: f"{a} * (1 - s[6]) + s[7] * (cos(t) * {u} + sin(t) * {v})" for p, a, u, v in axes}
    return let({"t": t}, let(place, body)) if t != "t" else let(place, body)


def spots(others: str, *, on_border: bool) -> str:
    """SQL of directions, tuples, beside the middles of the parts that the circles of pieces ``others`` cut ``s`` into.

    ``on_border``: the middles themselves and the parts' starts too. The formulas are those of ``borders.cuts`` and
    ``relations``.
    """
    axis: Vector = ("e[3]", "e[4]", "e[5]")
    apart = " + ".join(f"pow({a} - {b}, 2)" for a, b in zip(_AXIS, axis, strict=True))
    values = {"cosine": f"s[7] * {dot(_U, axis)}", "sine": f"s[7] * {dot(_V, axis)}"}
    values["level"] = f"({apart}) / 2 - e[6] + s[6] * {dot(_AXIS, axis)}"
    half, towards = "acos(greatest(least(level / swing, 1), -1))", "atan2(sine, cosine)"
    met = f"[positiveModulo({towards} + {half}, {_TURN}), positiveModulo({towards} - {half}, {_TURN})]"
    where = f"if(swing > {ROUNDING!r} AND abs(level) <= swing + {ROUNDING!r}, {met}, [])"
    angles = f"arrayMap(e -> {let(values, let({'swing': 'sqrt(cosine * cosine + sine * sine)'}, where))}, {others})"
    inner = f"arraySort(arrayFilter(t -> t > {_APART!r} AND t < {_LENGTH} - {_APART!r}, arrayFlatten({angles})))"
    starts, stops = "arrayPushFront(inner, 0.)", f"arrayPushBack(inner, {_LENGTH})"
    parts = f"arrayMap((a, b) -> {_spots_of_part(on_border)}, {starts}, {stops})"
    return let({"inner": inner}, f"arrayFlatten({parts})")


def _spots_of_part(on_border: bool) -> str:
    """Of the part of piece ``s`` from angle a to b."""
    step = f"greatest({_ASIDE!r} * (b - a) * s[7], {_LEAST_ASIDE!r})"
    around = [f"(cos(t) * {u} + sin(t) * {v})" for u, v in zip(_U, _V, strict=True)]
    aside = [f"({a} * s[7] - (1 - s[6]) * {w})" for a, w in zip(_AXIS, around, strict=True)]
    moved = [[f"({p} {sign} h * {q})" for p, q in zip(_PLACE, aside, strict=True)] for sign in "+-"]
    left, right = (", ".join(f"{component} / sqrt(1 + h * h)" for component in one) for one in moved)
    places = f"[({left}), ({right}){', (px, py, pz)' if on_border else ''}]"
    middle = let({"t": "(a + b) / 2", "h": step}, _at("t", places))
    start = f"arrayPushBack({middle}, {_at('a', '(px, py, pz)')})" if on_border else middle
    return f"if(b - a > {_APART!r}, {start}, [])"


def _inside(t: str, shape: Edges, *, border: str = "1") -> str:
    return _at(t, inside(_PLACE, shape, border=border))


def _separations(circle: Circle, which: str) -> str:
    """From a circle's centre to the piece's ends, and to its nearest or farthest place if that is between them."""
    turned = f"atan2({dot(_V, circle.centre)}, {dot(_U, circle.centre)})"
    place = f"positiveModulo({turned}{f' + {math.pi!r}' if which == 'far' else ''}, {_TURN})"
    places = let({"w": place}, f"[0., {_LENGTH}, if(w <= {_LENGTH}, w, 0.)]")
    return f"arrayMap(t -> {_at('t', separation(_PLACE, circle.centre))}, {places})"


def _crosses(edges: Edges) -> str:
    """Whether the piece crosses some edge, not merely touches it: where its circle meets the edge's great circle.

    To cross is to leave the other by more than rounding, both ways: arcs that are one, or share an end, do not.
    """
    values = {
        "cosine": f"s[7] * {dot(_U, _NORMAL)}",
        "sine": f"s[7] * {dot(_V, _NORMAL)}",
        "level": f"(s[6] - 1) * {dot(_AXIS, _NORMAL)}",
        "least": f"{ROUNDING!r} * sqrt({dot(_NORMAL, _NORMAL)})",
    }
    after, before = dot(_PLACE, cross_product(_NORMAL, _START)), dot(_PLACE, cross_product(_STOP, _NORMAL))
    on_piece = f"t > {_END!r} * {_LENGTH} AND t < {1 - _END!r} * {_LENGTH}"
    leaves = " AND ".join(f"greatest({_height(end)}, {_height(f'(t + {end}) / 2')}) > least" for end in ("0.", _LENGTH))
    there = f"{on_piece} AND {leaves} AND {_at('t', f'{after} > least AND {before} > least')}"
    half, middle = "acos(level / swing)", "atan2(sine, cosine)"
    angles = f"[positiveModulo({middle} + {half}, {_TURN}), positiveModulo({middle} - {half}, {_TURN})]"
    passed = f"{_off_circle(_START)} AND {_off_circle(_STOP)}"
    crossed = f"abs(level) < swing - least AND {passed} AND arrayExists(t -> {there}, {angles})"
    swing = let({"swing": "sqrt(cosine * cosine + sine * sine)"}, crossed)
    return f"arrayExists(e -> {let(values, swing)}, {edges.array})"


def _height(t: str) -> str:
    """Of the piece over the edge's great circle, in lengths of the normal."""
    return f"abs(cosine * cos({t}) + sine * sin({t}) - level)"


def _off_circle(place: Vector) -> str:
    """Whether a direction is not on the piece's circle."""
    squared = " + ".join(f"pow({p} - {a}, 2)" for p, a in zip(place, _AXIS, strict=True))
    return f"abs(s[6] - ({squared}) / 2) > {ROUNDING!r} * s[7]"
