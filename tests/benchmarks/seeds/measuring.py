"""Run the measures of a workload, and keep their figures in a file: a killed run continues with the next measure."""

from __future__ import annotations

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tests.benchmarks.light_client import LightClient
from tests.benchmarks.seeds.seed_service import SeedService
from tests.benchmarks.seeds.seed_workload import Activity, Measure, SeedWorkload

Figures = dict[str, Any]

#: Queries before the ones that count
_WARM_UP = 10


class FiguresFile:
    """Lines of JSON, one for each figure of each run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read_figures(self) -> list[Figures]:
        return [json.loads(line) for line in self._path.read_text().splitlines()] if self._path.exists() else []

    def add(self, figures: Figures) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(figures) + "\n")


def run_measures(service: SeedService, workload: SeedWorkload, file: FiguresFile, only: set[str]) -> None:
    """Run the measures without figures; with ``only``, repeat these measures."""
    known = {figures["measure"] for figures in file.read_figures()}
    for measure in workload.measures:
        if measure.name in only or (not only and measure.name not in known):
            for figures in run_measure(service, measure):
                stamp = {
                    "seed": workload.number,
                    "size": service.size,
                    "at": datetime.now(UTC).isoformat("T", "minutes"),
                }
                print(json.dumps(figures), flush=True)
                file.add(stamp | figures)


def run_measure(service: SeedService, measure: Measure | Activity) -> list[Figures]:
    service.make_tables(measure.tables)
    if isinstance(measure, Activity):
        return [
            {"measure": measure.name, "seed_figure": measure.seed, **row} for row in measure.run(service, service.size)
        ]
    rows = []
    if measure.is_cold:
        is_dropped = service.restart()
        cold = _ask_questions(service, measure, warm_up=0)
        rows.append(
            _describe(measure) | cold | {"state": "cold" if is_dropped else "restarted", "aim": measure.cold_aim}
        )
    return [_describe(measure) | _ask_questions(service, measure, warm_up=_WARM_UP) | {"state": "warm"}, *rows]


def _describe(measure: Measure) -> Figures:
    return {
        "measure": measure.name,
        "what": measure.what,
        "aim": measure.aim,
        "is_rate": measure.is_rate,
        "seed_figure": measure.seed,
        "seed_core_seconds": measure.seed_core_seconds,
    }


def _ask_questions(service: SeedService, measure: Measure, warm_up: int) -> Figures:
    draw = random.Random(f"{measure.name} {warm_up}")
    if measure.count == 1:
        return _ask_once(service, measure, draw)
    questions = [measure.ask(draw, service.size).adql for _ in range(warm_up + measure.count)]
    clients = [LightClient(service.service.port, f"127.0.1.{number + 1}") for number in range(measure.clients)]
    for question in questions[:warm_up]:
        _ask_light(clients[0], question, measure.format)
    numbers = count(warm_up)
    with service.measure_work() as work, ThreadPoolExecutor(len(clients)) as threads:
        seconds = [
            second
            for part in threads.map(lambda client: _ask_in_turn(client, questions, numbers, measure.format), clients)
            for second in part
        ]
    for client in clients:
        client.close()
    rate = len(seconds) / work.wall
    p95 = quantiles(seconds, n=20, method="inclusive")[-1]
    figures = work.as_figures() | {
        "count": len(seconds),
        "clients": len(clients),
        "median": round(median(seconds), 5),
        "p95": round(p95, 5),
        "first": round(seconds[0], 5),
        "rate": round(rate, 1),
    }
    return figures | {"figure": round(rate if measure.is_rate else p95, 5)}


def _ask_in_turn(client: LightClient, questions: list[str], numbers: count[int], form: str) -> list[float]:
    seconds = []
    while (number := next(numbers)) < len(questions):
        seconds.append(_ask_light(client, questions[number], form))
    return seconds


def _ask_light(client: LightClient, question: str, form: str) -> float:
    began = time.perf_counter()
    status, _ = client.ask(question, RESPONSEFORMAT=form)
    if status != 200:
        raise RuntimeError(f"status {status}: {question}")
    return time.perf_counter() - began


def _ask_once(service: SeedService, measure: Measure, draw: random.Random) -> Figures:
    question = measure.ask(draw, service.size).adql
    with service.measure_work() as work:
        ask = service.run_job if measure.is_job else service.run_query
        answer = ask(question, measure.format)
    figures = work.as_figures() | {"count": 1, "bytes": answer.size, "figure": round(work.wall, 4)}
    return figures | ({"answer": answer.text} if measure.format == "csv" else {})
