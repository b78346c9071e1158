"""The ``skyhouse-worker`` command: worker processes of a cluster, and their caretaker."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tap_service.config import ConfigError, read_config
from tap_service.freed_memory import return_freed_memory
from tap_service.models.work_class import WorkClass
from tap_service.process_end import report_crashes
from tap_service.services.jobs.celery_dispatcher import celery_queue_name
from tap_service.services.jobs.job_queue import QueueRules
from tap_service.settings.settings_file import DEFAULT_FILE, FILE_VARIABLE
from tap_service.unused_libraries import leave_out_unused_libraries

_log = logging.getLogger("skyhouse")

#: seconds between the end of a caretaker or of Celery and the next start
_RESTART_SECONDS = 1.0

_JOB_CLASSES = {"all": tuple(WorkClass), "short": (WorkClass.SHORT,), "long": (WorkClass.LONG, WorkClass.VERY_LONG)}

Jobs = Annotated[
    str,
    typer.Option(
        help="Which jobs: short, of up to ten seconds; long, all others; or all.", metavar="|".join(_JOB_CLASSES)
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(help="Maximum number of jobs that run here at once; by default, as many as may run in all.", min=1),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help=f"File of settings; default: {FILE_VARIABLE}, else {DEFAULT_FILE} if there is one.",
    ),
]


def main() -> None:
    report_crashes()
    leave_out_unused_libraries()
    os.umask(0o077)  # results are for this user only
    return_freed_memory()
    typer.run(run_workers)


def run_workers(jobs: Jobs = "all", processes: Processes = None, config: ConfigFile = None) -> None:
    """Execute jobs until SIGTERM, with the settings of the service: SKYHOUSE_REDIS_URL and the others."""
    if config is not None:  # also for child processes
        os.environ[FILE_VARIABLE] = str(config.absolute())
    try:
        settings = read_config()
    except ConfigError as error:
        raise typer.BadParameter("\n".join(error.problems)) from error
    if not settings.redis_url:
        raise typer.BadParameter("workers need SKYHOUSE_REDIS_URL, SKYHOUSE_CLICKHOUSE_URL and SKYHOUSE_RESULTS_URL")
    if jobs not in _JOB_CLASSES:
        raise typer.BadParameter(f"--jobs is one of {', '.join(_JOB_CLASSES)}")
    from workers import celery_app as application

    application.work_classes = work_classes = _JOB_CLASSES[jobs]
    options = [
        "--pool=prefork",
        f"--concurrency={processes or QueueRules.from_config(settings).count_executors(work_classes)}",
        f"--queues={','.join(celery_queue_name(work) for work in work_classes)}",
        "--loglevel=WARNING",
        "--hostname=%h",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    ]
    with tempfile.TemporaryDirectory(prefix="skyhouse-metrics-") as folder, _run_caretaker(folder):
        application.metrics_folder = Path(folder)
        application.app.worker_main(["--quiet", "worker", *options])
    if not application.is_stopping():
        _restart()


def _restart() -> None:
    """Replace this process after Celery gave up, as it does if its processes die while Redis is unreachable."""
    _log.error("restarting the worker after a Celery error")
    time.sleep(_RESTART_SECONDS)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (the command that started it)


@contextmanager
def _run_caretaker(metrics_folder: str) -> Iterator[None]:
    """Keep one caretaker process running, which serves the metrics that the workers share in ``metrics_folder``."""
    stopping = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def restart_until_stopped() -> None:
        while not stopping.is_set():
            command = [sys.executable, "-m", "workers.caretaker", str(os.getpid()), metrics_folder]
            running[:] = [subprocess.Popen(command)]  # noqa: S603 (our own module)
            running[0].wait()
            stopping.wait(_RESTART_SECONDS)

    thread = threading.Thread(target=restart_until_stopped, name="caretaker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        while thread.is_alive():
            for process in running:
                process.terminate()
            thread.join(0.1)
