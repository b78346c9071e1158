"""Starts of commands: the processor time of each, as a multiple of the start of a bare Python.

    python -m tests.benchmarks.bench_commands

A round runs each command once; the minimum over the rounds counts, because other work disturbs it least. A command
that is handed over to the service is timed without the service.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.servers.clickhouse_server import free_port

ROUNDS = 7
SKYHOUSE = (sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()")
BARE = (sys.executable, "-c", "pass")


def measure_processor_time(line: tuple[str, ...], environment: dict[str, str]) -> float:
    """Return the processor seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(commands: dict[str, tuple[str, ...]], environment: dict[str, str]) -> None:
    lines = {name: (*SKYHOUSE, *words) for name, words in commands.items()}
    rounds = [
        {name: measure_processor_time(line, environment) for name, line in {"bare": BARE, **lines}.items()}
        for _ in range(ROUNDS)
    ]
    least = {name: min(each[name] for each in rounds) for name in rounds[0]}
    for name in lines:
        print(f"{name:24} {least[name] / least['bare']:5.1f} x python -c pass ({least[name] * 1000:.0f} ms)")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SKYHOUSE_DATA": str(Path(folder) / "data"), "SKYHOUSE_CONFIG": ""}
        compare(
            {"--version": ("--version",), "--help": ("--help",), "tables --help": ("tables", "--help")}, environment
        )
        line = (*SKYHOUSE, "serve", "--port", str(free_port()))
        with subprocess.Popen(line, env=environment, text=True, stdout=subprocess.PIPE) as service:
            assert service.stdout is not None
            next(each for each in service.stdout if "data-urlencode" in each)
            handed_over = {"tables, handed over": ("tables",), "queries, handed over": ("queries",)}
            compare(handed_over, environment)
            service.send_signal(signal.SIGTERM)
        compare({"tables, here": ("tables",), "jobs list, here": ("jobs", "list")}, environment)


if __name__ == "__main__":
    main()
