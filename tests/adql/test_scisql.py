"""The geometry functions of Qserv's scisql: the rows of the equivalent ADQL, and of the formulas in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from adql.errors import AdqlError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import DIFFICULT_POSITIONS, Positions
from tests.support.adql_rows import Rows, query_rows

#: Call -> equivalent ADQL
TWINS = [
    ("s2PtInCircle(ra, dec, 45, 41.8, 1.5)", "CONTAINS(POINT(ra, dec), CIRCLE(45, 41.8, 1.5))"),
    ("s2PtInCircle(ra, dec, ra, 0, 5)", "CONTAINS(POINT(ra, dec), CIRCLE(ra, 0, 5))"),
    ("s2PtInCPoly(ra, dec, 40, 40, 50, 40, 45, 50)", "CONTAINS(POINT(ra, dec), POLYGON(40, 40, 50, 40, 45, 50))"),
    ("s2PtInCPoly(ra, dec, 350, -5, 10, -5, 12, 0, 10, 5)", "CONTAINS(POINT(ra, dec), POLYGON(350, -5, 10, -5, 12, 0, 10, 5))"),
    ("s2PtInCPoly(ra, dec, id, 0, id + 9, 0, id, 9)", "CONTAINS(POINT(ra, dec), POLYGON(id, 0, id + 9, 0, id, 9))"),
]  # fmt: skip


@pytest.fixture
def ask(engine: Engine, sky: Catalogue) -> Callable[[str], Rows]:
    return lambda query: query_rows(engine, sky, query)


@pytest.mark.parametrize("prefix", ["", "scisql_"])
@pytest.mark.parametrize(("call", "twin"), TWINS)
def test_rows_equal_those_of_the_equivalent_adql(
    call: str, twin: str, prefix: str, ask: Callable[[str], Rows], sky: Catalogue
) -> None:
    query = "SELECT id FROM points WHERE {} = 1 ORDER BY id"
    rows = ask(query.format(prefix + call))
    assert rows
    assert rows == ask(query.format(twin))
    assert ask(f"SELECT {prefix}{call} FROM points ORDER BY id") == ask(f"SELECT {twin} FROM points ORDER BY id")
    assert translate(query.format(call), sky).sql == translate(query.format(twin), sky).sql


def test_separation_is_the_distance(ask: Callable[[str], Rows]) -> None:
    query = "SELECT {}(ra, dec, 10, 20) FROM points ORDER BY id"
    given = [repr(ask(query.format(name))) for name in ("DISTANCE", "angSep", "scisql_angSep")]  # NaN equals nothing
    assert given[1:] == given[:1] * 2


@pytest.mark.parametrize(
    "box",
    [(10, 20, 50, 60), (350, -10, 10, 10), (-10, -10, 10, 10), (350, -10, 370, 10), (0, -90, 360, 90), (-400, 80, 400, 90), (45, 0, 45, 90)],
)  # fmt: skip
def test_box_has_the_rows_between_its_borders(
    box: tuple[float, ...], ask: Callable[[str], Rows], points: Positions, sky: Catalogue
) -> None:
    west, south, east, north = box
    lon, lat = points
    offset = (lon - west) % 360
    in_range = (offset <= (east - west) % 360) if east - west < 360 else np.ones(len(lon), bool)
    expected = np.flatnonzero(in_range & (lat >= south) & (lat <= north))
    query = f"SELECT id FROM points WHERE scisql_s2PtInBox(ra, dec, {west}, {south}, {east}, {north}) = 1 ORDER BY id"
    found = {i for (i,) in ask(query)}
    # a box contains a pole at every longitude
    assert found >= set(expected.tolist())
    assert all(abs(lat[i]) == 90 for i in found - set(expected.tolist()))
    if east - west < 300:
        assert translate(query, sky).cells


def _is_in_ellipse(
    points: Positions, centre: tuple[float, float], axes: tuple[float, float], angle: float
) -> np.ndarray:
    """Test in the plane perpendicular to the centre's direction, in radians along and across the major axis."""
    (lon, lat), (ra, dec) = np.radians(points), np.radians(centre)
    east = np.cos(lat) * np.sin(lon - ra)
    north = np.cos(dec) * np.sin(lat) - np.sin(dec) * np.cos(lat) * np.cos(lon - ra)
    before = np.sin(dec) * np.sin(lat) + np.cos(dec) * np.cos(lat) * np.cos(lon - ra) > 0
    major, minor = np.radians(np.array(axes) / 3600)
    turn = np.radians(angle)
    along, across = np.cos(turn) * north + np.sin(turn) * east, np.cos(turn) * east - np.sin(turn) * north
    return before & ((along * minor) ** 2 + (across * major) ** 2 <= (major * minor) ** 2)


@pytest.mark.parametrize("axes", [(36000, 12000), (36000, 36000), (3600, 360), (40, 39.5), (0.01, 0.003)])
@pytest.mark.parametrize("centre", DIFFICULT_POSITIONS)
def test_ellipse_has_the_rows_of_the_formula(
    centre: tuple[float, float], axes: tuple[float, float], ask: Callable[[str], Rows], points: Positions
) -> None:
    for angle in (0, 30, -135):
        call = f"s2PtInEllipse(ra, dec, {centre[0]}, {centre[1]}, {axes[0]}, {axes[1]}, {angle})"
        expected = set(np.flatnonzero(_is_in_ellipse(points, centre, axes, angle)).tolist())
        found = {i for (i,) in ask(f"SELECT id FROM points WHERE 1 = {call}")}
        # the centre itself, which rounding moves slightly
        assert all(np.hypot(*(np.array(axes) / 3600)) < 1e-5 for _ in found ^ expected)


def test_ellipses_of_rows(ask: Callable[[str], Rows], points: Positions) -> None:
    """The centre, the axes and the angle may be columns; no position is in one with wrong axes."""
    rows = ask(
        "SELECT id, s2PtInEllipse(ra, dec, ra + 0.1, dec, 1000 * mag, 500, mag) FROM points WHERE ra + dec > -1000 AND ra < 400 ORDER BY id"
    )
    lon, lat = points
    for number, given in rows[: len(lon)]:
        mag = number % 10
        if 1000 * mag < 500:
            assert not given
            continue
        here = (np.array([lon[number]]), np.array([lat[number]]))
        wanted = _is_in_ellipse(here, (lon[number] + 0.1, lat[number]), (1000 * mag, 500), mag)
        assert given == int(wanted[0])


def test_ellipse_reads_the_cells_around_its_centre(sky: Catalogue) -> None:
    cells = translate("SELECT id FROM points WHERE scisql_s2PtInEllipse(ra, dec, 10, 20, 3600, 60, 0) = 1", sky).cells
    [moc] = cells.values()
    assert len(moc.ranges)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("s2PtInCircle(ra, dec, 1, 2)", "s2PtInCircle takes 5 arguments, not 4"),
        ("s2PtInCircle(ra, dec, 1, 2, 200)", "radius 200 is not between 0 and 180 degrees"),
        ("s2PtInCPoly(ra, dec, 1, 2, 3, 4)", "s2PtInCPoly takes a position and three or more vertices, not 6 numbers"),
        ("s2PtInCPoly(ra, dec, 1, 2, 3, 4, 5, 6, 7)", "not 9"),
        ("scisql_s2PtInBox(ra, dec, ra, 2, 3, 4)", "scisql_s2PtInBox takes constants as borders"),
        ("s2PtInBox(ra, dec, 1, 5, 3, 4)", "southern latitude 5 is above northern latitude 4"),
        ("s2PtInBox(ra, dec, 1, -95, 3, 4)", "declination -95 is not between"),
        ("s2PtInEllipse(ra, dec, 1, 2, 3, 4, 5)", "semi-minor axis 4 is not between 0 and the semi-major axis"),
        ("s2PtInEllipse(ra, dec, 1, 2, 36001, 4, 5)", "semi-major axis 36001 is not between 0 and 36000 arcsec"),
        ("s2PtInEllipse(ra, dec, 1, 2, 3, 'a', 5)", "s2PtInEllipse takes a number"),
        ("angSep(ra, dec, 1)", "angSep takes 4 arguments, not 3"),
    ],
)
def test_wrong_arguments(call: str, message: str, sky: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(f"SELECT id FROM points WHERE {call} = 1", sky)
    assert message in str(caught.value)
