"""The columns of the position are found by their UCDs, else by the names that surveys use."""

from __future__ import annotations

import pytest

from clickhouse_schema.datatypes import DOUBLE, Field
from tap_service.readers.position_columns import find_position_columns


@pytest.mark.parametrize(
    ("longitude", "latitude"),
    [
        ("ra", "dec"),
        ("ra", "decl"),  # 2MASS
        ("RAJ2000", "DEJ2000"),  # VizieR
        ("RAdeg", "DEdeg"),  # CDS
        ("TARGET_RA", "TARGET_DEC"),  # DESI
        ("RIGHT_ASCENSION", "DECLINATION"),  # Euclid
        ("raMean", "decMean"),  # Pan-STARRS
        ("ALPHA_J2000", "DELTA_J2000"),  # SExtractor
    ],
)
def test_names_of_surveys(longitude: str, latitude: str) -> None:
    fields = (Field("id", DOUBLE), Field(latitude, DOUBLE, unit="deg"), Field(longitude, DOUBLE, unit="deg"))
    assert find_position_columns(fields) == (longitude, latitude)


def test_fitted_positions_of_sextractor_are_preferred_to_isophotal_ones() -> None:
    names = ("ALPHA_J2000", "DELTA_J2000", "ALPHAWIN_J2000", "DELTAWIN_J2000")
    assert find_position_columns(tuple(Field(name, DOUBLE) for name in names)) == names[2:]


def test_columns_in_hours_or_of_one_coordinate_are_no_position() -> None:
    assert find_position_columns((Field("TARGET_RA", DOUBLE, unit="h"), Field("TARGET_DEC", DOUBLE))) is None
    assert find_position_columns((Field("ra", DOUBLE), Field("DEJ2000", DOUBLE))) is None
