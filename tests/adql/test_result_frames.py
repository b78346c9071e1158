"""Frames of coordinates in results: known for unchanged columns that are positions of their table."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.datatypes import TimeSystem
from clickhouse_schema.schema_model import Column, Schema

_COLUMNS = [
    *({"name": name, "datatype": "double"} for name in ("ra", "dec", "x")),
    {"name": "shape", "datatype": "double", "votable:arraysize": "*", "votable:xtype": "polygon"},
]
_TABLE = {"name": "a", "columns": _COLUMNS, "skyhouse:layout": {"position": ["ra", "dec"]}}
_CATALOGUE = Catalogue((Schema.model_validate_json(json.dumps({"name": "s", "tables": [_TABLE]})),))


def test_time_systems() -> None:
    columns = [
        {
            "name": "seen",
            "datatype": "timestamp",
            "skyhouse:timesys": {"timescale": "TCB", "refposition": "BARYCENTER"},
        },
        {
            "name": "mjd",
            "datatype": "double",
            "skyhouse:timesys": {"timescale": "TDB", "refposition": "BARYCENTER", "timeorigin": "MJD-origin"},
        },
    ]
    schema = {"name": "s", "tables": [{"name": "a", "columns": columns}]}
    catalogue = Catalogue((Schema.model_validate_json(json.dumps(schema)),))
    query = "SELECT seen AS t, mjd, mjd + 1 FROM s.a UNION ALL SELECT seen, mjd, mjd FROM s.a"
    barycentric = TimeSystem("TDB", "BARYCENTER", "MJD-origin")
    assert [field.time_system for field in translate(query, catalogue).fields] == [
        TimeSystem("TCB", "BARYCENTER"),
        barycentric,
        None,
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"datatype": "string"}, "is for timestamps and numbers"),
        ({"datatype": "double"}, "has a timeorigin for numbers"),
        ({"datatype": "timestamp", "origin": 2455197.5}, "no timeorigin for timestamps"),
    ],
)
def test_invalid_time_systems(keys: dict[str, Any], message: str) -> None:
    times = {"timescale": "TCB", "refposition": "BARYCENTER"}
    if "origin" in keys:
        times["timeorigin"] = keys.pop("origin")
    with pytest.raises(ValidationError, match=message):
        Column.model_validate_json(json.dumps({"name": "t", **keys, "skyhouse:timesys": times}))


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
