"""The fields of FITS ASCII tables, with the numbers of Fortran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.raw_fits import Value, write_file, write_table
from tests.tap_service.readers.reading import read_rows


def write_field(path: Path, form: str, text: str, **keywords: Value) -> Path:
    column: dict[str, Value] = {"TTYPE": "a", "TFORM": form, "TBCOL": 1, **keywords}
    return write_file(path, write_table([column], text.encode(), kind="TABLE"))


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ("F8.3", "   12345", 12.345),
        ("F8.3", "      -5", -0.005),
        ("F8.3", "   12.5 ", 12.5),
        ("F8.0", "   12345", 12345.0),
        ("E10.3", "   12345E2", 1234.5),
        ("E10.3", "   1.5-007", 1.5e-7),
        ("E10.3", "   1.5+007", 1.5e7),
        ("E10.3", "   12345+2", 1234.5),
        ("D12.3", " 1.5D+007   ", 1.5e7),
        ("D12.3", " 1.5d+007   ", 1.5e7),
        ("F8.3", "      .5", 0.5),
        ("F8.3", "      5.", 5.0),
        ("F8.3", "        ", None),
        ("F8.3", "     NaN", None),
        ("I4", "    ", None),
        ("i4", "  12", 12),
        ("I6", "   +12", 12),
        ("I6", "000012", 12),
        ("I10", "2147483648", 2**31),
        ("A4", " ab ", " ab"),
        ("A4", "    ", None),
    ],
)
def test_a_field_is_read(tmp_path: Path, form: str, text: str, value: Any) -> None:
    assert read_rows(write_field(tmp_path / "t.fits", form, text)) == ([(value,)], [])


@pytest.mark.parametrize(
    ("form", "text"), [("F8.3", "   1,500"), ("F8.3", "********"), ("I6", "  1 00"), ("I7", "  0x12x")]
)
@pytest.mark.parametrize("scale", [1, b"0.5"])
def test_a_field_that_is_not_a_number_is_a_reject(tmp_path: Path, form: str, text: str, scale: Value) -> None:
    rows, rejects = read_rows(write_field(tmp_path / "t.fits", form, text, TSCAL=scale))
    assert (rows, [reject.value for reject in rejects]) == ([], [text])


@pytest.mark.parametrize(
    ("text", "value"), [("1237648720693755918", 1237648720693755919), ("-9223372036854775808", 1 - 2**63)]
)
def test_an_integer_plus_an_integer_is_exact(tmp_path: Path, text: str, value: int) -> None:
    path = write_field(tmp_path / "t.fits", "I20", text.rjust(20), TZERO=1)
    assert open_source(path).fields[0].type.datatype == "long"
    assert read_rows(path) == ([(value,)], [])


@pytest.mark.parametrize("null", ["-999", -999, "***"])
def test_tnull_is_compared_with_the_field(tmp_path: Path, null: Value) -> None:
    assert read_rows(write_field(tmp_path / "t.fits", "I6", str(null).rjust(6), TNULL=null)) == ([(None,)], [])


def test_a_field_without_a_start_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path / "t.fits", write_table([{"TTYPE": "a", "TFORM": "I4"}], b"  12", kind="TABLE"))
    with pytest.raises(ReadError, match="has a header whose TBCOL1 is not a number from 1"):
        open_source(path)
