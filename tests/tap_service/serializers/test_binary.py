"""BINARY2 and BINARY cell by cell: type, value, and bytes as in the text of the standard."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from clickhouse_schema.datatypes import DOUBLE, INT, ColumnType, Field
from tap_service.serializers import SerializationError, find_format
from tests.tap_service.serializers.readers import read

NAN = float("nan")
INF = float("inf")
NOON = datetime(2000, 1, 1, 12, 0, 0, 500000, UTC)

#: datatype, arraysize, xtype, value, BINARY2 (flags, then the cell), BINARY if it differs from the cell of BINARY2
CELLS: list[tuple[str, str, str, Any, str, str | None]] = [
    ("boolean", "", "", True, "00 54", None),
    ("boolean", "", "", False, "00 46", None),
    ("boolean", "", "", None, "80 00", None),
    ("unsignedByte", "", "", 200, "00 c8", None),
    ("unsignedByte", "", "", None, "80 00", "ff"),
    ("short", "", "", -2, "00 fffe", None),
    ("short", "", "", None, "80 0000", "8000"),
    ("int", "", "", 1, "00 00000001", None),
    ("int", "", "", None, "80 00000000", "80000000"),
    ("long", "", "", 2**53 + 1, "00 0020000000000001", None),
    ("long", "", "", -(2**63) + 1, "00 8000000000000001", None),
    ("long", "", "", None, "80 0000000000000000", "8000000000000000"),
    ("float", "", "", 1.5, "00 3fc00000", None),
    ("float", "", "", NAN, "00 7fc00000", None),
    ("float", "", "", -INF, "00 ff800000", None),
    ("float", "", "", None, "80 7fc00000", None),
    ("double", "", "", -0.0, "00 8000000000000000", None),
    ("double", "", "", 0.1, "00 3fb999999999999a", None),
    ("double", "", "", INF, "00 7ff0000000000000", None),
    ("double", "", "", None, "80 7ff8000000000000", None),
    ("char", "*", "", "ab", "00 00000002 6162", None),
    ("char", "*", "", "", "00 00000000", None),
    ("char", "*", "", None, "80 00000000", None),
    ("char", "*", "", "aé𝄞b", "00 00000004 613f3f62", None),
    ("char", "10*", "", "ab\n<&>\t", "00 00000007 61620a3c263e09", None),
    ("char", "4", "", "ab", "00 61620000", None),
    ("char", "4", "", "abcd", "00 61626364", None),
    ("char", "4", "", None, "80 00000000", None),
    ("char", "1", "", "V", "00 56", None),
    ("unicodeChar", "*", "", "ab", "00 00000002 00610062", None),
    ("unicodeChar", "*", "", "é𝄞", "00 00000003 00e9 d834dd1e", None),
    ("unicodeChar", "*", "", None, "80 00000000", None),
    ("unicodeChar", "3", "", "é", "00 00e9 0000 0000", None),
    ("unicodeChar", "2", "", "𝄞", "00 d834dd1e", None),
    ("char", "*", "timestamp", NOON, "00 00000015 323030302d30312d30315431323a30303a30302e35", None),
    ("char", "*", "timestamp", None, "80 00000000", None),
    ("double", "2", "point", [1.0, -2.0], "00 3ff0000000000000 c000000000000000", None),
    ("double", "2", "point", None, "80 7ff8000000000000 7ff8000000000000", None),
    ("double", "2", "point", [], "80 7ff8000000000000 7ff8000000000000", None),
    ("double", "3", "circle", [0.0, 1.0, 2.0], "00 0000000000000000 3ff0000000000000 4000000000000000", None),
    ("double", "*", "polygon", [1.0, None], "00 00000002 3ff0000000000000 7ff8000000000000", None),
    ("double", "*", "polygon", None, "80 00000000", None),
    ("int", "*", "", [1, -1], "00 00000002 00000001 ffffffff", None),
    ("int", "*", "", [], "80 00000000", None),
    ("short", "2", "", [1, 2], "00 0001 0002", None),
    ("short", "2", "", None, "80 0000 0000", "8000 8000"),
    ("unsignedByte", "2x2", "", [1, 2, 3, 4], "00 01020304", None),
    ("long", "2x*", "", [1, 2], "00 00000002 0000000000000001 0000000000000002", None),
    ("boolean", "*", "", [True, None, False], "00 00000003 540046", None),
    ("boolean", "2", "", None, "80 0000", None),
    ("float", "1", "", [1.0], "00 3f800000", None),
]


def stream(document: bytes) -> bytes:
    found = re.search(rb"<STREAM encoding=\"base64\">\n(.*)\n</STREAM>", document)
    assert found
    return base64.b64decode(found[1], validate=True)


@pytest.mark.parametrize(("datatype", "arraysize", "xtype", "value", "binary2", "binary"), CELLS)
def test_cell(write, datatype, arraysize, xtype, value, binary2, binary):
    field = Field("x", ColumnType(datatype, arraysize, xtype))
    expected = bytes.fromhex(binary2)
    assert stream(write("votable/b2", [field], [[value]])) == expected
    assert stream(write("votable/b", [field], [[value]])) == (bytes.fromhex(binary) if binary else expected[1:])


def test_flags_fill_bytes_from_the_high_bit(write):
    fields = [Field(f"c{number}", ColumnType("unsignedByte")) for number in range(10)]
    values = [[None], *([number] for number in range(1, 8)), [None], [9]]
    assert stream(write("votable/b2", fields, values)) == bytes.fromhex("8080 00010203040506070009")


def test_row_of_fixed_and_variable_cells(write):
    fields = [
        Field("n", ColumnType("short")),
        Field("text", ColumnType("char", "*")),
        Field("flag", ColumnType("boolean")),
        Field("wide", ColumnType("unicodeChar", "*")),
        Field("more", ColumnType("unsignedByte", "*")),
        Field("last", INT),
    ]
    columns = [[1, 2], ["ab", None], [True, False], ["", "é"], [[7, 8], []], [None, 3]]
    first = "04 0001 00000002 6162 54 00000000 00000002 0708 00000000"
    second = "48 0002 00000000 46 00000001 00e9 00000000 00000003"
    assert stream(write("votable/b2", fields, columns)) == bytes.fromhex(first + second)


@pytest.mark.parametrize(
    ("kind", "values", "datatype", "null"),
    [
        (INT, [1, None], "int", -(2**31)),
        (INT, [-(2**31), None], "int", 2**31 - 1),
        (INT, [-(2**31), 1], "int", None),
        (ColumnType("unsignedByte"), [0, 255, None], "short", -(2**15)),
        (ColumnType("short", "*"), [[-(2**15), None], []], "short", 2**15 - 1),
        (ColumnType("short", "2"), [[1, 2], None], "short", -(2**15)),
        (DOUBLE, [1.0, None], "double", None),
    ],
)
def test_binary_declares_a_number_for_null_that_no_row_has(write, kind, values, datatype, null):
    document = write("votable/b", [Field("x", kind)], [values], cuts=(1,))
    assert f'name="x" datatype="{datatype}"'.encode() in document
    assert document.count(b"<VALUES") == (null is not None)
    assert null is None or f'<VALUES null="{null}"/>'.encode() in document
    [read_back] = read(find_format("votable/b").mime, document)
    assert read_back == [None if value == [] else value for value in values]
    assert b"<VALUES" not in write("votable/b2", [Field("x", INT)], [[1, None]])


@pytest.mark.parametrize(
    ("responseformat", "field", "value", "message"),
    [
        ("votable/b2", Field("x", ColumnType("int", "*")), [1, None], "has a NULL inside an array"),
        ("votable/td", Field("x", ColumnType("int", "*")), [1, None], "has a NULL inside an array"),
        ("votable", Field("x", ColumnType("double", "2")), [1.0], "declared with 2 items"),
        ("votable", Field("x", ColumnType("char", "2")), "abc", "declared with 2 characters"),
        ("votable", Field("x", ColumnType("unicodeChar", "1")), "𝄞", "declared with 1 characters"),
    ],
)
def test_values_that_cannot_be_written_are_refused(write, responseformat, field, value, message):
    with pytest.raises(SerializationError, match=message) as error:
        write(responseformat, [field], [[value]])
    assert "'x'" in str(error.value)
