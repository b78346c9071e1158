"""A chaos run: components are killed at random while clients run jobs and tables are loaded; then everything is
checked.

``python -m tests.chaos.run --minutes 60 --seed 1``, or ``make chaos``.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.chaos.checks import Checks
from tests.chaos.clients import RIGHT, WRONG, Answer, Client, choose_endless
from tests.chaos.kills import Killer
from tests.chaos.known_rows import STARS, Stars
from tests.chaos.loads import STARS_TABLE, LoadLog, Loads
from tests.chaos.processes import Deployment, running_deployment, start_jobs

_CLIENTS = 24

#: average time between two kills; a short run has about twelve
_KILL_SECONDS = 8.0
_KILLS = 12

#: fractions of requests that are jobs on changing tables, queries to /sync, and abandoned queries
_LOADING, _SYNC, _ABANDONED = 0.15, 0.2, 0.03

#: the fraction of requests that are jobs
_JOBS_SHARE = 1 - _ABANDONED - (1 - 2 * _ABANDONED) * _SYNC

#: time that clients and loads may take after the last kill
_DRAIN_SECONDS = 400.0


@dataclass(frozen=True)
class Plan:
    """The plan of a run: numbers of jobs and loads, and its seconds."""

    seconds: float
    jobs: int
    loads: int
    seconds_between_kills: float
    seed: int
    shards: int


@dataclass
class Report:
    plan: Plan
    kills: Counter[str]
    ended: Counter[str]
    answers: list[Answer]
    repeats: Counter[str]
    loads: LoadLog
    errors: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        jobs = [answer for answer in self.answers if answer.url]
        sync = [answer for answer in self.answers if not answer.url]
        slowest = max((answer.seconds for answer in jobs), default=0)
        return [
            f"seed {self.plan.seed}, {self.plan.shards} servers, {self.plan.seconds / 60:.1f} minutes",
            f"kills: {_list_counts(self.kills)}; loader: {self.loads.kills}",
            f"ended by themselves: {_list_counts(self.ended)}",
            f"jobs: {_list_counts(Counter(answer.outcome for answer in jobs))}; the slowest took {slowest:.0f} s",
            f"transient errors: {_list_counts(Counter(each.said for each in jobs if each.outcome not in (RIGHT, WRONG)))}",
            f"/sync: {_list_counts(Counter(answer.outcome for answer in sync))}",
            f"requests repeated: {_list_counts(self.repeats)}",
            f"loads: {_list_counts(self.loads.modes)}; slowest {max(self.loads.seconds, default=0):.0f} s",
            f"commands that failed and were started again: {_list_counts(self.loads.failures)}",
            f"problems: {len(self.errors)}",
            *self.errors,
        ]


def run_chaos(folder: Path, plan: Plan) -> Report:
    with running_deployment(folder, plan.shards) as deployment:
        loads = Loads(deployment, random.Random(plan.seed))
        stars = Stars(loads.create_stars(STARS))
        start_jobs(deployment)
        checks = Checks(deployment)
        tables = checks.list_tables()
        killer = Killer(deployment.list_parts(plan.seed), plan.seed, plan.seconds_between_kills, folder / "kills.log")
        answers, repeats = _run(deployment, killer, loads, stars, plan)
        report = Report(plan, killer.kills, killer.ended, answers, repeats, loads.log)
        report.errors += loads.log.problems
        for answer in answers:
            if answer.outcome == WRONG:
                report.errors.append(
                    f"{answer.question.kind} {answer.url}: {answer.said}: {answer.question.query[:300]}"
                )
        content = loads.latest_contents() | {STARS_TABLE: (STARS, STARS * (STARS - 1) // 2)}
        report.errors += checks.check_jobs([answer.url for answer in answers if answer.url])
        report.errors += checks.check_queries()
        report.errors += checks.check_results()
        report.errors += checks.check_leftover_tables(tables)
        report.errors += checks.check_tables(content)
        report.errors += checks.check_processes()
        return report


def _run(
    deployment: Deployment, killer: Killer, loads: Loads, stars: Stars, plan: Plan
) -> tuple[list[Answer], Counter[str]]:
    """Run clients, loads and kills at the same time; return when all have ended and every component runs."""
    killer.tend_until(lambda: _is_available(deployment.service.tap))
    start = time.monotonic()
    deadline = start + plan.seconds + _DRAIN_SECONDS
    requests = round(plan.jobs / _JOBS_SHARE)
    repeats: Counter[str] = Counter()

    def ask(number: int) -> Answer | None:
        time.sleep(max(0.0, start + plan.seconds * number / requests - time.monotonic()))
        return _ask_one(client, random.Random(f"{plan.seed} {number}"), loads, stars)

    with (
        closing(Client(deployment.service.tap, deadline, repeats)) as client,
        ThreadPoolExecutor(_CLIENTS + 1) as threads,
    ):
        loading = threads.submit(loads.run, plan.loads, plan.seconds, deadline)
        asked = [threads.submit(ask, number) for number in range(requests)]
        killer.kill_for(plan.seconds)
        killer.tend_until(lambda: loading.done() and all(each.done() for each in asked))
    print(f"{time.monotonic() - start - plan.seconds:.0f} s after the last kill all have ended", flush=True)
    loading.result()
    killer.tend_until(lambda: _is_available(deployment.service.tap))
    return [answer for each in asked if (answer := each.result()) is not None], repeats


def _ask_one(client: Client, dice: random.Random, loads: Loads, stars: Stars) -> Answer | None:
    """Send one query; None is the answer of an abandoned query."""
    share = dice.random()
    if share < _ABANDONED:
        client.leave_sync(choose_endless(dice), dice.uniform(0.2, 4))
        return None
    if share < 2 * _ABANDONED:
        return client.abort_job(choose_endless(dice), dice.uniform(0.2, 4))
    is_job = dice.random() >= _SYNC
    question = loads.choose_question(dice) if dice.random() < _LOADING else None
    question = question or stars.choose_question(dice, is_job=is_job)
    return client.run_job(question, is_run_at_once=dice.random() < 0.5) if is_job else client.ask_sync(question)


def _is_available(tap: str) -> bool:
    try:
        return "<vosi:available>true<" in httpx.get(tap + "/availability", timeout=10).text
    except httpx.TransportError:
        return False


def _list_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--shards", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keeps data and logs")
    given = parser.parse_args()
    plan = build_plan(60 * given.minutes, given.seed, given.shards)
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = run_chaos(given.folder or Path(folder), plan)
    print("\n".join(report.lines()))
    return bool(report.errors)


def build_plan(seconds: float, seed: int, shards: int) -> Plan:
    """Return a plan with a thousand jobs and twenty loads per hour, and at least 30 and four."""
    hours = seconds / 3600
    between_kills = min(_KILL_SECONDS, seconds / _KILLS)
    return Plan(seconds, max(30, round(1000 * hours)), max(4, round(20 * hours)), between_kills, seed, shards)


if __name__ == "__main__":
    sys.exit(main())
