"""Many users at once, as Qserv requires: 50 of low volume, 20 of high volume, 1 of super-high volume; and loads.

    python -m tests.benchmarks.bench_mixed [--rows 20000000] [--only jobs,load] [--checkout FOLDER]

``BENCH_DATA=folder`` names a folder with ``tycho2.parquet`` (ra_mean, dec_mean, ra_obs, dec_obs, vt_mag), which is
not shipped; it is replicated with jitter. Without it, the same number of rows is spread over the sky at random.

Low volume: 50 clients, each of which asks /sync for a look-up by id or a cone of 0.1 degrees every second. High
volume: 20 jobs of 20 users that read a column of all rows or more. Super-high volume: all pairs within 10 arcsec. The
report has the median and 95th percentile of low volume, alone and during the jobs, and how long the jobs take one
after the other, at once, and at once during low volume. The processor time of the low-volume queries is work too:
"net" is the ratio without it. Aims: p95 under 100 ms; at once not longer by 20 %.

Then a quarter of the rows is loaded into another table of the running service, and appended to the first one, during
low volume, which continues for ten seconds after each. Service and clients are separate processes on the same cores.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.benchmarks.light_client import Answers, LightClients
from tests.benchmarks.service_process import ServiceProcess
from tests.support.environment import ROOT

LOW, HIGH = 50, 20
JITTER = 0.02  # degrees
#: how long low volume is measured alone, and after a load
REST_SECONDS = 10

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


def make_stars(rows: int, first: int = 0) -> pa.Table:
    draw = np.random.default_rng(1 + first)
    folder = os.environ.get("BENCH_DATA")
    if folder:
        tycho = pq.read_table(Path(folder) / "tycho2.parquet")
        ra, dec = (pc.coalesce(tycho[f"{name}_mean"], tycho[f"{name}_obs"]).to_numpy() for name in ("ra", "dec"))
        mag = tycho["vt_mag"].to_numpy()
        ra, dec, mag = (np.resize(each, rows) for each in (ra, dec, mag))
        dec = np.clip(dec + draw.normal(0, JITTER, rows), -90, 90)
        ra = (ra + draw.normal(0, JITTER, rows)) % 360
    else:
        ra, dec = draw.uniform(0, 360, rows), np.degrees(np.arcsin(draw.uniform(-1, 1, rows)))
        mag = draw.normal(11, 1, rows).astype(np.float32)
    return pa.table({"id": np.arange(first, first + rows), "ra": ra, "dec": dec, "mag": mag})


@dataclass(frozen=True)
class Commands:
    """Return the arguments of the commands: the load of the queried table, and of the tables loaded during queries."""

    first: list[str]
    second: list[str]
    append: list[str]


def write_files(folder: Path, rows: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "bench.yaml").write_text(SCHEMA)
    (folder / "other.yaml").write_text(SCHEMA.replace("name: stars", "name: other"))
    pq.write_table(make_stars(rows), folder / "stars.parquet")
    pq.write_table(make_stars(rows // 4, rows), folder / "more.parquet")


def list_commands(folder: Path) -> Commands:
    stars, more = str(folder / "stars.parquet"), str(folder / "more.parquet")
    return Commands(
        ["load", stars, "--table", "bench.stars", "--schema", str(folder / "bench.yaml")],
        ["load", more, "--table", "bench.other", "--schema", str(folder / "other.yaml"), "--replace"],
        ["load", more, "--table", "bench.stars", "--append"],
    )


class LowVolume:
    """Fifty clients that each send a query per second."""

    def __init__(self, service: ServiceProcess, rows: int) -> None:
        self._port = service.port
        self._rows = rows

    def make_query(self, client: int, number: int) -> str:
        draw = random.Random(f"{client} {number} {time.monotonic_ns()}")
        if draw.random() < 0.5:
            return f"SELECT * FROM bench.stars WHERE id = {draw.randrange(self._rows)}"
        ra, dec = draw.uniform(0, 360), draw.uniform(-89, 89)
        return f"SELECT id, mag FROM bench.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, 0.1))"

    @contextmanager
    def asking(self) -> Iterator[Callable[[], Answers]]:
        """Run queries until the yielded function is called, which returns the answers."""
        clients = LightClients(self._port, LOW, RESPONSEFORMAT="csv")
        with ThreadPoolExecutor(1) as thread:
            running = thread.submit(clients.run, 1e9, self.make_query, 1.0)

            def finish() -> Answers:
                clients.stop()
                return running.result()

            try:
                yield finish
            finally:
                finish()
                clients.close()


def run_job(tap: str, query: str, user: int) -> float:
    """Create, run and wait; return the seconds that it took."""
    headers = {"X-Forwarded-For": f"192.0.2.{user}"}  # users are addresses here
    began = time.perf_counter()
    with httpx.Client(timeout=100, headers=headers, verify=False) as client:
        made = client.post(f"{tap}/async", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, "PHASE": "RUN"})
        url = made.headers["location"].replace(made.headers["location"].split("/tap/")[0], tap.removesuffix("/tap"))
        while (phase := client.get(url, params={"WAIT": "60"}).text) and "COMPLETED" not in phase:
            if "ERROR" in phase or "ABORTED" in phase:
                raise RuntimeError(phase)
    return time.perf_counter() - began


class Meter:
    """Wall and processor seconds of the service since this object was made."""

    def __init__(self, service: ServiceProcess) -> None:
        self._service = service
        self._began, self._used = time.perf_counter(), service.read_processor_seconds()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._began, self._service.read_processor_seconds() - self._used


def describe(what: str, answers: Answers) -> str:
    refused = f", refused {dict(answers.statuses)}" if answers.refused else ""
    return (
        f"low volume {what}: median {answers.median_ms:.0f}, p95 {answers.p95_ms:.0f}, slowest "
        f"{max(answers.seconds) * 1000:.0f} ms of {len(answers.seconds)}, {answers.rate:.0f} a second{refused}"
    )


def measure_alone(service: ServiceProcess, low: LowVolume, what: str) -> float:
    """Print low volume alone; return the processor seconds of a query."""
    meter = Meter(service)
    with low.asking() as finish:
        time.sleep(REST_SECONDS)
        answers = finish()
    used = meter.read()[1] / len(answers.seconds)
    print(f"{describe(what, answers)}, {used * 1000:.1f} ms of processor time each", flush=True)
    return used


def run_at_once(service: ServiceProcess, jobs: list[str]) -> tuple[float, float]:
    """Return wall and processor seconds of the service."""
    meter = Meter(service)
    with ThreadPoolExecutor(len(jobs)) as threads:
        list(threads.map(lambda each: run_job(service.tap, each[1], each[0]), enumerate(jobs)))
    return meter.read()


def compare_jobs(service: ServiceProcess, low: LowVolume, light_cpu: float) -> None:
    draw = random.Random(0)
    scans = [SCANS[n % len(SCANS)].format(x=round(draw.uniform(1, 5), 3)) for n in range(HIGH)]
    meter = Meter(service)
    alone = [run_job(service.tap, query, user) for user, query in enumerate([*scans, PAIRS])]
    print(
        f"jobs one after the other: {sum(alone):.1f} s, of which the pairs {alone[-1]:.1f} s; {meter.read()[1]:.1f} s of processor time"
    )
    wall, used = run_at_once(service, [PAIRS, *scans])
    print(f"jobs at once: {wall:.1f} s, {wall / sum(alone):.2f} of one after the other; {used:.1f} s of processor time")
    with low.asking() as finish:
        wall, used = run_at_once(service, [PAIRS, *scans])
        answers = finish()
    print(describe("during the jobs", answers))
    net = wall - light_cpu * len(answers.seconds) / (os.cpu_count() or 1)
    print(
        f"jobs at once during low volume: {wall:.1f} s, {wall / sum(alone):.2f} of one after the other, net "
        f"{net / sum(alone):.2f}; {used:.1f} s of processor time",
        flush=True,
    )


def load_during_queries(service: ServiceProcess, low: LowVolume, arguments: list[str], rows: int) -> None:
    with low.asking() as finish:
        began = time.perf_counter()
        service.run_command(arguments)
        taken = time.perf_counter() - began
        during = finish()
    what = "append" if "--append" in arguments else "load"
    print(describe(f"during the {what} of {rows / taken / 1e6:.2f} M rows/s", during))
    measure_alone(service, low, f"in {REST_SECONDS} s after the {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--only", default="jobs,load")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the loaded table stays, or lies already")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the checkout whose service is measured")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        service = ServiceProcess(folder / "data", options.checkout.resolve())
        if not (folder / "data").exists():
            write_files(folder, options.rows)
            service.run_command(list_commands(folder).first)
        commands = list_commands(folder)
        service.start()
        try:
            low = LowVolume(service, options.rows)
            measure_alone(service, low, "alone, at once after the load")
            light_cpu = measure_alone(service, low, "alone, then")
            if "jobs" in options.only:
                compare_jobs(service, low, light_cpu)
            if "load" in options.only:
                load_during_queries(service, low, commands.second, options.rows // 4)
                load_during_queries(service, low, commands.append, options.rows // 4)
        finally:
            service.stop()


if __name__ == "__main__":
    main()
