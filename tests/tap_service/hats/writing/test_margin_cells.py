"""The cells of a margin reach as far as its threshold, by the HEALPix library and astropy."""

import astropy.units as u
import cdshealpix.nested
import numpy as np
import pytest
from astropy.coordinates import Angle, Latitude, Longitude, SkyCoord

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from tap_service.hats.writing.margin_cells import choose_margin_order, find_margin_cells

#: at the pole, at the corner of a polar cap, at the equator; large and small ones
PIXELS = [HatsPixel(0, 0), HatsPixel(2, 15), HatsPixel(3, 63), HatsPixel(4, 4 * 256 + 100), HatsPixel(9, 255)]


@pytest.mark.parametrize("pixel", PIXELS)
@pytest.mark.parametrize("threshold", [10.0, 600.0])
def test_every_position_within_the_threshold_is_in_a_cell(pixel, threshold):
    order = choose_margin_order(threshold)
    cells = find_margin_cells(pixel, order)

    lon, lat = cdshealpix.nested.vertices(np.array([pixel.number], np.uint64), pixel.order, step=200)
    border = SkyCoord(lon.ravel(), lat.ravel())
    random = np.random.default_rng(1)
    turn = Angle(random.uniform(0, 360, len(border)), u.deg)
    near = border.directional_offset_by(turn, random.uniform(0, threshold, len(border)) * u.arcsec)
    own = cdshealpix.lonlat_to_healpix(Longitude(near.ra), Latitude(near.dec), pixel.order)
    found = cdshealpix.lonlat_to_healpix(Longitude(near.ra), Latitude(near.dec), order)

    is_outside = own != pixel.number
    assert is_outside.sum() > 100
    assert np.isin(found[is_outside].astype(np.int64), cells).all()


@pytest.mark.parametrize("pixel", PIXELS)
def test_no_cell_is_in_the_pixel(pixel):
    order = choose_margin_order(10.0)

    cells = find_margin_cells(pixel, order)

    assert not (cells >> 2 * (order - pixel.order) == pixel.number).any()
    assert len(cells) == len(np.unique(cells)) <= 4 * 2 ** (order - pixel.order) + 4


def test_a_pixel_smaller_than_the_cells_is_in_one_of_them():
    assert find_margin_cells(HatsPixel(9, 256), 5).tolist()[:2] == [0, 1]


@pytest.mark.parametrize("threshold", [0.0, -1.0, 3601.0, float("nan")])
def test_too_large_a_margin_is_refused(threshold):
    with pytest.raises(HatsError, match=r"a margin of .* arcseconds is not possible: give up to 3600"):
        choose_margin_order(threshold)
