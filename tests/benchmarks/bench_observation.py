"""The cost of observing the service: processor time of look-ups with and without metrics of requests, logs and usage.

    python -m tests.benchmarks.bench_observation [--rounds 90]

Services of one process take turns in random order over one engine with the demo's tables. ``all`` has both logs, with
hashed addresses, and usage in a file; two have neither the middleware of requests nor logs nor usage: their
difference is the noise of the figures. The client's processor time is excluded, as is the slowest third of the
slices, which other work of the machine disturbed. The parts are also measured alone, in loops.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.cli.console_reporter import ConsoleReporter
from loaders.tables.shipped_schemas import load_demo
from tap_service.config import Config
from tap_service.handlers.observe_requests import ObserveRequests
from tap_service.models.query_report import QueryReport
from tap_service.service_metrics import ServiceMetrics
from tap_service.services.client_mask import ClientMask
from tap_service.services.line_log import LineLog
from tap_service.services.usage_counter import UsageCounter
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.usage.sqlite_usage_store import SqliteUsageStore
from tests.benchmarks.light_client import LightClient
from tests.support.clients import make_client
from tests.support.running_service import RunningService, running_service

QUERY = "SELECT * FROM tycho2.bright WHERE hip = {}"
REQUESTS = 25
REPEATS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=90)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        data = Path(folder)
        engine = EmbeddedEngine(data)
        stack.callback(engine.close)
        prepare_engine(engine)
        with ConsoleReporter() as reporter:
            load_demo(engine, reporter)
        usage = {"usage": data / "usage.sqlite"}
        logs = {"query_log": str(data / "queries"), "request_log": str(data / "requests"), "log_addresses": "hashed"}
        settings: dict[str, dict[str, Any]] = {
            "nothing": {},
            "metrics of requests": {},
            "usage": {"usage": data / "other.sqlite"},
            "all": usage | logs,
            "nothing again": {},
        }
        clients = {}
        for name, given in settings.items():
            config = Config(**{"query_log": "", "jobs_path": data / name, **given})
            side = stack.enter_context(running_service(config, engine))
            if name not in ("metrics of requests", "all"):
                stop_observation(side)
            clients[name] = LightClient(side.port)
        figures: dict[str, list[float]] = {name: [] for name in clients}
        for client in (*clients.values(),) * 3:
            measure_slice(client)
        for _ in range(rounds):
            for name in random.sample(list(clients), len(clients)):
                figures[name].append(measure_slice(clients[name]))
        for name, found in figures.items():
            kept = sorted(found)[: -len(found) // 3]
            print(f"processor time of a look-up, {name}: {1000 * fmean(kept):.2f} ms")
        asyncio.run(measure_middleware(data))
        measure_usage(data)


def stop_observation(side: RunningService) -> None:
    """Remove the middleware of requests."""
    app = side.server.config.app
    app.user_middleware[:] = [each for each in app.user_middleware if each.cls is not ObserveRequests]
    app.middleware_stack = app.build_middleware_stack()


def measure_slice(client: LightClient) -> float:
    """Return the processor seconds of a request, without the client's."""
    began, client_began = time.process_time(), time.thread_time()
    for number in range(REQUESTS):
        status, _ = client.ask(QUERY.format(number * 97 + 1))
        assert status == 200, status
    spent = time.process_time() - began - (time.thread_time() - client_began)
    return spent / REQUESTS


async def measure_middleware(folder: Path) -> None:
    """Print the processor time of the middleware around an application that does nothing."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def drop(message: Message) -> None:
        pass

    async def receive() -> Message:
        return {}

    headers = [(b"host", b"127.0.0.1:8000"), (b"user-agent", b"pyvo/1.7"), (b"content-type", b"text/plain")]
    bare = 0.0
    for name, log, addresses in (
        ("", "", "full"),
        ("metrics", "", "full"),
        ("and a request log", "log", "full"),
        ("and hashed addresses", "hashed", "hashed"),
    ):
        metrics = ServiceMetrics()
        mask = ClientMask(addresses, "full", lambda _name, _seconds: b"key")
        lines = LineLog(str(folder / log) if log else "", "request", mask, lambda: None)
        services = SimpleNamespace(metrics=metrics, config=Config(), request_log=lines)
        app = SimpleNamespace(state=SimpleNamespace(services=services))
        asked = ObserveRequests(answer) if name else answer
        began = time.thread_time()
        for _ in range(REPEATS):
            scope = {"type": "http", "method": "POST", "path": "/tap/sync", "app": app, "headers": headers}
            scope |= {"client": ("127.0.0.1", 4000), "server": ("127.0.0.1", 8000), "scheme": "http", "state": {}}
            await asked(scope, receive, drop)
        each = 1e6 * (time.thread_time() - began) / REPEATS
        lines.close()
        if name:
            print(f"middleware, {name}: {each - bare:.1f} us a request")
        else:
            bare = each


def measure_usage(folder: Path) -> None:
    counter = UsageCounter(SqliteUsageStore(folder / "counted.sqlite"))
    client = make_client()
    report, count = QueryReport("OK", rows=1, bytes=1000, seconds={"engine": 0.004}), REPEATS
    began = time.thread_time()
    for number in range(count):
        counter.count_query(report, "xml", replace(client, address=f"10.0.{number // 250 % 250}.{number % 250}"))
    counted = time.thread_time()
    counter.store_counts()
    stored = time.thread_time()
    print(
        f"usage: {1e6 * (counted - began) / count:.1f} us a query, {1e3 * (stored - counted):.0f} ms to store {count}"
    )
    counter.close()


if __name__ == "__main__":
    main()
