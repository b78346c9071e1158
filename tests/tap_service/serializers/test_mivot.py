"""MIVOT blocks, read back by pyvo's viewer."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from astropy import units as u
from astropy.coordinates import SkyCoord
from astropy.io.votable import parse
from astropy.time import Time
from lxml import etree
from pyvo.mivot.viewer import MivotViewer
from pyvo.utils import activate_features

from clickhouse_schema.datatypes import (
    DOUBLE,
    FLOAT,
    LONG,
    TIMESTAMP,
    CoordinateSystem,
    Field,
    PhotometricSystem,
    TimeSystem,
)
from tap_service.serializers import ResultInfo

GAIA = CoordinateSystem("ICRS", "J2016.0", refposition="BARYCENTER")
G_BAND = PhotometricSystem("GAIA/GAIA3.G", "Vega", 3228.75)
FIELDS = [
    Field("source id", LONG, "", "meta.id;meta.main"),
    Field("ra", DOUBLE, "deg", "pos.eq.ra;meta.main", coordinate_system=GAIA),
    Field("dec", DOUBLE, "deg", "pos.eq.dec;meta.main", coordinate_system=GAIA),
    Field("ra_error", FLOAT, "mas", "stat.error;pos.eq.ra"),
    Field("dec_error", FLOAT, "mas", "stat.error;pos.eq.dec"),
    Field("pmra", DOUBLE, "mas.yr**-1", "pos.pm;pos.eq.ra"),
    Field("pmdec", DOUBLE, "mas.yr**-1", "pos.pm;pos.eq.dec"),
    Field("parallax", DOUBLE, "mas", "pos.parallax.trig"),
    Field("parallax_error", DOUBLE, "mas", "stat.error;pos.parallax.trig"),
    Field("rv", DOUBLE, "km.s**-1", "spect.dopplerVeloc;pos.heliocentric"),
    Field("g", DOUBLE, "mag", "phot.mag;em.opt", description='G & "<more>"', photometry=G_BAND),
    Field("g_error", DOUBLE, "mag", "stat.error;phot.mag;em.opt"),
]
COLUMNS = [
    [4, 5],
    [10.5, 359.25],
    [-5.25, 89.5],
    [0.25, 0.5],
    [0.75, 0.125],
    [100.25, -5.5],
    [20.5, 7.75],
    [50.0, 10.0],
    [0.5, 0.75],
    [12.5, None],
    [5.5, None],
    [0.5, None],
]
VOTABLES = ("votable/b2", "votable/b", "votable/td")


@pytest.fixture(autouse=True)
def _mivot() -> None:
    activate_features("MIVOT")


def read_rows(document: bytes) -> list[dict[str, Any]]:
    """Return the row's instances as dictionaries, each with its SkyCoord under ``sky`` if it has a position."""
    viewer = MivotViewer(parse(io.BytesIO(document)), resolve_ref=True)
    rows = []
    while viewer.next_row_view():
        found = viewer.dm_instance
        properties = found.to_dict()["propertyDock"]
        has_position = properties[0]["dmtype"] == "mango:EpochPosition"
        rows.append({"properties": properties, "sky": found.get_SkyCoord() if has_position else None})
    return rows


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_positions_agree_with_the_columns(write: Any, responseformat: str) -> None:
    first, second = read_rows(write(f"{responseformat};content=mivot", FIELDS, COLUMNS))
    theirs = SkyCoord(
        10.5 * u.deg,
        -5.25 * u.deg,
        20 * u.pc,
        pm_ra_cosdec=100.25 * u.mas / u.yr,
        pm_dec=20.5 * u.mas / u.yr,
        radial_velocity=12.5 * u.km / u.s,
        obstime=Time("J2016"),
    )
    assert first["sky"].separation_3d(theirs) < 1e-12 * u.pc
    earlier = Time("J1976")
    moved, expected = (sky.apply_space_motion(new_obstime=earlier) for sky in (first["sky"], theirs))
    assert moved.separation(expected) < 1e-9 * u.arcsec
    assert first["sky"].separation(moved) > 4 * u.arcsec
    assert (second["sky"].ra.deg, second["sky"].dec.deg) == (359.25, 89.5)


def test_errors_systems_and_photometry(write: Any) -> None:
    (position, brightness), _ = (
        row["properties"] for row in read_rows(write("votable;content=mivot", FIELDS, COLUMNS))
    )
    errors = position["errors"]
    assert (errors["position"]["sigma1"]["value"], errors["position"]["sigma2"]["value"]) == (0.25, 0.75)
    assert errors["parallax"]["sigma"] == {"dmtype": "ivoa:RealQuantity", "value": 0.5, "unit": "mas"}
    assert "properMotion" not in errors
    frame = position["spaceSys"]["frame"]
    assert (frame["spaceRefFrame"]["value"], frame["refPosition"]["position"]["value"]) == ("ICRS", "BARYCENTER")
    assert (brightness["value"]["value"], brightness["error"]["sigma"]["value"]) == (5.5, 0.5)
    calibration = brightness["photCal"]
    assert calibration["identifier"]["value"] == "GAIA/GAIA3.G/Vega"
    assert calibration["zeroPoint"]["flux"]["value"]["value"] == 3228.75
    assert "more" in brightness["description"]["value"]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        (Field("epoch", DOUBLE, "yr", "meta.ref;time.epoch"), 1991.25, Time("J1991.25")),
        (
            Field("epoch", DOUBLE, "d", "time.epoch", time_system=TimeSystem("TT", "GEOCENTER", "MJD-origin")),
            51544.5,
            Time("J2000"),
        ),
        (Field("epoch", DOUBLE, "d", "time.epoch"), 51544.5, Time("J2016")),  # of unknown origin
    ],
)
def test_epoch_of_a_column(write: Any, field: Field, value: float, expected: Time) -> None:
    row, _ = read_rows(write("votable;content=mivot", [*FIELDS, field], [*COLUMNS, [value] * 2]))
    assert abs((row["sky"].obstime - expected).to_value("d")) < 0.01


def test_time_system_of_timestamps(write: Any) -> None:
    field = Field("seen", TIMESTAMP, ucd="time.epoch", time_system=TimeSystem("TCB", "BARYCENTER"))
    document = write("votable;content=mivot", [*FIELDS[:3], field], [[1], [2.0], [3.0], [None]])
    frames = etree.fromstring(document).findall(".//{*}GLOBALS/{*}INSTANCE/{*}INSTANCE/{*}ATTRIBUTE")
    assert [frame.get("value") for frame in frames] == ["TCB", "ICRS"]


def test_columns_of_two_positions_are_not_annotated(write: Any) -> None:
    """Joined tables: which proper motion belongs to which position is not known."""
    twice = [*FIELDS[:-2], replace(FIELDS[1], name="ra_2"), replace(FIELDS[2], name="dec_2")]
    document = write("votable;content=mivot", twice, [*COLUMNS[:-2], *COLUMNS[1:3]])
    [report] = etree.fromstring(document).iter("{*}REPORT")
    assert report.get("status") == "FAILED"
    assert "pos.eq.ra;meta.main" in report.text
    assert len(parse(io.BytesIO(document)).get_first_table().array) == 2


def test_an_object_is_one_row_of_a_table(write: Any) -> None:
    """The position of a galaxy, and the motion and brightness of a star near it."""
    rows = tuple(0 if field.name in ("source id", "ra", "dec") else 1 for field in FIELDS)
    document = write("votable;content=mivot", FIELDS, COLUMNS, info=ResultInfo(source_rows=rows))
    [position] = read_rows(document)[0]["properties"]
    assert (position["longitude"]["value"], position["latitude"]["value"]) == (10.5, -5.25)
    assert position.keys().isdisjoint({"pmLongitude", "parallax", "radialVelocity", "errors"})


@pytest.mark.parametrize("rows", [(0, 0, 1), (0, 0, None), (None, None, None)])
def test_a_position_from_two_rows_is_omitted(write: Any, rows: tuple[int | None, ...]) -> None:
    document = write("votable;content=mivot", FIELDS[:3], COLUMNS[:3], info=ResultInfo(source_rows=rows))
    assert [report.get("status") for report in etree.fromstring(document).iter("{*}REPORT")] == ["FAILED"]


def test_an_error_belongs_to_one_magnitude(write: Any) -> None:
    other = replace(FIELDS[-2], name="g_of_aperture")
    row, _ = read_rows(write("votable;content=mivot", [*FIELDS, other], [*COLUMNS, [5.25, None]]))
    _, *brightnesses = row["properties"]
    assert [one["value"]["value"] for one in brightnesses] == [5.5, 5.25]
    assert [one.get("error") for one in brightnesses] == [None, None]


def test_answers_of_cone_searches(write: Any) -> None:
    names = {"source id": "ID_MAIN", "ra": "POS_EQ_RA_MAIN", "dec": "POS_EQ_DEC_MAIN"}
    fields = [replace(field, ucd=names.get(field.name, field.ucd)) for field in FIELDS]
    [named, _], [known, _] = (read_rows(write("votable;content=mivot", each, COLUMNS)) for each in (fields, FIELDS))
    assert named["properties"] == known["properties"]


def test_half_a_motion_is_omitted(write: Any) -> None:
    fields, columns = [*FIELDS[:6]], COLUMNS[:6]
    row, _ = read_rows(write("votable;content=mivot", fields, columns))
    assert "pmLongitude" not in row["properties"][0]


def test_no_block_unless_requested(write: Any) -> None:
    assert b"VODML" not in write("votable", FIELDS, COLUMNS)
