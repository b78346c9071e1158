"""Compare each output format with the engine's writer of the same or the nearest format, and with its Arrow stream.

    python -m tests.benchmarks.bench_formats [rows]

There are 12 columns, two of them text; a tenth of the numbers are NULL. Ours is the engine's stream of Arrow batches
through the serializer, as every query runs; the engine's is ``FORMAT ...`` of the same SELECT through the same
library. The output is counted and dropped. The figures to quote are the ratios within each round: of the wall time,
and of the processor time, which says how much a busy machine can serve.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import chdb

from adql.translation import Translation
from clickhouse_schema.datatypes import CHAR, DOUBLE, FLOAT, INT, LONG, UNICODE, Field
from tap_service.models.engine_share import EngineShare
from tap_service.models.query_report import QueryReport
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.serializers import FORMATS, Format, ResultInfo
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.query_run import QueryRun
from tap_service.services.queries.row_limit import RowLimit
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

ROWS = 2_000_000
ROUNDS = 3
FIELDS = (
    Field("id", LONG, nullable=False),
    Field("name", CHAR),
    *(Field(f"d{number}", DOUBLE, "deg") for number in range(6)),
    Field("magnitude", FLOAT, "mag"),
    Field("epochs", INT),
    Field("flags", INT),
    Field("remark", UNICODE),
)
_DOUBLES = ", ".join(
    f"if(cityHash64(number, {n}) % 10 = 0, NULL, cityHash64(number, {n}) / 5.1e16 - 90) AS d{n}" for n in range(6)
)
CREATE = f"""
CREATE TABLE bench ENGINE = MergeTree ORDER BY id AS SELECT
    toInt64(cityHash64(number) / 4) AS id, concat('TYC ', toString(number), '-1') AS name, {_DOUBLES},
    CAST(cityHash64(number, 7) / 2e18 + 5 AS Nullable(Float32)) AS magnitude,
    CAST(number % 500 AS Nullable(Int32)) AS epochs, CAST(cityHash64(number, 8) % 2000000000 AS Nullable(Int32)) AS flags,
    concat('Stern ', toString(number % 97), ' α') AS remark
FROM numbers({{rows}})"""

#: the engine's format that is nearest to each of ours
ENGINES_OWN = {
    "votable": "RowBinary",
    "votable/b": "RowBinary",
    "votable/td": "XML",
    "csv": "CSVWithNames",
    "tsv": "TabSeparatedWithNames",
    "fits": "RowBinary",
    "parquet": "Parquet",
    "arrow": "ArrowStream",
    "arrow-file": "Arrow",
    "json": "JSONCompact",
    "ecsv": "CSVWithNames",
    "html": "XML",
    "text": "PrettySpaceNoEscapes",
}


class Counter:
    """A sink that drops its input."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        self.size += len(data)


def ours(engine: EmbeddedEngine, query: str, entry: Format, scratch: ScratchSpace) -> int:
    translation = Translation(query, {}, FIELDS, (), None)
    make_serializer = partial(entry.serializer, FIELDS, ResultInfo(), scratch)
    sink = Counter()
    query = PreparedQuery("bench", translation, RowLimit(1 << 60, 1 << 60), engine, make_serializer)
    QueryRun(query, QueryReport()).run(sink, EngineShare())
    return sink.size


def engines_own(path: Path, query: str, name: str) -> int:
    handle = chdb.connect(str(path))
    size = 0
    for piece in handle.send_query(query, name):
        size += len(piece.bytes())
    handle.close()
    return size


def arrow_alone(engine: EmbeddedEngine, query: str) -> int:
    with engine.stream_batches(query) as batches:
        return sum(batch.nbytes for batch in batches)


def timed(run: Callable[[], int]) -> tuple[float, float, int]:
    """Return wall seconds, processor seconds, and the result of ``run``."""
    began, busy = time.perf_counter(), time.process_time()
    size = run()
    return time.perf_counter() - began, time.process_time() - busy, size


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        engine.execute(CREATE.format(rows=rows))
        query = "SELECT * FROM bench"
        scratch = ScratchSpace(Path(folder), Budget(1 << 40))
        path = engine.data_path / "clickhouse"
        print(f"{rows} rows; the ratios are of rows a second: ours to the engine's own format, and to its Arrow stream")
        print(f"{'':52} {'on the clock':>22} {'processor time':>16}")
        print(
            f"{'format':11} {'krows/s':>8} {'MB/s':>6}   {'engine own':21} {'krows/s':>8} "
            f"{'ratio':>6} {'to Arrow':>9} {'ratio':>6} {'to Arrow':>9}"
        )
        for name, own in ENGINES_OWN.items():
            entry = next(entry for entry in FORMATS if name in entry.aliases)
            rounds = []
            for _ in range(ROUNDS):
                arrow = timed(lambda: arrow_alone(engine, query))
                theirs = timed(lambda own=own: engines_own(path, query, own))
                rounds.append((timed(lambda entry=entry: ours(engine, query, entry, scratch)), theirs, arrow))
            seconds, size = (statistics.median(our[n] for our, _, _ in rounds) for n in (0, 2))
            own_seconds = statistics.median(their[0] for _, their, _ in rounds)
            ratios = [
                statistics.median(other[clock] / our[clock] for our, *others in rounds for other in [others[which]])
                for clock in (0, 1)
                for which in (0, 1)
            ]
            print(
                f"{name:11} {rows / seconds / 1e3:8.0f} {size / seconds / 1e6:6.0f}   {own:21} "
                f"{rows / own_seconds / 1e3:8.0f} {ratios[0]:6.2f} {ratios[1]:9.2f} {ratios[2]:6.2f} {ratios[3]:9.2f}",
                flush=True,
            )
        engine.close()


if __name__ == "__main__":
    main()
