"""The stand-in for a ClickHouse server, in its own process with its own data path."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class ClickHouseServer:
    """A server process, started by the constructor."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.port = free_port()
        self._process = self._start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def start(self) -> None:
        self._process = self._start()

    def stall(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _start(self) -> subprocess.Popen:
        command = [sys.executable, "-m", "tests.tap_service.storage.stand_in", str(self._data), str(self.port)]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert process.stdout is not None
        with process.stdout as said:
            said.readline()
        return process
