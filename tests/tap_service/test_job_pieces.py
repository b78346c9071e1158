"""Jobs in pieces, in both deployments: the same rows as in one, once, however they are interrupted."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest

from clickhouse_schema.apply import register, unregister, update_density
from clickhouse_schema.ddl import create_table
from clickhouse_schema.model import Schema
from tap_service.storage.embedded import EmbeddedEngine
from tests.tap_service.asking import create
from tests.tap_service.conftest import Served

ROWS = 100_000
SCHEMA = Schema.model_validate_json(
    json.dumps(
        {
            "name": "cut",
            "tables": [
                {
                    "name": name,
                    "columns": [
                        {"name": "id", "datatype": "long", "nullable": False},
                        {"name": "ra", "datatype": "double"},
                        {"name": "dec", "datatype": "double"},
                        {"name": "word", "datatype": "unicode"},
                    ],
                    "skyhouse:layout": {"position": ["ra", "dec"], "id": ["id"]},
                }
                for name in ("stars", "others")
            ],
        }
    )
)
#: every hundredth has no position
SQL = (
    "SELECT number, if(number % 100 = 7, NULL, randCanonical(number) * 360),"
    " degrees(asin(2 * (cityHash64(number) % 1000003) / 1000003 - 1)), concat('é ', toString(number)) FROM numbers({})"
)
ALL = "SELECT id, ra, dec, word FROM cut.stars"


def fill(engine: EmbeddedEngine, name: str, rows: int) -> None:
    table = next(table for table in SCHEMA.tables if table.name == name)
    engine.execute(f"INSERT INTO cut.{name} (id, ra, dec, word) {SQL.format(rows)}")
    update_density(engine, "cut", table)
    register(engine, SCHEMA, table)


@pytest.fixture(scope="module")
def cut_engine(svc_engine: EmbeddedEngine) -> Iterator[EmbeddedEngine]:
    svc_engine.execute("CREATE DATABASE cut")
    for table in SCHEMA.tables:
        svc_engine.execute(create_table(table, f"cut.{table.name}"))
        fill(svc_engine, table.name, ROWS if table.name == "stars" else 20_000)
    yield svc_engine
    for table in SCHEMA.tables:
        unregister(svc_engine, "cut", table.name)
    svc_engine.execute("DROP DATABASE cut SYNC")


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def piecewise(request: pytest.FixtureRequest, cut_engine: EmbeddedEngine) -> Served:
    """Whatever is foreseen to take longer than a tenth of a millisecond goes in pieces."""
    start = request.getfixturevalue("serve" if request.param == "embedded" else "serve_cluster")
    served: Served = start(piece_seconds=1e-4)
    return served


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_a_scan(piecewise: Served) -> None:
    job = create(piecewise.tap, ALL, PHASE="RUN", FORMAT="csv", MAXREC="1000000")
    assert job.ended() == "COMPLETED", job.message
    header, *rows = table(job.rows())
    assert header == ["id", "ra", "dec", "word"]
    assert sorted(int(row[0]) for row in rows) == list(range(ROWS))
    info = job.info
    assert int(info.get("pieces") or 0) > 5, info
    assert info["piecesDone"] == info["pieces"]
    assert (info["percent"], info["secondsLeft"], info["rowsWritten"]) == ("100", "0", str(ROWS))
    assert (info["plan"] or "").startswith(f"in {info['pieces']} pieces of cut.stars, by ranges of HEALPix cells\n")
