"""Plans agree with the rows: partitions by hats-import's rule, margins by the distances of all rows from all pixels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import astropy.units as u
import cdshealpix.nested
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.coordinates import SkyCoord
from hats import read_hats

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.hats.partition_rule import choose_partitions
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.hats.writing.catalogue_plan import MAX_ORDER, plan_catalogue
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.tap_service.hats.import_catalogue import PIXEL_THRESHOLD, import_catalogue

COLUMNS = (Column(name="ra", datatype="double"), Column(name="dec", datatype="double"))
PLANNED = Table(name="planned", columns=COLUMNS, layout=Layout(position=("ra", "dec")))
RANDOM = np.random.default_rng(3)
#: rows over the sky, many along a border of base pixels, and 300 in a third of an arcminute
RA = np.concatenate((RANDOM.uniform(0, 360, 2000), 45 + RANDOM.normal(0, 10 / 3600, 500), RANDOM.normal(80, 1e-3, 300)))
DEC = np.concatenate((RANDOM.uniform(-90, 90, 2000), RANDOM.uniform(-40, 40, 500), RANDOM.normal(20, 1e-3, 300)))


@pytest.fixture(scope="module")
def rows(engine: EmbeddedEngine) -> Iterator[HatsRows]:
    engine.execute("CREATE DATABASE IF NOT EXISTS hats_plan")
    engine.execute(create_table_sql(PLANNED, "hats_plan.planned"))
    nothing = [None] * 4
    batch = pa.record_batch({"ra": [*RA, *nothing], "dec": [*DEC, *nothing]})
    engine.insert_batches("hats_plan.planned", [batch])
    yield HatsRows(TableEntry(Schema(name="hats_plan"), PLANNED))
    engine.execute("DROP DATABASE hats_plan SYNC")


def find_cells(order: int) -> np.ndarray:
    return cdshealpix.nested.lonlat_to_healpix(RA % 360 * u.deg, DEC * u.deg, order).astype(np.int64)


def count_rows(order: int) -> np.ndarray:
    return np.bincount(find_cells(order), minlength=12 << 2 * order)


def test_partitions_agree_with_hats_import(engine: EmbeddedEngine, rows: HatsRows, tmp_path: Path) -> None:
    found = plan_catalogue(engine, rows, max_rows=PIXEL_THRESHOLD, margin_threshold=0)

    pq.write_table(pa.table({"ra": RA % 360, "dec": DEC}), tmp_path / "planned.parquet")
    imported = read_hats(import_catalogue(tmp_path / "planned.parquet", tmp_path, "planned")).main_catalog
    expected = {(pixel.order, pixel.pixel) for pixel in imported.get_healpix_pixels()}
    assert {*map(tuple, found.partitions)} == expected
    assert len({order for order, _ in expected}) > 3
    assert imported.catalog_info.hats_max_rows == found.max_rows
    assert (found.rows, found.without_position, found.margins) == (len(RA), 4, {})
    cells = np.flatnonzero(count_rows(8))
    assert found.density.cells.tolist() == cells.tolist()
    assert found.density.rows.tolist() == count_rows(8)[cells].tolist()


def test_pixels_finer_than_the_counted_ones_are_chosen_by_the_same_rule(engine: EmbeddedEngine, rows: HatsRows) -> None:
    found = plan_catalogue(engine, rows, max_rows=200, margin_threshold=0).partitions

    cells, counts = np.unique(find_cells(MAX_ORDER), return_counts=True)
    assert found == choose_partitions(MAX_ORDER, cells, counts, 200)
    assert any(pixel.order > 8 and count == 1 for pixel, count in found.items())


def test_crowded_pixels_are_divided_to_the_finest_order(engine: EmbeddedEngine, rows: HatsRows) -> None:
    plan = plan_catalogue(engine, rows, max_rows=40, margin_threshold=0)

    found = plan.partitions
    assert sum(found.values()) == len(RA)
    crowded = {pixel for pixel, count in found.items() if count > 40}
    assert {pixel.order for pixel in crowded} == {MAX_ORDER}
    (fullest,) = crowded
    assert plan.warnings == (
        "4 rows have no position and are left out: HATS files are divided by the sky",
        f"The pixel Norder=12, Npix={fullest.number} with 300 rows exceeds 40 rows: pixels of order 12 are not divided "
        "further",
    )
    assert max(pixel.order for pixel in found) > 8
    starts = sorted((pixel.first_cell, pixel.end_cell) for pixel in found)
    assert all(end <= following for (_, end), (following, _) in pairwise(starts))
    for order in {pixel.order for pixel in found}:
        cells = find_cells(order).tolist()
        assert all(cells.count(pixel.number) == count for pixel, count in found.items() if pixel.order == order)


@pytest.mark.parametrize("threshold", [10.0, 900.0])
def test_margins_have_all_rows_near_a_pixel(engine: EmbeddedEngine, rows: HatsRows, threshold: float) -> None:
    plan = plan_catalogue(engine, rows, max_rows=320, margin_threshold=threshold)

    sky = SkyCoord(RA * u.deg, DEC * u.deg)
    for pixel, count in {HatsPixel(0, 4): 0, **plan.margins}.items():
        lon, lat = cdshealpix.nested.vertices(np.array([pixel.number], np.uint64), pixel.order, step=500)
        border = SkyCoord(lon.ravel(), lat.ravel())
        own = find_cells(pixel.order) == pixel.number
        distance = sky[~own].match_to_catalog_sky(border)[1].arcsec
        assert (distance < threshold).sum() <= count
        assert count <= (distance < 4 * threshold + 400).sum()  # the border's points are up to 370 arcseconds apart
    assert len(plan.margins) > 2


def test_an_empty_pixel_has_a_margin(engine: EmbeddedEngine, rows: HatsRows) -> None:
    plan = plan_catalogue(engine, rows, max_rows=100, margin_threshold=600.0)

    empty = plan.margins.keys() - plan.partitions.keys()
    assert empty
    assert all(pixel.number not in find_cells(pixel.order) for pixel in empty)


def test_a_table_without_a_position_is_refused() -> None:
    table = PLANNED.model_copy(update={"layout": Layout()})

    with pytest.raises(HatsError, match=r"s\.planned has no position: HATS files are divided by the sky\. Give"):
        HatsRows(TableEntry(Schema(name="s"), table))
