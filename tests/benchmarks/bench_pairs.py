"""Pairs within 0.1 degree in a field of 41,000 objects per square degree: Qserv's SHV1, through ADQL.

    python -m tests.benchmarks.bench_pairs [degrees]

Aim: 70 M pairs/s. The field is 3 degrees wide and high by default; the objects and their number follow Wang et al.
2011 (SC '11, doi 10.1145/2063348.2063364), section 6.2, where 150 nodes gave about 6 M pairs/s.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from adql.translation import translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tests.benchmarks.seeds.qserv_tables import make_field

CROWDING = 41_000
RADIUS = 0.1
ROUNDS = 3

QUERY = f"""
    SELECT COUNT(*) FROM bench.objects AS a JOIN bench.objects AS b
    ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {RADIUS}"""


def write_field(path: Path, side: float) -> int:
    """Make a square field at the equator, evenly filled at random; return the number of its objects."""
    table = make_field(side, CROWDING, 1).rename_columns(["id", "ra", "dec"])
    pq.write_table(table, path)
    return table.num_rows


def main(side: float = 3.0) -> None:
    with tempfile.TemporaryDirectory() as folder, ConsoleReporter() as reporter:
        path = Path(folder) / "objects.parquet"
        count = write_field(path, side)
        with open_engine(Path(folder) / "data") as engine:
            load_files(
                engine,
                LoadRequest(files=(path,), table="bench.objects", rejects=Path(folder) / "rejects.csv"),
                reporter,
            )
            translation = translate(QUERY, read_catalogue(engine))
            uncached = {"use_query_condition_cache": 0}
            reporter.output(f"{count:,} objects in {side:g} x {side:g} degrees")
            for _ in range(ROUNDS):
                began, worked = time.perf_counter(), time.process_time()
                pairs = engine.fetch_table(translation.sql, translation.settings | uncached).column(0)[0].as_py()
                seconds, work = time.perf_counter() - began, time.process_time() - worked
                reporter.output(
                    f"{pairs:,} pairs within {RADIUS} degrees in {seconds:.1f} s: {pairs / seconds / 1e6:.1f} M pairs/s"
                    f" (aim: 70), {pairs / work / 1e6:.1f} M a second of processor"
                )


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:]))
