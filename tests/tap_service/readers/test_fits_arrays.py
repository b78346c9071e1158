"""Arrays of FITS tables: shapes, arrays of strings, and variable arrays in the heap."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits

from tap_service.readers import fits_reader
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.raw_fits import write_file, write_table
from tests.tap_service.readers.reading import read_rows


def write_heap_cell(path: Path, form: str, count: int, offset: int, heap: bytes = b"\0\0\0\5") -> Path:
    """Write a table of one variable array in the heap."""
    return write_file(path, write_table([{"TTYPE": "v", "TFORM": form}], struct.pack(">qq", count, offset), heap=heap))


@pytest.mark.parametrize(
    ("form", "dimensions", "arraysize"),
    [
        ("9A3", "", "3x3"),
        ("9A", "(3,3)", "3x3"),
        ("9A9", "", "9*"),
        ("9A4", "", "9*"),
        ("9A:SSTR3/032", "", "9*"),
        ("9A3", "(9,1)", "9x1"),
    ],
)
def test_an_array_of_strings_keeps_its_shape(tmp_path: Path, form: str, dimensions: str, arraysize: str) -> None:
    path = write_file(
        tmp_path / "t.fits", write_table([{"TTYPE": "s", "TFORM": form, "TDIM": dimensions}], b"a  bb ccc")
    )
    assert open_source(path).fields[0].type.arraysize == arraysize
    assert read_rows(path) == ([("a  bb ccc",)], [])


@pytest.mark.parametrize(
    ("form", "rows", "expected"),
    [
        ("8J", struct.pack(">8i", *range(8)), [0, 1, 2, 3, 4, 5]),
        ("7X", b"\xaa", [True, False, True, False, True, False]),
        ("8C", struct.pack(">16f", *range(16)), [*range(12)]),
        ("8L", b"TFTFTFTF", [True, False] * 3),
    ],
)
def test_items_beyond_tdim_are_no_values(tmp_path: Path, form: str, rows: bytes, expected: list[Any]) -> None:
    columns = [{"TTYPE": "m", "TFORM": form, "TDIM": "(3,2)"}, {"TTYPE": "n", "TFORM": "B"}]
    path = write_file(tmp_path / "t.fits", write_table(columns, rows + b"\7"))
    assert open_source(path).fields[0].type.arraysize == "3x2"
    assert read_rows(path) == ([(expected, 7)], [])


@pytest.mark.parametrize(("text", "expected"), [(b"a b\0xy", "a b"), (b"a b   ", "a b"), (b"  a", "  a"), (b"\0", "")])
def test_a_variable_text_ends_as_a_fixed_one(tmp_path: Path, text: bytes, expected: str) -> None:
    assert read_rows(write_heap_cell(tmp_path / "t.fits", "1QA", len(text), 0, text)) == ([(expected,)], [])


@pytest.mark.parametrize(
    ("form", "count", "offset"),
    [
        ("1QJ", 1, 2**63 - 9),
        ("1QJ", 2**62, 0),
        ("1QD", 1 - 2**63, 0),
        ("1QC", 2**62, 0),
        ("1QC", 1 - 2**62, 0),
        ("1QJ", -1, 0),
        ("1QJ", 1, -4),
        ("1QJ", 2**29, 0),
    ],
)
def test_an_impossible_array_is_refused(tmp_path: Path, form: str, count: int, offset: int) -> None:
    path = write_heap_cell(tmp_path / "t.fits", form, count, offset)
    with pytest.raises(ReadError, match=f"{path}: column v has variable arrays"):
        read_rows(path)


@pytest.mark.parametrize("name", ["t.fits", "t.fits.gz"])
@pytest.mark.parametrize(("count", "offset"), [(2, 0), (1, 4), (1, 1)])
def test_data_after_the_heap_are_no_array(tmp_path: Path, name: str, count: int, offset: int) -> None:
    """It is padding, or another HDU."""
    plain = write_heap_cell(tmp_path / "plain.fits", "QJ(2)", count, offset)
    path = tmp_path / name
    path.write_bytes(gzip.compress(plain.read_bytes()) if name.endswith(".gz") else plain.read_bytes())
    with pytest.raises(ReadError, match="has variable arrays after the end of its heap"):
        read_rows(path)


def test_the_offset_of_an_empty_array_does_not_matter(tmp_path: Path) -> None:
    assert read_rows(write_heap_cell(tmp_path / "t.fits", "1QJ", 0, -4)) == ([([],)], [])


@pytest.mark.parametrize("form", ["2PJ", "1P", "1PP", "1PX"])
def test_a_variable_array_without_a_type_is_no_column(tmp_path: Path, form: str) -> None:
    rows = struct.pack(">4i", 1, 0, 0, 0)[: 8 * int(form[0])]
    path = write_file(tmp_path / "t.fits", write_table([{"TTYPE": "v", "TFORM": form}], rows, heap=b"\0" * 4))
    assert open_source(path).unusable.keys() == {"v"}


@pytest.mark.parametrize("name", ["t.fits", "t.fits.gz"])
def test_rows_of_long_arrays_are_read_in_parts(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits_reader, "_MAX_HEAP_PART", 4000)
    arrays = [np.arange(size, dtype="f8") for size in (100, 0, 900, 300, 100, 101, 0, 5)]
    held = np.empty(len(arrays), object)
    held[:] = arrays
    columns = [fits.Column("n", "J", array=np.arange(8, dtype="i4")), fits.Column("v", "QD()", array=held)]
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / "t.fits")
    whole = (tmp_path / "t.fits").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(whole) if name.endswith("gz") else whole)
    source = open_source(tmp_path / name)
    blocks = [*source.read_blocks(("n", "v"))]
    assert [block.batch.num_rows for block in blocks] == [2, 1, 2, 3]
    assert [block.where(0) for block in blocks] == [1, 3, 4, 6]
    assert read_rows(tmp_path / name) == ([(n, array.tolist()) for n, array in enumerate(arrays)], [])
