"""``skymap.fits``: rows by HEALPix cell, in the convention of HEALPix maps in FITS."""

from __future__ import annotations

import io

import numpy as np

from tap_service.hats.writing.catalogue_plan import CellCounts


def write_sky_map(counts: CellCounts) -> bytes:
    """Return a FITS file. If less than half of the cells have rows, only these cells are listed."""
    from astropy.io import fits  # deferred: a third of the start time of the service

    size = 12 << 2 * counts.order
    is_whole = 2 * len(counts.cells) >= size
    if is_whole:
        rows = np.zeros(size, np.int64)
        rows[counts.cells] = counts.rows
        columns = [fits.Column("VALUE", "K", array=rows)]
        scheme = {"INDXSCHM": "IMPLICIT", "FIRSTPIX": 0, "LASTPIX": size - 1, "OBJECT": "FULLSKY"}
    else:
        columns = [fits.Column("PIXEL", "K", array=counts.cells), fits.Column("VALUE", "K", array=counts.rows)]
        scheme = {"INDXSCHM": "EXPLICIT", "OBS_NPIX": len(counts.cells), "OBJECT": "PARTIAL"}
    table = fits.BinTableHDU.from_columns(columns)
    for key, value in {
        "PIXTYPE": "HEALPIX",
        "ORDERING": "NESTED",
        "COORDSYS": "C",
        "NSIDE": 1 << counts.order,
        **scheme,
    }.items():
        table.header[key] = value
    out = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(out)
    return out.getvalue()
