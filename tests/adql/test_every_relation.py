"""Every pair of shapes in every relation, as values, conditions and joins, against plain geometry in numpy.

Two small tables have shapes of equal and of slightly different size at the same positions, so that a
test that compares only sizes, or loses a sign, gives a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.shape_cover import cover_column, shape_column
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine
from tests.adql import plain_shapes
from tests.adql.plain_shapes import Circles, Polygons, Shapes, project_from_plane, to_unit_vectors
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import Rows, query_rows

_COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    *(Column(name=name, datatype="double") for name in ("ra", "dec", "r", "width")),
    Column(name="c", datatype="double", arraysize="3", xtype="circle"),
    Column(name="v", datatype="double", arraysize="*", xtype="polygon"),
    Column(name="s", datatype="string", xtype="adql:REGION"),
)
_LAYOUT = Layout(position=("ra", "dec"), id=("id",))
_TABLES = tuple(Table(name=name, columns=_COLUMNS, layout=_LAYOUT) for name in ("ones", "others"))

#: A concave polygon in the plane that touches its middle, in units of its size
_X, _Y = np.array([-1.0, 1.0, 0.3, 1.0, -1.0]), np.array([-1.0, -1.0, 0.0, 1.0, 1.0])

_ROUND = {"point", "circle", "stored circle", "disc", "wide disc", "sky"}

_CENTRES = ((10.0, 20.0), (0.0, 90.0), (359.9, -35.0), (200.0, -88.5))

#: Degrees north (at the pole: south) of a position, and radius: equal, nearly equal, touching, contained, extreme
_ONES = ((0, 1.0), (0.7, 1.0), (0, 2.5), (0, 0.0))
_OTHERS = ((0, 1.0), (0, 1 + 1e-9), (0, 1 - 1e-9), (1.3, 0.5), (2, 1.0), (0, 0.0), (0, -1.0), (1, 180.0), (0, 200.0))

#: Shape -> its ADQL in terms of a table's columns
_KINDS = {
    "point": "POINT({0}ra, {0}dec)",
    "circle": "CIRCLE({0}ra, {0}dec, {0}r)",
    "stored circle": "{0}c",
    "box": "BOX({0}ra, {0}dec, 2 * {0}width, 1.5 * {0}width)",
    "polygon": "{0}v",
    "region": "REGION({0}s)",
    "disc": "CIRCLE(POINT({0}ra, {0}dec), 1)",
    "wide disc": "CIRCLE({0}ra, {0}dec, 2.5)",
    "sky": "CIRCLE({0}ra, {0}dec, 180)",
}


class _Rows:
    """The rows of a table and their plain shapes; positions beyond ``count`` are unknown."""

    def __init__(self, sizes: tuple[tuple[float, float], ...]) -> None:
        of = [(ra, dec + (north if dec < 80 else -north), r) for ra, dec in _CENTRES for north, r in sizes]
        self.count = len(of)
        self.ra, self.dec, self.r = (np.array(values, dtype=np.float64) for values in zip(*of, strict=True))
        self.width = np.where((self.r > 0) & (self.r < 90), self.r, 0.3)
        polygons = self.shapes("polygon")
        assert isinstance(polygons, Polygons)
        x, y, z = np.moveaxis(polygons.vertices, -1, 0)
        lon, lat = np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))
        self.vertices = np.stack([lon, lat], axis=-1).reshape(self.count, -1).tolist()
        self.texts = [
            f"Union (Polygon {' '.join(map(repr, corners))} Circle {ra!r} {dec!r} {width / 2!r})"
            for corners, ra, dec, width in zip(
                self.vertices, *(v.tolist() for v in (*self._far(), self.width)), strict=True
            )
        ]

    def shapes(self, kind: str) -> Shapes:
        here = to_unit_vectors(self.ra, self.dec)
        radius = {"point": 0 * self.r, "circle": self.r, "disc": 0 * self.r + 1, "wide disc": 0 * self.r + 2.5}
        if kind in radius:
            return Circles(here, np.radians(radius[kind]))
        if kind == "sky":
            return Circles(here, 0 * self.r + np.pi)
        half = np.tan(np.radians(self.width))[:, None]
        ra, dec = self.ra[:, None], self.dec[:, None]
        if kind == "box":
            east, north = np.tan(np.radians(self.width))[:, None], np.tan(np.radians(0.75 * self.width))[:, None]
            x, y = np.array([-1, 1, 1, -1.0]), np.array([-1, -1, 1, 1.0])
            return Polygons(project_from_plane(ra, dec, east * x, north * y), here)
        if kind == "polygon":
            return Polygons(project_from_plane(ra, dec, half * _X, half * _Y), here)
        if kind == "region":
            return self.shapes("polygon"), Circles(to_unit_vectors(*self._far()), np.radians(self.width / 2))  # type: ignore[return-value]
        return Circles(here, np.radians(self.width))

    def _far(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.ra + 0.0, self.dec - np.sign(self.dec) * 30

    def batch(self, table: Table) -> pa.RecordBatch:
        circles = np.stack([self.ra, self.dec, self.width], axis=-1).tolist()
        unknown = {"ra": [None, 10.0, float("nan")], "dec": [20.0, None, 20.0], "r": [1.0] * 3, "width": [1.0] * 3}
        values = {"id": [*range(self.count + 3)], "c": [*circles, [], [], []], "v": [*self.vertices, [], [], []]}
        values |= {"s": [*self.texts, None, None, None]}
        values |= {name: [*getattr(self, name).tolist(), *more] for name, more in unknown.items()}
        arrays = {c.name: pa.array(values[c.name], c.type.arrow) for c in table.columns}
        shape, number, bad = shape_columns.read_regions(_COLUMNS[-1].type, arrays["s"])
        assert not bad
        return pa.RecordBatch.from_pydict(arrays | {shape_column("s"): shape, cover_column("s"): number})


ONES, OTHERS = _Rows(_ONES), _Rows(_OTHERS)


@dataclass(frozen=True)
class Relation:
    """A relation of a row of ones and a row of others."""

    name: str
    first: str
    second: str

    @property
    def sql(self) -> str:
        return f"{self.name}({_KINDS[self.first].format('a.')}, {_KINDS[self.second].format('b.')})"

    def find_answers(self, ones: _Rows = ONES) -> NDArray[np.bool_]:
        """Return the answer for row i of ones and j of others, [i, j]; touching closed shapes share their border."""
        one, other = _insert_axis(ones.shapes(self.first), 1), _insert_axis(OTHERS.shapes(self.second), 0)
        margin = (plain_shapes.contains if self.name == "CONTAINS" else plain_shapes.intersects)(one, other)
        assert not ((np.abs(margin) > 1e-14) & (np.abs(margin) < 1e-12)).any()
        return np.asarray(margin > -1e-13)


def _insert_axis(of: Shapes, axis: int) -> Shapes:
    if isinstance(of, tuple):
        return tuple(_insert_axis(part, axis) for part in of)  # type: ignore[misc,return-value]
    if isinstance(of, Circles):
        return Circles(np.expand_dims(of.centre, axis), np.expand_dims(of.radius, axis))
    return Polygons(np.expand_dims(of.vertices, axis), np.expand_dims(of.middle, axis))


def _list_relations() -> Iterator[Relation]:
    """Yield every pair except regions with shapes that are not round: those take long, see ``test_shape_columns``."""
    for first in _KINDS:
        for second in _KINDS:
            is_round = first in _ROUND, second in _ROUND
            if ("region" in (first, second) and not any(is_round)) or (
                {first, second} & {"wide disc", "sky"} and not all(is_round)
            ):
                continue
            if second != "point":
                yield Relation("CONTAINS", first, second)
            if (first, second) != ("point", "point") and is_round != (False, True):
                yield Relation("INTERSECTS", first, second)


RELATIONS = [*_list_relations()]


@pytest.fixture(scope="session")
def ask(engine: Engine) -> Callable[[str], Rows]:
    engine.execute("CREATE DATABASE IF NOT EXISTS shaped")
    for table, rows in zip(_TABLES, (ONES, OTHERS), strict=True):
        store(engine, "shaped", table, [rows.batch(table)])
    counts = {("shaped", table.name): 40 for table in _TABLES}
    catalogue = catalogue_of(engine, Schema(name="shaped", tables=_TABLES), counts=counts)
    return lambda query: query_rows(engine, catalogue, query)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_relation_as_a_value(kind: str, ask: Callable[[str], Rows]) -> None:
    some = [r for r in RELATIONS if r.first == kind]
    rows = ask(f"SELECT a.id, b.id, {', '.join(r.sql for r in some)} FROM ones AS a, others AS b")
    for relation, values in zip(some, list(zip(*rows, strict=True))[2:], strict=True):
        answers = relation.find_answers()
        for (i, j, *_), value in zip(rows, values, strict=True):
            known = i < ONES.count and j < OTHERS.count
            assert value == (int(answers[i, j]) if known else None), (relation, i, j)


#: Condition or join -> query of the pairs of rows for which it holds; None is the id of a missing partner
_FORMS: dict[str, str] = {
    "is 1": "SELECT a.id, b.id FROM ones AS a JOIN others AS b ON 1 = {}",
    "is 0": "SELECT a.id, b.id FROM ones AS a, others AS b WHERE 0 = {}",
    "or": "SELECT a.id, b.id FROM ones AS a JOIN others AS b ON 1 = {} OR b.id < 0",
    "left": "SELECT a.id, b.id FROM ones AS a LEFT JOIN others AS b ON 1 = {}",
    "full": "SELECT a.id, b.id FROM ones AS a FULL JOIN others AS b ON 1 = {}",
    "exists": "SELECT a.id, -1 FROM ones AS a WHERE EXISTS (SELECT 1 FROM others AS b WHERE 1 = {})",
    "not exists": "SELECT a.id, -1 FROM ones AS a WHERE NOT EXISTS (SELECT 1 FROM others AS b WHERE 1 = {})",
}


def _expected_pairs(form: str, answers: NDArray[np.bool_]) -> set[tuple[int | None, int | None]]:
    pairs = {(int(i), int(j)) for i, j in np.argwhere(answers)}
    if form == "is 0":
        return {(int(i), int(j)) for i, j in np.argwhere(~answers)}
    matched = {i for i, _ in pairs}
    alone = set(range(ONES.count + 3)) - matched
    if form.endswith("exists"):
        return {(i, -1) for i in (matched if form == "exists" else alone)}
    found: set[tuple[int | None, int | None]] = {*pairs}
    if form in ("left", "full"):
        found |= {(i, None) for i in alone}
    if form == "full":
        found |= {(None, j) for j in set(range(OTHERS.count + 3)) - {j for _, j in pairs}}
    return found


#: Circles with radii of rows, and with constant radii, for which the translator knows which circles contain nothing
_IN_ALL_FORMS = {("CONTAINS", first, second) for first, second in (("circle", "circle"), ("wide disc", "disc"))}


def _choose_forms(number: int, relation: Relation) -> list[str]:
    """Return all forms for circles in circles; else one in turn, or none for every second pair that is not round."""
    if (relation.name, relation.first, relation.second) in _IN_ALL_FORMS:
        return [*_FORMS]
    if number % 2 and not {relation.first, relation.second} <= _ROUND:
        return []
    return [form for k, form in enumerate(_FORMS) if (k + number) % len(_FORMS) == 0]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_relation_as_a_condition(kind: str, ask: Callable[[str], Rows]) -> None:
    for number, relation in enumerate(RELATIONS):
        if relation.first != kind:
            continue
        answers = relation.find_answers()
        for form in _choose_forms(number, relation):
            rows = ask(_FORMS[form].format(relation.sql))
            assert len(rows) == len(set(rows))
            assert set(rows) == _expected_pairs(form, answers), (relation, form)


# --- constants --------------------------------------------------------------------------------------------------------

#: Rows of others that are written as constants: slightly smaller and larger shapes, and an equal shape at the pole
_SOME = (2, 1, len(_OTHERS))


def _choose_rows(relation: Relation) -> tuple[int, ...]:
    """Return fewer rows for shapes that are not round: their tests take long."""
    return _SOME if {relation.first, relation.second} <= _ROUND else _SOME[-1:]


def _write_constant(kind: str, row: int) -> str:
    """Write the shape of a row of others in numbers."""
    ra, dec, r, width = (float(v[row]) for v in (OTHERS.ra, OTHERS.dec, OTHERS.r, OTHERS.width))
    match kind:
        case "polygon":
            return f"POLYGON({', '.join(map(repr, OTHERS.vertices[row]))})"
        case "region":
            return f"REGION('{OTHERS.texts[row]}')"
        case "stored circle":
            return f"REGION('Circle {ra!r} {dec!r} {width!r}')"
    text = (
        _KINDS[kind]
        .replace("2 * {0}width, 1.5 * {0}width", f"{2 * width!r}, {1.5 * width!r}")
        .replace("{0}r)", f"{r!r})")
    )
    return text.replace("{0}ra", repr(ra)).replace("{0}dec", repr(dec))


@pytest.mark.parametrize("kind", _KINDS)
def test_a_relation_with_a_constant(kind: str, ask: Callable[[str], Rows]) -> None:
    """Test it as a value, and as a condition, which reads only the cells of its cover."""
    some = [(r, row) for r in RELATIONS if r.first == kind for row in _choose_rows(r)]
    calls = [f"{r.name}({_KINDS[kind].format('')}, {_write_constant(r.second, row)})" for r, row in some]
    values = [*zip(*ask(f"SELECT {', '.join(calls)} FROM ones ORDER BY id"), strict=True)]
    for number, ((relation, row), call) in enumerate(zip(some, calls, strict=True)):
        answers = relation.find_answers()[:, row]
        assert list(values[number]) == [*map(int, answers), None, None, None], call
        if number % 3 == 0:
            form = ("1 = {}", "0 = {}", "1 = {} OR id < 0", "NOT 1 = {} AND id >= 0")[number // 3 % 4]
            wanted = np.flatnonzero(answers if form.startswith("1") else ~answers)
            found = ask(f"SELECT id FROM ones WHERE {form.format(call)} ORDER BY id")
            assert [i for (i,) in found] == wanted.tolist(), call


def test_a_relation_of_constants(ask: Callable[[str], Rows]) -> None:
    wanted: list[tuple[str, bool]] = []
    for relation in RELATIONS:
        margins = relation.find_answers(OTHERS)
        for i in _SOME[:1]:
            for j in _SOME:
                call = f"{relation.name}({_write_constant(relation.first, i)}, {_write_constant(relation.second, j)})"
                wanted.append((call, bool(margins[i, j])))
    [values] = ask(f"SELECT {', '.join(call for call, _ in wanted)} FROM ones WHERE id = 0")
    for (call, expected), value in zip(wanted, values, strict=True):
        assert value == expected, call
