"""Which table of a FITS file is read, under which names, and the forms of its header."""

from __future__ import annotations

import gzip
import io
import subprocess
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits

from tap_service.models.read_options import ReadOptions
from tap_service.readers import fits_table_choice
from tap_service.readers.file_formats import describe_form, open_source
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.raw_fits import write_card, write_file, write_header, write_table
from tests.tap_service.readers.reading import list_types, read_rows


def build_table(value: int, name: str = "") -> fits.BinTableHDU:
    return fits.BinTableHDU.from_columns([fits.Column("n", "J", array=np.array([value], "i4"))], name=name or None)


def write(path: Path, *hdus: fits.hdu.base.ExtensionHDU) -> Path:
    file = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(np.zeros((3, 1000))), *hdus]).writeto(file)
    path.write_bytes(gzip.compress(file.getvalue()) if path.suffix == ".gz" else file.getvalue())
    return path


@pytest.mark.parametrize("name", ["t.fits", "t.fits.gz"])
@pytest.mark.parametrize(("hdu", "value"), [("", 5), ("1", 5), ("3", 6), ("ZCATALOG", 7), ("zcatalog", 7)])
def test_the_sender_chooses_a_table_by_number_or_name(tmp_path: Path, name: str, hdu: str, value: int) -> None:
    path = write(
        tmp_path / name, build_table(5), fits.ImageHDU(np.zeros(9)), build_table(6, "FIRST"), build_table(7, "ZCATALOG")
    )
    assert read_rows(path, ReadOptions(hdu=hdu)) == ([(value,)], [])


def test_the_other_tables_of_a_file_are_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.fits", build_table(5), build_table(6, "SECOND"))
    source = open_source(path)
    assert source.notes == ("HDU 1 (1 rows) is read; --hdu reads another table: 2 SECOND (1 rows)",)
    assert describe_form(path, source) == "FITS, HDU 1"


@pytest.mark.parametrize("hdu", ["0", "4", "THIRD", "-1"])
def test_a_missing_table_is_refused_with_a_list_of_tables(tmp_path: Path, hdu: str) -> None:
    path = write(tmp_path / "t.fits", build_table(5), build_table(6, "SECOND"))
    message = rf"has no table in HDU {hdu}; its tables are in the HDUs 1 \(1 rows\), 2 SECOND \(1 rows\)"
    with pytest.raises(ReadError, match=message):
        open_source(path, ReadOptions(hdu=hdu))


def test_the_catalogue_of_an_ldac_file_is_its_second_table(tmp_path: Path) -> None:
    header = fits.BinTableHDU.from_columns([fits.Column("Field Header Card", "80A", array=["SIMPLE  = T"])])
    header.name = "LDAC_IMHEAD"
    path = write(tmp_path / "t.fits", header, build_table(18, "LDAC_OBJECTS"))
    assert read_rows(path) == ([(18,)], [])
    assert list_types(open_source(path, ReadOptions(hdu="LDAC_IMHEAD"))) == {"Field Header Card": "CHAR"}


def test_an_ascii_table_in_front_is_the_first_table(tmp_path: Path) -> None:
    path = write(tmp_path / "t.fits", fits.TableHDU.from_columns([fits.Column("a", "I3", array=[4])]), build_table(5))
    assert list_types(open_source(path)) == {"a": "INTEGER"}


def test_a_header_with_latin_1_is_read(tmp_path: Path) -> None:
    hdu = build_table(5)
    hdu.header["HISTORY"] = "gemaess X"
    hdu.header["TUNIT1"] = "um X"
    path = write(tmp_path / "t.fits", hdu)
    path.write_bytes(path.read_bytes().replace(b"gemaess X", b"gem\xe4\xdf....").replace(b"'um X", b"'\xb5m  "))
    assert read_rows(path) == ([(5,)], [])
    assert open_source(path).fields[0].unit == "µm"


def test_columns_of_equal_and_missing_names_are_read(tmp_path: Path) -> None:
    columns = [fits.Column(f"name{n}", "J", array=np.array([n], "i4")) for n in range(4)]
    path = write(tmp_path / "t.fits", fits.BinTableHDU.from_columns(columns))
    whole = path.read_bytes()
    for old, new in ((b"'name0   '", b"'mag     '"), (b"'name1   '", b"'MAG     '"), (b"'name2   '", b"'        '")):
        whole = whole.replace(old, new)
    path.write_bytes(whole.replace(b"TTYPE4  =", b"NOTHING ="))
    source = open_source(tmp_path / "t.fits")
    assert [field.name for field in source.fields] == ["mag", "MAG_2", "col3", "col4"]
    assert source.notes[0] == "another column MAG is called MAG_2"
    assert read_rows(tmp_path / "t.fits")[0] == [(0, 1, 2, 3)]
    twins = open_source(tmp_path / "t.fits", ReadOptions(case_matters=True))
    assert [field.name for field in twins.fields[:2]] == ["mag", "MAG"]


@pytest.mark.parametrize("count", [999, 1000, 1203])
def test_more_than_999_columns_of_stilts_are_all_read(tmp_path: Path, count: int) -> None:
    names = [f"c{number}" for number in range(1, count + 1)]
    (tmp_path / "t.csv").write_text(f"{','.join(names)}\n{','.join(map(str, range(count)))}\n")
    command = ["stilts", "tcopy", f"in={tmp_path}/t.csv", f"out={tmp_path}/t.fits", "ofmt=fits-basic"]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    assert [field.name for field in open_source(tmp_path / "t.fits").fields] == names
    assert read_rows(tmp_path / "t.fits") == ([(*range(count),)], [])


def test_an_unknown_form_of_extended_columns_is_refused(tmp_path: Path) -> None:
    columns = [
        fits.Column("a", "J", array=np.array([1], "i4")),
        fits.Column("XT_MORECOLS", "8B", array=np.zeros((1, 8), "u1")),
    ]
    path = write(tmp_path / "t.fits", fits.BinTableHDU.from_columns(columns))
    with pytest.raises(ReadError, match=r"its column 2 \(XT_MORECOLS\) holds other columns in an unknown form"):
        open_source(path)


def test_data_after_the_last_hdu_are_ignored(tmp_path: Path) -> None:
    path = write(tmp_path / "t.fits", build_table(5))
    path.write_bytes(path.read_bytes() + b"\0" * 5760)
    assert read_rows(path) == ([(5,)], [])


def test_a_file_of_another_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.fits"
    path.write_text("id,v\n1,2\n")
    with pytest.raises(ReadError, match=r"is not a FITS file: it does not start with SIMPLE. Give .* with --format"):
        open_source(path)


@pytest.mark.parametrize("kept", [100, 2880 + 12000 + 2880, 2880 + 12000 + 2880 + 1000])
def test_a_file_that_ends_in_a_header_is_refused(tmp_path: Path, kept: int) -> None:
    whole = write(tmp_path / "t.fits", build_table(5)).read_bytes()
    (tmp_path / "t.fits").write_bytes(whole[: kept // 2880 * 2880 + kept % 2880])
    with pytest.raises(ReadError, match=r"has no binary table|ends inside a header"):
        open_source(tmp_path / "t.fits")


def test_a_table_after_random_groups_is_found(tmp_path: Path) -> None:
    sizes = {"BITPIX": -32, "NAXIS": 3, "NAXIS1": 0, "NAXIS2": 3, "NAXIS3": 500, "PCOUNT": 6, "GCOUNT": 4}
    cards = [b"SIMPLE  =                    T", b"GROUPS  =                    T"]
    primary = write_header([*cards, *(write_card(key, value) for key, value in sizes.items())])
    table = write_table([{"TTYPE": "n", "TFORM": "J"}], b"\0\0\0\5")
    (tmp_path / "t.fits").write_bytes(primary + b"\0" * (-(-4 * 4 * 1506 // 2880) * 2880) + table)
    assert read_rows(tmp_path / "t.fits") == ([(5,)], [])


@pytest.mark.parametrize("kind", ["BINTABLE", "A3DTABLE"])
def test_a_compressed_image_is_no_table(tmp_path: Path, kind: str) -> None:
    image = write_table([{"TTYPE": "COMPRESSED_DATA", "TFORM": "1PB"}], b"\0" * 8, cards=[b"ZIMAGE  = T"])
    table = write_table([{"TTYPE": "n", "TFORM": "J"}], b"\0\0\0\5", kind=kind)
    path = write_file(tmp_path / "t.fits", image, table)
    assert read_rows(path) == ([(5,)], [])
    for alone in (
        write_file(tmp_path / "i.fits", image),
        write_file(
            tmp_path / "z.fits",
            table.replace(b"END     ", b"ZTABLE  = T".ljust(80) + b"END     ", 1)[:2880] + b"\0\0\0\5",
        ),
    ):
        with pytest.raises(ReadError, match="holds a compressed image or table: unpack it with funpack first"):
            open_source(alone)


def test_a_broken_hdu_after_the_table_is_reported(tmp_path: Path) -> None:
    table = write_table([{"TTYPE": "n", "TFORM": "J"}], b"\0\0\0\5")
    path = write_file(tmp_path / "t.fits", table, table[:1000])
    assert open_source(path).notes == (
        f"HDU 1 (1 rows) is read; the tables after it are not all listed: {path} ends inside a header",
    )
    assert read_rows(path) == ([(5,)], [])
    with pytest.raises(ReadError, match="ends inside a header"):
        open_source(path, ReadOptions(hdu="2"))


def test_only_a_part_of_a_compressed_file_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits_table_choice, "_MAX_UNPACKED", 8000)
    path = write(tmp_path / "t.fits.gz", build_table(5), build_table(6, "SECOND"), build_table(7, "THIRD"))
    assert open_source(path).notes == (
        "HDU 1 (1 rows) is read; --hdu reads another table: 2 SECOND (1 rows)",
        "HDU 1 (1 rows) is read; the tables after it are not all listed: only 0 MiB of a compressed file are searched",
    )
    assert read_rows(path, ReadOptions(hdu="3")) == ([(7,)], [])


def test_a_table_after_more_than_a_thousand_hdus_is_found(tmp_path: Path) -> None:
    empty = write_header([b"XTENSION= 'IMAGE   '", write_card("BITPIX", 8), write_card("NAXIS", 0)])
    path = write_file(tmp_path / "t.fits", *[empty] * 1200, write_table([{"TTYPE": "n", "TFORM": "J"}], b"\0\0\0\5"))
    assert read_rows(path) == ([(5,)], [])


@pytest.mark.parametrize(("hdu", "value"), [("SCI", 5), ("sci,2", 6), ("SCI,1", 5), ("02", 6)])
def test_extver_chooses_among_tables_of_one_name(tmp_path: Path, hdu: str, value: int) -> None:
    first, second = build_table(5, "SCI"), build_table(6, "SCI")
    second.header["EXTVER"] = 2
    assert read_rows(write(tmp_path / "t.fits", first, second), ReadOptions(hdu=hdu)) == ([(value,)], [])


def test_a_table_with_the_name_of_an_image_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "t.fits", fits.ImageHDU(np.zeros(9), name="CAT"), build_table(5, "CAT"))
    assert read_rows(path, ReadOptions(hdu="CAT")) == ([(5,)], [])
