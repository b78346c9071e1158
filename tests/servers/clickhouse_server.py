"""A real ClickHouse server, in a separate process with its own data."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from tests.servers.chdb_library import IS_SUPPORTED
from tests.support.environment import ROOT
from tests.support.ports import free_port

_START_SECONDS = 120

_CONFIGURATION = """<clickhouse>
<path>{folder}/data/</path>
<tmp_path>{folder}/data/tmp/</tmp_path>
<tcp_port>{tcp_port}</tcp_port>
<http_port>{http_port}</http_port>
<listen_host>127.0.0.1</listen_host>
<users_config>{users}</users_config>
<logger><level>warning</level><log>{folder}/server.log</log><async>false</async></logger>
<mark_cache_size>268435456</mark_cache_size>
<asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>
<memory_worker_period_ms>1000</memory_worker_period_ms>
{more}
</clickhouse>
"""

_USERS = """<clickhouse>
<users><default>
<password></password><networks><ip>127.0.0.1</ip><ip>::1</ip></networks><profile>default</profile><quota>default</quota>
<access_management>1</access_management>
</default></users>
<profiles><default><fsync_metadata>0</fsync_metadata></default></profiles>
<quotas><default/></quotas>
</clickhouse>
"""


def require_servers() -> None:
    """Skip the test if no server can be started."""
    if not (IS_SUPPORTED or shutil.which("clickhouse")):
        pytest.skip("a ClickHouse server needs x86-64 Linux, or the command clickhouse")


class ClickHouseServer:
    """A server process, started by the constructor.

    Parameters
    ----------
    folder
        For its data, configuration and log; a folder of an earlier server has its tables.
    more
        XML of additional configuration, such as remote_servers.
    users
        A file of users; by default there is the user default without a password.
    tcp_port, http_port
        By default free ports.
    environment
        Variables for ``from_env`` in the configuration.
    """

    def __init__(
        self,
        folder: Path,
        more: str = "",
        *,
        users: Path | None = None,
        tcp_port: int = 0,
        http_port: int = 0,
        environment: dict[str, str] | None = None,
    ) -> None:
        require_servers()
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.port = http_port or free_port()
        self.tcp_port = tcp_port or free_port()
        self._environment = environment or {}
        if users is None:
            users = folder / "users.xml"
            users.write_text(_USERS)
        self._configuration = folder / "config.xml"
        self._configuration.write_text(
            _CONFIGURATION.format(
                folder=folder, tcp_port=self.tcp_port, http_port=self.port, users=users.resolve(), more=more
            )
        )
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._begin()
        self.wait_until_ready()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stall(self) -> None:
        """Stop all threads of the server, and wait until the last has stopped: until then it may still answer."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _begin(self) -> None:
        with (self.folder / "output.log").open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.servers.server_main", str(self._configuration)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **self._environment, "PYTHONPATH": str(ROOT)},
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start: {self.read_log()[-3000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        with suppress(requests.RequestException):
            return requests.get(f"{self.url}/ping", timeout=5).text == "Ok.\n"
        return False

    def read_log(self) -> str:
        files = (self.folder / "server.log", self.folder / "output.log")
        return "".join(file.read_text(errors="replace") for file in files if file.exists())
