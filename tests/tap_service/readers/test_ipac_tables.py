"""IPAC tables: the bars of the header mark the bytes of the columns; astropy and STILTS read the same values."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tap_service.readers.file_formats import open_source, open_upload
from tap_service.readers.ipac_header import is_ipac_start
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.text_rows import (
    list_reasons,
    list_types,
    read_rows,
    read_with_astropy,
    read_with_stilts,
    to_words,
)

STARS = r"""\catalog = 'Stars of a test'
\fixlen = T
\ This is a comment
\ ra (deg)
\ ___ right ascension (J2000)
\ source_id
\ ___ identifier
|          source_id|      ra|      dec|  mag|number| name|      date|
|               long|  double|   double| real|     i| char|      date|
|                   |     deg|  degrees|  mag|      |     |          |
|               null|    null|     null| -999|   -99| null|      null|
 1237648720693755918    10.25      -5.5  12.5      7 NGC 1 2010-01-31 
 -922337203685477580 359.9999 89.123456  -999    -99  null       null 
                null     null      null  -999  99999  x  y 2010-02-01 
"""

ROWS = [
    {
        "source_id": 1237648720693755918,
        "ra": 10.25,
        "dec": -5.5,
        "mag": 12.5,
        "number": 7,
        "name": "NGC 1",
        "date": "2010-01-31",
    },
    {
        "source_id": -922337203685477580,
        "ra": 359.9999,
        "dec": 89.123456,
        "mag": None,
        "number": None,
        "name": None,
        "date": None,
    },
    {
        "source_id": None,
        "ra": None,
        "dec": None,
        "mag": None,
        "number": 99999,
        "name": "x  y",
        "date": "2010-02-01",
    },
]

SMALL = "|  a|  b|\n|int|int|\n"


def write(folder: Path, text: str, name: str = "stars.tbl") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_values_nulls_and_types_follow_the_header(tmp_path: Path) -> None:
    path = write(tmp_path, STARS)
    assert read_rows(path) == (ROWS, [])
    types = list_types(open_source(path))
    assert types == {
        "source_id": "long",
        "ra": "double",
        "dec": "double",
        "mag": "double",
        "number": "int",
        "name": "unicodeChar",
        "date": "unicodeChar",
    }


def test_units_and_descriptions_are_read(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, STARS))
    assert [field.unit for field in source.fields] == ["", "deg", "degrees", "mag", "", "", ""]
    assert [field.description for field in source.fields][:3] == ["identifier", "right ascension (J2000)", ""]
    assert source.description == "Stars of a test"


def test_astropy_and_stilts_read_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, STARS)
    rows, _ = read_rows(path)
    assert rows == read_with_astropy(path, format="ascii.ipac")
    found = read_with_stilts(path, "ipac")  # for numbers, it knows only the NULL null
    assert to_words(rows) == [
        {key: "" if word in ("-999.0", "-99") else word for key, word in row.items()} for row in found
    ]


def test_a_number_equals_its_null_in_any_spelling(tmp_path: Path) -> None:
    header = "|     a|     b|\n|double|   int|\n|      |      |\n|  -999|   -99|\n"
    path = write(tmp_path, f"{header} -999.0    -99 \n -999.   -099  \n")
    assert read_rows(path) == ([{"a": None, "b": None}] * 2, [])


def test_types_may_be_abbreviated(tmp_path: Path) -> None:
    path = write(tmp_path, "|a|b|c|d|e |f |g |\n|i|l|r|f|do|da|c |\n 1 2 3 4 5  6  7  \n")
    types = ["int", "long", "double", "double", "double", "unicodeChar", "unicodeChar"]
    assert list(list_types(open_source(path)).values()) == types


def test_an_integer_column_is_as_wide_as_its_numbers_can_be(tmp_path: Path) -> None:
    path = write(tmp_path, "|        a|         b|\n|      int|       int|\n 999999999 2147483648 \n")
    assert list_types(open_source(path)) == {"a": "int", "b": "long"}
    assert read_rows(path) == ([{"a": 999999999, "b": 2147483648}], [])


def test_types_are_guessed_if_the_header_has_none(tmp_path: Path) -> None:
    path = write(tmp_path, "|  a|  b|  c|  d|\n   1 1.5  -2 007 \n  +3  2  .5   8 \n")
    source = open_source(path)
    assert list_types(source) == {"a": "long", "b": "double", "c": "double", "d": "unicodeChar"}
    assert source.notes == ("the file has no types: they are guessed from its first rows",)
    assert read_rows(path)[0][1] == {"a": 3, "b": 2.0, "c": 0.5, "d": "8"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("   1   2 3", "has text beyond byte 9, where the lines end according to the header"),
        ("  11  22", None),
        (" 1111  22 ", "has '1' in byte 5, between the columns of the header"),
        (r"\ a comment", r"has text beyond byte 9, where the lines end according to the header"),
        ("|  a|  b|", "has '|' in byte 1, between the columns of the header"),
    ],
)
def test_a_row_not_aligned_with_the_header_is_rejected(row: str, reason: str | None, tmp_path: Path) -> None:
    rows, rejects = read_rows(write(tmp_path, f"{SMALL} 100 200 \n{row}\n 300 400 \n"))
    assert [row["a"] for row in rows] == ([100, 300] if reason else [100, 11, 300])
    assert list_reasons(rejects) == ([(4, reason)] if reason else [])


def test_a_row_that_ends_before_a_number_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path, "|  a|  b|\n|int|int|\n|   |   |\n|nul|nul|\n   1   2 \n   3\n")
    rows, rejects = read_rows(path)
    assert rows == [{"a": 1, "b": 2}]
    assert list_reasons(rejects) == [(6, "has only 4 bytes; the column b starts at byte 6 according to the header")]


def test_a_value_of_another_type_is_rejected_with_its_line(tmp_path: Path) -> None:
    _, rejects = read_rows(write(tmp_path, f"{SMALL}   1   2 \n\n 1.5   x \n"))
    assert list_reasons(rejects) == [(5, "does not fit the type INTEGER")]


def test_lines_may_end_with_cr_lf_and_the_file_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "stars.tbl.gz"
    path.write_bytes(gzip.compress(STARS.replace("\n", "\r\n").encode()))
    assert read_rows(path) == (ROWS, [])


def test_equal_names_get_numbers(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, "|  a|  A|---|\n|int|int|int|\n   1   2   3 \n"))
    assert [field.name for field in source.fields] == ["a", "A_2", "col3"]
    assert len(source.notes) == 2


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("|  a|  b|\n| int| in|\n", "the | of line 2 are not below the | of the names"),
        ("|  a|  b|\n|int|int\n", "line 2 starts with | but does not end with it"),
        ("|  a|  b|\n|int|url|\n", "the column b has the type 'url'"),
        ("|  a|\n|int|\n|   |\n|   |\n|   |\n", "line 5 is a fifth line with |"),
        ("\\ nothing\n 1 2\n", "has no line that starts and ends with |"),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(header: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as error:
        open_source(write(tmp_path, header))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "start",
    [
        "10.5|-5.25|\\N|AAU\n11.5|-6.25|1|ABU\n",
        "\\N|-5.25|12|AAU\n",
        "|1|2|\n|3|4|\n",
        "|a|\n|1|\n|2|\n|3|\n|4|\n",
        "ra|dec\n1|2\n",
    ],
)
def test_text_separated_by_bars_is_no_ipac_table(start: str) -> None:
    assert not is_ipac_start(start.encode())


def test_an_upload_is_recognised_whatever_its_content_type(tmp_path: Path) -> None:
    path = write(tmp_path, STARS, "upload")
    for content_type in ("", "text/plain", "text/csv"):
        assert [field.name for field in open_upload(path, content_type).fields][:2] == ["source_id", "ra"]
