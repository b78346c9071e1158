"""The values of FITS tables: integers stay exact whatever TZERO is, and scaled values are computed in float64."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits
from numpy.typing import NDArray

from tap_service.readers.file_formats import open_source
from tap_service.readers.fits_scaling import Scaling
from tests.tap_service.readers.reading import list_types, read_rows


def write_column(
    path: Path, form: str, raw: NDArray[Any], cards: dict[str, Any] | None = None, raw_cards: tuple[str, ...] = ()
) -> Path:
    """Write a table of one column ``v`` of stored values, with the keywords of its scaling."""
    hdu = fits.BinTableHDU.from_columns([fits.Column("v", form, array=raw)])
    hdu.header.update(cards or {})
    for card in raw_cards:
        hdu.header.append(fits.Card.fromstring(card))
    fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
    return path


def values_of(path: Path) -> list[Any]:
    rows, rejects = read_rows(path)
    assert rejects == []
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("form", "raw", "zero", "type_", "expected"),
    [
        ("K", [994, 995], 2**53, "BIGINT", [2**53 + 994, 2**53 + 995]),
        ("K", [5, 2**63 - 1], -(2**62), "BIGINT", [5 - 2**62, 2**62 - 1]),
        ("K", [-(2**63), -1], 2**63, "BIGINT", [0, 2**63 - 1]),
        ("K", [-(2**63), 7], 1, "BIGINT", [1 - 2**63, 8]),
        ("J", [-(2**31), 2**31 - 1], 2**31, "BIGINT", [0, 2**32 - 1]),
        ("J", [-5, 5], 1000, "BIGINT", [995, 1005]),
        ("I", [-(2**15), 2**15 - 1], 2**15, "INTEGER", [0, 2**16 - 1]),
        ("I", [1, 2], 50000, "INTEGER", [50001, 50002]),
        ("I", [1, 2], -50000, "INTEGER", [-49999, -49998]),
        ("B", [0, 255], -128, "SMALLINT", [-128, 127]),
        ("B", [0, 255], 1000, "SMALLINT", [1000, 1255]),
    ],
)
def test_an_integer_zero_gives_exact_integers(
    tmp_path: Path, form: str, raw: list[int], zero: int, type_: str, expected: list[int]
) -> None:
    stored = np.array(raw, {"K": "i8", "J": "i4", "I": "i2", "B": "u1"}[form])
    path = write_column(tmp_path / "t.fits", form, stored, {"TZERO1": zero})
    assert list_types(open_source(path)) == {"v": type_}
    assert values_of(path) == expected


@pytest.mark.parametrize("written", ["2147483648.0", "2.147483648E9", "2147483648", "2.147483648D+09"])
def test_a_zero_is_an_integer_in_any_spelling(tmp_path: Path, written: str) -> None:
    card = f"TZERO1  = {written:>20}"
    path = write_column(tmp_path / "t.fits", "J", np.array([-1, 0], "i4"), raw_cards=(card,))
    assert values_of(path) == [2**31 - 1, 2**31]


def test_integers_beyond_bigint_are_refused_one_by_one(tmp_path: Path) -> None:
    path = write_column(tmp_path / "t.fits", "K", np.array([2**63 - 1, 2**60 + 1, -1], "i8"), {"TZERO1": 100})
    rows, rejects = read_rows(path)
    assert rows == [(2**60 + 101,), (99,)]
    assert [(reject.where, reject.value, reject.reason) for reject in rejects] == [
        (1, str(2**63 + 99), "does not fit the type BIGINT")
    ]


def test_a_null_next_to_an_integer_beyond_bigint_stays_null() -> None:
    found = Scaling("K", zero=100, null=7).convert(np.array([2**63 - 1, 7], ">i8"))
    assert found.cast(pa.string()).to_pylist() == [str(2**63 + 99), None]


@pytest.mark.parametrize(
    ("form", "raw", "scale", "zero"),
    [
        ("E", np.array([0.123456, 0.5], "f4"), 1.0, 50000.0),
        ("E", np.array([1.0, 3.0], "f4"), 0.1, 0.0),
        ("D", np.array([0.123456, 0.5]), 2.0, 50000.0),
        ("J", np.array([123456, -3], "i4"), 0.001, 0.0),
        ("I", np.array([12345, -3], "i2"), 1e-3, 20.0),
        ("B", np.array([3, 255], "u1"), 0.1, 0.5),
    ],
)
def test_scaled_values_agree_with_astropy(
    tmp_path: Path, form: str, raw: NDArray[Any], scale: float, zero: float
) -> None:
    path = write_column(tmp_path / "t.fits", form, raw, {"TSCAL1": scale, "TZERO1": zero})
    assert list_types(open_source(path)) == {"v": "DOUBLE"}
    assert values_of(path) == (raw.astype("f8") * scale + zero).tolist()
    with fits.open(path) as hdus:
        np.testing.assert_allclose(values_of(path), hdus[1].data["v"].astype("f8"), rtol=1e-15)


def test_tnull_is_compared_before_the_scaling(tmp_path: Path) -> None:
    path = write_column(tmp_path / "t.fits", "J", np.array([12345, -999, 1], "i4"), {"TSCAL1": 0.001, "TNULL1": -999})
    assert values_of(path) == [12.345, None, 0.001]


def test_variable_arrays_are_scaled_in_every_row(tmp_path: Path) -> None:
    arrays = np.array([np.array([-31965, -31963], "i2"), np.array([-31959], "i2"), np.array([], "i2")], dtype=object)
    path = write_column(tmp_path / "t.fits", "PI()", arrays, {"TZERO1": 32768})
    assert list_types(open_source(path)) == {"v": "INTEGER[]"}
    assert values_of(path) == [[803, 805], [809], []]


@pytest.mark.parametrize(
    ("form", "dimensions", "arraysize"),
    [
        ("6E", "(3,2)", "3x2"),
        ("6J", "( 3, 2 )", "3x2"),
        ("8D", "(2,2,2)", "2x2x2"),
        ("6E", "(4,2)", "6"),
        ("6E", "(6)", "6"),
    ],
)
def test_tdim_gives_the_arraysize_of_numbers(tmp_path: Path, form: str, dimensions: str, arraysize: str) -> None:
    raw = np.arange(int(form[:-1]))[None, :]
    path = write_column(tmp_path / "t.fits", form, raw, {"TDIM1": dimensions})
    [field] = open_source(path).fields
    assert field.type.arraysize == arraysize
    assert values_of(path) == [[*range(int(form[:-1]))]]


def test_an_ascii_table_is_read_exactly(tmp_path: Path) -> None:
    columns = [
        fits.Column("name", "A8", array=["Vega", "  Deneb"]),
        fits.Column("id", "I19", array=[1237648720693755918, -5]),
        fits.Column("n", "I4", array=[12, -7], null="-7"),
        fits.Column("ra", "F12.5", array=[279.23474, 310.35798]),
        fits.Column("e", "D20.12", array=[1.5e-7, -2.5e10]),
    ]
    fits.TableHDU.from_columns(columns).writeto(tmp_path / "t.fits")
    types = {"name": "CHAR", "id": "BIGINT", "n": "INTEGER", "ra": "DOUBLE", "e": "DOUBLE"}
    assert list_types(open_source(tmp_path / "t.fits")) == types
    rows, rejects = read_rows(tmp_path / "t.fits")
    assert rejects == []
    assert rows == [
        ("Vega", 1237648720693755918, 12, 279.23474, 1.5e-7),
        ("  Deneb", -5, None, 310.35798, -2.5e10),
    ]


def test_a_scaled_column_of_an_ascii_table_is_computed_in_float64(tmp_path: Path) -> None:
    hdu = fits.TableHDU.from_columns([fits.Column("v", "I6", array=[12345, -3])])
    hdu.header["TSCAL1"], hdu.header["TZERO1"] = 0.001, 20.0
    hdu.writeto(tmp_path / "t.fits")
    assert values_of(tmp_path / "t.fits") == [12345 * 0.001 + 20.0, -3 * 0.001 + 20.0]


@pytest.mark.parametrize(("cards", "reason"), [({"TBCOL1": 900}, "of a shorter row"), ({"TFORM1": "Z5"}, "'Z5'")])
def test_an_ascii_table_that_contradicts_itself_is_refused(tmp_path: Path, cards: dict[str, Any], reason: str) -> None:
    hdu = fits.TableHDU.from_columns([fits.Column("v", "I6", array=[12345])])
    hdu.writeto(tmp_path / "t.fits")
    text = (tmp_path / "t.fits").read_bytes()
    [(key, value)] = cards.items()
    start = text.index(f"{key:8}=".encode())
    shown = f"'{value}'" if isinstance(value, str) else f"{value:>20}"
    card = f"{key:8}= {shown}".ljust(80).encode()
    (tmp_path / "t.fits").write_bytes(text[:start] + card + text[start + 80 :])
    with pytest.raises(Exception, match=reason):
        open_source(tmp_path / "t.fits")


def test_stilts_reads_the_same_values(tmp_path: Path) -> None:
    columns = [
        fits.Column("k", "K", array=np.array([994, -995])),
        fits.Column("u", "J", bzero=2**31, array=np.array([0, 2**32 - 1], "u4")),
        fits.Column("d", "D", array=np.array([0.123456, np.nan])),
        fits.Column("t", "6A", array=["a b", "  c"]),
    ]
    hdu = fits.BinTableHDU.from_columns(columns)
    hdu.writeto(tmp_path / "t.fits")
    command = ["stilts", "tpipe", f"in={tmp_path}/t.fits", "ofmt=csv"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout
    assert [*csv.reader(shown.splitlines()[1:])] == [
        [str(row[0]), str(row[1]), "" if row[2] is None else str(row[2]), row[3]]
        for row in read_rows(tmp_path / "t.fits")[0]
    ]


def test_a_scaled_value_beyond_double_is_infinite(tmp_path: Path) -> None:
    path = write_column(tmp_path / "t.fits", "D", np.array([1e300, -1e300]), {"TSCAL1": 1e300})
    assert values_of(path) == [float("inf"), float("-inf")]
