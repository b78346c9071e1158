"""Positions in hours, minutes and seconds become degrees in ICRS, exactly if the equinox is J2000."""

from __future__ import annotations

from pathlib import Path

import pytest
from astropy.coordinates import FK4, ICRS, SkyCoord

from tap_service.readers.file_formats import open_source
from tap_service.readers.position_columns import find_position_columns
from tests.tap_service.readers.test_cds_tables import describe
from tests.tap_service.readers.text_rows import list_reasons, read_rows


def list_parts(equinox: str, suffix: str = "") -> list[str]:
    return [
        f"  1- 2  I2    h       RAh{suffix}    Right ascension ({equinox})",
        f"  4- 5  I2    min     RAm{suffix}    ?Right ascension",
        f"  7-10  F4.1  s       RAs{suffix}    ?Right ascension",
        f"    12  A1    ---     DE-{suffix}    Declination (sign)",
        f" 13-14  I2    deg     DEd{suffix}    ?Declination",
        f" 16-17  I2    arcmin  DEm{suffix}    ?Declination",
        f" 19-20  I2    arcsec  DEs{suffix}    ?Declination",
    ]


def read_positions(path: Path) -> list[tuple[float | None, float | None]]:
    rows, rejects = read_rows(path)
    assert rejects == []
    names = find_position_columns(open_source(path).fields)
    assert names is not None
    return [(row[names[0]], row[names[1]]) for row in rows]


def test_positions_are_exact_also_near_the_equator(tmp_path: Path) -> None:
    rows = "00 41 00.0 +10 30 00\n23 59 57.6 -00 00 36\n12 00 00.0  00 30 00\n06 00 00.0 -90 00 00\n"
    path = describe(tmp_path, *list_parts("J2000"), rows=rows)
    assert read_positions(path) == [(10.25, 10.5), (359.99, -0.01), (180.0, 0.5), (90.0, -90.0)]
    source = open_source(path)
    assert [(field.name, field.unit, field.ucd, field.frame) for field in source.fields[-2:]] == [
        ("ra", "deg", "pos.eq.ra;meta.main", "ICRS"),
        ("dec", "deg", "pos.eq.dec;meta.main", "ICRS"),
    ]
    assert source.notes[1] == (
        "ra and dec in degrees are computed from RAh RAm RAs DE- DEd DEm DEs; J2000 counts as ICRS"
    )


def test_missing_parts_count_as_zero_and_a_missing_position_is_null(tmp_path: Path) -> None:
    path = describe(
        tmp_path, *list_parts("J2000"), rows="01 30      +10 30\n                 x\n".replace("x", " ") + "02\n"
    )
    rows, rejects = read_rows(path)
    assert rejects == []
    assert [(row["ra"], row["dec"]) for row in rows] == [(22.5, 10.5), (None, None)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("24 00 01.0 +10 30 00", "part of an angle beyond 24"),
        ("23 60 00.0 +10 30 00", "not below 60"),
        ("23 00 0x.0 +10 30 00", "not a number"),
        ("23 00 00.0 ~10 30 00", "neither + nor -"),
        ("23 00 00.0 +90 00 01", "part of an angle beyond 90"),
    ],
)
def test_an_impossible_part_is_a_reject(row: str, reason: str, tmp_path: Path) -> None:
    path = describe(tmp_path, *list_parts("J2000"), rows=f"00 00 00.0 +00 00 00\n{row}\n00 00 00.0 -01 00 00\n")
    rows, rejects = read_rows(path)
    assert [row["dec"] for row in rows] == [0.0, -1.0]
    assert list_reasons(rejects) == [(2, reason)]


@pytest.mark.parametrize(
    ("equinox", "suffix"), [("B1950", ""), ("equinox 1950, epoch 2000.0", ""), ("hours", "1950"), ("FK4", "")]
)
def test_b1950_is_converted_to_icrs_as_astropy_does(equinox: str, suffix: str, tmp_path: Path) -> None:
    rows = "12 34 56.7 -05 06 07\n                    \n00 00 00.0 +89 59 59\n"
    path = describe(tmp_path, *list_parts(equinox, suffix), rows=rows)
    texts = ["12h34m56.7s -05d06m07s", "00h00m00s +89d59m59s"]
    expected = SkyCoord(texts, frame=FK4(equinox="B1950")).transform_to(ICRS())
    found = read_positions(path)
    assert [ra for ra, _ in found] == pytest.approx(expected.ra.deg, abs=1e-11)
    assert [dec for _, dec in found] == pytest.approx(expected.dec.deg, abs=1e-11)
    assert open_source(path).notes[1].endswith("; B1950 is converted to ICRS")


def test_j2000_is_preferred_where_a_table_has_two_positions(tmp_path: Path) -> None:
    old = list_parts("B1950", "1950")
    new = [
        " 22-30  F9.5  deg     RAdeg  Right ascension (J2000)",
        " 32-40  F9.5  deg     DEdeg  Declination (J2000)",
    ]
    path = describe(tmp_path, *old, *new, rows="12 34 56.7 -05 06 07  10.00001 -20.00002\n")
    assert read_positions(path) == [(10.00001, -20.00002)]
    assert "ra" not in [field.name for field in open_source(path).fields]


def test_a_position_without_an_equinox_counts_as_icrs_and_a_note_says_so(tmp_path: Path) -> None:
    path = describe(tmp_path, *list_parts("hours"), rows="00 41 00.0 +10 30 00\n")
    assert read_positions(path) == [(10.25, 10.5)]
    assert open_source(path).notes[1].endswith("; no equinox is given, so they count as ICRS")


def test_the_computed_columns_use_no_name_of_the_table(tmp_path: Path) -> None:
    columns = [*list_parts("J2000"), "    22  A1    ---     Dec   a flag"]
    path = describe(tmp_path, *columns, rows="00 41 00.0 +10 30 00 x\n")
    assert [field.name for field in open_source(path).fields][-3:] == ["Dec", "ra_icrs", "dec_icrs"]
    assert read_positions(path) == [(10.25, 10.5)]
