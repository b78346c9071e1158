"""Cones on the demo's stars through HTTP against the same SQL asked of the engine bare. Aim: under three times.

    python -m tests.benchmarks.bench_cone

Each round asks one and the same cone of both, so that both meet the same state of the machine. The engine's way is a new
handle, the query and its Arrow batches; HTTP adds request, translation, serializer (BINARY2), spool and response.
"""

from __future__ import annotations

import random
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from adql.translation import translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.cli.console_reporter import ConsoleReporter
from loaders.tables.shipped_schemas import load_demo
from tap_service.application import SERVER, create_app
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

ROUNDS = 100
RADII = (0.1, 1.0, 5.0)


def cone(radius: float, seed: int) -> str:
    chance = random.Random(seed)
    ra, dec = chance.uniform(0, 360), chance.uniform(-80, 80)
    return f"SELECT * FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra:.5f}, {dec:.5f}, {radius}))"


@contextmanager
def served(engine: EmbeddedEngine, **settings: Any) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(Config(query_log="", jobs_path=engine.data_path / "jobs", **settings), engine)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", **SERVER))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/tap/sync"
    server.should_exit = True
    thread.join()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        prepare_engine(engine)
        with ConsoleReporter() as reporter:
            load_demo(engine, reporter)
        catalogue = read_catalogue(engine)
        uncached = {"use_query_condition_cache": 0}

        def bare(query: str) -> tuple[float, int]:
            translation = translate(query, catalogue)
            began = time.perf_counter()
            with engine.stream_batches(translation.sql, settings=translation.settings | uncached) as batches:
                rows = sum(batch.num_rows for batch in batches)
            return time.perf_counter() - began, rows

        with served(engine) as url, httpx.Client() as client:

            def through_http(query: str) -> float:
                began = time.perf_counter()
                client.post(url, data={"LANG": "ADQL", "QUERY": query}).raise_for_status()
                return time.perf_counter() - began

            for radius in RADII:
                queries = [cone(radius, seed) for seed in range(ROUNDS)]
                through_http(queries[0])
                pairs = [(through_http(query), *bare(query)) for query in queries]
                http, alone, rows = (statistics.median(column) for column in zip(*pairs, strict=True))
                print(
                    f"cone of {radius:g} degrees, {rows:g} rows: HTTP {http * 1000:.1f} ms, engine {alone * 1000:.1f} ms, "
                    f"ratio {http / alone:.2f}"
                )
        engine.close()


if __name__ == "__main__":
    main()
