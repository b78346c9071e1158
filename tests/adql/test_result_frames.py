"""The frame of coordinates in a result: of columns that are positions in their table, as long as they are nothing else."""

from __future__ import annotations

import json

import pytest

from adql.translate import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.model import Schema

_COLUMNS = [
    *({"name": name, "datatype": "double"} for name in ("ra", "dec", "x")),
    {"name": "shape", "datatype": "double", "votable:arraysize": "*", "votable:xtype": "polygon"},
]
_TABLE = {"name": "a", "columns": _COLUMNS, "skyhouse:layout": {"position": ["ra", "dec"]}}
_CATALOGUE = Catalogue((Schema.model_validate_json(json.dumps({"name": "s", "tables": [_TABLE]})),))


@pytest.mark.parametrize(
    ("query", "frames"),
    [
        ("SELECT * FROM s.a", ["ICRS", "ICRS", "", "ICRS"]),
        ("SELECT lon FROM (SELECT ra AS lon FROM s.a) AS q", ["ICRS"]),
        ("SELECT ra + 1, -ra, COALESCE(ra, x), AVG(ra) OVER () FROM s.a", [""] * 4),
        ("SELECT ra FROM s.a UNION SELECT ra FROM s.a", ["ICRS"]),
        ("SELECT ra, x FROM s.a UNION ALL SELECT x, ra FROM s.a", ["", ""]),
    ],
)
def test_frames(query: str, frames: list[str]) -> None:
    assert [field.frame for field in translate(query, _CATALOGUE).fields] == frames
