from __future__ import annotations

import pytest

from clickhouse_schema.ucd_words import find_ucd_problem


@pytest.mark.parametrize(
    "ucd",
    [
        "pos.eq.ra;meta.main",
        "phot.mag;em.opt.V",
        "stat.error;pos.pm;pos.eq.ra",
        "meta.id;meta.main",
        "spect.dopplerVeloc;pos.heliocentric",
        "em.wl",
    ],
)
def test_ucd1plus(ucd: str) -> None:
    assert find_ucd_problem(ucd) == ""


@pytest.mark.parametrize("ucd", ["POS_EQ_RA_MAIN", "PHOT_MAG_V", "ID_MAIN", "ERROR", "VELOC_HC"])
def test_ucd1(ucd: str) -> None:
    assert "UCD1 from before 2005" in find_ucd_problem(ucd)


@pytest.mark.parametrize(
    ("ucd", "said"),
    [
        ("pos.eq.raa", "Unknown word 'pos.eq.raa'"),
        ("em.opt.V;phot.mag", "not valid as a primary word"),
        ("phot.mag;pos.eq.ra;", "Invalid word"),
        ("pos eq ra", "invalid character ' '"),
        ("pos.eq.ré", "not ASCII"),
    ],
)
def test_problems_of_ucds_are_described(ucd: str, said: str) -> None:
    assert said in find_ucd_problem(ucd)
