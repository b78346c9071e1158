"""When its engine crashes or hangs, ``skyhouse serve`` exits, and the next start continues its jobs."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import httpx
import pytest

from tests.benchmarks.service_process import ServiceProcess
from tests.tap_service.async_client import create_job
from tests.tap_service.processes import children, said_by

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the engine's threads in /proc")

#: takes seconds; its condition always holds
PRODUCT = (
    "SELECT COUNT(*) AS n FROM "
    + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcde")
    + f" WHERE {' + '.join(f'SIN(a.column_index + e.column_index * {number})' for number in range(2))} < 3"
)
#: produces rows for minutes
ENDLESS = "SELECT a.column_name FROM " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")

#: the engine's name for a thread that computes a query
QUERY = "QueryPull"

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.argtypes = [ctypes.c_long] * 4
_PTRACE_SEIZE, _PTRACE_INTERRUPT, _ANY_THREAD = 0x4206, 0x4207, 0x40000000


class Service(ServiceProcess):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "data", concurrent_jobs=1)
        self._folder = folder
        change = "from loaders.cli import serve_command; serve_command._MAX_ENDING_SECONDS = 3"
        self._command[2] = f"{change}; {self._command[2]}"

    def find_threads(self, name: str) -> list[int]:
        """Return the threads of the service whose names begin with a prefix."""
        threads = [int(entry) for entry in os.listdir(f"/proc/{self.pid}/task")]
        return [thread for thread in threads if said_by(thread, "comm").decode().startswith(name)]

    def send_signal(self, number: signal.Signals, thread: int) -> None:
        """Send a signal to one thread, as after an error of this thread."""
        assert _LIBC.tgkill(self.pid, thread, int(number)) == 0

    def read_log(self) -> str:
        return (self._folder / "service.log").read_text()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    yield service
    service.kill()


Eventually = Callable[[Callable[[], bool]], None]


def test_a_crash_ends_the_service_and_its_jobs_go_on(service: Service, eventually: Eventually) -> None:
    """The next start finds the folder unlocked, and the job whose service crashed completes."""
    columns = count_rows(service, "TAP_SCHEMA.columns WHERE column_index IS NOT NULL")
    job = create_job(service.tap, PRODUCT, PHASE="RUN", FORMAT="csv")
    eventually(lambda: job.phase == "EXECUTING" and bool(service.find_threads(QUERY)))
    helpers = children(service.pid)
    assert helpers
    service.send_signal(signal.SIGSEGV, service.find_threads(QUERY)[0])
    assert service.wait() == -signal.SIGSEGV
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{service.tap}/availability")
    eventually(lambda: not any(said_by(helper, "cmdline") for helper in helpers))
    assert "in _fetch_batches" in service.read_log()  # the stacks of all threads
    before = service.tap
    service.start()
    job.url = job.url.replace(before, service.tap)
    assert job.wait_for_end() == "COMPLETED"
    assert job.rows().split() == ["n", str(columns**5)]
    service.send_signal(signal.SIGABRT, service.pid)  # the main thread, which systemd's watchdog signals too
    assert service.wait() == -signal.SIGABRT


def test_a_service_whose_engine_hangs_ends_at_sigterm(service: Service, eventually: Eventually) -> None:
    """A thread of a query hangs forever, as if its disk did not answer."""
    create_job(service.tap, ENDLESS, PHASE="RUN", FORMAT="csv", MAXREC="100000000")
    eventually(lambda: bool(service.find_threads(QUERY)))
    helpers = children(service.pid)
    tracer = stop_thread(service.find_threads(QUERY)[0])
    service.terminate()
    tracer.join()
    assert service.wait() == -signal.SIGALRM
    eventually(lambda: not any(said_by(helper, "cmdline") for helper in helpers))
    log = service.read_log()
    assert (
        "in _fetch_batches" in log or "in stream_batches" in log
    )  # where the query fetches, and where it is cancelled


def count_rows(service: Service, table: str) -> int:
    query = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": f"SELECT COUNT(*) AS n FROM {table}"}
    return int(httpx.get(f"{service.tap}/sync", params=query).text.split()[1])


def stop_thread(thread: int) -> threading.Thread:
    """Stop one thread of another process permanently; return the thread here that waits until it is killed."""
    stopped: SimpleQueue[int] = SimpleQueue()

    def trace() -> None:
        for request in (_PTRACE_SEIZE, _PTRACE_INTERRUPT):
            if _LIBC.ptrace(request, thread, 0, 0):
                stopped.put(ctypes.get_errno())
                return
        _, status = os.waitpid(thread, _ANY_THREAD)
        stopped.put(0)
        while os.WIFSTOPPED(status):
            _, status = os.waitpid(thread, _ANY_THREAD)

    tracer = threading.Thread(target=trace)
    tracer.start()
    if error := stopped.get():
        pytest.skip(f"threads cannot be stopped by ptrace here: {os.strerror(error)}")
    return tracer
