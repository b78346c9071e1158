"""Suggestions for an unknown name, in tables with thousands of columns."""

from __future__ import annotations

from typing import Any

import pytest

from adql.resolve import scope
from adql.resolve.scope import find_close_name

WIDE = [f"{band}_flux_{kind}_{number}" for band in "ugriz" for kind in ("mean", "error") for number in range(500)]
COLUMNS = [*WIDE, "source_id", "Parallax", "phot_g_mean_mag"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("paralax", "Parallax"),
        ("arallax", "Parallax"),
        ("PARALLLAX", "Parallax"),
        ("sourceid", "source_id"),
        ("osurce_id", "source_id"),
        ("phot_g_mag_mean", "phot_g_mean_mag"),
        ("g_flux_mean_17_", "g_flux_mean_17"),
        ("z_fluxerror_499", "z_flux_error_499"),
        ("quite_another_thing", None),
    ],
)
def test_the_intended_name_is_found_with_few_comparisons(
    monkeypatch: pytest.MonkeyPatch, written: str, meant: str | None
) -> None:
    compared: list[int] = []
    original = scope.get_close_matches

    def count(name: str, known: Any, **options: Any) -> list[str]:
        known = list(known)
        compared.append(len(known))
        return original(name, known, **options)

    monkeypatch.setattr(scope, "get_close_matches", count)
    assert find_close_name(written, COLUMNS) == meant
    assert compared == [50]
