"""Many users at once, after Qserv's requirement: 50 of low volume, 20 of high volume and 1 of super-high volume.

    SKYHOUSE_BENCH_DATA=folder python -m tests.benchmarks.bench_mixed

The folder has ``tycho2.parquet`` (ra_mean, dec_mean, ra_obs, dec_obs, vt_mag), which is not shipped; it is replicated
with jitter to 20 million rows. Without it, as many rows are spread over the sky at random.

Low volume: 50 clients, each of which asks /sync for a look-up by id or a cone of 0.1 degrees every second. High volume: 20
jobs of 20 users that read a column of all rows or more. Super-high volume: all pairs within 10 arcsec. Told are the
95th percentile of low volume, alone and beside the jobs, and how long the jobs take at once against one after the other.
The service is a process of its own, its clients share its processor. Aims: p95 under 100 ms; at once not longer by 20 %.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.tap_service.storage.clickhouse_server import free_port

ROWS = 20_000_000
LOW, HIGH = 50, 20
JITTER = 0.02  # degrees

SCHEMA = """
name: bench
tables:
  - name: stars
    columns:
      - {name: id, datatype: long, nullable: false, "ivoa:ucd": meta.id;meta.main}
      - {name: ra, datatype: double, "ivoa:unit": deg, "ivoa:ucd": pos.eq.ra;meta.main}
      - {name: dec, datatype: double, "ivoa:unit": deg, "ivoa:ucd": pos.eq.dec;meta.main}
      - {name: mag, datatype: float, "ivoa:unit": mag, "ivoa:ucd": phot.mag}
    "skyhouse:layout": {position: [ra, dec], id: [id]}
"""

#: each reads all rows
SCANS = (
    "SELECT COUNT(*) AS n, AVG(mag) AS m FROM bench.stars WHERE mag > {x}",
    "SELECT FLOOR(mag * 10) AS bin, COUNT(*) AS n FROM bench.stars WHERE dec > {x} GROUP BY FLOOR(mag * 10)",
    "SELECT TOP 100 id, ra, dec, mag FROM bench.stars WHERE mag > {x} ORDER BY mag",
    "SELECT FLOOR(ra) AS a, FLOOR(dec) AS d, COUNT(*) AS n, MAX(mag) AS m FROM bench.stars WHERE mag > {x}"
    " GROUP BY FLOOR(ra), FLOOR(dec)",
)
PAIRS = """SELECT COUNT(*) AS n FROM bench.stars AS a JOIN bench.stars AS b
    ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 10 / 3600. WHERE a.id < b.id"""


def stars() -> pa.Table:
    draw = np.random.default_rng(1)
    folder = os.environ.get("SKYHOUSE_BENCH_DATA")
    if folder:
        tycho = pq.read_table(Path(folder) / "tycho2.parquet")
        ra, dec = (pc.coalesce(tycho[f"{name}_mean"], tycho[f"{name}_obs"]).to_numpy() for name in ("ra", "dec"))
        mag = tycho["vt_mag"].to_numpy()
        ra, dec, mag = (np.resize(each, ROWS) for each in (ra, dec, mag))
        dec = np.clip(dec + draw.normal(0, JITTER, ROWS), -90, 90)
        ra = (ra + draw.normal(0, JITTER, ROWS)) % 360
    else:
        ra, dec = draw.uniform(0, 360, ROWS), np.degrees(np.arcsin(draw.uniform(-1, 1, ROWS)))
        mag = draw.normal(11, 1, ROWS).astype(np.float32)
    return pa.table({"id": np.arange(ROWS), "ra": ra, "dec": dec, "mag": mag})


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """Its address; the table is loaded."""
    environment = os.environ | {
        "SKYHOUSE_DATA": str(folder / "data"),
        "SKYHOUSE_QUERY_LOG": "",
        "PYTHONPATH": os.getcwd(),
    }
    command = [sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()"]
    path = folder / "stars.parquet"
    pq.write_table(stars(), path)
    schema = folder / "bench.yaml"
    schema.write_text(SCHEMA)
    loading = ["load", str(path), "--table", "bench.stars", "--schema", str(schema)]
    subprocess.run([*command, *loading], env=environment, check=True)
    path.unlink()
    port = free_port()
    serving = subprocess.Popen(
        [*command, "serve", "--port", str(port)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert serving.stdout is not None
        while b"/tap" not in serving.stdout.readline():
            assert serving.poll() is None
        yield f"http://127.0.0.1:{port}/tap"
    finally:
        serving.terminate()
        serving.wait()


def low_volume(tap: str, seed: int, over: threading.Event) -> list[float]:
    """A query a second until it is over; how long each took."""
    draw = random.Random(seed)
    taken: list[float] = []
    with httpx.Client(timeout=100, verify=False) as client:
        over.wait(draw.random())
        while not over.is_set():
            if draw.random() < 0.5:
                query = f"SELECT * FROM bench.stars WHERE id = {draw.randrange(ROWS)}"
            else:
                ra, dec = draw.uniform(0, 360), draw.uniform(-89, 89)
                query = f"SELECT id, mag FROM bench.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, 0.1))"
            began = time.perf_counter()
            client.post(f"{tap}/sync", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query}).raise_for_status()
            taken.append(time.perf_counter() - began)
            over.wait(max(0.0, 1 - taken[-1]))
    return taken


def job(tap: str, query: str, user: int) -> float:
    """Create, run and wait; the seconds that it took."""
    headers = {"X-Forwarded-For": f"192.0.2.{user}"}  # users are addresses here
    began = time.perf_counter()
    with httpx.Client(timeout=100, headers=headers, verify=False) as client:
        made = client.post(f"{tap}/async", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, "PHASE": "RUN"})
        url = made.headers["location"].replace(made.headers["location"].split("/tap/")[0], tap.removesuffix("/tap"))
        while (phase := client.get(url, params={"WAIT": "60"}).text) and "COMPLETED" not in phase:
            if "ERROR" in phase or "ABORTED" in phase:
                raise RuntimeError(phase)
    return time.perf_counter() - began


def percentile(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20)[-1] * 1000


def beside(tap: str, jobs: list[str]) -> tuple[list[float], float]:
    """Low volume while the jobs run, or for ten seconds: what each query took, and all the jobs together."""
    over = threading.Event()
    with ThreadPoolExecutor(LOW + len(jobs)) as threads:
        asked = [threads.submit(low_volume, tap, seed, over) for seed in range(LOW)]
        if not jobs:
            time.sleep(10)
        began = time.perf_counter()
        list(threads.map(lambda each: job(tap, each[1], each[0]), enumerate(jobs)))
        together = time.perf_counter() - began
        over.set()
        return [seconds for each in asked for seconds in each.result()], together


def main() -> None:
    draw = random.Random(0)
    scans = [SCANS[n % len(SCANS)].format(x=round(draw.uniform(1, 5), 3)) for n in range(HIGH)]
    with tempfile.TemporaryDirectory() as folder, service(Path(folder)) as tap:
        job(tap, scans[0], 0)
        quiet, _ = beside(tap, [])
        print(
            f"low volume alone: median {statistics.median(quiet) * 1000:.0f}, p95 {percentile(quiet):.0f} ms of {len(quiet)}"
        )
        alone = [job(tap, query, user) for user, query in enumerate([*scans, PAIRS])]
        print(f"one after the other: {sum(alone):.1f} s, of which the pairs {alone[-1]:.1f} s")
        busy, together = beside(tap, [PAIRS, *scans])
        print(
            f"low volume beside the jobs: median {statistics.median(busy) * 1000:.0f}, p95 {percentile(busy):.0f} ms of {len(busy)}, {len(busy) / together:.0f} a second"
        )
        print(
            f"the jobs at once, beside low volume: {together:.1f} s, {together / sum(alone):.2f} of one after the other"
        )


if __name__ == "__main__":
    main()
