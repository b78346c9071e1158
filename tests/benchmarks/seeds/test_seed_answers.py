"""The answers of all measures at size S equal DuckDB's answers over the same files.

The longest test, of Qserv's workload, takes 20 s: eleven measures with up to 20 questions each, and clusters of one
server and of two.
"""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Iterator
from pathlib import Path

import cdshealpix
import duckdb
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import Angle, Latitude, Longitude

from tests.benchmarks.seeds.seed_service import SeedService, open_seed_service
from tests.benchmarks.seeds.seed_workload import Activity, Question
from tests.benchmarks.seeds.workloads import WORKLOADS

#: The maximum number of questions of a measure that are compared: the first with rows is the last
_QUESTIONS = 20

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeedService]:
    """The service of all seeds, whose tables have different names: each start of it takes 3 processor-s."""
    with open_seed_service(tmp_path_factory.mktemp("seeds"), "S", keeps_files=True) as service:
        yield service


def open_files(number: str, service: SeedService) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 2})
    connection.create_function("ivo_healpix_index", find_cells, ["BIGINT", "DOUBLE", "DOUBLE"], "BIGINT", type="arrow")
    connection.execute((Path(__file__).parent / "adql_functions.sql").read_text())
    for table in WORKLOADS[number].tables:
        schema, name = table.name.split(".")
        files = [str(file) for file in service.list_files(table)]
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"CREATE VIEW {schema}.{name} AS SELECT * FROM read_parquet({files})")
    return connection


def find_cells(order: pa.Array, lon: pa.Array, lat: pa.Array) -> pa.Array:
    ra, dec = (Angle(each.to_numpy(), "deg") for each in (lon, lat))
    cells = cdshealpix.nested.lonlat_to_healpix(Longitude(ra), Latitude(dec), order[0].as_py())
    return pa.array(cells.astype(np.int64))


def parse_rows(text: str) -> list[tuple[object, ...]]:
    _, *rows = csv.reader(io.StringIO(text))
    return [tuple(map(parse_value, row)) for row in rows]


def parse_value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text or None


def as_float(value: object) -> object:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def same_rows(ours: list[tuple[object, ...]], theirs: list[tuple[object, ...]]) -> bool:
    if len(ours) != len(theirs):
        return False
    pairs = zip(sorted(ours, key=repr), sorted(theirs, key=repr), strict=True)
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
        for one, other in pairs
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("number", list(WORKLOADS))
def test_answers(number: str, service: SeedService) -> None:
    service.make_tables(WORKLOADS[number].tables)
    connection = open_files(number, service)
    for measure in WORKLOADS[number].measures:
        if isinstance(measure, Activity):
            assert measure.run(service, "S")
            continue
        draw = random.Random(measure.name)
        questions = (measure.ask(draw, "S") for _ in range(min(_QUESTIONS, measure.count)))
        found = (compare_answers(service, connection, measure.name, question) for question in questions)
        assert any(found), f"{measure.name} has no rows"


def compare_answers(service: SeedService, connection: duckdb.DuckDBPyConnection, name: str, question: Question) -> int:
    """Return the number of rows of the answer."""
    ours = parse_rows(service.fetch_text(question.adql))
    if question.duckdb:
        answer = connection.execute(question.duckdb).fetchall()
        theirs = [tuple(map(as_float, row)) for row in answer]
        assert same_rows(ours, theirs), (
            f"{name}: {question.adql}: {len(ours)} and {len(theirs)} rows, {ours[:1]} {theirs[:1]}"
        )
    return len(ours)
