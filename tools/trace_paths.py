"""Count the files, functions and calls of the project that a cone search, a job and a load enter.

    python tools/trace_paths.py [cone] [job] [load] [--list]

Starts a service on the demo's tables in this process, with its data in a temporary folder, and sends it requests over
HTTP. The first request fills caches; of the next ten, the functions count that each of them enters, so that neither
work in the background nor waits of a busy machine count. Prints a line for each path: files, folders, functions, calls,
and moves from one file to another. ``--list`` also prints the functions by file, with their calls.
"""

from __future__ import annotations

import functools
import operator
import os
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

ROOT = Path(__file__).parents[1]
PACKAGES = tuple(f"{ROOT}/{name}/" for name in ("adql", "clickhouse_schema", "loaders", "tap_service", "workers"))

_QUERY = "SELECT tyc_id, ra, dec FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, {}))"

#: prefixes of the names of the threads that work on requests
_THREADS = ("MainThread", "server", "query", "encoder", "AnyIO", "asyncio", "job_", "spool")


class Trace:
    """Calls of the project's functions on all threads that start, or run Python code, while it is installed."""

    def __init__(self) -> None:
        self.is_on = False
        self._calls: Counter[tuple[str, str, int]] = Counter()
        self._moves = 0
        self._last = threading.local()
        self._rounds: list[tuple[Counter[tuple[str, str, int]], int]] = []

    def install(self) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def remove(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    @contextmanager
    def recording(self) -> Iterator[None]:
        self._calls.clear()
        self._moves = 0
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False
            self._rounds.append((self._calls.copy(), self._moves))

    def keep_common(self) -> None:
        """Keep the functions that every recording has, with their fewest calls; forget the recordings."""
        calls, moves = zip(*self._rounds, strict=True)
        self._calls = functools.reduce(operator.and_, calls)
        self._moves = min(moves)
        self._rounds.clear()

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if not self.is_on or event != "call" or not threading.current_thread().name.startswith(_THREADS):
            return
        code = frame.f_code
        file = code.co_filename
        if not file.startswith(PACKAGES) or code.co_name.startswith("<"):
            return
        self._calls[file, code.co_qualname, code.co_firstlineno] += 1
        if getattr(self._last, "file", file) != file:
            self._moves += 1
        self._last.file = file

    def describe(self) -> str:
        files = {file for file, _, _ in self._calls}
        folders = {os.path.dirname(file) for file in files}
        return (
            f"{len(files)} files in {len(folders)} folders, {len(self._calls)} functions, "
            f"{self._calls.total()} calls, {self._moves} moves between files"
        )

    def list_functions(self) -> Iterator[str]:
        last = ""
        for (file, name, _), calls in sorted(self._calls.items()):
            if file != last:
                last = file
                yield os.path.relpath(file, ROOT)
            yield f"    {name} {calls}"


@contextmanager
def serve_demo(engine: Any, data: Path) -> Iterator[str]:
    """Serve the engine's tables on a free port from a thread of this process; yield the service's address."""
    import uvicorn

    from tap_service.application import create_app
    from tap_service.config import Config
    from tap_service.http_server.http_protocol import SERVER

    app = create_app(Config(data=data, jobs_path=data / "jobs"), engine, are_helpers_kept_ready=False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", **SERVER))
        thread = threading.Thread(target=server.run, name="server", kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def ask_cone(url: str, radius: float) -> None:
    answer = httpx.get(f"{url}/tap/sync", params={"LANG": "ADQL", "QUERY": _QUERY.format(radius)})
    answer.raise_for_status()


def run_job(url: str, radius: float) -> None:
    """Create a job, ask for its phase until it has ended, and fetch the result."""
    data = {"LANG": "ADQL", "QUERY": _QUERY.format(radius), "PHASE": "RUN"}
    job = str(httpx.post(f"{url}/tap/async", data=data, follow_redirects=False).headers["location"])
    while httpx.get(f"{job}/phase").text not in ("COMPLETED", "ERROR", "ABORTED"):
        time.sleep(0.02)
    httpx.get(f"{job}/results/result", follow_redirects=True).raise_for_status()


def load_rows(engine: Any, folder: Path, number: int) -> None:
    """Load a file of two rows as a new table, as ``skyhouse load`` does it."""
    from loaders.cli.console_reporter import ConsoleReporter
    from loaders.control.data_commands import run_command
    from loaders.pipeline.load_request import LoadRequest

    file = folder / f"two_{number}.csv"
    file.write_text("id,ra,dec\n1,10.5,20.5\n2,11.5,21.5\n")
    request = LoadRequest(files=(file,), table=f"traced.two_{number}", rejects=folder / "rejects.csv")
    with ConsoleReporter() as reporter:
        if run_command(engine, request, reporter):
            raise RuntimeError("the load failed")


def trace_paths(wanted: set[str], *, lists_functions: bool) -> None:
    """Trace the paths of these names, all without any."""
    from clickhouse_schema.engine_tables import engine_setup
    from loaders.cli.console_reporter import ConsoleReporter
    from loaders.tables.demo_tables import load_demo
    from tap_service.storage.engine.embedded_engine import EmbeddedEngine

    trace = Trace()
    trace.install()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        engine = EmbeddedEngine(data)
        engine_setup.prepare_engine(engine)
        with ConsoleReporter() as reporter:
            load_demo(engine, reporter)
        with serve_demo(engine, data) as url:
            paths: dict[str, Callable[[int], None]] = {
                "cone": lambda number: ask_cone(url, 1 + number / 10),
                "job": lambda number: run_job(url, 1 + number / 10),
                "load": lambda number: load_rows(engine, Path(folder), number),
            }
            for name, request in paths.items():
                if wanted and name not in wanted:
                    continue
                request(0)
                for number in range(1, 11):
                    time.sleep(0.2)
                    with trace.recording():
                        request(number)
                        time.sleep(0.1)  # its end is recorded after the response
                trace.keep_common()
                print(f"{name}: {trace.describe()}")
                if lists_functions:
                    print(*trace.list_functions(), sep="\n")
        trace.remove()
        engine.close()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    trace_paths({name for name in arguments if not name.startswith("-")}, lists_functions="--list" in arguments)
