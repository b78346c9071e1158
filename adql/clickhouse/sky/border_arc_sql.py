"""Relations of stored regions of several shapes, by their border arcs, as ClickHouse SQL.

A border arc is on a great or small circle: p(t) = (1 - k) a + r (cos t u + sin t v) for t from 0 to its length. Its
numbers are [-1, own, a, k, r, u, v, length], with the components of vectors. ``own`` is 1 if the arc belongs to the
region, 0 for borders of complements, and 2 for lines, which are arcs of the region without an area on either side.
Along other arcs the region is on one side only, so a connected shape that no arc meets is entirely inside or outside.
"""

from __future__ import annotations

import math

from adql.clickhouse.sky.row_shape_sql import Circle, Edges, RowShape, is_inside_sql
from adql.clickhouse.sky.unit_vector_sql import Vector, cross_sql, dot_sql, separation_sql
from adql.regions.borders import MIN_PART, MIN_SIDE_STEP, SAME_CIRCLE, SIDE_STEP
from adql.regions.unit_vectors import ROUNDING
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.let_sql import let_sql

_AXIS: Vector = ("s[3]", "s[4]", "s[5]")
_U: Vector = ("s[8]", "s[9]", "s[10]")
_V: Vector = ("s[11]", "s[12]", "s[13]")
_LENGTH = "s[14]"
_TURN = repr(2 * math.pi)

#: Crossings nearer to the end of an arc, as a fraction of its length, belong to the next arc
_END = 1e-9

_START: Vector = ("e.1", "e.2", "e.3")
_STOP: Vector = ("e.4", "e.5", "e.6")
_NORMAL: Vector = ("e.7", "e.8", "e.9")

#: Height of the arc above the great circle of edge e, in lengths of the normal: cosine cos t + sine sin t - level
_LEVEL = {
    "cosine": f"s[7] * {dot_sql(_U, _NORMAL)}",
    "sine": f"s[7] * {dot_sql(_V, _NORMAL)}",
    "level": f"(s[6] - 1) * {dot_sql(_AXIS, _NORMAL)}",
}
_SWING = {"swing": "sqrt(cosine * cosine + sine * sine)"}
_TOWARDS = "atan2(sine, cosine)"

#: Whether angle t is between the ends of the arc
_ON_ARC = (f"t > {_END!r} * {_LENGTH}", f"t < {1 - _END!r} * {_LENGTH}")


def touches_sql(shape: RowShape) -> str:
    """Return the test whether a shape meets the region at arc ``s``; the border of a complement must be crossed."""
    if isinstance(shape, Circle):
        slack = f"if(s[2] > 0, {ROUNDING!r}, -{ROUNDING!r})"
        return f"arrayMin({_separations_sql(shape, 'near')}) <= radians({shape.radius}) + {slack}"
    ends_or_middle = f"if(s[2] > 0, [0., {_LENGTH}], [{_LENGTH} / 2])"
    inside = _at_angle_sql("t", is_inside_sql(_DIRECTION, shape, border="s[2] > 0"))
    return f"(arrayExists(t -> {inside}, {ends_or_middle}) OR {_crosses_sql(shape, if_touching='s[2] > 0')})"


def enters_sql(shape: RowShape) -> str:
    """Return the test whether arc ``s`` has directions inside a shape, off its border."""
    if isinstance(shape, Circle):
        return f"arrayMin({_separations_sql(shape, 'near')}) < radians({shape.radius}) - {ROUNDING!r}"
    inside = _at_angle_sql(f"{_LENGTH} / 2", is_inside_sql(_DIRECTION, shape, border="0"))
    return f"({inside} OR {_crosses_sql(shape)})"


def stays_in_sql(shape: RowShape) -> str:
    """Return the test whether arc ``s`` is in a shape; vertices divide it into parts, whose middles must be in it."""
    if isinstance(shape, Circle):
        return f"arrayMax({_separations_sql(shape, 'far')}) <= radians({shape.radius}) + {ROUNDING!r}"
    inside = _at_angle_sql("t", is_inside_sql(_DIRECTION, shape))
    parts = f"arrayPushFront(cuts, 0.), arrayPushBack(cuts, {_LENGTH})"
    middles = f"arrayMap((a, b) -> if(b - a > {_END!r} * {_LENGTH}, (a + b) / 2, 0.), {parts})"
    angles = let_sql({"cuts": _vertex_cuts_sql(shape)}, f"arrayPushBack({middles}, {_LENGTH})")
    return all_sql(f"arrayAll(t -> {inside}, arrayPushFront({angles}, 0.))", f"NOT {_crosses_sql(shape)}")


def _vertex_cuts_sql(edges: Edges) -> str:
    """Return the ascending angles at which edges that have an end on the circle of arc ``s`` meet the arc."""
    has_end_on = f"NOT ({all_sql(_is_off_circle_sql(_START), _is_off_circle_sql(_STOP))})"
    half = "acos(greatest(least(level / swing, 1), -1))"
    met = f"[positiveModulo({_TOWARDS} + {half}, {_TURN}), positiveModulo({_TOWARDS} - {half}, {_TURN})]"
    met = let_sql(_LEVEL, let_sql(_SWING, met))
    angles = f"arrayFlatten(arrayMap(e -> {met}, arrayFilter(e -> {has_end_on}, {edges.array})))"
    return f"arraySort(arrayFilter(t -> {all_sql(*_ON_ARC)}, {angles}))"


#: The direction at angle t of arc s, as ``_at_angle_sql`` names it
_DIRECTION: Vector = ("px", "py", "pz")


def _at_angle_sql(t: str, body: str) -> str:
    """Return ``body`` with names for ``_DIRECTION`` at angle ``t``."""
    axes = zip(_DIRECTION, _AXIS, _U, _V, strict=True)
    components = {p: f"{a} * (1 - s[6]) + s[7] * (cos(t) * {u} + sin(t) * {v})" for p, a, u, v in axes}
    return let_sql({"t": t}, let_sql(components, body)) if t != "t" else let_sql(components, body)


def spots_sql(others: str, *, on_border: bool) -> str:
    """Return directions next to the middles of the parts into which the circles of ``others`` cut arc ``s``, as tuples.

    ``on_border`` adds the middles and the ends of the parts. The formulas are the same as in ``borders.cut_arc`` and
    ``region_relations``.
    """
    starts, stops = "arrayPushFront(inner, 0.)", f"arrayPushBack(inner, {_LENGTH})"
    parts = f"arrayMap((a, b) -> {_part_spots_sql(on_border)}, {starts}, {stops})"
    spots = f"arrayFlatten({parts})"
    if on_border:
        spots = f"arrayPushBack({spots}, {_at_angle_sql(_LENGTH, '(px, py, pz)')})"
    return let_sql({"inner": _cuts_sql(others)}, spots)


def middles_sql(others: str) -> str:
    """Return the middles of the parts into which the circles of ``others`` cut arc ``s``, as tuples."""
    middle = _at_angle_sql("(a + b) / 2", "(px, py, pz)")
    starts, stops = "arrayPushFront(inner, 0.)", f"arrayPushBack(inner, {_LENGTH})"
    return let_sql({"inner": _cuts_sql(others)}, f"arrayMap((a, b) -> {middle}, {starts}, {stops})")


def _cuts_sql(others: str) -> str:
    """Return the ascending angles between the ends of arc ``s`` at which the circles of ``others`` meet it.

    For another arc on the same circle, these are the angles of its ends.
    """
    axis: Vector = ("e[3]", "e[4]", "e[5]")
    squared_chord = _squared_chord_sql(_AXIS, axis)
    values = {"cosine": f"s[7] * {dot_sql(_U, axis)}", "sine": f"s[7] * {dot_sql(_V, axis)}"}
    values["level"] = f"({squared_chord}) / 2 - e[6] + s[6] * {dot_sql(_AXIS, axis)}"
    half, towards = "acos(greatest(least(level / swing, 1), -1))", "atan2(sine, cosine)"
    met = f"[positiveModulo({towards} + {half}, {_TURN}), positiveModulo({towards} - {half}, {_TURN})]"
    meets = all_sql(f"swing > {ROUNDING!r}", f"abs(level) <= swing + {ROUNDING!r}")
    same = all_sql(f"swing < {SAME_CIRCLE!r} * s[7]", f"abs(level) < {SAME_CIRCLE!r} * s[7]")
    crossings = let_sql(values, let_sql(_SWING, f"multiIf({same}, {_other_ends_sql()}, {meets}, {met}, [])"))
    angles = f"arrayFlatten(arrayMap(e -> {crossings}, {others}))"
    between = all_sql(f"t > {MIN_PART!r}", f"t < {_LENGTH} - {MIN_PART!r}")
    return f"arraySort(arrayFilter(t -> {between}, {angles}))"


def _other_ends_sql() -> str:
    """Return the angles along arc ``s`` of the ends of arc ``e`` on the same circle."""
    u, v = (tuple(f"e[{i}]" for i in range(first, first + 3)) for first in (8, 11))
    turned = [f"({across} * cos(e[14]) + {along} * sin(e[14]))" for across, along in zip(u, v, strict=True)]
    stop: Vector = (turned[0], turned[1], turned[2])
    ends = (f"atan2({dot_sql(end, _V)}, {dot_sql(end, _U)})" for end in ((u[0], u[1], u[2]), stop))
    return f"[{', '.join(f'positiveModulo({end}, {_TURN})' for end in ends)}]"


def _part_spots_sql(on_border: bool) -> str:
    """Return the spots of the part of arc ``s`` from angle a to b."""
    step = f"greatest({SIDE_STEP!r} * (b - a) * s[7], {MIN_SIDE_STEP!r})"
    left, right = (", ".join(_adjacent_sql(sign)) for sign in "+-")
    spots = f"[({left}), ({right}){', (px, py, pz)' if on_border else ''}]"
    middle = let_sql({"t": "(a + b) / 2", "h": step}, _at_angle_sql("t", spots))
    start = f"arrayPushBack({middle}, {_at_angle_sql('a', '(px, py, pz)')})" if on_border else middle
    return f"if(b - a > {MIN_PART!r}, {start}, [])"


def _adjacent_sql(sign: str) -> list[str]:
    """Return the components of ``_DIRECTION`` moved by h to one side of the arc, as a unit vector."""
    components = []
    for component, axis, u, v in zip(_DIRECTION, _AXIS, _U, _V, strict=True):
        normal = f"({axis} * s[7] - (1 - s[6]) * (cos(t) * {u} + sin(t) * {v}))"
        components.append(f"({component} {sign} h * {normal}) / sqrt(1 + h * h)")
    return components


def _separations_sql(circle: Circle, which: str) -> str:
    """Return the separations of a circle's centre from the ends of the arc and its nearest or farthest direction.

    ``which``: 'near' or 'far'.
    """
    turned = f"atan2({dot_sql(_V, circle.centre)}, {dot_sql(_U, circle.centre)})"
    extreme = f"positiveModulo({turned}{f' + {math.pi!r}' if which == 'far' else ''}, {_TURN})"
    angles = let_sql({"w": extreme}, f"[0., {_LENGTH}, if(w <= {_LENGTH}, w, 0.)]")
    return f"arrayMap(t -> {_at_angle_sql('t', separation_sql(_DIRECTION, circle.centre))}, {angles})"


def _crosses_sql(edges: Edges, *, if_touching: str = "") -> str:
    """Return the test whether the arc crosses an edge; touching does not count.

    Crossing arcs leave each other on both sides by more than rounding, so arcs that coincide or share an end do not
    cross. If the condition ``if_touching`` is true, an arc that is tangent to an edge between the ends of both counts.
    """
    values = _LEVEL | {"least": f"{ROUNDING!r} * sqrt({dot_sql(_NORMAL, _NORMAL)})"}
    after, before = dot_sql(_DIRECTION, cross_sql(_NORMAL, _START)), dot_sql(_DIRECTION, cross_sql(_STOP, _NORMAL))
    heights = [f"greatest({_height_sql(end)}, {_height_sql(f'(t + {end}) / 2')})" for end in ("0.", _LENGTH)]
    leaves = (f"{height} > least" for height in heights)
    on_edge = _at_angle_sql("t", all_sql(f"{after} > least", f"{before} > least"))
    there = all_sql(*_ON_ARC, *leaves, on_edge)
    half = "acos(level / swing)"
    angles = f"[positiveModulo({_TOWARDS} + {half}, {_TURN}), positiveModulo({_TOWARDS} - {half}, {_TURN})]"
    passed = (_is_off_circle_sql(_START), _is_off_circle_sql(_STOP))
    crossed = all_sql("abs(level) < swing - least", *passed, f"arrayExists(t -> {there}, {angles})")
    if if_touching:
        turned = f"positiveModulo(if(level > 0, {_TOWARDS}, {_TOWARDS} + {math.pi!r}), {_TURN})"
        there = let_sql({"t": turned}, all_sql(*_ON_ARC, on_edge))
        crossed = f"({crossed} OR {all_sql(if_touching, 'abs(abs(level) - swing) <= least', there)})"
    return f"arrayExists(e -> {let_sql(values, let_sql(_SWING, crossed))}, {edges.array})"


def _height_sql(t: str) -> str:
    """Return the height of the arc above the great circle of the edge, in lengths of the normal."""
    return f"abs(cosine * cos({t}) + sine * sin({t}) - level)"


def _is_off_circle_sql(direction: Vector) -> str:
    """Return the test whether a direction is off the circle of the arc."""
    return f"abs(s[6] - ({_squared_chord_sql(direction, _AXIS)}) / 2) > {ROUNDING!r} * s[7]"


def _squared_chord_sql(a: Vector, b: Vector) -> str:
    return " + ".join(f"pow({p} - {q}, 2)" for p, q in zip(a, b, strict=True))
