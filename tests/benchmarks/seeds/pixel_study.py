"""Pixels of a CCD in HEALPix, HTM and MQ3C, after DMTN-156's figures 1 to 3: a table and a picture.

    python -m tests.benchmarks.seeds.pixel_study [docs/pictures/pixels-of-a-ccd.png]

It needs the extra ``plots``. The CCDs belong to 15 x 15 tiles of fields of 3.5 degrees at random in the southern
hemisphere, in random rotations. The pixels of a CCD are all pixels that it touches with a margin of 52 arcsec. HTM
and MQ3C are the implementations of Rubin's sphgeom; a cover is what Skyhouse reads, cells of several orders.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path

import cdshealpix
import lsst.sphgeom
import matplotlib as mpl
import numpy as np
from astropy.coordinates import Latitude, Longitude
from matplotlib import pyplot as plt

from adql.regions import Polygon, find_cover
from tests.benchmarks.seeds.alerts_visits import CCD_DEGREES, PADDING, Corners, list_ccds

_VISITS = 6
_CCD_AREA = (CCD_DEGREES + 2 * PADDING) ** 2
_SKY = 360**2 / math.pi

ListPixels = Callable[[Corners], Iterable[Hashable]]


def _list_healpix(order: int) -> ListPixels:
    def list_pixels(corners: Corners) -> list[int]:
        lon, lat = Longitude(corners[:, 0], "deg"), Latitude(corners[:, 1], "deg")
        cells, _, _ = cdshealpix.nested.polygon_search(lon, lat, order, flat=True)
        return [int(cell) for cell in cells]

    return list_pixels


def _list_by_sphgeom(pixelization: lsst.sphgeom.Pixelization) -> ListPixels:
    def list_pixels(corners: Corners) -> list[int]:
        points = [lsst.sphgeom.UnitVector3d(lsst.sphgeom.LonLat.fromDegrees(*corner)) for corner in corners]
        ranges = pixelization.envelope(lsst.sphgeom.ConvexPolygon(points))
        return [pixel for first, end in ranges for pixel in range(first, end)]

    return list_pixels


#: Name -> orders or levels, pixels of the sky at order 0, and what lists the pixels of a CCD
_SCHEMES: dict[str, tuple[range, int, Callable[[int], ListPixels]]] = {
    "HEALPix": (range(6, 13), 12, _list_healpix),
    "HTM": (range(6, 14), 8, lambda level: _list_by_sphgeom(lsst.sphgeom.HtmPixelization(level))),
    "MQ3C": (range(6, 14), 6, lambda level: _list_by_sphgeom(lsst.sphgeom.Mq3cPixelization(level))),
}


def draw_visits() -> list[list[Corners]]:
    draw = random.Random(156)
    visits = []
    for _ in range(_VISITS):
        dec = -math.degrees(math.asin(draw.uniform(0.05, 0.95)))
        visits.append(list_ccds(draw.uniform(0, 360), dec, draw.uniform(0, 2 * math.pi)))
    return visits


def study_scheme(name: str, visits: list[list[Corners]]) -> list[tuple[int, float, float, float, float]]:
    """Return order, size of a pixel in arcmin, pixels of a CCD, their area / the CCD's, and CCDs of a pixel."""
    orders, base, make_lister = _SCHEMES[name]
    rows = []
    for order in orders:
        list_pixels, area = make_lister(order), _SKY / (base * 4**order)
        counts, shared = [], []
        for ccds in visits:
            used: Counter[Hashable] = Counter()
            for corners in ccds:
                pixels = set(list_pixels(corners))
                counts.append(len(pixels))
                used.update(pixels)
            shared.append(float(np.mean(list(used.values()))))
        mean = float(np.mean(counts))
        rows.append((order, math.sqrt(area) * 60, mean, mean * area / _CCD_AREA, float(np.mean(shared))))
    return rows


def study_covers(visits: list[list[Corners]]) -> tuple[float, float]:
    """Return the cells of a CCD's cover and their area / the CCD's, as queries of ADQL have them."""
    counts, areas = [], []
    for corners in visits[0]:
        cover = find_cover(Polygon(tuple((float(lon), float(lat)) for lon, lat in corners)))
        by_order = cover.all
        counts.append(sum(len(cells) for _, cells in by_order))
        areas.append(sum(len(cells) * _SKY / (12 * 4**order) for order, cells in by_order))
    return float(np.mean(counts)), float(np.mean(areas)) / _CCD_AREA


def main(path: Path) -> None:
    visits = draw_visits()
    found = {name: study_scheme(name, visits) for name in _SCHEMES}
    print(
        "| pixels | order | size | pixels of a CCD | their area / the CCD's | CCDs of a pixel |\n|---|---|---|---|---|---|"
    )
    for name, rows in found.items():
        for order, size, count, ratio, shared in rows:
            print(f"| {name} | {order} | {size:.1f}' | {count:.1f} | {ratio:.2f} | {shared:.2f} |")
    cells, ratio = study_covers(visits)
    print(f"| cover | several | | {cells:.1f} | {ratio:.2f} | |")
    draw_picture(found, (cells, ratio), path)


def draw_picture(
    found: dict[str, list[tuple[int, float, float, float, float]]], cover: tuple[float, float], path: Path
) -> None:
    mpl.use("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for (name, rows), style in zip(found.items(), ("o-", "s--", "^:"), strict=True):
        _, sizes, counts, ratios, shared = zip(*rows, strict=True)
        left.loglog(counts, ratios, style, label=name)
        right.loglog(sizes, shared, style, label=name)
    left.loglog(*cover, "*", markersize=12, label="cover of ADQL queries")
    left.axhline(1.3, color="grey", linewidth=0.8)
    left.set(xlabel="pixels of a CCD", ylabel="their area / the CCD's", xlim=(1, 2000), ylim=(1, 40))
    right.set(xlabel="size of a pixel, arcmin", ylabel="CCDs of a visit that touch it")
    left.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/pixels-of-a-ccd.png"))
