"""A cluster in small: real Celery workers and a real Redis; ClickHouse's place is taken by the stand-in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tap_service.config import Config

ROOT = Path(__file__).parents[2]


class Workers:
    """``python -m workers`` in a process of its own, with the settings in its environment."""

    def __init__(self, settings: dict[str, Any], output: Path) -> None:
        self._environment = {f"SKYHOUSE_{name.upper()}": str(value) for name, value in settings.items()}
        self._processes = str(Config(**settings).concurrent_jobs)
        self._output = output
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "workers", "--processes", self._processes]
        with self._output.open("a") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **self._environment}, stdout=output, stderr=output
            )

    def children(self) -> list[int]:
        """The processes that execute jobs, which the main one has forked."""
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in found if b"workers.care" not in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def kill(self) -> None:
        """All of it at once, as a machine that loses its power."""
        for pid in [self.process.pid, *self.children()]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()

    def wait(self) -> int:
        return self.process.wait(timeout=60)
