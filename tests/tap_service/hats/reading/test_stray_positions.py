"""Positions outside their pixel, and indexes of other positions, by more than rounding."""

from __future__ import annotations

import astropy.units as u
import numpy as np
from astropy.coordinates import Latitude, Longitude, SkyCoord
from cdshealpix import lonlat_to_healpix, vertices

from clickhouse_schema.hats.hats_pixel import HatsPixel
from tap_service.hats.reading.stray_positions import find_misindexed, find_strays

_RANDOM = np.random.default_rng(3)


def _to_vectors(positions: SkyCoord) -> np.ndarray:
    return np.stack(
        [axis.value for axis in (positions.cartesian.x, positions.cartesian.y, positions.cartesian.z)], axis=-1
    )


def _find_cells(positions: SkyCoord, order: int) -> np.ndarray:
    return lonlat_to_healpix(Longitude(positions.ra), Latitude(positions.dec), order).astype(np.int64)


def test_positions_near_the_border_are_in_the_pixel() -> None:
    for pixel in (HatsPixel(3, 0), HatsPixel(3, 305), HatsPixel(2, 191), HatsPixel(0, 4)):
        lon, lat = vertices([pixel.number], pixel.order, 64)
        border = SkyCoord(lon[0], lat[0])
        angles = _RANDOM.uniform(0, 360, len(border)) * u.deg
        for distance, is_stray in ((0.001, False), (0.4, False), (1.5, True), (3000, True)):
            moved = border.directional_offset_by(angles, distance * u.arcsec)
            outside = _find_cells(moved, pixel.order) != pixel.number
            strays = find_strays(_to_vectors(moved), pixel)
            assert outside.sum() > 10
            assert set(strays) <= set(np.flatnonzero(outside))
            if not is_stray:
                assert len(strays) == 0
            elif distance > 1000:  # a point near a corner may be nearer to another border
                assert set(strays) == set(np.flatnonzero(outside))


def test_an_index_matches_a_position_within_rounding() -> None:
    positions = SkyCoord(
        _RANDOM.uniform(0, 360, 500) * u.deg, np.degrees(np.arcsin(_RANDOM.uniform(-1, 1, 500))) * u.deg
    )
    for distance, is_found in ((0, False), (0.9, False), (1.1, True), (1e5, True)):
        cells = _find_cells(positions.directional_offset_by(30 * u.deg, distance * u.arcsec), 29)
        found = find_misindexed(_to_vectors(positions), cells)
        assert found.tolist() == (list(range(500)) if is_found else [])


def test_no_positions() -> None:
    nothing = np.empty((0, 3))
    assert len(find_strays(nothing, HatsPixel(0, 0))) == 0
    assert len(find_misindexed(nothing, np.empty(0, np.int64))) == 0
