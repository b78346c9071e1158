"""The emitter's part for geometry: positions, shapes, relations. Each form takes a node and the emitter of its parts.

NULL and NaN coordinates are unknown positions: relations with them are NULL, also under NOT.
"""

from __future__ import annotations

from collections.abc import Callable

from adql.clickhouse.sky import row_relation_sql, row_shape_sql, stored_moc_sql, stored_region_sql
from adql.clickhouse.sky.membership_sql import Row, membership
from adql.clickhouse.sky.separation_sql import nearness, separation, unit_vector
from adql.clickhouse.sky.stored_region_sql import Stored
from adql.errors import AdqlUnsupported
from adql.ir import Call, Covered, Expr, Literal, Shape, Within, evaluate_constant, evaluate_region, read_position
from adql.regions import Cone, Moc, Nothing, Polygon, ShapeError, circle_relations
from adql.regions.celestial_frames import rotated
from adql.regions.region_relations import has_moc
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.shape_cover import span

#: the SQL of an expression
Emit = Callable[[Expr], str]


def within(expr: Within, emit: Emit) -> str:
    lon, lat = emit(expr.lon), emit(expr.lat)
    index = index_sql(lon, lat) if has_moc(expr.region) else ""
    test = membership(expr.region, Row(*_vector(expr.lon, expr.lat, emit), index))
    return _known([f"toFloat64({lon})", f"toFloat64({lat})"], test)


def covered(expr: Covered, emit: Emit) -> str:
    """Both tests are ranges of the number, which the projection of covers is ordered by."""
    number, found = emit(expr.number), expr.footprints
    tests = [f"{number} IN ({', '.join(map(str, found.numbers))})"]
    if found.cells:
        tests.append(f"intDiv({number}, {span(found.order)}) IN ({', '.join(map(str, found.cells))})")
    return f"({' OR '.join(tests)})"


def constant_shape(expr: Shape, emit: Emit) -> str:  # noqa: ARG001  called like the others
    """DALI numbers of a circle or polygon, ASCII of a MOC."""
    region = expr.region
    if isinstance(region, (Moc, Nothing)):
        return quote_string(str(region) if isinstance(region, Moc) else "")
    if isinstance(region, Cone):
        numbers = [region.lon, region.lat, region.radius]
    elif isinstance(region, Polygon):
        numbers = [number for vertex in region.vertices for number in vertex]
    else:
        raise AdqlUnsupported("this region has no form as a value", expr.span, "select circles or polygons")
    return f"[{', '.join(repr(float(n)) for n in numbers)}]"


def _known(numbers: list[str], value: str, otherwise: str = "NULL") -> str:
    """``value`` unless one of the numbers is NULL or NaN."""
    unknown = " + ".join(numbers)
    return f"if(isNull({unknown}) OR isNaN({unknown}), {otherwise}, {value})" if numbers else value


def _vector(lon: Expr, lat: Expr, emit: Emit) -> tuple[str, str, str]:
    if isinstance(lon, Call) and isinstance(lat, Call) and lon.name == "TURNED LON" and lat.args == lon.args:
        return _turned(lon, emit)
    return unit_vector(emit(lon), emit(lat), evaluate_constant(lon), evaluate_constant(lat))


# --- frames -----------------------------------------------------------------------------------------------------------


def _turned(expr: Call, emit: Emit) -> tuple[str, str, str]:
    """Vector of a position in another frame."""
    return rotated(_vector(expr.args[0], expr.args[1], emit), *_frames(expr))


def _frames(expr: Call) -> tuple[str, str]:
    source, target = (str(a.value) for a in expr.args[-2:] if isinstance(a, Literal))
    return source, target


def _turned_longitude(expr: Call, emit: Emit) -> str:
    return row_shape_sql.longitude(*_turned(expr, emit)[:2])


def _turned_latitude(expr: Call, emit: Emit) -> str:
    return row_shape_sql.latitude(*_turned(expr, emit))


def _turned_shape(expr: Call, emit: Emit) -> str:
    """DALI numbers of a point, circle or polygon in another frame; an empty array stays one."""
    shape = expr.args[0]
    count = {"point": 1, "circle": 1}.get(shape.type.xtype)
    return row_shape_sql.transformed(emit(shape), count, lambda vector: rotated(vector, *_frames(expr)))


# --- values -----------------------------------------------------------------------------------------------------------


def _coordinates(expr: Call, emit: Emit) -> str:
    """DALI numbers of a point, circle or polygon of columns; an empty array stands for NULL."""
    parts = [emit(a) for a in expr.args]
    missing = " OR ".join(f"isNull({p})" for p in parts)
    values = ", ".join(f"assumeNotNull(toFloat64({p}))" for p in parts)
    return f"if({missing}, CAST([], 'Array(Float64)'), [{values}])"


def _box(expr: Call, emit: Emit) -> str:
    parts = [emit(a) for a in expr.args]
    corners = row_shape_sql.box(*(f"assumeNotNull(toFloat64({p}))" for p in parts))
    return f"if({' OR '.join(f'isNull({p})' for p in parts)}, CAST([], 'Array(Float64)'), {corners})"


def _shape_of_text(expr: Call, emit: Emit) -> str:
    """DALI's numbers; the engine is given the whole text, which it refuses, of those that make no such shape."""
    text = f"ifNull({emit(expr.args[0])}, '')"
    latitudes, count = "[n[2]]", {"point": 2, "circle": 3}.get(expr.type.xtype)
    good = f"length(n) = {count}"
    if expr.type.xtype == "circle":
        good += " AND n[3] >= 0 AND n[3] <= 180"
    elif count is None:
        good, latitudes = (
            "length(n) >= 6 AND length(n) % 2 = 0",
            "arrayFilter((b, i) -> i % 2 = 0, n, arrayEnumerate(n))",
        )
    good += f" AND arrayAll(b -> abs(b) <= 90, {latitudes}) AND arrayAll(b -> isFinite(b), n)"
    numbers = "arrayMap(w -> ifNull(toFloat64OrNull(w), nan), words)"
    chosen = f"arrayMap(n -> if({good}, words, [concat(t, ' ({expr.type.adql})')]), [{numbers}])[1]"
    words = f"arrayMap(words -> {chosen}, [splitByRegexp('[\\\\s,]+', trimBoth(t))])[1]"
    read = f"arrayMap(w -> accurateCast(w, 'Float64'), if(trimBoth(t) = '', [], {words}))"
    return f"arrayMap(t -> {read}, [{text}])[1]"


def _text_of_shape(expr: Call, emit: Emit) -> str:
    numbers = emit(expr.args[0])
    return f"if(empty({numbers}), NULL, arrayStringConcat(arrayMap(n -> toString(n), {numbers}), ' '))"


#: Forms of how far apart the centres of two circles may be, by radii
REACHES = {"REACH INSIDE": circle_relations.inside_sql, "REACH TOUCHING": circle_relations.touching_sql}


def _reach(expr: Call, emit: Emit) -> str:
    first, second = (f"toFloat64({emit(a)})" for a in expr.args)
    return REACHES[expr.name](first, second)


# --- separations ------------------------------------------------------------------------------------------------------


def _near(expr: Call, emit: Emit) -> str:
    lon1, lat1, lon2, lat2, radius = expr.args
    first, second = _vector(lon1, lat1, emit), _vector(lon2, lat2, emit)
    test = nearness(first, second, emit(radius), evaluate_constant(radius), strict=expr.name == "NEARER")
    # a NULL makes the test NULL by itself
    of_reach = radius.args if isinstance(radius, Call) and radius.name in REACHES else (radius,)
    parts = (lon1, lat1, lon2, lat2, *of_reach)
    numbers = [f"toFloat64({emit(a)})" for a in parts if evaluate_constant(a) is None]
    return f"if(isNaN({' + '.join(numbers)}), NULL, {test})" if numbers else test


def _distance(expr: Call, emit: Emit) -> str:
    lon1, lat1, lon2, lat2 = expr.args
    return f"degrees({separation(_vector(lon1, lat1, emit), _vector(lon2, lat2, emit))})"


# --- shapes of columns ------------------------------------------------------------------------------------------------


def _related(expr: Call, emit: Emit) -> str:
    test: str
    try:
        if any(a.type.xtype == "moc" and not isinstance(a, Shape) for a in expr.args):
            test = _related_mocs(expr, emit)
        else:
            relation = row_relation_sql.contains if expr.name == "SHAPES CONTAIN" else row_relation_sql.intersects
            test = relation(*(_column_shape(a, emit) for a in expr.args))
    except ShapeError as error:
        raise AdqlUnsupported(f"{error.message} is not supported", expr.span, error.hint) from error
    for radius in (emit(a.args[2]) for a in expr.args if isinstance(a, Call) and a.name == "CIRCLE"):
        test = f"({radius} >= 0 AND {test})"  # nothing is in a circle of a radius below 0, and it is in nothing
    return _known([n for a in expr.args for n in _numbers(a, emit)], test)


def _related_mocs(expr: Call, emit: Emit) -> str:
    first, second = expr.args
    for point, moc in ((first, second), (second, first)):
        if point.type.xtype == "point" and not isinstance(point, Shape):
            lon, lat = read_position(point)
            return stored_moc_sql.has(_ranges(moc, emit), index_sql(emit(lon), emit(lat)))
    one, other = _ranges(first, emit), _ranges(second, emit)
    return stored_moc_sql.is_inside(one, other) if expr.name == "SHAPES CONTAIN" else stored_moc_sql.meets(one, other)


def _ranges(expr: Expr, emit: Emit) -> stored_moc_sql.Ranges:
    """Of a MOC, or of the cells that a constant shape touches."""
    if isinstance(expr, Call) and expr.name in ("MOC UNION", "MOC INTERSECTION"):
        parts = tuple(_ranges(a, emit) for a in expr.args)
        return stored_moc_sql.combined(parts, 1 if expr.name == "MOC UNION" else len(parts))
    if isinstance(expr, Call) and expr.name == "STORED" and expr.type.xtype == "moc":
        return stored_moc_sql.Ranges(emit(expr))
    region = evaluate_region(expr)
    if region is None:
        raise ShapeError("a MOC compared with a shape from columns", "give the shape as a constant, or a POINT")
    return stored_moc_sql.ranges_of(region)


def _moc(expr: Call, emit: Emit) -> str:
    """A computed MOC as a text; NULL if a part is."""
    ranges = _ranges(expr, emit)
    return _known([n for a in expr.args for n in _numbers(a, emit)], stored_moc_sql.ascii_moc(ranges))


def _column_shape(expr: Expr, emit: Emit) -> row_relation_sql.Shape:
    """The shape's numbers, without NULL: array functions take none. See ``_known`` for those."""
    if isinstance(expr, Call) and expr.name == "STORED":
        return Stored(emit(expr))
    if isinstance(expr, Shape):
        return expr.region
    if isinstance(expr, Call) and expr.name in ("POINT", "CIRCLE"):
        lon, lat, *radius = (f"assumeNotNull(toFloat64({emit(a)}))" for a in expr.args)
        vector = unit_vector(lon, lat, evaluate_constant(expr.args[0]), evaluate_constant(expr.args[1]))
        return row_shape_sql.Circle(vector, radius[0] if radius else "0.")
    value = emit(expr)
    if expr.type.xtype == "polygon":
        return row_shape_sql.polygon(value)
    vector = unit_vector(f"{value}[1]", f"{value}[2]", None, None)
    return row_shape_sql.Circle(vector, f"{value}[3]" if expr.type.xtype == "circle" else "0.")


def _numbers(expr: Expr, emit: Emit) -> list[str]:
    """What must be known of a shape: its numbers; of an array, that it is not empty."""
    if isinstance(expr, Shape):
        return []
    if isinstance(expr, Call) and expr.name in ("POINT", "CIRCLE"):
        return [f"toFloat64({emit(a)})" for a in expr.args if evaluate_constant(a) is None]
    if isinstance(expr, Call) and expr.name in ("MOC UNION", "MOC INTERSECTION"):
        return [n for a in expr.args for n in _numbers(a, emit)]
    value = emit(expr)
    if isinstance(expr, Call) and expr.name == "STORED":
        return [f"if(empty({value}), nan, 0.)"]
    return [f"if(empty({value}), nan, arraySum({value}))"]


def _area(expr: Call, emit: Emit) -> str:
    if expr.args[0].type.xtype == "moc":
        return _known(_numbers(expr.args[0], emit), stored_moc_sql.area(_ranges(expr.args[0], emit)))
    shape = _column_shape(expr.args[0], emit)
    assert isinstance(shape, row_shape_sql.Circle | row_shape_sql.Edges)  # noqa: S101  constants are computed at translation
    return _known(_numbers(expr.args[0], emit), row_shape_sql.area(shape))


def _centroid(expr: Call, emit: Emit) -> str:
    shape = _column_shape(expr.args[0], emit)
    assert isinstance(shape, row_shape_sql.Circle | row_shape_sql.Edges)  # noqa: S101  constants are computed at translation
    return _known(_numbers(expr.args[0], emit), row_shape_sql.centroid(shape), "CAST([], 'Array(Float64)')")


def _cap(expr: Call, emit: Emit) -> str:
    """Part of a circle around a shape of a row; NaN or NULL of an unknown one."""
    shape, value = expr.args[0], expr.name.removeprefix("CAP ")
    known = _column_shape(shape, emit)
    if isinstance(known, Stored):
        found = stored_region_sql.cap(known, value)
    elif isinstance(known, row_shape_sql.Circle):
        found = row_shape_sql.cap(f"[(({', '.join(known.centre)}), radians({known.radius}))]", value)
    else:
        found = row_shape_sql.cap(row_shape_sql.discs(emit(shape)), value)
    return _known(_numbers(shape, emit), found, "nan")


GEOMETRY: dict[str, Callable[[Call, Emit], str]] = {
    "POINT": _coordinates,
    "CIRCLE": _coordinates,
    "POLYGON": _coordinates,
    "BOX": _box,
    "TURNED": _turned_shape,
    "TURNED LON": _turned_longitude,
    "TURNED LAT": _turned_latitude,
    "DISTANCE": _distance,
    "NEAR": _near,
    "NEARER": _near,
    **dict.fromkeys(REACHES, _reach),
    "SHAPES CONTAIN": _related,
    "SHAPES MEET": _related,
    "SHAPE OF TEXT": _shape_of_text,
    "TEXT OF SHAPE": _text_of_shape,
    "STORED": lambda expr, emit: emit(expr.args[0]),
    "MOC UNION": _moc,
    "MOC INTERSECTION": _moc,
    "AREA": _area,
    "CENTROID": _centroid,
    "CAP LON": _cap,
    "CAP LAT": _cap,
    "CAP RADIUS": _cap,
}
