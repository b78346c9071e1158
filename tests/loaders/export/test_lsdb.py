"""LSDB, hats and pyarrow read an exported collection, and find the same in it as ADQL in the table."""

from __future__ import annotations

import warnings
from pathlib import Path

import hats
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hats.io.skymap import read_skymap
from hats.io.validation import is_valid_catalog

from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.export.border_stars import OTHERS, ROWS, STARS, WITHOUT_POSITION, query_stored_rows

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lsdb

LOCATED = ROWS - WITHOUT_POSITION

pytestmark = [
    pytest.mark.filterwarnings("ignore:The default suffix behavior:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in NestedFrame:DeprecationWarning"),
]


def test_hats_accepts_the_collection(exported: Path) -> None:
    assert is_valid_catalog(exported / "stars", strict=True)
    found = hats.read_hats(exported / "stars")
    assert found.main_catalog.catalog_info.total_rows == LOCATED
    assert max(pixel.order for pixel in found.get_healpix_pixels()) > 0
    assert read_skymap(found.main_catalog, 3).sum() == LOCATED


def test_the_collection_has_all_rows(exported: Path, engine: EmbeddedEngine) -> None:
    expected = query_stored_rows(engine, f"SELECT * FROM {STARS} WHERE ra IS NOT NULL ORDER BY id")

    found = lsdb.open_catalog(exported / "stars").compute(progress_bar=False).sort_values("id")

    columns = (found[name].array._pa_array.to_pylist() for name in found.columns)
    assert list(zip(*columns, strict=True)) == expected


def test_pyarrow_reads_the_collection_with_its_metadata(exported: Path, engine: EmbeddedEngine) -> None:
    footers = exported / "stars" / "stars" / "dataset" / "_metadata"
    found = pyarrow.dataset.parquet_dataset(footers)

    assert found.count_rows() == LOCATED
    expected = query_stored_rows(engine, f"SELECT COUNT(*) FROM {STARS} WHERE mag < 9 AND ra IS NOT NULL")
    assert [(found.count_rows(filter=pyarrow.dataset.field("mag") < 9),)] == expected
    assert found.schema.field("mag").metadata[b"unit"] == b"mag"
    assert found.schema.field("ra").metadata[b"ucd"] == b"pos.eq.ra;meta.main"
    assert b"2000A&amp;A...355L..27H" in found.schema.metadata[b"IVOA.VOTable-Parquet.content"]
    column = pq.read_metadata(footers).row_group(0).column(0)
    assert (column.path_in_schema, column.has_offset_index) == ("_healpix_29", True)


def test_a_cone_has_the_rows_of_adql(exported: Path, engine: EmbeddedEngine) -> None:
    cone = "DISTANCE(ra, dec, 45, 0.5) < 2"
    expected = query_stored_rows(engine, f"SELECT id FROM {STARS} WHERE {cone} ORDER BY id")

    found = lsdb.open_catalog(exported / "stars").cone_search(45, 0.5, 7200).compute(progress_bar=False)

    assert sorted(found["id"]) == [number for (number,) in expected]
    assert expected


def test_a_match_has_the_pairs_of_adql(exported: Path, engine: EmbeddedEngine) -> None:
    join = f"FROM {STARS} AS a JOIN {OTHERS} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 10 / 3600.0"
    expected = query_stored_rows(engine, f"SELECT a.id, b.id {join} ORDER BY a.id, b.id")
    stars, others = (lsdb.open_catalog(exported / name) for name in ("stars", "others"))

    found = stars.crossmatch(others, radius_arcsec=10, n_neighbors=100, suffixes=("_a", "_b")).compute(
        progress_bar=False
    )

    assert sorted(zip(found["id_a"], found["id_b"], strict=True)) == expected
    with pytest.warns(RuntimeWarning, match="does not have a margin cache"):
        alone = stars.crossmatch(lsdb.open_catalog(exported / "others" / "others"), radius_arcsec=10, n_neighbors=100)
    assert 0 < len(alone.compute(progress_bar=False)) < len(expected)  # some pairs are on both sides of a border


def test_an_id_is_found_by_the_index(exported: Path) -> None:
    found = lsdb.open_catalog(exported / "stars").id_search({"id": 17})

    assert len(found.get_healpix_pixels()) == 1
    assert found.compute(progress_bar=False)["id"].tolist() == [17]
