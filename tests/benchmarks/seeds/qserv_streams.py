"""Qserv's mixes: its figure 14, two streams of HV2 with two of low volume, and the users of section 2.1 at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.benchmarks.light_client import Answers, LightClients
from tests.benchmarks.seeds.qserv_queries import (
    ask_extreme_colours,
    ask_object,
    ask_pairs,
    ask_sources,
    ask_stars_in_box,
)
from tests.benchmarks.seeds.seed_service import SeedService
from tests.benchmarks.seeds.seed_workload import AskQuestion, Size

#: Seconds in which only light clients run
_REST_SECONDS = {"S": 1.0, "M": 20.0, "F": 20.0}
_LONGEST = 86400.0
#: Seconds from a light query of a client to its next
_PAUSE = 1.0
#: Light clients, and parallel scans, of section 2.1
_USERS = {"S": 5, "M": 50, "F": 50}
_SCANS = {"S": 2, "M": 20, "F": 20}
#: HV2 queries of each stream
_REPEATS = {"S": 1, "M": 3, "F": 3}


def run_four_streams(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Measure each low-volume stream alone and during two streams of HV2, and these alone and together."""
    asks = (ask_object, ask_sources)
    clients = LightClients(service.service.port, len(asks))
    alone = clients.run(_REST_SECONDS[size], _make_asker(asks, size), _PAUSE)
    with service.measure_work() as one:
        _run_scans(service, size, streams=1, repeats=_REPEATS[size])
    with service.measure_work() as both:
        light = _run_clients_during(
            clients, _make_asker(asks, size), lambda: _run_scans(service, size, streams=2, repeats=_REPEATS[size])
        )
    clients.close()
    return [
        {"measure": "Fig. 14: LV, p95", "figure": light.p95_ms / 1000, "aim": 0.2, "alone": alone.p95_ms / 1000, "count": len(light.seconds), "load": both.load},
        {"measure": "Fig. 14: two streams of HV2 / one", "figure": both.wall / one.wall, "aim": 1.3, "is_ratio": True, **both.as_figures()},
    ]  # fmt: skip


def run_mixed_users(service: SeedService, size: Size) -> list[dict[str, Any]]:
    """Measure light clients, each with a query per second, alone, and during scans and all pairs as jobs."""
    asks = (ask_object, ask_sources, ask_stars_in_box)
    clients = LightClients(service.service.port, _USERS[size])
    asker = _make_asker(asks, size)
    alone = clients.run(_REST_SECONDS[size], asker, _PAUSE)

    def run_jobs() -> None:
        with ThreadPoolExecutor(_SCANS[size] + 1) as threads:
            pairs = ask_pairs(random.Random(), size).adql
            jobs = [threads.submit(service.run_job, pairs, "csv")]
            scan = ask_extreme_colours(random.Random(), size).adql
            jobs += [threads.submit(service.run_job, scan, "votable") for _ in range(_SCANS[size])]
            for job in jobs:
                job.result()

    with service.measure_work() as work:
        light = _run_clients_during(clients, asker, run_jobs)
    clients.close()
    return [
        {"measure": "2.1: LV, p95", "figure": light.p95_ms / 1000, "aim": 0.1, "alone": alone.p95_ms / 1000, "count": len(light.seconds), "load": work.load},
        {"measure": "2.1: all jobs", "figure": work.wall, **work.as_figures()},
    ]  # fmt: skip


def _make_asker(asks: tuple[AskQuestion, ...], size: Size) -> Callable[[int, int], str]:
    """Return a function that makes the next query of a client: clients take turns with the kinds."""
    draw = random.Random(14)
    return lambda client, number: asks[(client + number) % len(asks)](draw, size).adql


def _run_scans(service: SeedService, size: Size, streams: int, repeats: int) -> None:
    query = ask_extreme_colours(random.Random(), size).adql
    with ThreadPoolExecutor(streams) as threads:
        for _ in range(repeats):
            list(threads.map(lambda _: service.run_query(query, "votable"), range(streams)))


def _run_clients_during(clients: LightClients, asker: Callable[[int, int], str], run: Callable[[], None]) -> Answers:
    """Let the clients send queries until ``run`` has ended."""
    with ThreadPoolExecutor(1) as thread:
        light = thread.submit(clients.run, _LONGEST, asker, _PAUSE)
        try:
            run()
        finally:
            clients.stop()
        answers = light.result()
    if answers.refused or not answers.seconds:
        raise RuntimeError(f"light queries were refused: {answers.statuses}")
    return answers
