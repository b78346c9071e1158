"""A small HATS catalogue, written without the product's writer, so that it can be broken in any way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from astropy import units as u
from astropy.coordinates import Latitude, Longitude
from cdshealpix import lonlat_to_healpix

from clickhouse_schema.hats.hats_pixel import HatsPixel

PROPERTIES = {
    "obs_collection": "stars",
    "dataproduct_type": "object",
    "hats_nrows": "1200",
    "hats_col_ra": "ra",
    "hats_col_dec": "dec",
    "hats_col_healpix": "_healpix_29",
    "hats_col_healpix_order": "29",
    "hats_npix_suffix": ".parquet",
    "obs_description": "Stars of a test",
}


def make_rows(count: int = 1200) -> pa.Table:
    """Return rows all over the sky, with their cells of order 29 by cdshealpix, sorted by cell."""
    random = np.random.default_rng(11)
    ra, dec = random.uniform(0, 360, count), np.degrees(np.arcsin(random.uniform(-1, 1, count)))
    cells = lonlat_to_healpix(Longitude(ra, u.deg), Latitude(dec, u.deg), 29).astype(np.int64)
    rows = pa.table(
        {
            "_healpix_29": cells,
            "id": np.arange(count),
            "ra": ra,
            "dec": dec,
            "mag": random.normal(15, 2, count).astype(np.float32),
        }
    )
    described = pa.field("mag", pa.float32(), metadata={"unit": "mag", "ucd": "phot.mag", "description": "brightness"})
    return rows.cast(rows.schema.set(4, described)).sort_by("_healpix_29")


def write_properties(folder: Path, **changes: str | None) -> None:
    """Write ``hats.properties``; a key of None is left out."""
    properties = {key: value for key, value in (PROPERTIES | changes).items() if value is not None}
    (folder / "hats.properties").write_text("".join(f"{key}={value}\n" for key, value in properties.items()))


def write_catalogue(folder: Path, rows: pa.Table | None = None, order: int = 0) -> Path:
    """Write a catalogue with all partitions at ``order``; return its folder."""
    rows = make_rows() if rows is None else rows
    folder.mkdir(parents=True)
    numbers = pc.shift_right(rows["_healpix_29"], 2 * (29 - order))
    pixels = [HatsPixel(order, number) for number in sorted(set(numbers.to_pylist()))]
    for pixel in pixels:
        path = folder / pixel.build_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows.filter(pc.equal(numbers, pixel.number)), path, row_group_size=40)
    pq.write_metadata(rows.schema, folder / "dataset" / "_common_metadata")
    lines = [f"{pixel.order},{pixel.number}" for pixel in pixels]
    (folder / "partition_info.csv").write_text("\n".join(["Norder,Npix", *lines, ""]))
    write_properties(folder, hats_nrows=str(rows.num_rows))
    return folder
