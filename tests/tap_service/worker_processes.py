"""Real Celery workers, in separate processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tap_service.config import Config
from tests.support.environment import ROOT, make_environment
from tests.tap_service.processes import children, said_by


class Workers:
    """``python -m workers`` in a separate process, with the settings in its environment."""

    def __init__(self, settings: dict[str, Any], output: Path, jobs: str = "all") -> None:
        self._environment = make_environment(output.parent / "data", **settings)
        self._processes = str(Config(**settings).concurrent_jobs)
        self._jobs = jobs
        self._output = output
        self.start()

    def start(self) -> None:
        options = ["--jobs", self._jobs, "--processes", self._processes]
        command = [sys.executable, "-W", "ignore", "-m", "workers", *options]
        with self._output.open("a") as output:
            self._said_before = output.tell()
            self.process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=output, stderr=output)

    def children(self) -> list[int]:
        """Return the forked processes that execute jobs."""
        return [pid for pid, is_caretaker in self._all() if not is_caretaker]

    def caretakers(self) -> list[int]:
        return [pid for pid, is_caretaker in self._all() if is_caretaker]

    def has_said(self, text: str) -> bool:
        """Return whether the output has the text since the start."""
        return text.encode() in self._output.read_bytes()[self._said_before :]

    def kill(self) -> None:
        """Kill all processes at once, like a power failure; do nothing if the main process has ended."""
        if self.process.poll() is not None:
            return
        others = [pid for pid, _ in self._all()]
        self.process.kill()
        for pid in others:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()

    def wait(self) -> int:
        return self.process.wait(timeout=60)

    def _all(self) -> list[tuple[int, bool]]:
        """Return each child process of the main one, and whether it is the caretaker."""
        found = children(self.process.pid)
        return [(pid, b"workers.caretaker" in line) for pid in found if (line := said_by(pid, "cmdline"))]
