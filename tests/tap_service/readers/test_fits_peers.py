"""The reader agrees with astropy and STILTS on FITS tables of every type, cell by cell."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits
from numpy.typing import NDArray

from tests.tap_service.readers.reading import read_rows

ROWS = 50
GENERATOR = np.random.default_rng(38)


def draw(form: str, items: int = 1) -> NDArray[Any]:
    """Return values of the entire range of a type."""
    shape = (ROWS, items) if items > 1 else (ROWS,)
    if form in "ED":
        return GENERATOR.normal(size=shape).astype({"E": "f4", "D": "f8"}[form])
    limits = np.iinfo({"B": "u1", "I": "i2", "J": "i4", "K": "i8"}[form])
    return GENERATOR.integers(limits.min, limits.max, shape, limits.dtype, endpoint=True)


def draw_arrays(form: str) -> NDArray[Any]:
    arrays = np.empty(ROWS, object)
    arrays[:] = [draw(form)[: number % 5] for number in range(ROWS)]
    return arrays


COLUMNS = {
    **{form: fits.Column("v", form, array=draw(form)) for form in "BIJKED"},
    **{f"6{form}": fits.Column("v", f"6{form}", array=draw(form, 6), dim="(3,2)") for form in "BIJKED"},
    **{f"P{form}": fits.Column("v", f"P{form}()", array=draw_arrays(form)) for form in "BIJKED"},
    **{f"Q{form}": fits.Column("v", f"Q{form}()", array=draw_arrays(form)) for form in "KD"},
    "L": fits.Column("v", "L", array=GENERATOR.random(ROWS) > 0.5),
    "11X": fits.Column("v", "11X", array=GENERATOR.random((ROWS, 11)) > 0.5),
    "C": fits.Column("v", "C", array=draw("E") + 1j * draw("E")),
    "2M": fits.Column("v", "2M", array=draw("D", 2) + 1j * draw("D", 2)),
    "unsigned I": fits.Column("v", "I", bzero=2**15, array=GENERATOR.integers(0, 2**16, ROWS, "u2")),
    "unsigned J": fits.Column("v", "J", bzero=2**31, array=GENERATOR.integers(0, 2**32, ROWS, "u4")),
    "unsigned K": fits.Column("v", "K", bzero=2**63, array=GENERATOR.integers(0, 2**63, ROWS, "u8")),
}


def flatten(value: Any) -> list[Any]:
    """Return the numbers of a cell, complex ones as two."""
    items = np.atleast_1d(np.asarray(value)).ravel()
    return items.view(items.real.dtype).tolist() if items.dtype.kind == "c" else items.tolist()


@pytest.mark.parametrize("kind", COLUMNS)
def test_astropy_reads_the_same(tmp_path: Path, kind: str) -> None:
    fits.BinTableHDU.from_columns([COLUMNS[kind]]).writeto(tmp_path / "t.fits")
    rows, rejects = read_rows(tmp_path / "t.fits")
    with fits.open(tmp_path / "t.fits") as hdus:
        expected = [flatten(value) for value in hdus[1].data["v"]]
    assert rejects == []
    assert [flatten(value) for (value,) in rows] == expected


def test_stilts_reads_the_same(tmp_path: Path) -> None:
    scalars = [COLUMNS[kind] for kind in ("B", "I", "J", "K", "D", "unsigned I", "unsigned J")]
    columns = [
        fits.Column(f"c{number}", each.format, bscale=each.bscale, bzero=each.bzero, array=each.array)
        for number, each in enumerate(scalars)
    ]
    texts = fits.Column("text", "6A", array=[("a b", " lead", "x", "")[number % 4] for number in range(ROWS)])
    fits.BinTableHDU.from_columns([*columns, texts]).writeto(tmp_path / "t.fits")
    command = ["stilts", "tpipe", f"in={tmp_path}/t.fits", "ofmt=csv"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout
    found = [*csv.reader(io.StringIO(shown))][1:]
    rows, rejects = read_rows(tmp_path / "t.fits")
    assert rejects == []
    typed = [
        tuple(type(mine)(cell) for mine, cell in zip(row, cells, strict=True))
        for row, cells in zip(rows, found, strict=True)
    ]
    assert typed == rows
