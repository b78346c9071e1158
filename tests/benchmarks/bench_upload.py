"""Uploaded positions matched with the 2.5 M stars of Tycho-2 within 2 arcsec, from the client's file to its result.

    BENCH_DATA=folder python -m tests.benchmarks.bench_upload

Aims: 10,000 positions under a second, a million under 15. The positions are stars of the table, half of them moved
away; without the folder (see ``bench_match``) the same number at random. Each upload is sent as a VOTable (BINARY2),
as Parquet and as CSV to /sync, and the pairs come back as a BINARY2 VOTable. For comparison, the same round runs
astropy's ``search_around_sky`` on the same two tables in memory, without sending or reading anything.
"""

from __future__ import annotations

import io
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from astropy import units
from astropy.coordinates import SkyCoord, search_around_sky
from astropy.io import votable
from astropy.table import Table

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.benchmarks.matches.match_data import draw_anywhere, make_table, read_tycho
from tests.support.running_service import running_service

ROUNDS = 3
#: in Tycho-2
STARS = 2_539_913
RADIUS = 2 / 3600
QUERY = f"""
    SELECT u.id, t.id AS star FROM TAP_UPLOAD.u AS u JOIN bench.tycho AS t
    ON DISTANCE(POINT(u.ra, u.dec), POINT(t.ra, t.dec)) <= {RADIUS!r}"""


def positions(tycho: pa.Table, count: int) -> pa.Table:
    random = np.random.default_rng(1)
    chosen = tycho.take(random.choice(tycho.num_rows, count, replace=False))
    moved = np.where(np.arange(count) % 2, 0.5 / 3600, 0.02)
    dec = np.clip(chosen["dec"].to_numpy() + moved, -90, 90)
    return pa.table({"id": np.arange(count), "ra": chosen["ra"], "dec": dec})


def _votable(table: pa.Table) -> bytes:
    out = io.BytesIO()
    columns = Table({name: table[name].to_numpy() for name in table.column_names})
    votable.from_table(columns).to_xml(out, tabledata_format="binary2")
    return out.getvalue()


def _written(write: Callable[[pa.Table, io.BytesIO], object]) -> Callable[[pa.Table], bytes]:
    def to_bytes(table: pa.Table) -> bytes:
        out = io.BytesIO()
        write(table, out)
        return out.getvalue()

    return to_bytes


FORMATS = {"BINARY2": _votable, "Parquet": _written(pq.write_table), "CSV": _written(pa.csv.write_csv)}


def in_memory(here: pa.Table, there: pa.Table) -> int:
    ours, theirs = (SkyCoord(t["ra"].to_numpy(), t["dec"].to_numpy(), unit="deg") for t in (here, there))
    return len(search_around_sky(ours, theirs, RADIUS * units.deg)[0])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ConsoleReporter() as reporter:
        tycho = make_table(
            0, *(read_tycho() if "BENCH_DATA" in os.environ else draw_anywhere(np.random.default_rng(1), STARS))
        )
        path = Path(folder) / "tycho.parquet"
        pq.write_table(tycho, path)
        engine = EmbeddedEngine(Path(folder) / "data")
        prepare_engine(engine)
        load_files(
            engine, LoadRequest(files=(path,), table="bench.tycho", rejects=Path(folder) / "rejects.csv"), reporter
        )
        config = Config(query_log="", jobs_path=engine.data_path / "jobs", default_maxrec=10_000_000)
        with running_service(config, engine) as server:
            url = server.sync
            for count in (10_000, 1_000_000):
                here = positions(tycho, count)
                files = {name: write(here) for name, write in FORMATS.items()}
                seconds: dict[str, list[float]] = {name: [] for name in (*FORMATS, "in memory")}
                for _ in range(ROUNDS):
                    for name, content in files.items():
                        began = time.perf_counter()
                        data = {"QUERY": QUERY, "UPLOAD": "u,param:u"}
                        answer = httpx.post(url, data=data, files={"u": ("u", content)}, timeout=300)
                        seconds[name].append(time.perf_counter() - began)
                        assert answer.content.endswith(b"</VOTABLE>\n"), answer.text[:1000]
                        assert b"OVERFLOW" not in answer.content[-1000:]
                        time.sleep(2)  # people do not upload again at once
                    began = time.perf_counter()
                    found = in_memory(here, tycho)
                    seconds["in memory"].append(time.perf_counter() - began)
                for name, times in seconds.items():
                    size = f", {len(files[name]) / 1e6:.1f} MB" if name in files else f", {found:,} pairs"
                    reporter.output(f"{count:,} positions, {name}{size}: {statistics.median(times):.2f} s")
        engine.close()


if __name__ == "__main__":
    main()
