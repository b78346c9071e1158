"""Coordinates of one direction: longitudes are modulo 360, and at a pole arbitrary. Circles of radius 0 match all."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.storage.engine.engine import Engine
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import Rows, query_rows

#: Equivalent coordinates of some directions; those that are not multiples of 0.25 differ by rounding
EQUIVALENTS = [
    [(0.0, 0.0), (360.0, 0.0), (-360.0, 0.0), (720.0, 0.0), (36000.0, 0.0), (-0.0, -0.0)],
    [(0.0, 90.0), (77.0, 90.0), (-123.4, 90.0), (360.0, 90.0), (1e6, 90.0)],
    [(12.0, -90.0), (200.0, -90.0), (-1.5, -90.0)],
    [(180.0, 45.0), (-180.0, 45.0), (540.0, 45.0)],
    [(10.1, 41.3), (370.1, 41.3), (-349.9, 41.3)],
    [(300.7, -0.1), (-59.3, -0.1)],
    [(10.1, 41.30000000001)],
    [(77.0, 89.99999999999)],
]
POSITIONS = [(i, lon, lat) for i, equivalents in enumerate(EQUIVALENTS) for lon, lat in equivalents]

_TABLE = Table(
    name="named",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        *(Column(name=name, datatype="double") for name in ("ra", "dec", "zero")),
        Column(name="c", datatype="double", arraysize="3", xtype="circle"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",)),
)
_SAME = {(a, b) for a, (one, _, _) in enumerate(POSITIONS) for b, (other, _, _) in enumerate(POSITIONS) if one == other}


@pytest.fixture(scope="module")
def ask(engine: Engine) -> Callable[[str], Rows]:
    engine.execute("CREATE DATABASE IF NOT EXISTS directions")
    _, lon, lat = zip(*POSITIONS, strict=True)
    circles = [[ra, dec, 0.0] for ra, dec in zip(lon, lat, strict=True)]
    columns = {"id": range(len(POSITIONS)), "ra": lon, "dec": lat, "zero": [0.0] * len(POSITIONS), "c": circles}
    arrays = {c.name: pa.array(columns[c.name], c.type.arrow) for c in _TABLE.columns}
    store(engine, "directions", _TABLE, [pa.RecordBatch.from_pydict(arrays)])
    catalogue = catalogue_of(engine, Schema(name="directions", tables=(_TABLE,)))
    return lambda query: query_rows(engine, catalogue, query)


_PAIRS = [
    "DISTANCE(a.ra, a.dec, b.ra, b.dec) = 0",
    "DISTANCE(a.ra, a.dec, b.ra, b.dec) <= 0",
    "NOT DISTANCE(a.ra, a.dec, b.ra, b.dec) > 0",
    "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, 0))",
    "1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, b.zero))",
    "1 = CONTAINS(CIRCLE(a.ra, a.dec, a.zero), CIRCLE(b.ra, b.dec, b.zero))",
    "1 = INTERSECTS(CIRCLE(a.ra, a.dec, 0), CIRCLE(b.ra, b.dec, b.zero))",
    "1 = CONTAINS(POINT(a.ra, a.dec), b.c)",
    "1 = INTERSECTS(a.c, b.c)",
    "1 = CONTAINS(a.c, CIRCLE(b.ra, b.dec, b.zero))",
    "1 = CONTAINS(POINT('GALACTIC', a.ra, a.dec), CIRCLE('GALACTIC', b.ra, b.dec, 0))",
]


@pytest.mark.parametrize("condition", _PAIRS)
def test_two_rows_with_one_direction(condition: str, ask: Callable[[str], Rows]) -> None:
    """Test it as a join, which may use cubes, and as a value, which uses none."""
    assert set(ask(f"SELECT a.id, b.id FROM named AS a JOIN named AS b ON {condition}")) == _SAME
    rows = ask(f"SELECT a.id, b.id, CASE WHEN {condition} THEN 1 ELSE 0 END FROM named AS a, named AS b")
    assert {(a, b) for a, b, same in rows if same} == _SAME


def test_a_row_with_the_direction_of_a_constant(ask: Callable[[str], Rows]) -> None:
    """Test it in conditions, which read the constant's cells, in values, and between constants."""
    for i, (_, lon, lat) in enumerate(POSITIONS):
        here, circle = f"POINT({lon!r}, {lat!r})", f"CIRCLE({lon!r}, {lat!r}, 0)"
        tests = [
            f"1 = CONTAINS(POINT(ra, dec), {circle})",
            f"DISTANCE(POINT(ra, dec), {here}) = 0",
            f"DISTANCE(POINT(ra, dec), {here}) <= 0",
            f"1 = CONTAINS(POINT(ra, dec), REGION('Circle {lon!r} {lat!r} 0'))",
            f"1 = CONTAINS({here}, CIRCLE(ra, dec, zero))",
            f"1 = CONTAINS({here}, c)",
            f"1 = INTERSECTS({circle}, c)",
        ]
        same = [a for a, b in sorted(_SAME) if b == i]
        values = zip(
            *ask(f"SELECT {', '.join(f'CASE WHEN {t} THEN 1 ELSE 0 END' for t in tests)} FROM named ORDER BY id"),
            strict=True,
        )
        for test, of_rows in zip(tests, values, strict=True):
            assert [a for a, value in enumerate(of_rows) if value] == same, (test, lon, lat)
        chosen = tests[i % len(tests)]
        assert [a for (a,) in ask(f"SELECT id FROM named WHERE {chosen} ORDER BY id")] == same, (chosen, lon, lat)
    calls = [
        (f"CONTAINS(POINT({lon!r}, {lat!r}), CIRCLE({ra!r}, {dec!r}, 0))", one == other)
        for one, lon, lat in POSITIONS for other, ra, dec in POSITIONS
    ]  # fmt: skip
    [found] = ask(f"SELECT {', '.join(call for call, _ in calls)} FROM named WHERE id = 0")
    assert [bool(value) for value in found] == [same for _, same in calls]
