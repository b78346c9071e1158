"""The density of attached tables: from the map of the sky, from the footers, or from the pixels."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from hats.io import skymap

from clickhouse_schema.schema_model import Column, Layout, Table
from loaders.pipeline.attached_density import count_attached_rows
from tap_service.hats.reading.catalogue_check import check_catalogue
from tap_service.hats.reading.catalogue_folder import open_folder
from tap_service.hats.reading.hats_catalogue import open_catalogue
from tests.loaders.recorder import Recorder
from tests.tap_service.hats.hats_files import make_rows, write_catalogue, write_properties

_ORDER = 5
_TABLE = Table(
    name="stars",
    columns=tuple(Column(name=name, datatype="double") for name in ("ra", "dec")),
    layout=Layout(position=("ra", "dec"), healpix_order=_ORDER),
)


def count_rows(rows: pa.Table, order: int) -> np.ndarray:
    return np.bincount(pc.shift_right(rows["_healpix_29"], 2 * (29 - order)).to_numpy(), minlength=12 << 2 * order)


def count(folder: Path, reporter: Recorder | None = None, table: Table = _TABLE) -> dict[int, int]:
    files = check_catalogue(open_catalogue(open_folder(str(folder))))
    return count_attached_rows(files, table, reporter or Recorder())


def to_counts(rows: np.ndarray) -> dict[int, int]:
    return {int(cell): int(rows[cell]) for cell in np.flatnonzero(rows)}


@pytest.mark.parametrize("order", [5, 7])
@pytest.mark.parametrize(("partitions", "count_of_rows"), [(0, 60_000), (1, 3000), (6, 300)])
def test_the_map_of_the_sky(tmp_path: Path, order: int, partitions: int, count_of_rows: int) -> None:
    rows = make_rows(count_of_rows)
    folder = write_catalogue(tmp_path / "stars", rows, partitions)
    skymap.write_skymap(count_rows(rows, order), folder)
    assert count(folder) == to_counts(count_rows(rows, _ORDER))


def test_the_smallest_map_that_is_fine_enough_is_used(tmp_path: Path) -> None:
    rows = make_rows()
    folder = write_catalogue(tmp_path / "stars", rows)
    skymap.write_skymap(count_rows(rows, 9), folder, [4, 6])
    write_properties(folder, hats_skymap_order="9", hats_skymap_alt_orders="4 6")
    (folder / "skymap.fits").write_bytes(b"not read")
    assert count(folder) == to_counts(count_rows(rows, _ORDER))


def test_footers_without_a_map(tmp_path: Path) -> None:
    rows = make_rows(30_000)
    folder = write_catalogue(tmp_path / "stars", rows)
    found, true = count(folder), count_rows(rows, _ORDER)
    assert sum(found.values()) == 30_000
    assert {*found} >= {*np.flatnonzero(true)}
    ends = np.cumsum([found.get(cell, 0) - true[cell] for cell in range(len(true))])
    assert np.abs(ends).max() <= 40  # the rows of a row group


def test_a_star_cluster_is_not_spread_over_its_pixel(tmp_path: Path) -> None:
    rows = make_rows(60_000)
    rows = rows.filter(pc.equal(pc.shift_right(rows["_healpix_29"], 58 - 2 * 3), 77))
    folder = write_catalogue(tmp_path / "cluster", rows)
    found = count(folder)
    assert {cell >> 4 for cell in found} == {77}
    assert sum(found.values()) == rows.num_rows > 50


def test_pixels_without_an_index(tmp_path: Path) -> None:
    rows = make_rows(1000)
    folder = write_catalogue(tmp_path / "stars", rows, order=1)
    for file in folder.rglob("Npix=*.parquet"):
        pq.write_table(pq.read_table(file, partitioning=None), file, write_statistics=False)
    found = count(folder)
    assert {*found} == {*range(12 * 4**_ORDER)}  # no cell is known to be empty
    by_partition = np.array([found[cell] for cell in range(12 * 4**_ORDER)]).reshape(48, -1).sum(axis=1)
    assert by_partition.tolist() == count_rows(rows, 1).tolist()


def test_a_table_without_positions(tmp_path: Path) -> None:
    folder = write_catalogue(tmp_path / "stars")
    table = _TABLE.model_copy(update={"layout": Layout(healpix_order=_ORDER)})
    assert count(folder, table=table) == {12 * 4**_ORDER: 1200}


def _write_values(path: Path, ordering: str, values: np.ndarray) -> None:
    table = fits.BinTableHDU.from_columns([fits.Column("T", "K", array=values)])
    table.header.update({"NSIDE": 32, "ORDERING": ordering})
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(path)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("other", r"has [\d,]+ rows in the pixel of order 0, number \d+, and its files have"),
        ("more", "has rows where there are no files"),
        ("ring", "is not a map of NESTED cells"),
        ("short", "cannot be read as a map"),
        ("text", "cannot be read as a map"),
    ],
)
def test_maps_that_disagree_with_the_catalogue(tmp_path: Path, error: str, reason: str) -> None:
    rows = make_rows()
    inside = rows.filter(pc.less(rows["_healpix_29"], 11 << 58))
    folder = write_catalogue(tmp_path / "stars", inside)
    true = count_rows(inside, _ORDER)
    file = folder / "skymap.fits"
    if error == "other":
        _write_values(file, "NESTED", np.roll(true, 500))
    elif error == "more":
        _write_values(file, "NESTED", count_rows(rows, _ORDER))
    elif error == "ring":
        _write_values(file, "RING", true)
    elif error == "short":
        _write_values(file, "NESTED", true[:-1])
    else:
        file.write_text("SIMPLE  = T")
    reporter = Recorder()
    found = count(folder, reporter)
    assert sum(found.values()) == inside.num_rows
    assert any(re.search(reason, line) for line in reporter.messages), reporter.messages
