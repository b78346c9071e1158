"""Headers that violate the standard, as programs write them, and headers that contradict the data."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tap_service.readers.file_formats import open_source
from tap_service.readers.fits_header import Header
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.raw_fits import PRIMARY, Value, write_card, write_file, write_header, write_table
from tests.tap_service.readers.reading import read_rows

FIVE = struct.pack(">i", 5)


def write_five(path: Path, *cards: bytes, **keywords: Value) -> Path:
    """Write a table of an integer column ``n`` with the value 5."""
    return write_file(path, write_table([{"TTYPE": "n", "TFORM": "J", **keywords}], FIVE, cards=list(cards)))


def parse_card(card: bytes) -> object:
    return Header(card.ljust(80), Path("t.fits")).get("KEY")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (b"'text  ' / comment", "text"),
        (b"'it''s'", "it's"),
        (b"''", ""),
        (b"'a / b'", "a / b"),
        (b"                   T", True),
        (b"F / comment", False),
        (b"12", 12),
        (b"+9223372036854775808", 2**63),
        (b"1.5D3", 1500.0),
        (b".5", 0.5),
        (b"1.", 1.0),
        (b"9.223372036854775808E18", 2.0**63),
        (b"               / undefined", None),
        (b"", None),
        (b"2010-01-01T00:00:00", "2010-01-01T00:00:00"),
        (b"1_000", "1_000"),
        (b"'a\x1b[2Jb'", "a [2Jb"),
        ("'µm'".encode(), "µm"),
        ("'µm'".encode("latin-1"), "µm"),
    ],
)
def test_the_value_of_a_card(written: bytes, value: object) -> None:
    assert parse_card(b"KEY     = " + written) == value


def test_a_long_text_continues_in_latin_1(tmp_path: Path) -> None:
    cards = ["TCOMM1  = 'Größe des &'", "CONTINUE  'Sterns in Länge&'", "CONTINUE  ' ende'"]
    path = write_five(tmp_path / "t.fits", *(card.encode("latin-1") for card in cards))
    assert open_source(path).fields[0].description == "Größe des Sterns in Länge ende"


def test_an_ampersand_at_the_end_stays() -> None:
    assert parse_card(b"KEY     = 'R&'") == "R&"


@pytest.mark.parametrize("comment", ["Größe", "é"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_comment_beyond_ascii_leaves_the_value(tmp_path: Path, comment: str, encoding: str) -> None:
    value = f"          2147483648 / {comment}".encode(encoding)
    assert read_rows(write_five(tmp_path / "t.fits", TZERO=value)) == ([(2**31 + 5,)], [])


@pytest.mark.parametrize(
    "card",
    [
        b"CRVAL1  =                  nan",
        b"EQUINOX = 1,5",
        b"DATE-OBS= 2010-01-01",
        b"OBJECT  = 'a\tb'",
        b"COMMENT a\0b",
        b"HIERARCH ESO no value",
        b"CONTINUE  'nothing'",
    ],
)
def test_an_unneeded_invalid_card_does_not_matter(tmp_path: Path, card: bytes) -> None:
    assert read_rows(write_five(tmp_path / "t.fits", card)) == ([(5,)], [])


def test_the_first_of_two_equal_keywords_counts(tmp_path: Path) -> None:
    assert read_rows(write_five(tmp_path / "t.fits", write_card("TFORM1", "D"))) == ([(5,)], [])


@pytest.mark.parametrize("form", ["1j", " 1J ", "J"])
def test_a_form_in_any_case_is_read(tmp_path: Path, form: str) -> None:
    assert read_rows(write_five(tmp_path / "t.fits", TFORM=form)) == ([(5,)], [])


@pytest.mark.parametrize("null", [5, "5", b"5.0", b"0.5D1"])
def test_tnull_is_a_number_in_any_spelling(tmp_path: Path, null: Value) -> None:
    assert read_rows(write_five(tmp_path / "t.fits", TNULL=null)) == ([(None,)], [])


@pytest.mark.parametrize("value", ["abc", b"T", b"1E400", b"NaN"])
@pytest.mark.parametrize("keyword", ["TZERO", "TSCAL"])
def test_a_scaling_that_is_not_a_number_is_refused(tmp_path: Path, keyword: str, value: Value) -> None:
    path = write_five(tmp_path / "t.fits", **{keyword: value})
    with pytest.raises(ReadError, match=f"{path} has a header whose {keyword}1 is not a number"):
        open_source(path)


@pytest.mark.parametrize("zero", [10**25, b"1E300"])
def test_integers_plus_a_number_beyond_integers_are_doubles(tmp_path: Path, zero: Value) -> None:
    assert read_rows(write_five(tmp_path / "t.fits", TZERO=zero)) == ([(float(zero),)], [])


@pytest.mark.parametrize("zero", [2**63, 2**64, -(2**64)])
def test_a_sum_beyond_bigint_is_a_reject(tmp_path: Path, zero: int) -> None:
    rows, rejects = read_rows(write_five(tmp_path / "t.fits", TZERO=zero))
    assert (rows, [reject.value for reject in rejects]) == ([], [str(zero + 5)])


def test_a_column_without_values_is_left_out(tmp_path: Path) -> None:
    columns: list[dict[str, Value]] = [{"TTYPE": "no", "TFORM": "0E"}, {"TTYPE": "n", "TFORM": "J"}]
    path = write_file(tmp_path / "t.fits", write_table(columns, FIVE))
    assert open_source(path).notes == ("column no is left out: it has no values",)
    assert read_rows(path) == ([(5,)], [])


@pytest.mark.parametrize(
    ("columns", "rows"), [([], b""), ([{"TTYPE": "n", "TFORM": "0A"}], b"")], ids=["no fields", "no values"]
)
def test_a_table_without_columns_is_refused(tmp_path: Path, columns: list[dict[str, Value]], rows: bytes) -> None:
    path = write_file(
        tmp_path / "t.fits",
        write_table(columns, rows).replace(b"NAXIS2  =                    1", b"NAXIS2  =  2305843009213693952"),
    )
    with pytest.raises(ReadError, match="has a table without columns in HDU 1"):
        open_source(path)


def test_more_rows_than_the_file_has_are_refused(tmp_path: Path) -> None:
    table = write_table([{"TTYPE": "n", "TFORM": "J"}], FIVE)
    path = write_file(
        tmp_path / "t.fits", table.replace(b"NAXIS2  =                    1", b"NAXIS2  =  2305843009213693952")
    )
    with pytest.raises(ReadError, match="ends in row 721 of 2305843009213693952"):
        read_rows(path)


def test_axes_too_large_for_any_file_are_refused(tmp_path: Path) -> None:
    axes = [write_card(f"NAXIS{number}", 2**61) for number in range(1, 900)]
    primary = write_header(
        [b"SIMPLE  =                    T", write_card("BITPIX", 8), write_card("NAXIS", 899), *axes]
    )
    (tmp_path / "t.fits").write_bytes(primary + PRIMARY)
    with pytest.raises(ReadError, match="has no binary table"):
        open_source(tmp_path / "t.fits")


@pytest.mark.parametrize(
    ("comment", "description"),
    [
        ("Right ascension / epoch 2016", "Right ascension / epoch 2016"),
        ("Name of the star", "Name of the star"),
        ("Größe", "Größe"),
        ("label for field   1", ""),
        ("label for column 12", ""),
        ("Column Name", ""),
        ("name of field", ""),
        ("N", ""),
        ("", ""),
    ],
)
def test_the_comment_of_a_name_describes_the_column(tmp_path: Path, comment: str, description: str) -> None:
    path = write_five(tmp_path / "t.fits", TTYPE=f"'n       ' / {comment}".encode())
    assert open_source(path).fields[0].description == description


def test_a_separate_description_has_priority_over_a_comment(tmp_path: Path) -> None:
    path = write_five(tmp_path / "t.fits", TTYPE=b"'n' / a comment", TCOMM="a description")
    assert open_source(path).fields[0].description == "a description"
