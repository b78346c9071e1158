"""A service in a separate process, from any checkout, and the processor time that it uses."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.process_tree import read_processor_seconds
from tests.support.environment import ROOT, make_environment
from tests.support.ports import free_port


class ServiceProcess:
    """Run ``skyhouse`` of a checkout over a separate data directory.

    Parameters
    ----------
    data
        The data directory.
    checkout
        The checkout whose code runs, in the environment of this one.
    settings
        Names of settings in lower case without their prefix, and their values.
    """

    def __init__(self, data: Path, checkout: Path = ROOT, **settings: Any) -> None:
        module, function = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["scripts"][
            "skyhouse"
        ].split(":")
        self._command = [sys.executable, "-c", f"from {module} import {function}; {function}()"]
        self._checkout = checkout
        self._environment = make_environment(data, checkout, **{"query_log": "", **settings})
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def tap(self) -> str:
        return f"http://127.0.0.1:{self.port}/tap"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start_command(self, arguments: Sequence[str], stdin: int | None = None) -> subprocess.Popen[bytes]:
        """Start a command; one process holds the data directory, or the running service executes the command."""
        return subprocess.Popen(
            [*self._command, *arguments],
            cwd=self._checkout,
            env=self._environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run_command(self, arguments: Sequence[str]) -> str:
        process = self.start_command(arguments)
        said = process.communicate()[0].decode()
        if process.returncode:
            raise RuntimeError(f"skyhouse {' '.join(arguments)}: {said}")
        return said

    def start(self, *options: str) -> None:
        self.port = free_port()
        with (Path(self._environment["SKYHOUSE_DATA"]).parent / "service.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, "serve", "--port", str(self.port), *options],
                cwd=self._checkout,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        while b"/tap" not in (line := self._process.stdout.readline()):
            assert line, f"the service ended; see {log.name}"

    def wait(self) -> int:
        """Wait until it ends, and return its exit code."""
        assert self._process is not None
        with self._process as process:  # closes its pipe
            return process.wait()

    def terminate(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self.wait()

    def read_processor_seconds(self) -> float:
        """Return the processor time of the service and of its children so far."""
        return read_processor_seconds(self.pid)
