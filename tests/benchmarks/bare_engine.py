"""Run the SQL of ``/sync`` in a bare handle of the embedded engine, in a separate process that holds a data directory.

The handle has the settings of the service for that query, and answers in its format. The process reads one query per
line and answers with JSON: milliseconds of the engine (wall and processor) and of the translation.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.support.environment import ROOT, make_environment


class BareEngine:
    """The process, over a copy of a data directory that no other process holds."""

    def __init__(self, data: Path, **settings: Any) -> None:
        copy = data.with_name(data.name + "-bare")
        if not copy.exists():
            shutil.copytree(data, copy, symlinks=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.bare_engine", str(copy)],
            cwd=ROOT,
            env=make_environment(data, **settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ask("SELECT TOP 1 table_name FROM TAP_SCHEMA.tables")

    def ask(self, query: str) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(query + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate()


def main(data: Path) -> None:
    import chdb

    from tap_service.config import Config
    from tap_service.factory.query_services import build_query_services
    from tap_service.models.engine_share import choose_lane, choose_share
    from tap_service.services.queries.query_preparation import Costing
    from tap_service.services.queries.query_run import list_engine_settings
    from tap_service.services.queries.tap_parameters import read_tap_parameters
    from tap_service.storage.engine.embedded_engine import ARROW_FORMAT, EmbeddedEngine
    from tap_service.storage.engine.engine import DEFAULT_SETTINGS
    from tap_service.storage.engine.handle_pool import setting_literal
    from tap_service.storage.open_storage import open_job_stores

    config = Config(jobs_path=data / "jobs", query_log="")
    engine = EmbeddedEngine(data)
    components = build_query_services(config, engine, open_job_stores(config).jobs, are_helpers_kept_ready=False)
    handle = chdb.connect(str(data / "clickhouse"))
    applied: dict[str, object] = {}
    for line in sys.stdin:
        query, used = line.rstrip("\n"), time.process_time()
        components.translator.translate(
            query, components.catalogue_cache.catalogue_for(None), config.default_maxrec + 1, None
        )
        translation = time.process_time() - used
        parameters = read_tap_parameters([("QUERY", query), ("LANG", "ADQL")], config.max_query_length)
        prepared = components.preparation.prepare_query(
            parameters, "bare", config.hard_maxrec, costing=Costing.UNLESS_SMALL
        )
        small = prepared.small_reading
        share = choose_share(choose_lane(small, prepared.estimate), small)
        wanted = DEFAULT_SETTINGS | dict(list_engine_settings(prepared, share))
        if wanted != applied:
            reset = "".join(f"{name} = DEFAULT, " for name in applied.keys() - wanted.keys())
            values = ", ".join(f"{name} = {setting_literal(value)}" for name, value in wanted.items())
            handle.query(f"SET {reset}{values}")
            applied = wanted
        began, used = time.perf_counter(), time.process_time()
        answer = handle.query(prepared.translation.sql, ARROW_FORMAT).bytes()
        figures = {
            "wall": (time.perf_counter() - began) * 1000,
            "cpu": (time.process_time() - used) * 1000,
            "translation_cpu": translation * 1000,
            "bytes": len(answer),
        }
        print(json.dumps(figures), flush=True)
    handle.close()
    engine.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
