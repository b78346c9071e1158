"""Features of FITS: TNULL, the heap, cards; as astropy and TOPCAT's library read them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from astropy.io import fits

from clickhouse_schema.datatypes import INT, LONG, POINT, SHORT, UNICODE, ColumnType, Field
from tap_service.serializers import SerializationError
from tap_service.serializers import fits_serializer as fits_module
from tap_service.serializers.fits_header import write_fits_header
from tests.support.stilts import read_output
from tests.tap_service.serializers.readers import read

BYTE = ColumnType("unsignedByte")


@pytest.mark.parametrize(
    ("kind", "values", "form", "null"),
    [
        (INT, [1, 2], "J", None),
        (INT, [1, None], "J", -(2**31)),
        (INT, [-(2**31), None], "J", 2**31 - 1),
        (INT, [-(2**31), 2**31 - 1, None], "K", -(2**63)),
        (BYTE, [0, None], "B", 255),
        (BYTE, [255, None], "I", -(2**15)),
        (SHORT, [None, None], "I", -(2**15)),
        (LONG, [-(2**63), None], "K", 2**63 - 1),
        (ColumnType("short", "2"), [[1, 2], None], "2I", -(2**15)),
        (ColumnType("short", "*"), [[1, None, 2], None], "1PI(3)", -(2**15)),
    ],
)
def test_null_integers_are_a_value_that_no_row_has(
    write: Any, kind: Any, values: Any, form: str, null: int | None
) -> None:
    document = write("fits", [Field("x", kind)], [values], cuts=(1,))
    with fits.open(io.BytesIO(document)) as hdus:
        assert hdus[1].columns["x"].format == form
        assert hdus[1].columns["x"].null == null
    assert read("application/fits", document) == [values]


def test_no_value_is_left_for_null(write: Any) -> None:
    with pytest.raises(
        SerializationError, match=r"'x' contains NULL and both the least and the greatest .*RESPONSEFORMAT=votable"
    ):
        write("fits", [Field("x", LONG)], [[-(2**63), 2**63 - 1, None]])


@pytest.mark.parametrize("descriptor", ["P", "Q"])
def test_a_long_text_among_short_ones_goes_into_the_heap(
    write: Any, descriptor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if descriptor == "Q":
        monkeypatch.setattr(fits_module, "_MAX_P_DESCRIPTOR", 10)
    texts = ["short", "x" * 2000, None, *["word"] * 5000]
    arrays = [[1.0], None, [2.0, 3.0], *[[4.0, 5.0]] * 5000]
    fields = [Field("t", UNICODE), Field("a", ColumnType("double", "*")), Field("n", INT)]
    document = write("fits", fields, [texts, arrays, list(range(5003))], cuts=(2, 1000, 0))
    assert len(document) < 300_000
    with fits.open(io.BytesIO(document)) as hdus:
        assert hdus[1].columns["t"].format == f"1{descriptor}A(2000)"
    assert read("application/fits", document) == [texts, arrays, list(range(5003))]


def test_topcat_finds_the_description(write: Any, tmp_path: Any) -> None:
    fields = [
        Field("p", POINT, "deg", "pos.eq", "a:b", "Position"),
        Field("name", UNICODE, description="it's " * 40),
        Field("u", BYTE),
    ]
    path = tmp_path / "result.fits"
    path.write_bytes(write("fits", fields, [[[1.0, 2.0], None], ["Høg", None], [255, None]]))
    said = read_output("tcopy", f"in={path}", "ifmt=fits-plus", "ofmt=votable", "out=-").decode()
    assert 'name="p" ucd="pos.eq" unit="deg" utype="a:b" xtype="point"' in said
    assert ("it's " * 40).strip() in said
    with fits.open(path) as hdus:
        hdus.verify("exception")
        assert hdus[1].header["TCOMM2"] == ("it's " * 40).strip()


@pytest.mark.parametrize(
    "text", ["", "a", "it's", "'" * 200, "x" * 66 + "''" + "y" * 66, "&", "x" * 67, "x" * 68, "a / b"]
)
def test_cards(text: str) -> None:
    block = write_fits_header({"SIMPLE": True, "BITPIX": 8, "NAXIS": 0, "TEXT": text, "AFTER": -1})
    assert len(block) % 2880 == 0
    read_back = fits.Header.fromstring(block.decode())
    assert (read_back["TEXT"], read_back["AFTER"], read_back["SIMPLE"]) == (text.rstrip(), -1, True)


def test_columns_of_the_same_name_are_told_apart(write: Any) -> None:
    fields = [Field(name, INT) for name in ("ra", "RA", "ra", "wörd")]
    with fits.open(io.BytesIO(write("fits", fields, [[1], [2], [3], [4]]))) as hdus:
        assert hdus[1].columns.names == ["ra", "RA_2", "ra_3", "w?rd"]
        assert list(hdus[1].data[0]) == [1, 2, 3, 4]
