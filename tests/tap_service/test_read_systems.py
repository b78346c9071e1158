"""COOSYS and TIMESYS of VOTables become keys of a schema file and fields of a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickhouse_schema.datatypes import CoordinateSystem, Field, TimeSystem
from clickhouse_schema.schema_model import Column
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.votable_reader import VotableSource


def read_field(folder: Path, systems: str, field: str, outside: str = "", version: str = "1.5") -> Field:
    path = folder / "table.vot"
    path.write_text(
        f'<VOTABLE version="{version}" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">{outside}<RESOURCE>{systems}'
        f'<TABLE><FIELD name="x" {field}/><DATA><TABLEDATA/></DATA></TABLE></RESOURCE></VOTABLE>'
    )
    [found] = VotableSource(path).fields
    return found


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            'system="ICRS" epoch="J2016.0" refposition="BARYCENTER"',
            CoordinateSystem("ICRS", "J2016.0", "", "BARYCENTER"),
        ),
        ('system="eq_FK5" equinox="2000.0"', CoordinateSystem("FK5", "", "J2000.0")),
        ('system="eq_FK4" equinox="B1950" epoch="1875"', CoordinateSystem("FK4", "B1875", "B1950")),
        ('system="galactic"', CoordinateSystem("GALACTIC")),
        ('system="ICRS" epoch="yesterday" refposition="&lt;x&gt;"', CoordinateSystem("ICRS")),
        ('system="geo_app"', None),
        ("", None),
    ],
)
def test_coordinate_systems(tmp_path: Path, attributes: str, expected: CoordinateSystem | None) -> None:
    field = read_field(tmp_path, f'<COOSYS ID="s" {attributes}/>', 'datatype="double" unit="deg" ref="s"')
    assert field.coordinate_system == expected
    assert Column.model_validate(field_to_felis(field)).field.coordinate_system == expected


@pytest.mark.parametrize(
    ("attributes", "column", "expected"),
    [
        ('timescale="TCB" refposition="BARYCENTER" timeorigin="2455197.5"', 'datatype="double" unit="d"', "2455197.5"),
        ('timescale="TT" refposition="GEOCENTER" timeorigin="MJD-origin"', 'datatype="float" unit="d"', "MJD-origin"),
        ('timescale="TDB" refposition="BARYCENTER"', 'datatype="double" unit="yr"', ""),
        ('timescale="UTC" refposition="TOPOCENTER"', 'datatype="char" arraysize="*" xtype="timestamp"', ""),
        ('timescale="TDB" refposition="BARYCENTER"', 'datatype="double" unit="d"', None),
        ('timescale="TDB" refposition="BARYCENTER" timeorigin="NaN"', 'datatype="double" unit="d"', None),
        ('timescale="noon" refposition="BARYCENTER" timeorigin="0"', 'datatype="double" unit="d"', None),
        ('timescale="UTC" refposition="TOPOCENTER"', 'datatype="char" arraysize="*"', None),
    ],
)
def test_time_systems(tmp_path: Path, attributes: str, column: str, expected: str | None) -> None:
    field = read_field(tmp_path, f'<TIMESYS ID="s" {attributes}/>', f'{column} ref="s"')
    assert (field.time_system and field.time_system.timeorigin) == expected
    assert Column.model_validate(field_to_felis(field)).field.time_system == field.time_system


@pytest.mark.parametrize("version", ["1.1", "1.4", "1.6"])
def test_system_outside_the_resource(tmp_path: Path, version: str) -> None:
    outside = '<TIMESYS ID="t" timescale="TDB" refposition="BARYCENTER" timeorigin="0"/>'
    found = read_field(tmp_path, "", 'datatype="double" unit="d" ref="t"', outside, version)
    assert found.time_system == TimeSystem("TDB", "BARYCENTER", "0.0")
