"""Light queries: cones, look-ups by id, counts, the top 100, 70,000 rows and observations, from 1 to 32 clients.

    python -m tests.benchmarks.bench_light [--baseline CHECKOUT] [--remote]
    python -m tests.benchmarks.bench_light --rows 200000 --seconds 2 --only cone0.1,id --clients 1,8 --keep FOLDER

``--baseline`` also starts the service of another checkout, on data stored by its loader; ``--remote`` starts a second
service of this checkout over a separate ClickHouse server, whose processor time is added to the service's. Each
figure comes from slices that take turns (ABBA), with the same queries for all. Clients are threads of this process
over connections that stay open, each with a separate address.

The report has, for each query and number of clients: median and p95 of the wall time, queries per second, and the
mean processor milliseconds of the service (including its engine), of the bare engine with the same SQL, settings and
format in one handle, and of the translation. It also has the share of the total that does not belong to the bare
engine (HTTP, translation and output), of the processor time and, with one client, of the wall time. The ratios to the
other services follow. ``--keep`` keeps the loaded data for the next run, which uses it unchanged.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from tests.benchmarks.bare_engine import BareEngine
from tests.benchmarks.light_client import Answers, LightClients
from tests.benchmarks.light_tables import QUERIES, write_tables
from tests.benchmarks.process_tree import read_processor_seconds
from tests.benchmarks.service_process import ServiceProcess
from tests.servers.server_cluster import running_server
from tests.support.environment import ROOT

#: slices of each service for each query and number of clients
ROUNDS = 4
#: queries of the bare engine in each round and before the first one, so that its caches are as full as the services'
BARE_QUERIES = 25
BARE_WARM_UP = 60
#: for the services and the bare engine, so that no row limit cuts a download
SETTINGS = {"default_maxrec": 10_000_000}

_HEADER = (
    f"{'query':10} {'clients':>7} {'side':8} {'median':>8} {'p95':>8} {'rate':>8} {'service':>8} {'engine':>8} "
    f"{'transl.':>8} {'other parts':>14}"
)


@dataclass
class Measured:
    """The measurements of one service for one query and number of clients; processor times in seconds."""

    answers: Answers = field(default_factory=Answers)
    service_cpu: float = 0.0
    engine_cpu: float = 0.0

    @property
    def service_ms(self) -> float:
        """Return the processor milliseconds of a query, of the service and of its engine."""
        return (self.service_cpu + self.engine_cpu) / max(1, len(self.answers.seconds)) * 1000


@dataclass
class Side:
    """A service; ``engine_pid`` is its ClickHouse server, if that is a separate process."""

    name: str
    service: ServiceProcess
    engine_pid: int | None = None

    def measure(self, clients: LightClients, seconds: float, kind: str, rows: int, seed: int, into: Measured) -> None:
        def make_query(client: int, number: int) -> str:
            return QUERIES[kind](random.Random(f"{kind} {seed} {client} {number}"), rows)

        service, engine = self._read_processor()
        into.answers.add(clients.run(seconds, make_query))
        service_after, engine_after = self._read_processor()
        into.service_cpu += service_after - service
        into.engine_cpu += engine_after - engine

    def _read_processor(self) -> tuple[float, float]:
        engine = read_processor_seconds(self.engine_pid) if self.engine_pid else 0.0
        return self.service.read_processor_seconds(), engine


def load_service(folder: Path, rows: int, name: str, checkout: Path = ROOT, **settings: str) -> ServiceProcess:
    """Load the tables, unless the folder has them."""
    data = folder / f"{name}{rows}"
    service = ServiceProcess(data / "data", checkout, **SETTINGS, **settings)
    loaded = data / "loaded"
    if not loaded.exists():
        data.mkdir(parents=True, exist_ok=True)
        for command in write_tables(folder, rows):
            print(f"{name}: {service.run_command(command).strip().splitlines()[-1]}")
        loaded.touch()
    return service


def measure_bare(
    bare: BareEngine, kind: str, rows: int, seed: int, count: int = BARE_QUERIES
) -> list[dict[str, float]]:
    return [bare.ask(QUERIES[kind](random.Random(f"{kind} {seed} 0 {number}"), rows)) for number in range(count)]


def report(kind: str, count: int, measured: dict[str, Measured], bare: list[dict[str, float]]) -> None:
    engine_wall = median(each["wall"] for each in bare)
    engine_cpu, translation = (fmean(each[name] for each in bare) for name in ("cpu", "translation_cpu"))
    for name, each in measured.items():
        wall, answers = each.answers.median_ms, each.answers
        other_parts = f"{1 - engine_cpu / each.service_ms:.0%} cpu" if each.service_ms else "-"
        if count == 1:
            other_parts += f", {1 - engine_wall / wall:.0%} wall"
        refused = f"  refused {dict(answers.statuses)}" if answers.refused else ""
        print(
            f"{kind:10} {count:7} {name:8} {wall:8.1f} {answers.p95_ms:8.1f} {answers.rate:8.1f} {each.service_ms:8.2f} "
            f"{engine_cpu:8.2f} {translation:8.2f} {other_parts:>14}{refused}"
        )
    first, *others = measured
    for name in others:
        mine, other = measured[first], measured[name]
        print(
            f"{'':10} {'':7} {first} / {name}: wall {mine.answers.median_ms / other.answers.median_ms:.2f}, "
            f"p95 {mine.answers.p95_ms / other.answers.p95_ms:.2f}, processor {mine.service_ms / other.service_ms:.2f}, "
            f"rate {mine.answers.rate / other.answers.rate:.2f}",
            flush=True,
        )


def compare(sides: list[Side], bare: BareEngine, options: argparse.Namespace) -> None:
    print(
        f"milliseconds; load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {options.rows} rows\n{_HEADER}"
    )
    for kind in options.only:
        measure_bare(bare, kind, options.rows, -1, BARE_WARM_UP)
        for count in options.clients:
            measured, alone = {side.name: Measured() for side in sides}, []
            clients = {side.name: LightClients(side.service.port, count, **options.parameters) for side in sides}
            for seed in range(-1, ROUNDS):  # the first one warms up
                for side in sides if seed % 2 else reversed(sides):
                    into = measured[side.name] if seed >= 0 else Measured()
                    seconds = options.seconds / ROUNDS * (1 if seed >= 0 else 0.3)
                    side.measure(clients[side.name], seconds, kind, options.rows, seed, into)
                if seed >= 0:
                    alone += measure_bare(bare, kind, options.rows, seed)
            for each in clients.values():
                each.close()
            report(kind, count, measured, alone)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", type=Path, help="a checkout of another commit, served in the same run")
    parser.add_argument("--remote", action="store_true", help="this checkout over a ClickHouse server too")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each query, number of clients and side")
    parser.add_argument("--only", default=",".join(QUERIES), help=f"some of {', '.join(QUERIES)}")
    parser.add_argument("--clients", default="1,4,8,32")
    parser.add_argument("--format", default="", help="a RESPONSEFORMAT; VOTable by default")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the data stays, or lies already")
    options = parser.parse_args()
    options.only = options.only.split(",")
    options.clients = [int(count) for count in options.clients.split(",")]
    options.parameters = {"RESPONSEFORMAT": options.format} if options.format else {}
    return options


def main() -> None:
    options = parse_options()
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        loaded = [("this", load_service(folder, options.rows, "this"), None)]
        bare = BareEngine(folder / f"this{options.rows}" / "data", **SETTINGS)
        stack.callback(bare.stop)
        if options.baseline:
            service = load_service(folder, options.rows, "baseline", options.baseline.resolve())
            loaded.append(("baseline", service, None))
        if options.remote:
            server = stack.enter_context(running_server(folder.absolute() / f"server{options.rows}"))
            service = load_service(folder, options.rows, "remote", clickhouse_url=server.url)
            loaded.append(("remote", service, server.pid))
        sides = [Side(*each) for each in loaded]
        for side in sides:
            side.service.start()
            stack.callback(side.service.stop)
        compare(sides, bare, options)


if __name__ == "__main__":
    main()
