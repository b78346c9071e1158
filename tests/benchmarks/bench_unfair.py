"""One client asks light queries while others attack: what it feels, and what the attackers get.

    python -m tests.benchmarks.bench_unfair [--only polygons,bulk] [--seconds 10] [--checkout FOLDER] [--keep FOLDER]

Each attack runs by itself, from addresses of its own (127.0.9.*), while one client (127.0.3.1) asks for cones of 0.1
degrees and look-ups by id, ten a second. Aims: a p95 under 300 ms and under three times that without the attack, and no
query of the client refused; the attackers get 429, or their turn. The first second of an attack is not measured: its
process starts. The service trusts no proxy, so that each address is a client.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.attackers import ATTACKS, attacked
from tests.benchmarks.light_client import Answers, LightClients
from tests.benchmarks.light_tables import QUERIES, write_tables
from tests.benchmarks.service_process import ROOT, ServiceProcess

#: of the client, in milliseconds and times its p95 alone
P95_LIMIT, P95_RATIO = 300, 3


def ask_light(service: ServiceProcess, rows: int, seconds: float) -> Answers:
    def make_query(client: int, number: int) -> str:
        draw = random.Random(time.monotonic_ns())
        return QUERIES["id" if number % 2 else "cone0.1"](draw, rows)

    clients = LightClients(service.port, 1, "127.0.3")
    answers = clients.run(seconds, make_query, pause=0.1)
    clients.close()
    return answers


def measure(service: ServiceProcess, name: str, rows: int, seconds: float) -> bool:
    """Print what an attack did; return whether the aims are met."""
    alone = ask_light(service, rows, max(3.0, seconds / 2))
    with attacked(name, service.port, seconds + 2) as read_outcomes:
        time.sleep(1)
        under = ask_light(service, rows, seconds)
        outcomes = read_outcomes()
    ratio = under.p95_ms / alone.p95_ms
    is_met = under.p95_ms < P95_LIMIT and ratio < P95_RATIO and not under.refused
    print(
        f"{name:21} {alone.median_ms:6.0f} {alone.p95_ms:6.0f} {under.median_ms:8.0f} {under.p95_ms:8.0f} {ratio:6.1f} "
        f"{max(under.seconds, default=0) * 1000:8.0f} {under.refused:8}  {'met   ' if is_met else 'MISSED'} {outcomes}",
        flush=True,
    )
    return is_met


def prepare(folder: Path, rows: int, checkout: Path) -> ServiceProcess:
    """Return the service with tables and a user."""
    service = ServiceProcess(folder / "data", checkout, trusted_proxies="", default_maxrec=10_000_000)
    if not (folder / "data").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for command in write_tables(folder, rows):
            service.run_command(command)
        adding = service.start_command(["user", "add", "ann"], stdin=subprocess.PIPE)
        adding.communicate(b"a right password\n")
    return service


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(ATTACKS), help=f"some of {', '.join(ATTACKS)}")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the checkout whose service is attacked")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the data stays, or lies already")
    options = parser.parse_args()
    print(
        "                           alone        under attack, ms\nattack                median    p95   median      p95  ratio  slowest  refused"
    )
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        service = prepare(folder, options.rows, options.checkout.resolve())
        missed = 0
        for name in options.only.split(","):
            service.start()  # anew: nothing of one attack reaches the next
            try:
                ask_light(service, options.rows, 1)
                missed += not measure(service, name, options.rows, options.seconds)
            finally:
                service.stop()
    print(f"{missed} missed")


if __name__ == "__main__":
    main()
