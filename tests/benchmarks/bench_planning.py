"""What the passes save: queries on 20 million positions with and without the hints of one pass.

    python -m tests.benchmarks.bench_planning [rows]

Each query runs in turns with all passes and with one left out; the best time of each counts, and the answers must be
equal. Positions are random over the sky; granules hold 8,192 rows. The last line is the planning itself: milliseconds
to translate a cone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from adql import rewrite
from adql.rewrite.filters.region_transfer import transfer_regions
from adql.rewrite.filters.small_side_filters import filter_by_small_sides
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.benchmarks.bench_translate import milliseconds

ROWS = 20_000_000
ROUNDS = 5
COLUMNS = (
    Column(name="id", datatype="long", nullable=False),
    *(Column(name=name, datatype="double") for name in ("ra", "dec", "mag")),
)
LAYOUT = Layout(position=("ra", "dec"), id=("id",))
NEAR = "DISTANCE(a.ra, a.dec, b.ra, b.dec) < 1 / 3600."

#: a name, the pass that plans it, the query; ``field``: 1,000 positions within 5 degrees, ``spread``: all over the sky
QUERIES = (
    ("region on one side of a match", transfer_regions, f"large AS a JOIN large AS b ON {NEAR} WHERE DISTANCE(a.ra, a.dec, 100, 30) < 1"),
    ("region on a union of two tables", transfer_regions, "(SELECT ra, dec, mag FROM large UNION ALL SELECT ra, dec, mag FROM field) AS b WHERE DISTANCE(ra, dec, 100, 30) < 1"),
    ("match with 1,000 positions in a field", filter_by_small_sides, f"field AS a JOIN large AS b ON {NEAR}"),
    ("the same, LEFT", filter_by_small_sides, f"field AS a LEFT JOIN large AS b ON {NEAR}"),
    ("match with 1,000 positions over the sky", filter_by_small_sides, f"spread AS a JOIN large AS b ON {NEAR}"),
    ("join by 20 ids", filter_by_small_sides, "few AS a JOIN large AS b ON a.id = b.id"),
)  # fmt: skip


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        catalogue = fill(engine, rows)
        for name, leaving, tables in QUERIES:
            query = f"SELECT COUNT(*), SUM(b.mag) FROM {tables}"
            planned, without = compared(engine, catalogue, query, leaving)
            print(
                f"{name:42}{planned * 1000:9.1f} ms, without {without * 1000:9.1f} ms: {without / planned:6.1f} times"
            )
        engine.close()
    cone = "SELECT * FROM large WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.1167, 1.0))"
    print(f"translating a cone{milliseconds(lambda: translate(cone, catalogue)):8.2f} ms")


def fill(engine: EmbeddedEngine, rows: int) -> Catalogue:
    """The tables, and the catalogue that knows their sizes."""
    sky = "sipHash64(number, 1) / pow(2, 64) * 360, degrees(asin(2 * (sipHash64(number, 2) / pow(2, 64)) - 1))"
    field = "100 + sipHash64(number, 3) / pow(2, 64) * 5, 30 + sipHash64(number, 4) / pow(2, 64) * 5"
    contents = {"large": (rows, sky), "field": (1000, field), "spread": (1000, sky), "few": (20, sky)}
    tables = tuple(Table(name=name, columns=COLUMNS, layout=LAYOUT) for name in contents)
    engine.execute("CREATE DATABASE bench")
    for table in tables:
        count, position = contents[table.name]
        engine.execute(create_table_sql(table, f"bench.{table.name}"))
        engine.execute(
            f"INSERT INTO bench.{table.name} SELECT number * 7919 % 20000003, {position}, number % 20 FROM numbers({count})"
        )
        engine.execute(f"OPTIMIZE TABLE bench.{table.name} FINAL")
    counts = {("bench", name): count for name, (count, _) in contents.items()}
    return Catalogue((Schema(name="bench", tables=tables),), counts)


def compared(engine: EmbeddedEngine, catalogue: Catalogue, query: str, leaving: object) -> tuple[float, float]:
    """Return the seconds with all passes and without one."""
    whole = translate(query, catalogue)
    with without(leaving):
        other = translate(query, catalogue)
    times: tuple[list[float], list[float]] = ([], [])
    answers: list[pa.Table] = []
    for _ in range(ROUNDS):
        for translation, taken in zip((whole, other), times, strict=True):
            began = time.perf_counter()
            answers.append(engine.fetch_table(translation.sql, translation.settings | {"use_query_condition_cache": 0}))
            taken.append(time.perf_counter() - began)
    if len({str(answer.to_pylist()) for answer in answers}) != 1:
        raise AssertionError(f"answers differ: {query}")
    return min(times[0]), min(times[1])


@contextmanager
def without(leaving: object) -> Iterator[None]:
    """The passes before the inner SELECTs, without one of them."""
    kept = rewrite.PASSES_BEFORE_INNER
    rewrite.PASSES_BEFORE_INNER = tuple(each for each in kept if each[0] is not leaving)
    try:
        yield
    finally:
        rewrite.PASSES_BEFORE_INNER = kept


if __name__ == "__main__":
    main()
