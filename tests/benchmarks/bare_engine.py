"""The translated SQL in a bare handle of the embedded engine, in a process of its own that holds a data folder.

It reads a query a line and answers with JSON: milliseconds of the engine (wall and processor) and of the translation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.service_process import ROOT


class BareEngine:
    """The process, over a copy of a data folder that no process holds yet: one process holds one folder."""

    def __init__(self, data: Path) -> None:
        copy = data.with_name(data.name + "-bare")
        if not copy.exists():
            shutil.copytree(data, copy, symlinks=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.bare_engine", str(copy)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
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

    from adql.translation import translate
    from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
    from tap_service.storage.engine.embedded_engine import EmbeddedEngine
    from tap_service.storage.engine.engine import DEFAULT_SETTINGS

    engine = EmbeddedEngine(data)
    catalogue = read_catalogue(engine)
    handle = chdb.connect(str(data / "clickhouse"))
    applied: dict[str, object] = {}
    for line in sys.stdin:
        began, used = time.perf_counter(), time.process_time()
        translation = translate(line.rstrip("\n"), catalogue)
        translated, translated_used = time.perf_counter(), time.process_time()
        wanted = dict(DEFAULT_SETTINGS) | dict(translation.settings)
        if wanted != applied:
            literals = (
                f"{name} = {value if not isinstance(value, str) else repr(value)}" for name, value in wanted.items()
            )
            handle.query(f"SET {', '.join(literals)}")
            applied = wanted
        asked, asked_used = time.perf_counter(), time.process_time()
        answer = handle.query(translation.sql, "Arrow").bytes()
        figures = {
            "translation": (translated - began) * 1000,
            "translation_cpu": (translated_used - used) * 1000,
            "wall": (time.perf_counter() - asked) * 1000,
            "cpu": (time.process_time() - asked_used) * 1000,
            "bytes": len(answer),
        }
        print(json.dumps(figures), flush=True)
    handle.close()
    engine.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
