"""Coordinate systems of results."""

from __future__ import annotations

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.datatypes import CoordinateSystem
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.system_keys import CoordinateKeys

_GAIA = CoordinateSystem("ICRS", "J2016.0")
_GALACTIC = CoordinateSystem("GALACTIC")
_ICRS = CoordinateSystem("ICRS")
_REGION = {"datatype": "string", "xtype": "adql:REGION"}

_TABLES = (
    Table(
        name="stars",
        columns=(
            *(Column(name=name, datatype="double", unit="deg") for name in ("ra", "dec", "pmra", "size")),
            Column(name="l", datatype="double", coordinates=CoordinateKeys(system="GALACTIC")),
            Column(name="b", datatype="double", coordinates=CoordinateKeys(system="GALACTIC")),
            Column(name="outline", **_REGION),
            Column(name="icrs", **_REGION, coordinates=CoordinateKeys(system="ICRS")),
            Column(name="field", datatype="double", arraysize="*", xtype="polygon"),
            Column(name="other", datatype="double", arraysize="*", xtype="polygon",
                   coordinates=CoordinateKeys(system="GALACTIC")),
            Column(name="moc", datatype="string", xtype="moc"),
        ),
        layout=Layout(position=("ra", "dec")),
        coordinates=CoordinateKeys(system="ICRS", epoch="J2016.0"),
    ),
)  # fmt: skip
CATALOGUE = Catalogue((Schema(name="s", tables=_TABLES),))


@pytest.mark.parametrize(
    ("expression", "system"),
    [
        ("POINT(ra, dec)", _GAIA),
        ("CIRCLE(ra, dec, 0.1)", _GAIA),
        ("POINT(ra + 1, dec)", _ICRS),
        ("POINT(l, b)", _ICRS),  # the query states the system
        ("POINT(ra, b)", _ICRS),
        ("POINT(1, 2)", _ICRS),
        ("POLYGON(1, 2, 3, 4, 5, 6)", _ICRS),
        ("REGION('Circle GALACTIC 1 2 3')", _ICRS),
        ("ivo_epoch_prop_pos(ra, dec, 0, pmra, 0, 0, 2016, 2000)", _ICRS),
        ("outline", None),
        ("icrs", _ICRS),
        ("field", _GAIA),
        ("other", _GALACTIC),
        ("moc", _GAIA),
        ("CENTROID(field)", _GAIA),
        ("CENTROID(other)", _GALACTIC),
        ("REGION(outline)", None),
        ("CASE WHEN ra > 1 THEN field ELSE other END", None),
        ("(SELECT TOP 1 field FROM s.stars)", _GAIA),
        ("AREA(field)", None),
        ("ra + 1", None),
    ],
)
def test_shapes(expression: str, system: CoordinateSystem | None) -> None:
    assert translate(f"SELECT {expression} AS v FROM s.stars", CATALOGUE).fields[0].coordinate_system == system
