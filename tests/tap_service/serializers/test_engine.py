"""The engine's own types of each column type can be written unchanged."""

from __future__ import annotations

import pytest

from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INTEGERS, LONG, POINT, SCALARS, TIMESTAMP, ColumnType, Field
from tap_service.serializers import ResultInfo, find_format

#: type, SQL of a value, its text in CSV
CELLS = [
    *((ColumnType(name), f"CAST(7 AS {SCALARS[name].clickhouse})", "7") for name in INTEGERS),
    *((ColumnType(name), f"CAST(NULL AS Nullable({SCALARS[name].clickhouse}))", "") for name in ("int", "double")),
    (BOOLEAN, "true", "true"),
    (BOOLEAN, "1 < 2", "true"),
    (ColumnType("float"), "toFloat32(0.1)", "0.1"),
    (DOUBLE, "0 / 0", "NaN"),
    (DOUBLE, "1 / 0", "Infinity"),
    (DOUBLE, "toFloat32(0.5)", "0.5"),
    (LONG, "count()", "1"),
    (LONG, "toUInt64(9223372036854775807)", "9223372036854775807"),
    (ColumnType("char", "*"), "'a,b'", '"a,b"'),
    (ColumnType("unicodeChar", "*"), "'é𝄞'", "é𝄞"),
    (ColumnType("unicodeChar", "*"), "CAST('é' AS LowCardinality(String))", "é"),
    (ColumnType("char", "*"), "CAST('abc' AS FixedString(3))", "abc"),
    (TIMESTAMP, "toDateTime64('2000-01-02 03:04:05.25', 6, 'UTC')", "2000-01-02T03:04:05.25"),
    (POINT, "[1.5, -2.]", "1.5 -2"),
    (POINT, "CAST([] AS Array(Float64))", ""),
    (ColumnType("int", "*"), "CAST([1, 2] AS Array(Int32))", "1 2"),
    (ColumnType("boolean", "*"), "CAST([true, false] AS Array(Bool))", "true false"),
]


@pytest.mark.parametrize(("kind", "sql", "cell"), CELLS)
def test_engine_value(engine, kind, sql, cell):
    fields = [Field("x", kind), Field("n", LONG)]
    documents = {}
    for responseformat in ("text/csv;header=absent", "votable/b2", "votable/td"):
        serializer = find_format(responseformat).serializer(fields, ResultInfo())
        with engine.stream_batches(f"SELECT {sql} AS c0, count() AS c1") as batches:
            documents[responseformat] = b"".join(serializer.write_rows(batch) for batch in batches)
    assert documents["text/csv;header=absent"].decode() == f"{cell},1\r\n"
    assert documents["votable/b2"]
    assert documents["votable/td"].endswith(b"<TD>1</TD></TR>\n")
