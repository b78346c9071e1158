"""One client sends light queries while others attack: measure the client's times, and the attackers' answers.

    python -m tests.benchmarks.bench_unfair [--only polygons,bulk] [--seconds 10] [--checkout FOLDER] [--keep FOLDER]
    python -m tests.benchmarks.bench_unfair --routes [/tap/names,/oai]

Each attack runs alone, from separate addresses (127.0.9.*), while one client (127.0.3.1) asks for cones of 0.1
degrees and look-ups by id, ten per second. Aims: a p95 under 300 ms and under three times the p95 without the attack,
and no query of the client refused; the attackers get 429, or their turn. The first second of an attack is not
measured, because its process starts. The service trusts no proxy, so each address is a client.

With --routes, 40 connections of one address, all of one user, repeat a request for one operation of the OpenAPI
document; each operation is attacked in turn, or those whose path begins as given.
"""

from __future__ import annotations

import argparse
import base64
import random
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.benchmarks.attackers import ATTACKS, AttackPlan, RouteAttack, attacked
from tests.benchmarks.light_client import Answers, LightClients
from tests.benchmarks.light_tables import QUERIES, write_tables
from tests.benchmarks.service_process import ServiceProcess
from tests.support.environment import ROOT
from tests.support.ports import free_port
from tests.tap_service.route_requests import list_operations

#: of the client, in milliseconds and as a multiple of its p95 alone
P95_LIMIT, P95_RATIO = 300, 3
#: of an attack on a route
_CONNECTIONS = 40


def ask_light(service: ServiceProcess, rows: int, seconds: float) -> Answers:
    def make_query(client: int, number: int) -> str:
        draw = random.Random(time.monotonic_ns())
        return QUERIES["id" if number % 2 else "cone0.1"](draw, rows)

    clients = LightClients(service.port, 1, "127.0.3")
    answers = clients.run(seconds, make_query, pause=0.1)
    clients.close()
    return answers


def measure(service: ServiceProcess, name: str, rows: int, seconds: float, plan: AttackPlan | None = None) -> bool:
    """Print the effects of an attack; return whether the aims are met."""
    alone = ask_light(service, rows, max(3.0, seconds / 2))
    with attacked(plan or name, service.port, seconds + 2) as read_outcomes:
        time.sleep(1)
        under = ask_light(service, rows, seconds)
        outcomes = read_outcomes()
    ratio = under.p95_ms / alone.p95_ms
    is_met = under.p95_ms < P95_LIMIT and ratio < P95_RATIO and not under.refused
    print(
        f"{name:40} {alone.median_ms:6.0f} {alone.p95_ms:6.0f} {under.median_ms:8.0f} {under.p95_ms:8.0f} {ratio:6.1f} "
        f"{max(under.seconds, default=0) * 1000:8.0f} {under.refused:8}  {'met   ' if is_met else 'MISSED'} {outcomes}",
        flush=True,
    )
    return is_met


def attack_routes(service: ServiceProcess, rows: int, seconds: float, beginnings: list[str]) -> int:
    """Attack each operation; return the number of missed aims."""
    credentials = ("ann", "a right password")
    with httpx.Client(base_url=service.tap.removesuffix("/tap"), auth=credentials, timeout=60) as ann:
        query = {"LANG": "ADQL", "QUERY": "SELECT TOP 9 * FROM light.stars", "PHASE": "RUN", "CHECKSUM": "true"}
        job = ann.post("/tap/async", data=query)
        ann.put(
            "/tap/tables/mydb.mine?replace=true", content="a\n1\n", headers={"Content-Type": "text/csv"}
        ).raise_for_status()
        job_id = job.headers["location"].rpartition("/")[2]
        while ann.get(f"/tap/async/{job_id}/phase").text != "COMPLETED":
            time.sleep(0.1)
        share = ann.post("/tap/shares", data={"JOB": job_id}).raise_for_status()
        path_values = {"job_id": job_id, "name": "mydb.mine", "table": "light.stars", "share_id": share.json()["id"]}
        operations = list(list_operations(ann.get("/tap/openapi.json").json(), path_values))
        missed = 0
        # DELETE comes last, so that the requested objects exist
        for operation in sorted(operations, key=lambda each: each.method == "DELETE"):
            if any(operation.path.startswith(each) or operation.route.endswith(each) for each in beginnings):
                request = operation.build(ann, headers={"Authorization": authorization(*credentials)})
                attack = (_CONNECTIONS, 1, RouteAttack(write_request(request)))
                missed += not measure(service, operation.route, rows, seconds, attack)
    return missed


def authorization(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def write_request(request: httpx.Request) -> bytes:
    head = [f"{request.method} {request.url.raw_path.decode()} HTTP/1.1"]
    head += [f"{name}: {value}" for name, value in request.headers.items() if name != "accept-encoding"]
    return "\r\n".join([*head, "", ""]).encode() + request.read()


def prepare(folder: Path, rows: int, checkout: Path) -> ServiceProcess:
    """Return the service with tables and a user."""
    settings = {"registry": ROOT / "docs" / "registry-example.yaml", "public_url": "https://example.org", "mcp": True}
    service = ServiceProcess(folder / "data", checkout, trusted_proxies="", default_maxrec=10_000_000, **settings)
    if not (folder / "data").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for command in write_tables(folder, rows):
            service.run_command(command)
        loading = service.start_command(["demo", "--port", str(free_port())])  # tables with names of objects
        assert loading.stdout is not None
        while b"/tap" not in (line := loading.stdout.readline()):
            assert line, "the demo ended"
        loading.terminate()
        loading.communicate()
        adding = service.start_command(["user", "add", "ann"], stdin=subprocess.PIPE)
        adding.communicate(b"a right password\n")
    return service


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(ATTACKS), help=f"some of {', '.join(ATTACKS)}")
    parser.add_argument("--routes", nargs="?", const="/", help="attack routes: all, or how some of them begin")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the checkout whose service is attacked")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the data stays, or lies already")
    options = parser.parse_args()
    print(
        "                                              alone        under attack, ms\nattack                                   median    p95   median      p95  ratio  slowest  refused"
    )
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        service = prepare(folder, options.rows, options.checkout.resolve())
        missed = 0
        if options.routes:
            service.start()
            try:
                ask_light(service, options.rows, 1)
                missed = attack_routes(service, options.rows, options.seconds, options.routes.split(","))
            finally:
                service.stop()
        for name in () if options.routes else options.only.split(","):
            service.start()  # started again, so that no effect of an attack reaches the next
            try:
                ask_light(service, options.rows, 1)
                missed += not measure(service, name, options.rows, options.seconds)
            finally:
                service.stop()
    print(f"{missed} missed")


if __name__ == "__main__":
    main()
