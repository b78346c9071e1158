"""Names, partition lists and properties are as in hats; wrong files are rejected with the line."""

import pytest
from hats.catalog import TableProperties
from hats.catalog.partition_info import PartitionInfo
from hats.io import paths
from hats.pixel_math import HealpixPixel

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel, parse_path
from clickhouse_schema.hats.hats_properties import CatalogProperties, CollectionProperties, parse_properties
from clickhouse_schema.hats.partition_info import read_partition_info, write_partition_info

PIXELS = [HatsPixel(0, 0), HatsPixel(1, 17), HatsPixel(8, 123_456), HatsPixel(1, 19)]


@pytest.mark.parametrize("pixel", PIXELS)
@pytest.mark.parametrize("suffix", [".parquet", ".snappy.parquet"])
def test_paths_are_as_in_hats(pixel, suffix):
    path = pixel.build_path(suffix)

    assert str(paths.pixel_catalog_file("/c", HealpixPixel(*pixel), npix_suffix=suffix)) == f"/c/{path}"
    assert parse_path(path) == pixel


def test_a_file_in_a_partition_folder_is_of_its_pixel():
    assert parse_path(HatsPixel(3, 5).build_path("/") + "part0.parquet") == HatsPixel(3, 5)


@pytest.mark.parametrize(
    "path",
    [
        "dataset/_metadata",
        "dataset/Norder=0/Dir=0/Npix=12.parquet",
        "dataset/Norder=30/Dir=0/Npix=1.parquet",
        "dataset/Norder=8/Dir=0/Npix=123456.parquet",
        "dataset/Norder=1/Dir=0/Npix=2.parquet/../../x",
        "dataset/Norder=1/Dir=0/Npix=-2.parquet",
    ],
)
def test_another_path_names_no_pixel(path):
    assert parse_path(path) is None


def test_hats_reads_the_partition_list(tmp_path):
    (tmp_path / "partition_info.csv").write_text(write_partition_info(PIXELS))

    found = PartitionInfo.read_from_dir(tmp_path).get_healpix_pixels()

    assert {(pixel.order, pixel.pixel) for pixel in found} == {*map(tuple, PIXELS)}
    assert {*read_partition_info((tmp_path / "partition_info.csv").read_text())} == {*PIXELS}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("order,pixel\n0,1\n", "no columns Norder and Npix"),
        ("Norder,Npix\n0,1\n1,x\n", "line 3: '1,x' is not a pair of whole numbers"),
        ("Norder,Npix\n0\n", "line 2"),
        ("Norder,Npix\n30,1\n", "the order is 30"),
        ("Norder,Npix\n0,12\n", "pixel 12 is not on the sky"),
        ("Norder,Npix\n0,1\n2,17\n", r"pixels \(0, 1\) and \(2, 17\) overlap"),
        ("", "no columns"),
    ],
)
def test_a_wrong_partition_list_is_rejected(text, message):
    with pytest.raises(HatsError, match=message):
        read_partition_info(text)


def test_hats_reads_the_properties(tmp_path):
    written = CatalogProperties(
        name="a=b",
        type="margin",
        rows=7,
        ra_column="ra",
        dec_column="dec",
        default_columns=("ra", "dec"),
        primary_table="main",
        margin_threshold=10.0,
        description="Back\\slash\nand line: café",
    )
    (tmp_path / "hats.properties").write_text(written.write(), encoding="utf-8")

    found = TableProperties.read_from_dir(tmp_path)

    assert (found.catalog_name, found.total_rows, found.margin_threshold) == ("a=b", 7, 10.0)
    assert found.default_columns == ["ra", "dec"]
    assert found.obs_description == "Back\\slash and line: café"
    read = CatalogProperties.read(written.write(), "hats.properties")
    assert read == written.model_copy(update={"description": "Back\\slash and line: café"})


def test_properties_of_hats_are_read(tmp_path):
    TableProperties(
        catalog_name="c", catalog_type="object", total_rows=3, ra_column="ra", dec_column="dec", extra=1
    ).to_properties_file(tmp_path)

    found = CatalogProperties.read((tmp_path / "hats.properties").read_text(), "hats.properties")

    assert (found.name, found.type, found.rows, found.ra_column) == ("c", "object", 3, "ra")
    assert found.spatial_index == ("_healpix_29", 29)


def test_java_properties_are_read():
    text = "# c\n! c\n\nkey : a \\\n   b\nother\\ key=\\u00e9\\tx\nempty\n"

    assert parse_properties(text) == {"key": "a b", "other key": "é\tx", "empty": ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("obs_collection=c\n", "dataproduct_type"),
        ("obs_collection=c\ndataproduct_type=image\n", "dataproduct_type"),
        ("obs_collection=c\ndataproduct_type=object\nhats_nrows=-1\n", "hats_nrows"),
        ("obs_collection=c\ndataproduct_type=object\nhats_npix_suffix=/../../etc\n", "hats_npix_suffix"),
        ("obs_collection=c\ndataproduct_type=object\nhats_col_healpix_order=99\n", "hats_col_healpix_order"),
        ("=x\n", "not a property"),
    ],
)
def test_wrong_properties_are_rejected(text, message):
    with pytest.raises(HatsError, match=message):
        CatalogProperties.read(text, "hats.properties")


def test_a_collection_is_read_back():
    written = CollectionProperties(name="c", primary_table="main", margins=("m10", "m60"), indexes=("id", "id_index"))

    assert CollectionProperties.read(written.write(), "collection.properties") == written
