"""VOTables and text tables as STILTS, hence TOPCAT, reads them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from clickhouse_schema.datatypes import (
    BOOLEAN,
    CHAR,
    CIRCLE,
    DOUBLE,
    INT,
    LONG,
    POINT,
    POLYGON,
    TIMESTAMP,
    UNICODE,
    ColumnType,
    Field,
)
from tap_service.serializers import overflow_status
from tests.support.stilts import read_output

FIELDS = [
    Field("ra", DOUBLE, "deg", "pos.eq.ra;meta.main", "", "Right ascension", nullable=False),
    Field("ra", ColumnType("float"), "mas/yr"),
    Field("id", LONG, "", "meta.id;meta.main"),
    Field("two words", UNICODE),
    Field("code", ColumnType("char", "4")),
    Field("at", TIMESTAMP),
    Field("good", BOOLEAN),
    Field("bits", ColumnType("unsignedByte")),
    Field("n", ColumnType("short")),
    Field("p", POINT, "deg"),
    Field("c", CIRCLE, "deg"),
    Field("r", POLYGON, "deg"),
    Field("v", ColumnType("int", "*")),
    Field("s", CHAR),
    Field("i", INT),
]
COLUMNS = [
    [1.5, float("nan")],
    [0.1, None],
    [2**53 + 1, None],
    ['é, "<&>"', None],
    ["ab", None],
    [datetime(2000, 1, 1, 12, tzinfo=UTC), None],
    [True, None],
    [254, None],
    [-1, None],
    [[10.0, -20.0], None],
    [[10.0, -20.0, 1.0], None],
    [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], None],
    [[1, -2], None],
    ["text", ""],
    [7, None],
]


VOTABLES = ["votable/b2", "votable/b", "votable/td"]


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_votlint_finds_nothing(write, tmp_path, responseformat):
    """In the default version 1.4, the last one that votlint of STILTS 3.4.7 knows; test_dialects validates 1.5.

    Errors that it finds in its own output too are ignored: binary polygons, NULL arrays in TABLEDATA.
    """
    rows = 1 if responseformat == "votable/td" else 2
    chosen = [(field, column[:rows]) for field, column in zip(FIELDS, COLUMNS, strict=True) if field.name != "r"]
    fields, columns = zip(*chosen[1:], strict=True)
    path: Path = tmp_path / "result.vot"
    status = overflow_status(2, "Ask for more.")
    path.write_bytes(write(responseformat, fields, columns, status=status))
    assert read_output("votlint", str(path)) == b""


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_votable_values_are_read(write, tmp_path, responseformat):
    path = tmp_path / "result.vot"
    path.write_bytes(write(responseformat, FIELDS, COLUMNS))
    lines = read_output("tcopy", "ifmt=votable", "ofmt=csv", f"in={path}", "out=-").decode().splitlines()
    assert lines == [
        "ra,ra,id,two words,code,at,good,bits,n,p,c,r,v,s,i",
        '1.5,0.1,9007199254740993,"é, ""<&>""",ab,2000-01-01T12:00:00,true,254,-1,"(10.0, -20.0)","(10.0, -20.0, 1.0)",'
        '"(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)","(1, -2)",text,7',
        ",,,,,,,,,,,,,," if responseformat != "votable/b" else ',,,,,,,,,"(NaN, NaN)","(NaN, NaN, NaN)",,,,',
    ]


def test_csv_is_read_with_its_types(write, tmp_path):
    path = tmp_path / "result.csv"
    columns = [[value, value] for value, _ in COLUMNS]
    columns[0] = [float("inf"), float("nan")]
    path.write_bytes(write("csv", FIELDS, columns))
    shown = read_output("tpipe", f"in={path}", "ifmt=csv", "cmd=keepcols '$1 $3 $4 $6 $7'", "ofmt=ascii").decode()
    assert [line.split(None, 2)[:2] for line in shown.splitlines()[1:]] == [
        ["Infinity", "9007199254740993"],
        ['""', "9007199254740993"],
    ]
    assert 'é, "<&>"' in shown.replace('\\"', '"')


@pytest.mark.parametrize("responseformat", [*VOTABLES, "fits", "ecsv"])
def test_arrays_of_two_axes_are_read(write, tmp_path, responseformat):
    path = tmp_path / "result"
    fields = [Field("m", ColumnType("double", "2x3")), Field("n", INT)]
    columns = [[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]], [1, 2]]
    if responseformat in VOTABLES:  # a FITS column of varying size has one axis, and so has one of ECSV
        fields.append(Field("v", ColumnType("int", "2x*")))
        columns.append([[1, 2, 3, 4], [5, 6]])
    path.write_bytes(write(responseformat, fields, columns))
    kind = responseformat.partition("/")[0]
    first, second = read_output("tcopy", f"ifmt={kind}", "ofmt=csv", f"in={path}", "out=-").decode().splitlines()[1:]
    more = (',"((1, 2), (3, 4))"', ',"((5, 6))"') if responseformat in VOTABLES else ("", "")
    assert first == '"((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))",1' + more[0]
    assert second == '"((6.0, 5.0), (4.0, 3.0), (2.0, 1.0))",2' + more[1]
