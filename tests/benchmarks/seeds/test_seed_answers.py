"""The answers of all measures at size S are those of DuckDB over the same files."""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.benchmarks.seeds.seed_service import SeedService, open_seed_service
from tests.benchmarks.seeds.seed_workload import Activity
from tests.benchmarks.seeds.workloads import WORKLOADS

#: Questions of a measure that are compared
_QUESTIONS = 3

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module", params=list(WORKLOADS))
def seed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, SeedService]]:
    folder = tmp_path_factory.mktemp(f"seed{request.param}")
    with open_seed_service(folder, WORKLOADS[request.param], "S", keeps_files=True) as service:
        yield request.param, service


def open_files(number: str, service: SeedService) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 2})
    connection.execute((Path(__file__).parent / "adql_functions.sql").read_text())
    for table in WORKLOADS[number].tables:
        schema, name = table.name.split(".")
        files = [str(file) for file in service.list_files(table)]
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"CREATE VIEW {schema}.{name} AS SELECT * FROM read_parquet({files})")
    return connection


def parse_rows(text: str) -> list[tuple[object, ...]]:
    _, *rows = csv.reader(io.StringIO(text))
    return [tuple(map(parse_value, row)) for row in rows]


def parse_value(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text or None


def same_rows(ours: list[tuple[object, ...]], theirs: list[tuple[object, ...]]) -> bool:
    if len(ours) != len(theirs):
        return False
    pairs = zip(sorted(ours, key=repr), sorted(theirs, key=repr), strict=True)
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
        for one, other in pairs
        for a, b in zip(one, other, strict=True)
    )


def test_answers(seed: tuple[str, SeedService]) -> None:
    number, service = seed
    connection = open_files(number, service)
    rows_compared = 0
    for measure in WORKLOADS[number].measures:
        if isinstance(measure, Activity):
            figures = measure.run(service, "S")
            assert figures
            continue
        draw = random.Random(measure.name)
        for question in [measure.ask(draw, "S") for _ in range(min(_QUESTIONS, measure.count))]:
            ours = parse_rows(service.fetch_text(question.adql))
            if question.duckdb:
                answer = connection.execute(question.duckdb).fetchall()
                theirs = [tuple(float(v) if isinstance(v, (int, float)) else v for v in row) for row in answer]
                assert same_rows(ours, theirs), f"{measure.name}: {question.adql}: {ours[:5]} {theirs[:5]}"
                rows_compared += len(ours)
    assert rows_compared
