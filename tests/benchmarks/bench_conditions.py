"""Conditions of very many parts (circles joined by OR, branches of CASE): processor seconds on ``tycho2.bright``.

``python -m tests.benchmarks.bench_conditions``
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from adql.translation import translate
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from loaders.cli.console_reporter import ConsoleReporter
from loaders.tables.shipped_schemas import load_demo
from tap_service.storage.engine.embedded_engine import EmbeddedEngine


def circles(count: int) -> str:
    rng = np.random.default_rng(3)
    lon, lat = rng.uniform(0, 360, count), np.degrees(np.arcsin(rng.uniform(-1, 1, count)))
    terms = (f"1 = CONTAINS(POINT(ra, dec), CIRCLE({x:.5f}, {y:.5f}, 0.3))" for x, y in zip(lon, lat, strict=True))
    return f"SELECT COUNT(*) FROM tycho2.bright WHERE {' OR '.join(terms)}"


def look_up(count: int) -> str:
    whens = " ".join(f"WHEN {i} THEN {2 * i}" for i in range(count))
    return f"SELECT SUM(CASE hip {whens} ELSE -1 END) FROM tycho2.bright"


def branches(count: int) -> str:
    whens = " ".join(f"WHEN vt_mag < {12 * i / count:.5f} THEN {i}" for i in range(count))
    return f"SELECT SUM(CASE {whens} ELSE -1 END) FROM tycho2.bright"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(Path(folder))
        engine_setup.prepare_engine(engine)
        with ConsoleReporter() as reporter:
            load_demo(engine, reporter)
        catalogue = catalogue_log.read_catalogue(engine)
        for make, counts in ((circles, (100, 300, 1000)), (look_up, (1000, 8000)), (branches, (250, 1000, 2000))):
            for count in counts:
                taken = []
                for _ in range(3):
                    start = time.process_time()
                    translation = translate(make(count), catalogue)
                    engine.fetch_table(translation.sql, translation.settings)
                    taken.append(time.process_time() - start)
                print(f"{make.__name__} {count}: {sorted(taken)[1]:.2f} s")
        engine.close()


if __name__ == "__main__":
    main()
