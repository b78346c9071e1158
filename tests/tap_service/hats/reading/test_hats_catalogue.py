"""Catalogues are opened and checked by their own files; contradictions and paths that lead out of the folder are errors."""

from __future__ import annotations

import gc
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.healpix import vectors_to_index
from tap_service.hats.reading import partition_file
from tap_service.hats.reading.catalogue_check import check_catalogue, check_positions
from tap_service.hats.reading.catalogue_columns import describe_columns
from tap_service.hats.reading.catalogue_folder import open_folder
from tap_service.hats.reading.folder_backend import FileMissing, Patience
from tap_service.hats.reading.hats_catalogue import HatsCatalogue, open_catalogue
from tap_service.hats.reading.parquet_file import FolderFile
from tap_service.hats.reading.partition_file import check_partition
from tests.servers.file_server import serving_files
from tests.tap_service.hats.hats_files import make_rows, write_catalogue, write_properties

PIXEL = HatsPixel(0, 4)
FILE = PIXEL.build_path()


@pytest.fixture
def stars(tmp_path: Path) -> Path:
    return write_catalogue(tmp_path / "stars")


def open_at(folder: Path) -> HatsCatalogue:
    return open_catalogue(open_folder(str(folder)))


def read_all(folder: Path, columns: tuple[str, ...] = ("id", "ra", "dec")) -> pa.Table:
    files = check_catalogue(open_at(folder))
    return pa.Table.from_batches(batch for file in files for batch in file.read_batches(columns, 1 << 20, 50))


def change_file(path: Path, change: Callable[[pa.Table], pa.Table], **options: object) -> None:
    pq.write_table(change(pq.read_table(path, partitioning=None)), path, **options)


def test_all_rows_are_read_in_their_order(stars: Path) -> None:
    catalogue = open_at(stars)
    assert catalogue.pixels == tuple(HatsPixel(0, number) for number in range(12))
    assert catalogue.spatial_index == ("_healpix_29", 29)
    assert read_all(stars).equals(make_rows().select(["id", "ra", "dec"]))


def test_batches_are_known_before_they_are_read(stars: Path) -> None:
    for limits in ((1 << 20, 50), (1 << 20, 7), (900, 50)):
        for file in check_catalogue(open_at(stars)):
            read = [batch.num_rows for batch in file.read_batches(("id", "mag"), *limits)]
            assert read == [rows for rows, _ in file.list_batches(*limits)]


def test_the_rows_of_a_server_are_those_of_the_folder(stars: Path) -> None:
    with serving_files(stars) as server:
        files = check_catalogue(open_catalogue(open_folder(server.url)))
        batches = [batch for file in files for batch in file.read_batches(("id",), 1 << 20, 50)]
        assert {path for _, path in server.requests} >= {FILE, "hats.properties", "partition_info.csv"}
    assert pa.Table.from_batches(batches)["id"].to_pylist() == make_rows()["id"].to_pylist()


def test_columns_have_the_metadata_of_files_and_properties(stars: Path) -> None:
    found = describe_columns(open_at(stars))
    assert found.description == "Stars of a test"
    assert [(field.name, field.unit, field.ucd, field.description) for field in found.fields] == [
        ("id", "", "", ""),
        ("ra", "deg", "pos.eq.ra;meta.main", ""),
        ("dec", "deg", "pos.eq.dec;meta.main", ""),
        ("mag", "mag", "phot.mag", "brightness"),
    ]


def test_structs_of_lists_are_columns_of_arrays(tmp_path: Path) -> None:
    rows = make_rows(30)
    light = pa.StructArray.from_arrays(
        [pa.array([[float(n)] * (n % 3) for n in range(30)]), pa.array([[n] * (n % 3) for n in range(30)])],
        ["mjd", "flux"],
    )
    texts = pa.array([["x"]] * 30)
    folder = write_catalogue(tmp_path / "c", rows.append_column("lc", light).append_column("texts", texts))
    columns = describe_columns(open_at(folder))
    assert [(field.name, field.type.adql) for field in columns.fields[-2:]] == [
        ("lc_mjd", "DOUBLE[]"),
        ("lc_flux", "BIGINT[]"),
    ]
    assert list(columns.unusable) == ["texts"]
    needed = columns.parts.list_file_columns(("lc_flux", "id", "lc_mjd"))
    assert needed == ("lc", "id")
    batch = columns.parts.take_columns(read_all(folder, needed).combine_chunks().to_batches()[0], ("lc_flux", "id"))
    assert batch["lc_flux"].to_pylist() == light.field(1).to_pylist()


def test_partitions_without_a_list_are_found_by_their_files(stars: Path, tmp_path: Path) -> None:
    (stars / "partition_info.csv").unlink()
    assert len(open_at(stars).pixels) == 12
    schema = pq.read_schema(stars / "dataset" / "_common_metadata")
    footers = []
    for pixel in open_at(stars).pixels[:5]:
        footers.append(pq.read_metadata(stars / pixel.build_path()))
        footers[-1].set_file_path(pixel.build_path().removeprefix("dataset/"))
    pq.write_metadata(schema, stars / "dataset" / "_metadata", footers)
    assert open_at(stars).pixels == tuple(HatsPixel(0, number) for number in range(5))


def test_partitions_may_be_folders(stars: Path) -> None:
    for pixel in open_at(stars).pixels:
        file = stars / pixel.build_path()
        rows = pq.read_table(file, partitioning=None)
        file.unlink()
        folder = stars / pixel.build_path("/")
        folder.mkdir()
        pq.write_table(rows.slice(0, 10), folder / "part0.parquet")
        pq.write_table(rows.slice(10), folder / "part1.parquet")
    write_properties(stars, hats_npix_suffix="/")
    assert read_all(stars)["id"].to_pylist() == make_rows()["id"].to_pylist()
    with serving_files(stars) as server, pytest.raises(HatsError, match="HTTP has no lists"):
        check_catalogue(open_catalogue(open_folder(server.url)))


def test_a_collection_leads_to_its_catalogue(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "all" / "stars")
    collection = tmp_path / "all" / "collection.properties"
    collection.write_text("obs_collection=all\nhats_primary_table_url=stars\nall_indexes=id id_index\n")
    index = tmp_path / "all" / "id_index"
    index.mkdir()
    write_properties(index, dataproduct_type="index", hats_index_column="id")
    catalogue = open_at(tmp_path / "all")
    assert (catalogue.path, len(catalogue.pixels)) == ("stars", 12)
    assert read_all(tmp_path / "all").num_rows == 1200
    assert describe_columns(catalogue).fields[0].ucd == "meta.id;meta.main"
    write_properties(index, dataproduct_type="index", hats_index_column="id", hats_nrows="1100")
    assert describe_columns(catalogue).fields[0].ucd == ""  # several rows of an id in a pixel
    for path in ("../stars", "/etc", "https://elsewhere.example/stars", "a/../../b", "..", "x?y"):
        collection.write_text(f"obs_collection=all\nhats_primary_table_url={path}\n")
        with pytest.raises(HatsError, match="nothing outside the named folder is read"):
            open_at(tmp_path / "all")
    collection.write_text("obs_collection=all\nhats_primary_table_url=stars\nall_indexes=id ../id_index\n")
    with pytest.raises(HatsError, match="nothing outside it is read"):
        describe_columns(open_at(tmp_path / "all"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataproduct_type": "margin", "hats_primary_table_url": "main"}, r"is a margin cache.*'main'\. Name that"),
        ({"dataproduct_type": "index"}, "of the type index, which has no rows: name"),
        ({"dataproduct_type": "map"}, "of the type map"),
        ({"dataproduct_type": "stars"}, "hats.properties: dataproduct_type"),
        ({"hats_col_ra": "raj2000"}, "hats_col_ra names the column 'raj2000', which the files do not have"),
        ({"hats_col_healpix": "cell"}, "hats_col_healpix names the column 'cell'"),
        ({"hats_nrows": "1199"}, "hats_nrows says 1,199 rows, but the partitions have 1,200"),
        ({"hats_nrows": "many"}, "hats.properties: hats_nrows"),
        ({"hats_npix_suffix": "/../../x"}, "hats.properties: hats_npix_suffix"),
        ({"hats_npix_suffix": ".pq"}, "12 of 12 partitions cannot be used"),
        ({"hats_col_healpix_order": "19"}, "its cells of order 19 are"),
        ({"hats_col_ra": "dec", "hats_col_dec": "ra"}, "positions are not in the partition's pixel"),
        ({"obs_description": r"half \ud800"}, "has half a surrogate pair"),
    ],
)
def test_deceptive_properties(stars: Path, changes: dict[str, str], message: str) -> None:
    write_properties(stars, **changes)
    with pytest.raises(HatsError, match=message):
        read_all(stars)


def test_a_folder_without_a_catalogue(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"is not a HATS catalogue: it has none of hats\.properties, properties and"):
        open_at(tmp_path)
    (tmp_path / "hats.properties").write_bytes(b"x" * (1 << 20) + b"y")
    with pytest.raises(HatsError, match="the limit is 1,048,576"):
        open_at(tmp_path)


def test_missing_partitions(stars: Path) -> None:
    (stars / FILE).unlink()
    with pytest.raises(FileMissing, match=f"{FILE} cannot be read: No such file"):
        read_all(stars)
    (stars / HatsPixel(0, 5).build_path()).unlink()
    with pytest.raises(HatsError, match=r"2 of 12 partitions cannot be used: .*Npix=4.*Npix=5"):
        read_all(stars)
    (stars / "partition_info.csv").write_text("Norder,Npix\n0,0\n0,1\n")
    with pytest.raises(
        HatsError, match=r"hats_nrows says 1,200 rows, but the partitions have \d+: partitions are missing"
    ):
        read_all(stars)
    (stars / "partition_info.csv").write_text("Norder,Npix\n")
    with pytest.raises(HatsError, match="has no partitions"):
        read_all(stars)
    (stars / "partition_info.csv").write_text("Norder,Npix\n0,1\n1,4\n")
    with pytest.raises(HatsError, match=r"stars: partition_info.csv: pixels \(1, 4\) and \(0, 1\) overlap|overlap"):
        read_all(stars)


def test_properties_have_the_keys_of_the_standard(stars: Path) -> None:
    write_properties(stars, rows="7", name="other", ra_column="dec", obs_description=r"A star: \ud83c\udf1f")
    properties = open_at(stars).properties
    assert (properties.rows, properties.name, properties.ra_column) == (1200, "stars", "ra")
    assert properties.description == "A star: \U0001f31f"


def test_lists_that_cannot_be_read(stars: Path) -> None:
    (stars / "partition_info.csv").write_text("Norder,Npix\n0," + "1" * 200_000)
    with pytest.raises(HatsError, match=r"partition_info\.csv is not CSV: field larger than"):
        open_at(stars)
    (stars / "partition_info.csv").unlink()
    pq.write_table(pa.table({"a": [1]}).drop(["a"]), stars / "dataset" / "_metadata")
    with pytest.raises(HatsError, match="has no partitions"):
        open_at(stars)


def test_a_column_is_there_once(stars: Path) -> None:
    change_file(stars / FILE, lambda rows: rows.append_column("mag", rows["mag"]))
    with pytest.raises(HatsError, match=f"{FILE} has more than one column called 'mag'"):
        check_catalogue(open_at(stars))
    schema = pq.read_schema(stars / FILE)
    pq.write_metadata(schema, stars / "dataset" / "_common_metadata")
    with pytest.raises(HatsError, match="stars has more than one column called 'mag'"):
        open_at(stars)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop_columns(["mag"]), "it has no mag"),
        (lambda rows: rows.append_column("new", rows["id"]), "new is new"),
        (lambda rows: rows.set_column(1, "id", rows["id"].cast(pa.string())), "id is string instead of int64"),
    ],
)
def test_mixed_schemas(stars: Path, change: Callable[[pa.Table], pa.Table], message: str) -> None:
    change_file(stars / FILE, change)
    with pytest.raises(HatsError, match=f"{FILE} has different columns from the catalogue: {message}"):
        read_all(stars)


def test_the_order_of_columns_and_large_strings_do_not_matter(tmp_path: Path) -> None:
    rows = make_rows().append_column("name", pa.array([f"s {n}" for n in range(1200)]))
    stars = write_catalogue(tmp_path / "stars", rows)
    change_file(stars / FILE, lambda rows: rows.select(rows.schema.names[::-1]))
    other = stars / HatsPixel(0, 5).build_path()
    change_file(other, lambda rows: rows.set_column(5, "name", rows["name"].cast(pa.large_string())))
    assert read_all(stars, ("id", "name")).equals(rows.select(["id", "name"]))


@pytest.mark.parametrize("statistics", [True, False])
def test_rows_of_other_pixels(stars: Path, statistics: bool) -> None:
    other = pq.read_table(stars / HatsPixel(0, 5).build_path(), partitioning=None).slice(0, 1)
    change_file(stars / FILE, lambda rows: pa.concat_tables([rows, other]), write_statistics=statistics)
    write_properties(stars, hats_nrows=None)
    message = "its cells of order 29 are" if statistics else r"row \d+: cell \d+ of order 29 is not in the partition's"
    with pytest.raises(HatsError, match=f"Npix=4.parquet.*{message}"):
        read_all(stars)


def test_pixels_in_another_order_of_the_sky(tmp_path: Path) -> None:
    """Partitions and index agree, but belong to other positions: as with RING numbers, or another nside."""
    rows = make_rows()
    turned = rows.set_column(2, "ra", pc.subtract(360, rows["ra"]))
    with pytest.raises(HatsError, match=r"positions are not in the partition's pixel.*NESTED, in ICRS"):
        read_all(write_catalogue(tmp_path / "turned", turned))


def test_an_index_of_coarser_order(tmp_path: Path) -> None:
    rows = make_rows()
    coarse = rows.append_column("cell", pc.cast(pc.shift_right(rows["_healpix_29"], 2 * 20), pa.int32()))
    folder = write_catalogue(tmp_path / "coarse", coarse)
    write_properties(folder, hats_col_healpix="cell", hats_col_healpix_order="9")
    assert read_all(folder).num_rows == 1200


def test_half_a_file(stars: Path) -> None:
    data = (stars / FILE).read_bytes()
    (stars / FILE).write_bytes(data[: len(data) // 2])
    with pytest.raises(HatsError, match="does not end like a Parquet file: it is another file, or only the start"):
        read_all(stars)
    (stars / FILE).write_bytes(b"")
    with pytest.raises(HatsError, match="does not end like a Parquet file"):
        read_all(stars)


@pytest.mark.parametrize(
    ("footer", "message"),
    [(1 << 31, "declares a footer of 2,147,483,648 bytes; the limit is"), (1 << 20, "and has only")],
)
def test_huge_footers(stars: Path, footer: int, message: str) -> None:
    data = (stars / FILE).read_bytes()
    (stars / FILE).write_bytes(data[:-8] + struct.pack("<I", footer) + b"PAR1")
    with pytest.raises(HatsError, match=message):
        read_all(stars)


def test_broken_bytes(stars: Path) -> None:
    data = bytearray((stars / FILE).read_bytes())
    random = np.random.default_rng(3)
    data[4 : len(data) // 2] = random.bytes(len(data) // 2 - 4)
    (stars / FILE).write_bytes(data)
    with pytest.raises(HatsError, match=r"Npix=4\.parquet"):
        read_all(stars)
    data[-400:-8] = random.bytes(392)
    (stars / FILE).write_bytes(data)
    with pytest.raises(HatsError, match=r"Npix=4\.parquet cannot be read as Parquet"):
        read_all(stars)


def test_a_partition_that_changes_after_its_check(stars: Path) -> None:
    [file] = [file for file in check_catalogue(open_at(stars)) if file.pixel == PIXEL]
    change_file(stars / FILE, lambda rows: rows.slice(1))
    with pytest.raises(HatsError, match="has changed: it had"):
        list(file.read_batches(("id",), 1 << 20, 50))


def test_a_server_that_sends_half_files_gives_no_short_answer(stars: Path) -> None:
    patience = Patience(attempts=2, pause_seconds=0.01)
    with serving_files(stars) as server:
        files = check_catalogue(open_catalogue(open_folder(server.url, patience)))
        server.choose_failure = lambda method, path: "half" if path == FILE else ""
        [file] = [file for file in files if file.pixel == PIXEL]
        with pytest.raises(HatsError, match=r"Npix=4\.parquet cannot be read: .* \(after 2 attempts"):
            list(file.read_batches(("id",), 1 << 20, 50))


def test_only_what_was_named_is_read(stars: Path) -> None:
    """The server sees no path outside the catalogue, and no partition twice for its footer."""
    with serving_files(stars.parent) as server:
        check_catalogue(open_catalogue(open_folder(f"{server.url}/stars")))
        assert all(path.startswith("stars/") for _, path in server.requests)
        assert [method for method, path in server.requests if path == f"stars/{FILE}"] == ["HEAD", "GET"]


def test_our_cells_are_those_of_cdshealpix() -> None:
    """The check of positions depends on it."""
    rows = make_rows()
    ra, dec = np.radians(rows["ra"].to_numpy()), np.radians(rows["dec"].to_numpy())
    points = np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=-1)
    assert np.max(np.abs(vectors_to_index(points) - rows["_healpix_29"].to_numpy()) >> 10) == 0


def test_large_footers_are_read_one_at_a_time(stars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    parse = FolderFile.parse_footer

    def note(file: FolderFile, **options: bool) -> pq.ParquetFile:
        threads.add(threading.get_ident())
        return parse(file, **options)

    catalogue = open_at(stars)
    monkeypatch.setattr(FolderFile, "parse_footer", note)
    files = check_catalogue(catalogue)
    assert sum(file.rows for file in files) == 1200
    monkeypatch.setattr(partition_file, "_LARGE_FOOTER", 100)
    assert all(file.footer_bytes > 100 for file in files)
    threads.clear()
    assert check_catalogue(catalogue) == files
    check_positions(files)
    assert len(threads) == 1


def test_a_checked_footer_is_not_kept(stars: Path) -> None:
    """Not even until the next garbage collection: it may be large."""
    catalogue = open_at(stars)
    gc.collect()
    gc.disable()
    try:
        before = _count_footers()
        check_partition(catalogue, catalogue.pixels[0])
        assert _count_footers() == before
    finally:
        gc.enable()


def _count_footers() -> int:
    return sum(isinstance(each, pq.FileMetaData) for each in gc.get_objects())
