"""The systemd units: systemd can read them, and the service and its workers run under their restrictions."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from loaders import installation
from loaders.cli import serve_command
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.support.environment import ROOT, name_settings
from tests.support.ports import free_port
from tests.support.running_service import running_service
from tests.tap_service.unit_sandbox import can_analyze, find_missing, list_calls, read_unit

UNITS = Path(installation.__file__).parent
SERVICE, WORKER, BACKUP = (UNITS / f"{name}.service" for name in ("skyhouse", "skyhouse-worker", "skyhouse-backup"))
TIMER = UNITS / "skyhouse-backup.timer"

needs_analyze = pytest.mark.skipif(not can_analyze(), reason="systemd-analyze 250 or newer is not installed")
needs_sandbox = pytest.mark.skipif(bool(find_missing()), reason=find_missing())


@needs_analyze
class TestSystemd:
    def test_the_units_have_no_problem(self, tmp_path: Path) -> None:
        """With the program of these tests instead of the installed one."""
        units = [tmp_path / unit.name for unit in (SERVICE, WORKER, BACKUP, TIMER)]
        for unit in units:
            text = (UNITS / unit.name).read_text()
            unit.write_text(text.replace("/opt/skyhouse/bin/", f"{Path(sys.executable).parent}/"))
        answer = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stderr) == (0, "")

    @pytest.mark.parametrize("unit", [SERVICE, WORKER, BACKUP], ids=lambda unit: unit.stem)
    def test_their_exposure_is_low(self, unit: Path) -> None:
        """The exposure score in tenths of 10; it is 9.6 without any option."""
        command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", unit]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stdout


def find_command(unit: Path) -> list[str]:
    """The command of a unit, with the program of these tests instead of the installed one."""
    (command,) = read_unit(unit)["ExecStart"]
    program, *arguments = command.split()
    return [str(Path(sys.executable).parent / Path(program).name), *arguments]


def test_a_crash_leaves_no_core_and_the_service_starts_again() -> None:
    """tests/tap_service/test_crashes.py covers the end; systemd waits until the process has exited."""
    for unit in (SERVICE, WORKER, BACKUP):
        assert read_unit(unit)["LimitCORE"] == ["0"]
    options = read_unit(SERVICE)
    assert (options["Restart"], options["TimeoutStopSec"]) == (["on-failure"], ["1min"])
    assert serve_command._MAX_ENDING_SECONDS < 60


class Manager:
    """Listens to the notifications of a unit, with the variables that the unit gets."""

    def __init__(self, folder: Path) -> None:
        self._heard: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._listener.bind(str(folder / "notify"))
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()
        self.environment = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "200000"}

    def _listen(self) -> None:
        """Read until an empty message: the kernel keeps only ten unread messages."""
        while message := self._listener.recv(1000).decode():
            self._heard.put(message)

    def hear(self) -> str:
        return self._heard.get(timeout=60)

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", self._listener.getsockname())
        self._thread.join()
        self._listener.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(tmp_path)
    yield manager
    manager.close()


@contextmanager
def confined(unit: Path, manager: Manager, **settings: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tap_service.unit_sandbox", unit, *find_command(unit)],
        env={**os.environ, **manager.environment, **name_settings(settings)},
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@needs_sandbox
def test_the_service_works_under_its_unit(manager: Manager, tmp_path: Path) -> None:
    """The embedded engine compiles expressions; the sandbox reads uploads; a process translates long queries."""
    settings = {"data": tmp_path / "data", "port": free_port(), "query_log": "", "host": "127.0.0.1"}
    with confined(SERVICE, manager, **settings) as process:
        assert manager.hear() == "READY=1"
        assert manager.hear() == manager.hear() == "WATCHDOG=1"
        with httpx.Client(base_url=f"http://127.0.0.1:{settings['port']}", timeout=60) as client:
            assert client.get("/health/ready").status_code == 200
            rows = "n\n" + "".join(f"{number}\n" for number in range(5000))
            terms = " + ".join(f"SQRT(n * {number}) * 2 - n" for number in range(60))
            asked = {
                "LANG": "ADQL",
                "FORMAT": "csv",
                "UPLOAD": "mine,param:file",
                "QUERY": f"SELECT COUNT(*) AS n FROM TAP_UPLOAD.mine WHERE {terms} > -1e9",
            }
            for _ in range(5):  # the engine compiles expressions on their third use
                answer = client.post("/tap/sync", data=asked, files={"file": ("mine.csv", rows.encode(), "text/csv")})
                assert (answer.status_code, answer.text.split()) == (200, ["n", "5000"]), answer.text
            process.send_signal(signal.SIGTERM)
        while (said := manager.hear()) == "WATCHDOG=1":
            pass
        assert said == "STOPPING=1"
        assert process.wait() == 0


@needs_sandbox
def test_workers_work_under_their_unit(
    manager: Manager, cluster_settings: Callable[..., dict[str, Any]], eventually: Callable[[Callable[[], bool]], None]
) -> None:
    settings = cluster_settings(concurrent_jobs=1)
    engine = ClickHouseEngine(settings["clickhouse_url"])
    with (
        confined(WORKER, manager, **settings) as process,
        running_service(Config(**settings), engine) as service,
        httpx.Client(timeout=60) as client,
    ):
        assert manager.hear() == "READY=1"
        query = {"LANG": "ADQL", "PHASE": "RUN", "FORMAT": "csv", "QUERY": "SELECT COUNT(*) AS n FROM svc.numbers"}
        job = client.post(f"{service.tap}/async", data=query).headers["Location"]
        eventually(lambda: client.get(f"{job}/phase").text in ("COMPLETED", "ERROR", "ABORTED"))
        assert client.get(f"{job}/results/result").text.split() == ["n", "1000000"]
        process.send_signal(signal.SIGTERM)
        assert manager.hear() == "STOPPING=1"
        assert process.wait() == 0
    engine.close()


@needs_analyze
def test_the_sandbox_of_these_tests_forbids_something() -> None:
    allowed = list_calls("@system-service")
    assert {"execve", "mmap", "setpriority"} <= allowed | list_calls("@default")
    assert not {"mount", "ptrace", "bpf", "init_module", "reboot"} & allowed
