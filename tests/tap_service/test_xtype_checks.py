"""Valid and invalid values of a column's xtype (DALI 1.2), in files that are loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.schema_model import Column, Table
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.file_formats import open_source

INF, NAN = float("inf"), float("nan")

CASES: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "hms": (
        {"datatype": "string"},
        ["00:00:00", "24:00:00", "24:00:00.0", "12:34:56.789", "1:2:3", "023:59:59.", "", None],
        ["24:00:01", "25:00:00", "12:34:60", "12:60:00", "-1:00:00", "12 34 56", "12:34", "12:34:56\n", "12h34m56s"],
    ),
    "dms": (
        {"datatype": "string"},
        ["-90:00:00", "+90:0:0", "10:20:30", "-0:00:00.5", "", None],
        ["90:00:00.1", "-91:0:0", "10:20:60", "10:60:00", "+-1:00:00", "10d20m30s", "12:34"],
    ),
    "uuid": (
        {"datatype": "string", "length": 36},
        ["e0b895ca-2ee4-4f0f-b595-cbd83be40b04", "E0B895CA-2EE4-4F0F-B595-CBD83BE40B04", "", None],
        [
            "e0b895ca2ee44f0fb595cbd83be40b04",
            "{e0b895ca-2ee4-4f0f-b595-cbd83be4}",
            "e0b895ca-2ee4-4f0f-b595-cbd83be40b0g",
        ],
    ),
    "uri": (
        {"datatype": "unicode"},
        ["ivo://auth/res?a=b#c", "https://[::1]:8080/x%20y", "urn:isbn:0451450523", "mailto:a@b.c", "", None],
        ["no scheme", "https://x/a b", "https://x/%zz", "//host/path", "1http://x", "https://x/é", "https://x/<a>"],
    ),
    "json": (
        {"datatype": "unicode"},
        ['{"a": [1, 2.5e400, null, "β"]}', "[]", " 1 ", '"text"', "9" * 5000, "", None],
        ["{'a': 1}", "[1,]", "NaN", "[Infinity]", "{} {}", "[" * 100_000, '"tab\t"'],
    ),
    "interval": (
        {"datatype": "double", "arraysize": "2"},
        [[-INF, INF], [1.0, 1.0], [-1.5, 2.5], None],
        [[2.0, 1.0], [NAN, 1.0], [1.0, NAN], [1.0], [1.0, 2.0, 3.0, 4.0]],
    ),
    "multiinterval": (
        {"datatype": "long", "arraysize": "*"},
        [[1, 3, 4, 5], [0, 0], [2**62, 2**62 + 1], [4, 5, 1, 3], [], None],
        [[1], [1, 2, 3], [1, 3, 5, 4], [2**53 + 1, 2**53]],
    ),
}


@pytest.mark.parametrize("xtype", CASES)
def test_values_of_another_form_are_put_aside(xtype: str, tmp_path: Path) -> None:
    keys, good, bad = CASES[xtype]
    column = Column(name="v", xtype=xtype, **keys)
    mixed = [value for pair in zip(good * 9, bad, strict=False) for value in pair] + good
    pq.write_table(pa.table({"v": pa.array(mixed, column.type.arrow)}), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    table = Table(name="t", columns=(column,))
    [block] = source.read_blocks(("v",))
    batch, errors = Conformer(table, source).conform_block(block)
    assert [error.where for error in errors] == [2 * index + 2 for index in range(len(bad))]
    assert all(error.column == "v" and "not " in error.reason for error in errors)
    assert batch.num_rows == len(mixed) - len(bad)
    if column.type.is_text:
        batch, errors = Conformer(table, source, checks_texts=False).conform_block(block)
        assert (batch["v"].to_pylist(), errors) == (mixed, [])
