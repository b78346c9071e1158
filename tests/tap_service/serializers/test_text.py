"""TABLEDATA, CSV and TSV cell by cell: type, value, the text in each."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from clickhouse_schema.datatypes import CHAR, DOUBLE, INT, TIMESTAMP, UNICODE, ColumnType, Field
from tap_service.serializers import Status

NAN = float("nan")
INF = float("inf")

#: type, value, TABLEDATA, CSV, TSV (None: as CSV)
CELLS: list[tuple[ColumnType, Any, str, str, str | None]] = [
    (ColumnType("boolean"), True, "true", "true", None),
    (ColumnType("boolean"), None, "", "", None),
    (ColumnType("unsignedByte"), 255, "255", "255", None),
    (ColumnType("long"), -(2**63), "-9223372036854775808", "-9223372036854775808", None),
    (INT, None, "", "", None),
    (DOUBLE, 0.1, "0.1", "0.1", None),
    (DOUBLE, 1.0, "1", "1", None),
    (DOUBLE, 1e300, "1e+300", "1e+300", None),
    (DOUBLE, 5e-324, "5e-324", "5e-324", None),
    (DOUBLE, 299792458.123456789, "299792458.1234568", "299792458.1234568", None),
    (DOUBLE, NAN, "NaN", "NaN", None),
    (DOUBLE, INF, "+Inf", "Infinity", None),
    (DOUBLE, -INF, "-Inf", "-Infinity", None),
    (DOUBLE, None, "", "", None),
    (ColumnType("float"), 0.1, "0.1", "0.1", None),
    (CHAR, "plain", "plain", "plain", None),
    (CHAR, "", "", '""', ""),
    (CHAR, None, "", "", None),
    (CHAR, " lead", " lead", '" lead"', " lead"),
    (CHAR, "two words", "two words", "two words", None),
    (CHAR, 'a,"b"', 'a,"b"', '"a,""b"""', 'a,"b"'),
    (CHAR, "<a>&b]]>", "&lt;a&gt;&amp;b]]&gt;", "<a>&b]]>", None),
    (CHAR, "two\nlines", "two\nlines", '"two\nlines"', "two lines"),
    (CHAR, "a\r\nb\tc", "a&#13;\nb\tc", '"a\r\nb\tc"', "a b c"),
    (CHAR, "bell\x07é", "bell??", "bell\x07é", None),
    (CHAR, "&amp;", "&amp;amp;", "&amp;", None),
    (UNICODE, "bell\x07é𝄞", "bell\ufffdé𝄞", "bell\x07é𝄞", None),
    (UNICODE, "\ufffe\uffff\ufffd\u0085", "\ufffd\ufffd\ufffd\u0085", "\ufffe\uffff\ufffd\u0085", None),
    (TIMESTAMP, datetime(2000, 1, 1, 12, 30, tzinfo=UTC), "2000-01-01T12:30:00", "2000-01-01T12:30:00", None),
    (TIMESTAMP, datetime(2000, 1, 1, 0, 0, 10, 120000, UTC), "2000-01-01T00:00:10.12", "2000-01-01T00:00:10.12", None),
    (TIMESTAMP, datetime(1900, 1, 1, 0, 0, 0, 1, UTC), *["1900-01-01T00:00:00.000001"] * 2, None),
    (TIMESTAMP, None, "", "", None),
    (ColumnType("double", "2", "point"), [10.5, -20.0], "10.5 -20", "10.5 -20", None),
    (ColumnType("double", "*"), [1.0, NAN, None, -INF], "1 NaN NaN -Inf", "1 NaN NaN -Infinity", None),
    (ColumnType("int", "*"), [], "", "", None),
    (ColumnType("int", "3"), [1, 2, 3], "1 2 3", "1 2 3", None),
    (ColumnType("boolean", "*"), [True, None], "true ?", "true ?", None),
]


@pytest.mark.parametrize(("kind", "value", "tabledata", "comma", "tab"), CELLS)
def test_cell(write, kind, value, tabledata, comma, tab):
    fields = [Field("x", kind), Field("y", INT)]
    columns = [[value, value], [1, 1]]
    document = write("votable/td", fields, columns).decode()
    cells = re.findall(r"<TR><TD>(.*?)</TD><TD>1</TD></TR>", document, re.DOTALL)
    assert cells == [tabledata, tabledata]
    assert write("csv", fields, columns).decode() == f"x,y\r\n{comma},1\r\n{comma},1\r\n"
    tab = comma if tab is None else tab
    assert write("tsv", fields, columns).decode() == f"x\ty\n{tab}\t1\n{tab}\t1\n"


def test_mixed_columns_quote_only_the_cells_that_need_it(write):
    fields = [Field("x", UNICODE), Field("y", INT)]
    document = write("csv", fields, [["a", "b,c", None, "", "d"], [1, 2, 3, None, 5]])
    assert document == b'x,y\r\na,1\r\n"b,c",2\r\n,3\r\n"",\r\nd,5\r\n'


def test_null_in_a_table_of_one_column_is_no_blank_line(write):
    assert write("csv", [Field("x", INT)], [[1, None]]) == b'x\r\n1\r\n""\r\n'


def test_the_header_can_be_absent_and_names_are_made_unique(write):
    fields = [Field(name, INT) for name in ("ra", "ra", "ra_2", "RA", "a,b", "ra")]
    values = [[1]] * 6
    assert write("csv", fields, values).splitlines()[0] == b'ra,ra_3,ra_2,RA,"a,b",ra_4'
    assert write("text/csv;header=absent", fields, values) == b"1,1,1,1,1,1\r\n"


def test_python_reads_the_csv_back(write):
    values = ['say "hi", she said', "line\r\nbreak", " spaces ", "", "é𝄞"]
    rows = list(csv.reader(io.StringIO(write("csv", [Field("x", UNICODE)], [values]).decode(), newline="")))
    assert rows == [["x"], *([value] for value in values)]


@pytest.mark.parametrize("responseformat", ["csv", "tsv"])
def test_text_has_no_status(write, responseformat):
    fields = [Field("x", INT)]
    cut = write(responseformat, fields, [[1]], status=Status("OVERFLOW", "cut"))
    assert cut == write(responseformat, fields, [[1]])
