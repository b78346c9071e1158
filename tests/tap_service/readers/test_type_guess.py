"""The types of texts: no digit is lost, and the sender learns the choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tap_service.readers.csv_reader import CsvSource
from tests.tap_service.readers.reading import list_types, read_rows, read_source

#: ids of SDSS that are equal as DOUBLE
TWINS = ("10355091442541213696", "10355091442541213697")


def write(tmp_path: Path, *values: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["v,n", *(f"{value},1" for value in values)]) + "\n")
    return path


@pytest.mark.parametrize(
    ("values", "type_", "note"),
    [
        (["1", "2"], "BIGINT", None),
        (["9223372036854775807", "-9223372036854775808"], "BIGINT", None),
        (["5", "9223372036854775808"], "CHAR", "column v stays text: 9223372036854775808 is beyond BIGINT"),
        (["1237648720693755918", "nan"], "BIGINT", "column v has whole numbers and nan, which is NULL"),
        (["1237648720693755918", "1.5"], "CHAR", "column v stays text: DOUBLE would round 1237648720693755918"),
        (["100000000000000000000", "1.5"], "DOUBLE", None),
        (["1.5", "nan"], "DOUBLE", "column v has nan, which stays NaN (--null nan makes it NULL)"),
        (["00012", "00013"], "CHAR", "column v stays text: it has leading zeros, as in '00012'"),
        (["7", "-007", "nan"], "CHAR", "column v stays text: it has leading zeros, as in '-007'"),
        (
            ["0xFFFFFFFFFFFFFFFF", "1"],
            "CHAR",
            "column v stays text: it has hexadecimal numbers, as in '0xFFFFFFFFFFFFFFFF'",
        ),
        (["-0", "10"], "CHAR", "column v stays text: it has zeros with a sign, as in '-0'"),
        (["0", "10"], "BIGINT", None),
        (["+1", "-1"], "BIGINT", None),
        (["1850-01-01", "2000-01-01"], "CHAR", "column v stays text: timestamps are from 1900 to 2299"),
        (["2024-02-29", "2000-01-01"], "TIMESTAMP", None),
        (["2024-02-29T12:00:00.123456789", "2024-02-29T12:00:00"], "TIMESTAMP", None),
        (["true", "False"], "BOOLEAN", None),
        (["00:42:44.3", "01:33:50.9"], "CHAR", None),
        (["10,5"], "CHAR", None),
    ],
)
def test_a_type_keeps_every_digit(tmp_path: Path, values: list[str], type_: str, note: str | None) -> None:
    source = CsvSource(write(tmp_path, *(f'"{value}"' if "," in value else value for value in values)))
    assert list_types(source)["v"] == type_
    assert source.notes == (() if note is None else (note,))


def test_nan_in_whole_numbers_is_null(tmp_path: Path) -> None:
    rows, rejects = read_rows(write(tmp_path, "1237648720693755918", "nan", " -NaN", "1"))
    assert rows == [(1237648720693755918, 1), (None, 1), (None, 1), (1, 1)]
    assert rejects == []


def test_ids_beyond_bigint_stay_different(tmp_path: Path) -> None:
    rows, rejects = read_rows(write(tmp_path, *TWINS))
    assert rejects == []
    assert [row[0] for row in rows] == [*TWINS]


def test_an_id_beyond_bigint_late_in_a_file_makes_the_column_text(tmp_path: Path) -> None:
    source = CsvSource(write(tmp_path, *["1"] * 2_200_000, *TWINS))
    assert list_types(source)["v"] == "BIGINT"
    source.keep_digits()
    assert source.notes == (f"column v stays text: {TWINS[0]} is beyond BIGINT",)
    rows, rejects = read_source(source)
    assert (rows[0], rows[-1], rejects) == (("1", 1), (TWINS[1], 1), [])


@pytest.mark.parametrize("value", ["007", "0x1F", " -00"])
def test_characters_that_a_number_loses_late_in_a_file_make_the_column_text(tmp_path: Path, value: str) -> None:
    source = CsvSource(write(tmp_path, *["1"] * 1_100_000, value))
    source.keep_digits()
    assert list_types(source) == {"v": "CHAR", "n": "BIGINT"}
    rows, rejects = read_source(source)
    assert (rows[-1], rejects) == ((value, 1), [])


def test_a_whole_number_late_in_a_file_of_decimals_is_not_rounded(tmp_path: Path) -> None:
    source = CsvSource(write(tmp_path, "1.5", *["2.5"] * 1_100_000, "1237648720693755919"))
    source.keep_digits()
    assert list_types(source) == {"v": "CHAR", "n": "BIGINT"}


def test_longitudes_that_may_be_hours_are_doubted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ra,dec\n0.712,41.269\n23.9,30.66\n")
    (doubt,) = CsvSource(path).list_doubts()
    assert doubt.startswith(
        "column ra has no value above 24 in the first rows and is read in degrees: if it is in hours"
    )
    path.write_text("ra,dec\n0.712,41.269\n24.5,30.66\n")
    assert [*CsvSource(path).list_doubts()] == []
