"""Jobs survive when their process is killed, is stopped, or runs out of disk space: with real processes."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.ports import free_port
from tests.tap_service.async_client import UWS, Job, create_job

SERVICE = """
import sys
from pathlib import Path
import uvicorn
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.application import create_app
from tap_service.http_server.http_protocol import SERVER
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

data, port = Path(sys.argv[1]), int(sys.argv[2])
engine = EmbeddedEngine(data)
prepare_engine(engine)
config = Config(query_log="", jobs_path=data / "jobs", concurrent_jobs=1, user_running_jobs=1)
options = uvicorn.Config(create_app(config, engine), port=port, log_level="warning", **SERVER)
uvicorn.Server(options).run()
engine.close()
"""

SHORT = "SELECT TOP 3 table_name FROM TAP_SCHEMA.tables"
#: produces rows for minutes
LONG = "SELECT a.column_name FROM " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")
ROWS = {"FORMAT": "csv", "MAXREC": "100000000"}


class Process:
    """The service in a separate process, which can be restarted over the same data."""

    def __init__(self, data: Path, program: str = SERVICE) -> None:
        self.data = data
        self._program = program
        self.port = free_port()
        self.tap = f"http://127.0.0.1:{self.port}/tap"

    def start(self, prepare: Callable[[], None] | None = None) -> None:
        command = [sys.executable, "-c", self._program, str(self.data), str(self.port)]
        with (self.data.parent / "output").open("a") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, preexec_fn=prepare)
        while not self._answers():
            assert self.process.poll() is None, (self.data.parent / "output").read_text()
            time.sleep(0.05)

    def stop(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.wait()

    def results(self) -> list[str]:
        """Return the files of results and previews."""
        return sorted(path.name for path in (self.data / "jobs" / "results").iterdir())

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.tap}/availability").is_success
        except httpx.TransportError:
            return False


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path / "data")
    yield process
    process.stop(signal.SIGKILL)


def writing(job: Job) -> bool:
    return job.phase == "EXECUTING" and int(job.info.get("bytesWritten") or 0) > 0


def test_jobs_outlive_their_process(process: Process, eventually: Callable[[Callable[[], bool]], None]) -> None:
    process.start()
    done = create_job(process.tap, SHORT, PHASE="RUN", **ROWS)
    assert done.wait_for_end() == "COMPLETED"
    rows = done.rows()
    long = create_job(process.tap, LONG, PHASE="RUN", **ROWS)
    waiting = create_job(process.tap, SHORT, PHASE="RUN", **ROWS)
    pending = create_job(process.tap, SHORT)
    eventually(lambda: writing(long))
    finished = done.get().content
    process.stop(signal.SIGKILL)
    assert len(process.results()) == 2 * 2

    process.start()
    assert done.get().content == finished
    assert done.rows() == rows
    assert (pending.phase, waiting.phase) == ("PENDING", "QUEUED")
    eventually(lambda: writing(long))
    process.stop(signal.SIGTERM)
    assert len(process.results()) == 1 * 2

    process.start()
    eventually(lambda: writing(long))
    long.post("/phase", PHASE="ABORT")
    assert waiting.wait_for_end() == "COMPLETED"
    assert waiting.rows() == rows
    assert pending.run().wait_for_end() == "COMPLETED"
    eventually(lambda: len(process.results()) == 3 * 2)


def test_no_room_for_a_result(process: Process) -> None:
    """A limit of four megabytes per file acts like a full disk on the growing file."""
    limit = 4 << 20
    process.start(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    job = create_job(process.tap, LONG, PHASE="RUN", **ROWS)
    assert job.wait_for_end() == "ERROR"
    assert "the service does not have enough disk space for this query" in job.message
    assert job.summary.find(UWS + "errorSummary").get("type") == "transient"
    assert job.get("/results/result").status_code == 404
    assert process.results() == []
    assert create_job(process.tap, SHORT, PHASE="RUN").wait_for_end() == "COMPLETED"
