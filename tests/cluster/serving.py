"""A chDB with a configuration of its own, behind the stand-in, in a process that ends with the one that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import chdb

from tests.tap_service.storage.clickhouse_server import ROOT
from tests.tap_service.storage.stand_in import StandIn


@contextmanager
def process_of(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address over HTTP that ``python -m module`` serves, which calls ``serve``, as long as the context lasts."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(environment or {}), "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout as said:
        url = said.readline().decode().strip()
        if not url:
            raise RuntimeError(f"the cluster did not start: exit code {process.wait()}")
        try:
            yield url
        finally:
            process.kill()
            process.wait()


def serve(folder: Path, configuration: str, name: str) -> None:
    """Serve the data in ``folder`` until standard input ends, as it does when who holds its other end is gone."""
    file = folder / f"{name}.xml"
    file.write_text(configuration)
    path = f"{folder}/clickhouse?config-file={file}"
    root = chdb.connect(path)
    server = StandIn(path)
    print(server.url, flush=True)
    sys.stdin.read()
    server.close()
    root.close()
