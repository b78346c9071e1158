"""A soak run: a usual load for hours, and whether memory, files, threads, disk and response times stay constant.

``python -m tests.soak.run_soak --minutes 720``, or ``make soak``.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx

from tests.chaos.checks import Checks
from tests.chaos.clients import RIGHT, WRONG, Answer, Client, choose_endless
from tests.chaos.kills import Killer
from tests.chaos.known_rows import STARS, Question, Stars
from tests.chaos.loads import STARS_TABLE, Loads
from tests.chaos.processes import Deployment, running_deployment, start_jobs
from tests.soak.measurements import Sampler, Trend, find_trends
from tests.soak.misbehaving_clients import misbehave
from tests.tap_service.users import USERS, write_accounts

_CLIENTS = 48

#: rows of each load: disk space is compared, so each load replaces the same number
_LOAD_ROWS = 200_000
_LOADS_AN_HOUR = 20

_SAMPLE_SECONDS = 10.0
_SAMPLES = 240

#: average number of seconds between two kills of a worker or one of its processes
_KILL_SECONDS = 60.0

#: jobs and results are kept for this fraction of the run
_RETENTION = 1 / 12

#: time that clients and loads may take after the end
_DRAIN_SECONDS = 300.0

#: the growth of a p95 that is tolerated: other work on the machine changes it more than memory
_FLAT_TIME = 0.25

#: resources that a portal and clients read in addition to queries
_PAGES = (
    "/",
    "/tap",
    "/tap/capabilities",
    "/tap/tables",
    "/tap/availability",
    "/tap/examples",
    "/tap/announcements",
    "/tap/tables/chaos.stars/density",
    "/tap/async",
    "/health/ready",
    "/metrics",
)


@dataclass(frozen=True)
class Plan:
    """The plan of a run: ``rate`` requests per second for ``seconds``; no shards means the embedded engine."""

    seconds: float
    rate: float
    seed: int
    shards: int


@dataclass
class Report:
    plan: Plan
    kills: Counter[str] = field(default_factory=Counter)
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    #: seconds since the start, and response time in seconds, of short queries to /sync
    times: list[tuple[float, float]] = field(default_factory=list)
    repeats: Counter[str] = field(default_factory=Counter)
    trends: list[Trend] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        engine = f"{self.plan.shards} servers" if self.plan.shards else "embedded engine"
        return [
            f"seed {self.plan.seed}, {engine}, {self.plan.seconds / 60:.1f} minutes, {self.plan.rate} requests a second",
            f"kills: {dict(self.kills)}",
            *(f"{kind}: {dict(outcomes)}" for kind, outcomes in sorted(self.outcomes.items())),
            f"requests repeated: {dict(self.repeats)}",
            "p95 of short questions by quarter: " + ", ".join(f"{1000 * each:.0f} ms" for each in self.find_p95()),
            f"{'':40}{'2nd quarter':>14}{'last':>10}{'growth':>9}",
            *(f"{each.name:40}{each.second:14.1f}{each.last:10.1f}{each.growth:9.1%}" for each in self.trends),
            f"problems: {len(self.errors)}",
            *self.errors,
        ]

    def find_p95(self) -> list[float]:
        """Return the 95th percentile of each quarter of the run, in seconds."""
        quarters: list[list[float]] = [[], [], [], []]
        for start, seconds in self.times:
            quarters[min(3, int(4 * start / self.plan.seconds))].append(seconds)
        return [quantiles(each, n=20)[-1] if len(each) > 1 else 0.0 for each in quarters]

    def find_growth(self) -> list[str]:
        """Return the quantities that were not constant."""
        found = [f"{each.name} grows by {each.growth:.1%}" for each in self.trends if not each.is_flat]
        _, second, _, last = self.find_p95()
        if last > second * (1 + _FLAT_TIME):
            found.append(f"the p95 of short questions grows from {1000 * second:.0f} to {1000 * last:.0f} ms")
        return found


class Soak:
    """Sends one request after the other, each drawn with a seed."""

    def __init__(self, deployment: Deployment, loads: Loads, stars: Stars, plan: Plan) -> None:
        self.report = Report(plan)
        self.begin = time.monotonic()
        self.deadline = self.begin + plan.seconds + _DRAIN_SECONDS
        self._deployment = deployment
        self._loads = loads
        self._stars = stars
        self._client = Client(deployment.service.tap, self.deadline, self.report.repeats)
        self._tap = deployment.service.tap

    def close(self) -> None:
        self._client.close()

    def ask(self, number: int) -> None:
        dice = random.Random(f"{self.report.plan.seed} {number}")
        acts: dict[Callable[[random.Random], None], float] = {
            self._ask_short: 0.5,
            self._ask_any: 0.1,
            self._run_job: 0.12,
            self._go_away: 0.03,
            self._read_page: 0.08,
            self._use_own_table: 0.04,
            self._misbehave: 0.13,
        }
        dice.choices(list(acts), list(acts.values()))[0](dice)

    def _ask_short(self, dice: random.Random) -> None:
        question = dice.choice([self._stars.cone, self._stars.ids, self._stars.bins])(dice)
        start = time.monotonic()
        answer = self._client.ask_sync(question)
        self.report.times.append((start - self.begin, answer.seconds))
        self._note(answer)

    def _ask_any(self, dice: random.Random) -> None:
        self._note(self._client.ask_sync(self._choose_question(dice, is_job=False)))

    def _run_job(self, dice: random.Random) -> None:
        question = self._choose_question(dice, is_job=True)
        self._note(self._client.run_job(question, is_run_at_once=dice.random() < 0.5))

    def _choose_question(self, dice: random.Random, *, is_job: bool) -> Question:
        changing = self._loads.choose_question(dice) if dice.random() < 0.3 else None
        return changing or self._stars.choose_question(dice, is_job=is_job)

    def _go_away(self, dice: random.Random) -> None:
        if dice.random() < 0.5:
            self._client.leave_sync(choose_endless(dice), dice.uniform(0.2, 4))
        else:
            self._note(self._client.abort_job(choose_endless(dice), dice.uniform(0.2, 4)))

    def _read_page(self, dice: random.Random) -> None:
        page = dice.choice(_PAGES)
        response = httpx.get(self._tap.removesuffix("/tap") + page, timeout=60)
        self._count("page", page, None if response.status_code == 200 else f"status {response.status_code}")

    def _use_own_table(self, dice: random.Random) -> None:
        """Create a table, count its rows, and drop it."""
        name, rows = f"t{dice.randrange(10**12)}", dice.randint(1, 5000)
        user = dice.choice(["alice", "bob"])
        table = f"{self._tap}/tables/mydb.{name}"
        content = "id,ra,dec\n" + "".join(f"{n},{n % 360},{n % 90}\n" for n in range(rows))
        query = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": f"SELECT COUNT(*) AS n FROM mydb.{name}"}
        with httpx.Client(auth=(user, USERS[user]), timeout=60) as http:
            made = http.put(table, content=content, headers={"Content-Type": "text/csv"})
            counted = http.post(f"{self._tap}/sync", data=query)
            dropped = http.delete(table)
        seen = (made.status_code, counted.text.split()[1:], dropped.status_code)
        self._count("own table", user, None if seen == (201, [str(rows)], 204) else f"{seen}: {made.text[:300]}")

    def _misbehave(self, dice: random.Random) -> None:
        name, error = misbehave(int(self._tap.split(":")[2].split("/")[0]), dice)
        self._count("misbehaving client", name, error)

    def _note(self, answer: Answer) -> None:
        kind = "job" if answer.url else "/sync"
        error = f"{answer.url}: {answer.said}: {answer.question.query[:300]}" if answer.outcome == WRONG else None
        self._count(kind, answer.question.kind if answer.outcome == RIGHT else answer.outcome, error)

    def _count(self, kind: str, what: str, error: str | None) -> None:
        self.report.outcomes[kind][what] += 1
        if error is not None:
            self.report.errors.append(f"{kind}, {what}: {error}")


def run_soak(folder: Path, plan: Plan) -> Report:
    settings = {
        "retention_seconds": max(120, round(plan.seconds * _RETENTION)),
        "accounts": str(write_accounts(folder / "users.sqlite")),
        "request_log": str(folder / "requests.jsonl"),
    }
    with running_deployment(folder, plan.shards, **settings) as deployment:
        loads = Loads(deployment, random.Random(plan.seed), [_LOAD_ROWS], ["replace"])
        stars = Stars(loads.create_stars(STARS))
        start_jobs(deployment)
        checks = Checks(deployment)
        tables = [] if deployment.is_embedded else checks.list_tables()
        _wait_until_available(deployment)
        with closing(Soak(deployment, loads, stars, plan)) as soak:
            _run(deployment, soak, loads, plan)
            report = soak.report
        report.errors += loads.log.problems
        content = loads.latest_contents() | {STARS_TABLE: (STARS, STARS * (STARS - 1) // 2)}
        report.outcomes["load"] = loads.log.modes + Counter({"killed": loads.log.kills})
        report.errors += [f"a load failed: {said}" for said in loads.log.failures]
        if not deployment.is_embedded:  # another process cannot open the embedded engine
            report.errors += checks.check_jobs([])
            report.errors += checks.check_queries()
            report.errors += checks.check_results() and checks.check_results()  # a job may expire meanwhile
            report.errors += checks.check_leftover_tables(tables)
            report.errors += checks.check_processes()
        report.errors += checks.check_tables(content)
        return report


def _run(deployment: Deployment, soak: Soak, loads: Loads, plan: Plan) -> None:
    """Run clients, loads and kills at the same time; return when all have ended."""
    requests, sampling = round(plan.seconds * plan.rate), max(plan.seconds / _SAMPLES, min(_SAMPLE_SECONDS, 1))
    killer = Killer(deployment.list_workers(plan.seed), plan.seed, _KILL_SECONDS, deployment.folder / "kills.log")

    def ask(number: int) -> None:
        time.sleep(max(0.0, soak.begin + plan.seconds * number / requests - time.monotonic()))
        soak.ask(number)

    sampler = Sampler(deployment, sampling, deployment.folder / "samples.jsonl")
    with ThreadPoolExecutor(_CLIENTS + 1) as threads:
        loading = threads.submit(
            loads.run, max(3, round(_LOADS_AN_HOUR * plan.seconds / 3600)), plan.seconds, soak.deadline
        )
        asked: list[Future[None]] = [threads.submit(ask, number) for number in range(requests)]
        if deployment.is_embedded:
            time.sleep(plan.seconds)
        else:
            killer.kill_for(plan.seconds)
        sampler.close()
        killer.tend_until(lambda: loading.done() and all(each.done() for each in asked))
    for each in [loading, *asked]:
        each.result()
    soak.report.kills = killer.kills
    soak.report.trends = find_trends(sampler.samples)


def _wait_until_available(deployment: Deployment) -> None:
    address = deployment.service.tap.replace("/tap", "/health/ready")
    while True:
        try:
            if httpx.get(address, timeout=10).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=720)
    parser.add_argument("--rate", type=float, default=3, help="requests a second")
    parser.add_argument("--shards", type=int, default=0, help="servers of a cluster; 0: the embedded engine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keeps data and logs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run_folder = given.folder or Path(folder)
        run_folder.mkdir(parents=True, exist_ok=True)
        report = run_soak(run_folder, Plan(60 * given.minutes, given.rate, given.seed, given.shards))
    report.errors += report.find_growth()
    print("\n".join(report.lines()))
    return bool(report.errors)


if __name__ == "__main__":
    sys.exit(main())
