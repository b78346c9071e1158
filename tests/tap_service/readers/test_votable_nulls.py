"""The null of VALUES: a number in columns of numbers, whatever its spelling and the serialization."""

from __future__ import annotations

import io
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits

from tests.tap_service.readers.reading import read_rows
from tests.tap_service.readers.votables import make_binary_table, make_table, write_votable


def field(kind: str, null: str, arraysize: str = "") -> str:
    size = f'arraysize="{arraysize}"' if arraysize else ""
    return f'<FIELD name="v" datatype="{kind}" {size}><VALUES null="{null}"/></FIELD>'


def read_cells(tmp_path: Path, fields: str, *cells: str) -> list[object]:
    rows, rejects = read_rows(write_votable(tmp_path / "t.vot", make_table(fields, *((cell,) for cell in cells))))
    assert rejects == []
    return [row[0] for row in rows]


@pytest.mark.parametrize("null", ["-999.0", "-999", "-9.99E2", " -999.00 "])
def test_every_spelling_of_a_null_of_floats_is_null(tmp_path: Path, null: str) -> None:
    cells = ("-999", "-999.0", "-9.99E2", " -999 ", "-999.5", "NaN")
    assert read_cells(tmp_path, field("double", null), *cells) == [None, None, None, None, -999.5, None]


def test_a_null_of_floats_is_compared_in_single_precision(tmp_path: Path) -> None:
    assert read_cells(tmp_path, field("float", "-99.9"), "-99.9", "-99.90000153", "-99.8") == [
        None,
        None,
        float(np.float32(-99.8)),
    ]


def test_a_null_beyond_the_range_of_its_column_marks_nothing(tmp_path: Path) -> None:
    assert read_cells(tmp_path, field("short", "99999"), "5") == [5]
    assert read_cells(tmp_path, field("float", "1e300", "*"), "1e30 2") == [[float(np.float32(1e30)), 2.0]]
    path = write_votable(tmp_path / "t.vot", make_table(field("float", "-99"), ("1e300",), ("-99",)))
    rows, [reject] = read_rows(path)
    assert (rows, reject.value) == ([(None,)], "1e300")


@pytest.mark.parametrize(("null", "cells"), [("-99", ("-99", "-0099")), ("0xFF", ("255", "0xff")), ("7.0", ("7",))])
def test_a_null_of_integers_is_compared_as_a_number(tmp_path: Path, null: str, cells: tuple[str, ...]) -> None:
    assert read_cells(tmp_path, field("int", null), *cells, "5") == [None] * len(cells) + [5]


def test_a_bad_cell_does_not_hide_other_nulls(tmp_path: Path) -> None:
    path = write_votable(tmp_path / "t.vot", make_table(field("int", "-99"), ("-99",), ("x",), ("-099",)))
    rows, rejects = read_rows(path)
    assert rows == [(None,), (None,)]
    assert [(reject.where, reject.value) for reject in rejects] == [(2, "x")]


def test_a_number_beyond_single_precision_is_no_null(tmp_path: Path) -> None:
    field = '<FIELD name="x" datatype="float"><VALUES null="-999"/></FIELD>'
    path = write_votable(tmp_path / "t.vot", make_table(field, ("x",), ("1e39",), ("-999",)))
    rows, rejects = read_rows(path)
    assert rows == [(None,)]
    assert [reject.where for reject in rejects] == [1, 2]


def test_nulls_beyond_2_to_the_53_are_exact(tmp_path: Path) -> None:
    null = field("long", "-9223372036854775807")
    cells = ("-9223372036854775807", "-9223372036854775806", "-9223372036854775808")
    assert read_cells(tmp_path, null, *cells) == [None, -9223372036854775806, -9223372036854775808]


def test_elements_of_arrays_that_equal_the_null_are_missing(tmp_path: Path) -> None:
    [first, second] = read_cells(tmp_path, field("float", "-999.0", "*"), "1 -999 -9.99e2", "-999.0")
    assert first[0] == 1.0  # type: ignore[index]
    assert np.isnan([*first[1:], *second]).all()  # type: ignore[index,misc]
    assert read_cells(tmp_path, field("int", "-1", "*"), "1 -1 -01", "")[0] == [1, None, None]


@pytest.mark.parametrize("serialization", ["BINARY", "BINARY2"])
def test_nulls_in_bytes(tmp_path: Path, serialization: str) -> None:
    flags = b"\0" if serialization == "BINARY2" else b""
    scalar = b"".join(flags + struct.pack(">f", value) for value in (-99.9, 1.5))
    path = write_votable(tmp_path / "t.vot", make_binary_table(field("float", "-99.9"), scalar, serialization))
    assert read_rows(path) == ([(None,), (1.5,)], [])
    array = flags + struct.pack(">I2d", 2, -999, 1.5)
    path = write_votable(tmp_path / "t.vot", make_binary_table(field("double", "-999", "*"), array, serialization))
    [[values]] = read_rows(path)[0]
    assert math.isnan(values[0])
    assert values[1] == 1.5
    text = flags + struct.pack(">I3s", 3, b"N/A") + flags + struct.pack(">I1s", 1, b"a")
    path = write_votable(tmp_path / "t.vot", make_binary_table(field("char", "N/A", "*"), text, serialization))
    assert read_rows(path) == ([(None,), ("a",)], [])


def test_nulls_in_fits_inside_a_votable(tmp_path: Path) -> None:
    columns = [
        fits.Column("v", "E", array=np.array([-99.9, 1.5], "f4")),
        fits.Column("w", "2D", array=np.array([[-99.9, 1], [2, 3]])),
    ]
    out = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns)]).writeto(out)
    fields = field("float", "-99.9") + field("double", "-99.9", "2").replace('"v"', '"w"')
    path = write_votable(tmp_path / "t.vot", make_binary_table(fields, out.getvalue(), "FITS"))
    rows, rejects = read_rows(path)
    assert rejects == []
    assert [row[0] for row in rows] == [None, 1.5]
    np.testing.assert_array_equal([row[1] for row in rows], [[np.nan, 1], [2, 3]])


BOTH = '<FIELD name="v" datatype="int">{}{}</FIELD>'
DECLARED = '<VALUES null="-99"/>'
ACTUAL = '<VALUES type="actual"><MIN value="1"/></VALUES>'


@pytest.mark.parametrize("values", [(DECLARED, ACTUAL), (ACTUAL, DECLARED)])
def test_a_second_values_does_not_erase_the_null(tmp_path: Path, values: tuple[str, str]) -> None:
    path = write_votable(tmp_path / "t.vot", make_table(BOTH.format(*values), ("5",), ("-99",)))
    assert read_rows(path) == ([(5,), (None,)], [])


def test_a_values_that_refers_to_another_has_its_null(tmp_path: Path) -> None:
    fields = (
        '<FIELD name="a" datatype="int"><VALUES ID="v1" null="-9"/></FIELD>'
        '<FIELD name="b" datatype="int"><VALUES ref="v1"/></FIELD><FIELD name="c" datatype="int"><VALUES/></FIELD>'
    )
    path = write_votable(tmp_path / "t.vot", make_table(fields, ("-9", "-9", "-9")))
    assert read_rows(path) == ([(None, None, -9)], [])


def test_the_word_null_is_null_in_numbers_and_a_text_in_texts(tmp_path: Path) -> None:
    for kind, value in (("int", 5), ("double", 5.0), ("boolean", None)):
        assert read_cells(
            tmp_path, f'<FIELD name="v" datatype="{kind}"/>', "NULL", "null", " ", "5" if value else ""
        ) == [
            None,
            None,
            None,
            value,
        ]
    texts = '<FIELD name="v" datatype="char" arraysize="*"/>'
    assert read_cells(tmp_path, texts, "NULL", "null", "") == ["NULL", "null", None]


def test_another_word_for_null_is_a_reject(tmp_path: Path) -> None:
    path = write_votable(tmp_path / "t.vot", make_table('<FIELD name="v" datatype="float"/>', ("1",), ("--",)))
    [reject] = read_rows(path)[1]
    assert (reject.where, reject.value, reject.reason) == (2, "--", "does not fit the type REAL")
