"""Shapes without width, and shapes that share only an edge, a corner or a pole, in every relation, evaluated in every way.

Most shapes are ranges of longitude and latitude, perhaps written as points, circles around a pole, or polygons of
meridians and the equator. Comparisons of numbers decide their relations, without geometry. The answers for the other
shapes were found by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from adql.regions import region_relations, stcs
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.shape_cover import cover_column, shape_column
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import Rows, query_rows

TABLE = Table(
    name="edges",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="x", datatype="double", arraysize="2", xtype="point"),
        Column(name="c", datatype="double", arraysize="3", xtype="circle"),
        Column(name="v", datatype="double", arraysize="*", xtype="polygon"),
        Column(name="r", datatype="double", arraysize="4", xtype="range"),
        Column(name="s", datatype="string", xtype="adql:REGION"),
    ),
    layout=Layout(id=("id",)),
)


@dataclass(frozen=True)
class Figure:
    """A shape as a text, and as a range of degrees."""

    text: str
    west: float
    width: float
    south: float
    north: float

    def is_inside(self, other: Figure) -> bool:
        if not (other.south <= self.south and self.north <= other.north):
            return False
        return self.is_pole or other.width == 360 or (self.west - other.west) % 360 + self.width <= other.width

    def is_meeting(self, other: Figure) -> bool:
        south, north = max(self.south, other.south), min(self.north, other.north)
        if south > north:
            return False
        if south == -90 or north == 90 or 360 in (self.width, other.width):
            return True
        return (self.west - other.west) % 360 <= other.width or (other.west - self.west) % 360 <= self.width

    @property
    def is_pole(self) -> bool:
        return self.south == self.north and abs(self.south) == 90


def _make_range(west: float, east: float, south: float, north: float) -> Figure:
    width = 360 if east - west >= 360 else (east - west) % 360
    return Figure(f"range {west} {east} {south} {north}", west, width, south, north)


FIGURES = [
    # positions, as points, circles and ranges
    Figure("point 10 2", 10, 0, 2, 2),
    Figure("circle 10 2 0", 10, 0, 2, 2),
    _make_range(10, 10, 2, 2),
    _make_range(370, 10, 2, 2),
    Figure("point 20 5", 20, 0, 5, 5),
    Figure("point 0 0", 0, 0, 0, 0),
    Figure("point 77 90", 77, 0, 90, 90),
    _make_range(10, 20, 90, 90),
    _make_range(0, 360, -90, -90),
    # lines
    _make_range(10, 10, 0, 5),
    _make_range(10, 10, 1, 2),
    _make_range(10, 10, 2, 9),
    _make_range(120, 120, -90, 90),
    _make_range(300, 300, 0, 90),
    _make_range(10, 20, 5, 5),
    _make_range(12, 15, 5, 5),
    _make_range(10, 20, 0, 0),
    _make_range(350, 20, 0, 0),
    _make_range(0, 360, 5, 5),
    _make_range(0, 360, 0, 0),
    _make_range(90, 270, 0, 0),
    _make_range(-90, 270, 0, 0),
    # areas with common edges, corners and poles
    _make_range(10, 20, 0, 5),
    _make_range(12, 15, 1, 2),
    _make_range(20, 30, 0, 5),
    _make_range(20, 30, 5, 10),
    _make_range(20, 30, 10, 20),
    _make_range(350, 10, -5, 5),
    _make_range(-10, 10, -5, 5),
    _make_range(10, 350, -5, 5),
    _make_range(0, 360, -5, 5),
    _make_range(0, 180, 0, 5),
    _make_range(180, 0, -5, 0),
    _make_range(30, 60, 80, 90),
    _make_range(200, 210, 70, 90),
    _make_range(200, 210, -90, -70),
    _make_range(0, 360, 85, 90),
    Figure("circle 0 90 5", 0, 360, 85, 90),
    Figure("circle 44 -90 20", 0, 360, -90, -70),
    Figure("circle 0 90 90", 0, 360, 0, 90),
    _make_range(0, 360, -90, 0),
    Figure("polygon 0 0 90 0 0 90", 0, 90, 0, 90),
    Figure("polygon 10 0 20 0 15 90", 10, 10, 0, 90),
    Figure("polygon 20 0 15 -90 10 0", 10, 10, -90, 0),
    # everything
    _make_range(0, 360, -90, 90),
    Figure("circle 5 5 180", 0, 360, -90, 90),
]

#: Two regions; whether the first is inside the second; whether they meet
BY_HAND = [
    # (10, 5) is 4.98 degrees from (15, 5); (10, 0) is 5 from (15, 0), and (10, 1) is 5.10
    ("range 10 10 0 5", "circle 15 5 5", 0, 1),
    ("range 10 10 0 5", "circle 15 0 5", 0, 1),
    ("range 10 10 1 5", "circle 15 0 5", 0, 0),
    ("circle 15 0 5", "range 10 10 -5 5", 0, 1),
    ("range 0 360 5 5", "circle 0 -90 95", 1, 1),
    ("range 0 360 5 5", "circle 0 -90 94", 0, 0),
    # lines through a polygon, along an edge, and to a vertex in their middle
    ("range 10 10 0 5", "polygon 8 -1 12 -1 12 6 8 6", 1, 1),
    ("polygon 8 -1 12 -1 12 6 8 6", "range 10 10 0 5", 0, 1),
    ("range 10 10 0 4", "polygon 10 2 15 0 15 4", 0, 1),
    ("range 0 10 0 0", "polygon 5 0 3 4 7 4", 0, 1),
    ("range 10 10 0 5", "polygon 10 1 10 3 12 2", 0, 1),
    ("range 10 10 1 3", "polygon 10 1 10 3 12 2", 1, 1),
    ("range 10 10 3 5", "polygon 10 1 10 3 12 2", 0, 1),
    ("range 10 10 4 5", "polygon 10 1 10 3 12 2", 0, 0),
    # the parallel of 5 degrees is south of the great circle between two of its positions
    ("range 10 20 5 5", "polygon 10 5 20 5 15 9", 0, 1),
    ("range 10 20 5 5", "polygon 10 5 20 5 15 0", 1, 1),
    # an edge on the meridian of 15 degrees, and the north-eastern corner of a range on one of 20
    ("Union (Circle 10 0 5 Circle 200 50 1)", "polygon 15 -3 15 3 20 0", 0, 1),
    ("range 10 20 0 5", "polygon 20 4 20 8 25 6", 0, 1),
    ("range 10 20 0 5", "polygon 20 6 20 8 25 6", 0, 0),
    # unions with lines, intersections that are a line or a position
    ("Union (Circle 10 0 1 Range 10 10 0 5)", "range 10 10 3 9", 0, 1),
    ("range 10 10 2 3", "Union (Circle 10 0 1 Range 10 10 0 5)", 1, 1),
    ("Union (Circle 10 0 1 Range 10 10 0 5)", "circle 10 0 4", 0, 1),
    ("Intersection (Range 10 20 0 5 Range 20 30 0 9)", "range 20 20 0 5", 1, 1),
    ("range 20 20 1 4", "Intersection (Range 10 20 0 5 Range 20 30 0 9)", 1, 1),
    ("Intersection (Range 0 10 80 90 Range 100 110 80 90)", "point 33 90", 1, 1),
    ("Intersection (Range 0 10 80 90 Range 100 110 80 90)", "circle 0 80 9", 0, 0),
    ("Intersection (Range 0 10 80 90 Range 100 110 80 90)", "range 50 50 0 90", 1, 1),
    # the border of a removed shape is not in the rest, and may be touched
    ("point 15 0", "Not (Circle 20 0 5)", 0, 0),
    ("circle 10 0 5", "Not (Circle 20 0 5)", 1, 1),
    ("circle 10 0 5.1", "Not (Circle 20 0 5)", 0, 1),
    ("circle 15 0 0", "Not (Circle 20 0 5)", 0, 0),
    ("polygon 5 0 5 3 16 0", "Not (Circle 20 0 5)", 0, 1),
    ("Union (Circle 10 0 5 Circle 10 0.5 1)", "Not (Circle 20 0 5)", 1, 1),
    ("Union (Circle 10 0 5 Circle 180 0 1)", "Not (Union (Circle 20 0 5 Circle 181 0 1))", 0, 1),
    ("Union (Circle 10 0 1 Point 15 0)", "Not (Circle 20 0 5)", 0, 1),
    ("polygon 1 0 2 0 2 1", "Not (Circle 20 -0 5)", 1, 1),
    ("range 15 15 0 1", "Difference (Circle 10 0 9 Circle 20 0 5)", 1, 1),
    ("range 15.1 15.1 -1 1", "Difference (Circle 10 0 9 Circle 20 0 5)", 0, 1),
    ("point 15 -0", "circle 15 -0 5", 1, 1),
    # vertices that equal their neighbours up to rounding do not reach their antipodes
    ("polygon 0 80 90 80 90 90 0 90", "circle 0 90 12", 1, 1),
    ("polygon 0 80 90 80 90 90 0 90", "point 77 -90", 0, 0),
    ("point 180 -10", "polygon 0 10 10 10 5 20 360 10", 0, 0),
    # a concave polygon that a line leaves and enters at vertices, away from its middle
    ("range 0.6 3.6 0 0", "polygon -3 -1 1 0 -1 2 4 2 1.2 0 5 -1 6 3 -3 3", 0, 1),
    ("range 1.3 2.5 0 0", "polygon -3 -1 1 0 -1 2 4 2 1.2 0 5 -1 6 3 -3 3", 1, 1),
    ("range 0 6 0 0", "polygon -3 -3 1 -3 1 0 1.5 1 2 0 2 -3 9 -3 9 9 -3 9", 0, 1),
    ("polygon 0 0 6 0 3 -2", "polygon -3 -3 1 -3 1 0 1.5 1 2 0 2 -3 9 -3 9 9 -3 9", 0, 1),
    ("polygon 2 0 6 0 3 4", "polygon -3 -3 1 -3 1 0 1.5 1 2 0 2 -3 9 -3 9 9 -3 9", 1, 1),
    # polygons that touch a removed shape
    ("polygon 0 -1 0 1 1 3", "Not (Range -1 0 0 90)", 1, 1),
    ("polygon 0 -1 0 1 -0.5 3", "Not (Range -1 0 0 90)", 0, 1),
    ("polygon 5 0 5 3 15 0", "Not (Circle 20 0 5)", 1, 1),
    ("polygon 5 0 5 3 15 0", "Difference (Circle 10 0 9 Polygon 5 0 5 3 15 0)", 0, 0),
    ("circle 13 87 0", "Difference (Polygon 12 85 9 90 13 87 Polygon 11 90 13 87 7 89)", 0, 0),
    # boxes without extent
    ("box 10 2 0 0", "point 10 2", 1, 1),
    ("box 10 2 0 0", "range 10 10 2 2", 1, 1),
    ("box 10 2 1 1", "point 10 2", 0, 1),
    ("point 10 2", "box 10 2 0 0", 1, 1),
]

_TEXTS = [figure.text for figure in FIGURES]
_TEXTS += dict.fromkeys(text for pair in BY_HAND for text in pair[:2] if text not in _TEXTS)
_COUNT = len(FIGURES)


def _find_answers(name: str) -> dict[tuple[int, int], bool]:
    """Return the known answers for pairs of rows."""
    test = Figure.is_inside if name == "CONTAINS" else Figure.is_meeting
    found = {(i, j): test(one, other) for i, one in enumerate(FIGURES) for j, other in enumerate(FIGURES)}
    for one, other, inside, meets in BY_HAND:
        i, j = _TEXTS.index(one), _TEXTS.index(other)
        found[i, j] = bool(inside if name == "CONTAINS" else meets)
        if name == "INTERSECTS":
            found[j, i] = bool(meets)
    return found


ANSWERS = {name: _find_answers(name) for name in ("CONTAINS", "INTERSECTS")}

_COLUMN_OF = {"point": "x", "circle": "c", "polygon": "v", "range": "r"}


def _read_numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()[1:]]


def _make_batch() -> pa.RecordBatch:
    values: dict[str, list[Any]] = {"id": [*range(len(_TEXTS))], "s": _TEXTS}
    for word, name in _COLUMN_OF.items():
        values[name] = [_read_numbers(text) if text.startswith(word) else [] for text in _TEXTS]
    arrays = {column.name: pa.array(values[column.name], column.type.arrow) for column in TABLE.columns}
    for column in TABLE.columns:
        assert not shape_columns.find_bad_shapes(column.type, arrays[column.name])
        if column.type.has_stored_shapes:
            shape, number, bad = shape_columns.read_regions(column.type, arrays[column.name])
            assert not bad
            arrays |= {shape_column(column.name): shape, cover_column(column.name): number}
    return pa.RecordBatch.from_pydict(arrays)


#: Runs a query with a number of rows in the catalogue; with a million, joins are planned as cross-matches
Ask = Callable[..., Rows]


@pytest.fixture(scope="module")
def ask(engine: Engine) -> Ask:
    engine.execute("CREATE DATABASE IF NOT EXISTS degenerate")
    store(engine, "degenerate", TABLE, [_make_batch()])
    schema = Schema(name="degenerate", tables=(TABLE,))

    def ask_rows(query: str, rows: int = 100) -> Rows:
        return query_rows(engine, catalogue_of(engine, schema, counts={("degenerate", "edges"): rows}), query)

    return ask_rows


def _find_wrong(name: str, found: Iterator[tuple[int, int, int]]) -> list[tuple[str, str, str, int]]:
    answers = ANSWERS[name]
    return [
        (name, _TEXTS[i], _TEXTS[j], value)
        for i, j, value in found
        if (i, j) in answers and value is not None and value != answers[i, j]
    ]


def test_constants() -> None:
    regions = [stcs.parse_region(text) for text in _TEXTS]
    for name, relation in (
        ("CONTAINS", region_relations.is_inside),
        ("INTERSECTS", region_relations.is_intersecting),
    ):
        found = ((i, j, int(relation(regions[i], regions[j]))) for i, j in ANSWERS[name])
        assert _find_wrong(name, found) == []


#: Columns of both shapes; s has shapes of all kinds
_PAIRS = ["xr", "rx", "cr", "rc", "vr", "rv", "xx", "cx", "vx", "sx", "ss"]


@pytest.mark.parametrize(("one", "other"), _PAIRS)
def test_columns(one: str, other: str, ask: Ask) -> None:
    """Test values, conditions, and joins that are planned as cross-matches; not all, since the SQL of texts is long."""
    relations = [f"{name}(a.{one}, b.{other})" for name in ANSWERS]
    rows = ask(f"SELECT a.id, b.id, {', '.join(relations)} FROM edges AS a, edges AS b")
    assert len(rows) == len(_TEXTS) ** 2
    for k, (name, relation) in enumerate(zip(ANSWERS, relations, strict=True), 2):
        assert _find_wrong(name, ((row[0], row[1], row[k]) for row in rows)) == []
        true = {row[:2] for row in rows if row[k] == 1}
        assert true or (one, name) == ("v", "CONTAINS")
        if "x" in (one, other) or name == "INTERSECTS":
            assert {*ask(f"SELECT a.id, b.id FROM edges AS a, edges AS b WHERE 1 = {relation}")} == true
        if (one + other, name) in (("rc", "CONTAINS"), ("cx", "CONTAINS"), ("cx", "INTERSECTS")):
            assert {*ask(f"SELECT a.id, b.id FROM edges AS a JOIN edges AS b ON 1 = {relation}", 10**6)} == true


#: Text -> relations tested as values and conditions: 1 is INTERSECTS, 2 and 3 are CONTAINS with the column first, last
_CONSTANTS = {
    "point 20 5": (1, 2, 3),
    "range 10 10 0 5": (1, 2, 3),
    "range 30 60 80 90": (1,),
    "circle 15 0 5": (1, 2, 3),
    "polygon 10 1 10 3 12 2": (1, 3),
    "Not (Circle 20 0 5)": (2,),
    "Not (Circle 20 -0 5)": (2,),
    "circle 15 -0 5": (2,),
}


@pytest.mark.parametrize("text", _CONSTANTS)
def test_constants_with_columns(text: str, ask: Ask) -> None:
    """Test values, and conditions, which read only the rows whose shape covers are near the constant."""
    j = _TEXTS.index(text)
    constant = f"POINT({', '.join(text.split()[1:])})" if text.startswith("point") else f"REGION('{text}')"
    all_calls = {1: ("INTERSECTS", "s", constant), 2: ("CONTAINS", "s", constant), 3: ("CONTAINS", constant, "s")}
    calls = [all_calls[number] for number in _CONSTANTS[text]]
    rows = ask(f"SELECT id, {', '.join(f'{name}({one}, {other})' for name, one, other in calls)} FROM edges")
    for k, (name, one, other) in enumerate(calls, 1):
        found = [(row[0], j, row[k]) if one == "s" else (j, row[0], row[k]) for row in rows]
        assert _find_wrong(name, iter(found)) == []
        true = {row[0] for row in rows if row[k] == 1}
        if not text.startswith("range") or k == 1:
            assert {i for (i,) in ask(f"SELECT id FROM edges WHERE 1 = {name}({one}, {other})")} == true


def test_polygons_of_rows_that_are_lines(ask: Ask) -> None:
    """Lines on a meridian or the equator, shorter than half a circle, as polygons of three vertices, two of them equal."""
    lines = [i for i, f in enumerate(FIGURES) if f.text.startswith("range") and 0 < f.width + f.north - f.south < 180]
    lines = [i for i in lines if FIGURES[i].width == 0 or FIGURES[i].south == FIGURES[i].north == 0]
    drawn = "POLYGON(a.r[1], a.r[3], a.r[2], a.r[4], a.r[2], a.r[4])"
    calls = [("INTERSECTS", "a.id, b.id"), ("CONTAINS", "a.id, b.id"), ("CONTAINS", "b.id, a.id")]
    values = f"INTERSECTS({drawn}, b.s), CONTAINS({drawn}, b.s), CONTAINS(b.s, {drawn})"
    rows = ask(
        f"SELECT a.id, b.id, {values} FROM edges AS a, edges AS b WHERE a.id IN ({', '.join(map(str, lines))})"
        f" AND b.id < {_COUNT}"
    )
    assert len(rows) == len(lines) * _COUNT
    for k, (name, order) in enumerate(calls, 2):
        found = ((row[0], row[1], row[k]) if order.startswith("a") else (row[1], row[0], row[k]) for row in rows)
        assert _find_wrong(name, found) == []
