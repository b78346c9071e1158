"""Validation of shape columns, and parsing of ranges and of region and MOC texts, once, when they are loaded."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adql.regions import Cone, Moc, Nothing, Polygon, Range, ShapeError, make_circle, stcs
from adql.regions.region import SLACK
from adql.regions.region_rows import Simple, normal_form, shape_rows
from adql.regions.unit_vectors import Vectors, positions_to_vectors, separations, vector_lengths
from clickhouse_schema.datatypes import CIRCLE, FLOATS, POLYGON, REGION_XTYPE, ColumnType
from clickhouse_schema.healpix import ORDER, cell_centres, max_cell_radius, vectors_to_index
from clickhouse_schema.shape_cover import (
    EVERYWHERE,
    FINEST_ORDER,
    NOWHERE,
    NUMBERS_PER_CELL,
    cap_radius,
)

_NUMBER = r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d{1,2})?"
_ANY_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_PLAIN = re.compile(rf"\s*(?P<shape>circle|polygon)\s+(icrs\s+)?(?P<numbers>({_NUMBER}(\s+|$))+)", re.IGNORECASE)

#: characters of a word in a message
_MAX_SHOWN = 40

#: labels of DALI's shapes in texts
_DALI_SHAPES = ("circle", "polygon", "range")

#: Arrow types of the shapes stored with ranges and texts
SHAPES = pa.list_(pa.list_(pa.float64()))
RANGES = pa.list_(pa.uint64())

#: minimum distance of a vertex from the other edges of a clearly convex polygon, in units of its circumference
_MIN_CLEARANCE = 1e-6

#: unit vectors of the centres, and radii in radians, of discs that contain a shape
Discs = tuple[Vectors, NDArray[np.float64]]


def find_bad_shapes(kind: ColumnType, values: pa.Array) -> dict[int, str]:
    """Find the rows with invalid points, circles or polygons, and the reasons. Empty lists are NULL."""
    if kind.xtype not in ("point", "circle", "polygon"):
        return {}
    rows: dict[int, str] = {}
    numbers = values.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    sizes = np.nan_to_num(values.value_lengths().to_numpy(zero_copy_only=False)).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]).tolist():
        same_size = np.flatnonzero(sizes == size)
        candidates = numbers[starts[same_size][:, None] + np.arange(size)]
        for index in np.flatnonzero(~_find_surely_valid(kind.xtype, candidates)).tolist():
            try:
                _check_shape(kind.xtype, candidates[index].tolist())
            except ShapeError as error:
                rows[int(same_size[index])] = error.message
    return rows


def replace_nan_shapes(kind: ColumnType, values: pa.Array) -> pa.Array:
    """Replace points, circles and ranges of only NaN by NULL: FITS and BINARY have no other mark for a fixed size."""
    if kind.datatype not in FLOATS or kind.xtype not in ("point", "circle", "range"):
        return values
    numbers = values.flatten()
    if not pc.any(pc.is_nan(numbers)).as_py():
        return values
    ends = np.cumsum(values.value_lengths().fill_null(0).to_numpy())
    known = np.concatenate(([0], np.cumsum(~np.isnan(numbers.to_numpy()))))
    starts = np.concatenate(([0], ends[:-1]))
    return pc.if_else(pa.array(known[ends] > known[starts]), values, pa.scalar(None, values.type))


def _find_surely_valid(xtype: str, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Find the rows that need no exact check; clearly convex polygons need none."""
    count, size = numbers.shape
    if (xtype, size) not in (("point", 2), ("circle", 3)) and xtype != "polygon":
        return np.ones(count, dtype=bool)  # ``conform_rows`` checks the length
    if xtype == "polygon" and (size < 6 or size % 2):
        return np.zeros(count, dtype=bool)
    latitudes = numbers[:, 1::2] if xtype == "polygon" else numbers[:, 1:2]
    is_finite = np.isfinite(numbers).all(axis=1)
    with np.errstate(invalid="ignore"):
        in_range = (np.abs(latitudes) <= 90).all(axis=1)
        good: NDArray[np.bool_] = np.logical_and(is_finite, in_range)
        if xtype == "circle":
            return np.asarray(good & (numbers[:, 2] >= 0) & (numbers[:, 2] <= 180))
    if xtype == "polygon":
        good[good] = _is_convex(numbers[good])
    return good


def _is_convex(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    a = positions_to_vectors(numbers[:, ::2], numbers[:, 1::2])
    b = np.roll(a, -1, axis=1)
    across = np.cross(a - b, a + b)
    size = vector_lengths(across)
    heights = np.einsum("nej,nvj->nev", across / np.maximum(size, 1e-300)[..., None], a)
    count = a.shape[1]
    own = np.eye(count, dtype=bool) | np.roll(np.eye(count, dtype=bool), 1, axis=1)
    least = _MIN_CLEARANCE * size.sum(axis=1)[:, None, None]
    is_left = (own | (heights > least)).all(axis=(1, 2))
    is_right = (own | (heights < -least)).all(axis=(1, 2))
    return np.asarray((is_left | is_right) & (size > 1e-12).all(axis=1))


def _check_shape(xtype: str, numbers: list[float]) -> None:
    if xtype == "polygon":
        if len(numbers) % 2:
            raise ShapeError(f"a polygon of {len(numbers)} numbers, an odd count")
        Polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))
    else:
        make_circle(numbers[0], numbers[1], numbers[2] if xtype == "circle" else 0.0)


# --- texts ------------------------------------------------------------------------------------------------------------


def read_regions(kind: ColumnType, values: pa.Array) -> tuple[pa.Array, pa.Array, dict[int, str]]:
    """Parse a column of ranges, regions or MOCs into the shapes and covers that are stored with it.

    Parameters
    ----------
    kind : ColumnType
        The type of the column.
    values : pyarrow.Array
        Regions in STC-S, DALI's shapes, MOCs, or DALI's numbers of ranges; NULL, an empty text or array and an empty
        MOC have no shape.

    Returns
    -------
    shapes : pyarrow.Array
        One list for each value: of type ``RANGES`` for MOCs, else of type ``SHAPES``.
    covers : pyarrow.Array
        One shape cover for each value, of type uint64.
    invalid : dict of int to str
        The rows that cannot be parsed, with the reasons.
    """
    rows: dict[int, str] = {}
    given = values.to_pylist()
    if kind.xtype == "range":
        given = [_write_range(numbers) for numbers in given]
    elif kind.xtype in ("shape", "multishape"):
        rows = _find_foreign_shapes(kind, given)
        given = [None if row in rows else text for row, text in enumerate(given)]
    shapes: list[list[list[float]] | list[int]] = [[] for _ in given]
    covers = np.full(len(given), NOWHERE, dtype=np.uint64)
    plain = {} if kind.xtype == "moc" else _parse_plain_shapes(given)
    if plain:
        covers[list(plain)] = _cover_numbers(*_plain_shapes_to_discs(list(plain.values())))
    for row, text in enumerate(given):
        if row in plain:
            shapes[row] = [[0.0, 1.0, *plain[row]]]
        elif text and text.strip():
            try:
                shapes[row], covers[row] = _read_moc(text) if kind.xtype == "moc" else _read_region(text)
            except ShapeError as error:
                rows[row] = f"not a valid {kind.adql}: {error.message}"
    arrow = RANGES if kind.xtype == "moc" else SHAPES
    return pa.array(shapes, arrow), pa.array(covers, pa.uint64()), rows


def _write_range(numbers: list[float] | None) -> str | None:
    """Return a range as DALI's text; other numbers than four are refused when the text is parsed."""
    return f"range {' '.join(map(repr, numbers))}" if numbers else None


def _find_foreign_shapes(kind: ColumnType, texts: list[str | None]) -> dict[int, str]:
    """Find texts with shapes that DALI does not have, or with several shapes where one is allowed, and the reasons."""
    found: dict[int, str] = {}
    for row, text in enumerate(texts):
        words = [word for word in (text or "").split() if not _ANY_NUMBER.fullmatch(word)]
        foreign = next((word for word in words if word not in _DALI_SHAPES), None)
        if foreign is not None:
            found[row] = (
                f"not a valid {kind.adql}: {foreign[:_MAX_SHOWN]!r} is neither a number nor one of "
                f"{', '.join(_DALI_SHAPES)} in lower case (STC-S has the xtype {REGION_XTYPE})"
            )
        elif len(words) > 1 and kind.xtype == "shape":
            found[row] = f"not a valid {kind.adql}: {len(words)} shapes: several shapes need the xtype multishape"
    return found


def _parse_plain_shapes(texts: list[str | None]) -> dict[int, list[float]]:
    """Parse the texts that are a single valid ICRS circle or polygon, as most are: ten times as fast."""
    found: dict[int, list[float]] = {}
    for row, text in enumerate(texts):
        match = _PLAIN.fullmatch(text) if text else None
        if match is not None:
            numbers = [float(word) for word in match["numbers"].split()]
            if (match["shape"].lower() == "circle") == (len(numbers) == 3):
                found[row] = numbers
    for kind, is_circle in ((CIRCLE, True), (POLYGON, False)):
        rows = [row for row, numbers in found.items() if (len(numbers) == 3) == is_circle]
        bad = find_bad_shapes(kind, pa.array([found[row] for row in rows], kind.arrow))
        for index in bad:
            del found[rows[index]]
    return found


def _plain_shapes_to_discs(shapes: list[list[float]]) -> tuple[Vectors, NDArray[np.float64], NDArray[np.int64]]:
    coordinates = [shape[:2] if len(shape) == 3 else shape for shape in shapes]
    numbers = np.array([number for pair in coordinates for number in pair])
    counts = np.array([len(each) // 2 for each in coordinates])
    starts = np.cumsum(counts) - counts
    radii = np.zeros(len(numbers) // 2)
    circles = [i for i, shape in enumerate(shapes) if len(shape) == 3]
    radii[starts[circles]] = np.radians([shapes[i][2] for i in circles])
    return positions_to_vectors(numbers[::2], numbers[1::2]), radii, starts


def _read_moc(text: str) -> tuple[list[int], int]:
    region = stcs.parse_region(text)
    if isinstance(region, Nothing):
        return [], NOWHERE
    if not isinstance(region, Moc):
        raise ShapeError("this is a shape, not a MOC such as '4/30-33 5/8'")
    return region.ranges.ravel().tolist(), find_cover_number(*_moc_to_discs(region))


def _read_region(text: str) -> tuple[list[list[float]], int]:
    region = stcs.parse_region(text)
    terms = normal_form(region)
    if not terms:
        raise ShapeError("an empty region")
    rows = shape_rows(region, terms)
    bounded = [[_list_caps(shape) for sign, shape in term if sign > 0] for term in terms]
    if not all(bounded):
        return rows, EVERYWHERE
    vectors, radii = zip(*(discs for term in bounded for discs in term), strict=True)
    return rows, find_cover_number(np.concatenate(vectors), np.concatenate(radii))


def _list_caps(shape: Simple) -> Discs:
    if isinstance(shape, Cone):
        return shape.centre, np.array([math.radians(shape.radius)])
    if isinstance(shape, Polygon):
        return shape.edges.a, np.zeros(len(shape.edges.a))
    middle = positions_to_vectors(shape.west + shape.width / 2, (shape.south + shape.north) / 2)
    corners = positions_to_vectors([shape.west, shape.west], [shape.south, shape.north])
    radius = float(separations(corners, middle).max()) if shape.width <= 180 else math.pi
    return middle, np.array([radius])


def _moc_to_discs(moc: Moc) -> Discs:
    vectors, radii = [], []
    for order, cells in moc.list_cells():
        vectors.append(cell_centres(order, np.array(cells, dtype=np.uint64)))
        radii.append(np.full(len(cells), max_cell_radius(order)))
    return np.concatenate(vectors), np.concatenate(radii)


def is_covered(kind: ColumnType, shape: list[Any], number: int) -> bool:
    """Return whether the cover of a row contains its stored shape.

    Parameters
    ----------
    kind : ColumnType
        The type of the column.
    shape : list[Any]
        The stored shape.
    number : int
        The stored shape cover.
    """
    if not shape or number == NOWHERE:
        return (not shape) == (number == NOWHERE)
    if number == EVERYWHERE:
        return True
    finest_cell, order = divmod(number, NUMBERS_PER_CELL)
    cell = finest_cell >> (2 * (FINEST_ORDER - order))
    centre = cell_centres(order, np.array([cell], dtype=np.uint64))
    vectors, radii = _stored_shape_to_discs(kind, shape)
    reach = separations(vectors, centre) + radii
    return bool((reach <= max_cell_radius(order) + cap_radius(order) + SLACK).all())


def _stored_shape_to_discs(kind: ColumnType, shape: list[Any]) -> Discs:
    if kind.xtype == "moc":
        return _moc_to_discs(Moc(np.array(shape, dtype=np.int64).reshape(-1, 2)))
    numbers = [part[2:] for part in shape if part[0] >= 0 and part[1] > 0] if kind.has_stored_shapes else [shape]
    vectors, radii = zip(*(_list_caps(_build_shape(part)) for part in numbers), strict=True)
    return np.concatenate(vectors), np.concatenate(radii)


def _build_shape(numbers: list[float]) -> Simple:
    if len(numbers) == 3:
        return Cone(*numbers)
    if len(numbers) == 4:
        return Range(*numbers)
    return Polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def find_cover_number(vectors: Vectors, radii: NDArray[np.float64]) -> int:
    """Return the shape cover of the discs; see ``clickhouse_schema.shape_cover``."""
    return int(_cover_numbers(vectors, radii, np.zeros(1, dtype=np.int64))[0])


def _cover_numbers(vectors: Vectors, radii: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the covers of several shapes; the discs of each start at its index in ``starts``."""
    counts = np.diff(np.append(starts, len(vectors)))
    total = np.add.reduceat(vectors, starts)
    size = vector_lengths(total)
    centre = total / np.maximum(size, 1e-300)[:, None]
    caps = np.maximum.reduceat(separations(vectors, np.repeat(centre, counts, axis=0)) + radii, starts)
    bounded = (size >= 1e-3) & (caps <= cap_radius(0))
    radius = np.clip(caps, cap_radius(FINEST_ORDER), cap_radius(0))
    orders = np.floor(np.log2(cap_radius(0) / radius)).astype(np.int64)
    shift = 2 * (FINEST_ORDER - orders)
    cells = vectors_to_index(centre) >> (2 * (ORDER - FINEST_ORDER)) >> shift << shift
    return np.where(bounded, cells * NUMBERS_PER_CELL + orders, EVERYWHERE).astype(np.uint64)
