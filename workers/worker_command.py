"""The ``skyhouse-worker`` command: worker processes of the cluster deployment, and their caretaker."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from tap_service.config import ConfigError, read_config
from tap_service.models.work_class import WorkClass
from tap_service.services.jobs.celery_dispatcher import queue_of
from tap_service.services.jobs.job_queues import Rules

#: between the end of a caretaker and the next one
_AGAIN_SECONDS = 1.0

_WORKS = {"all": tuple(WorkClass), "short": (WorkClass.SHORT,), "long": (WorkClass.LONG, WorkClass.VERY_LONG)}

Jobs = Annotated[
    str,
    typer.Option(help="Which jobs: short, of up to ten seconds; long, all others; or all.", metavar="|".join(_WORKS)),
]
Processes = Annotated[
    int | None,
    typer.Option(help="Jobs that run at once here; by default as many as of these may run in all.", min=1),
]


def main() -> None:
    typer.run(work)


def work(jobs: Jobs = "all", processes: Processes = None) -> None:
    """Execute jobs until SIGTERM. The settings are those of the service: SKYHOUSE_REDIS_URL and the others."""
    try:
        settings = read_config()
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error
    if not settings.redis_url:
        raise typer.BadParameter("workers need SKYHOUSE_REDIS_URL, SKYHOUSE_CLICKHOUSE_URL and SKYHOUSE_RESULTS_URL")
    if jobs not in _WORKS:
        raise typer.BadParameter(f"--jobs is one of {', '.join(_WORKS)}")
    from workers import celery_app as application

    application.works = works = _WORKS[jobs]
    options = [
        "--pool=prefork",
        f"--concurrency={processes or Rules.of(settings).at_once(works)}",
        f"--queues={','.join(queue_of(work) for work in works)}",
        "--loglevel=WARNING",
        "--hostname=%h",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    ]
    with _caretaker():
        application.app.worker_main(["--quiet", "worker", *options])


@contextmanager
def _caretaker() -> Iterator[None]:
    """A caretaker beside the workers, and another one whenever it has ended, however that was."""
    stopping = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def keep() -> None:
        while not stopping.is_set():
            running[:] = [subprocess.Popen([sys.executable, "-m", "workers.caretaker", str(os.getpid())])]  # noqa: S603 (our own)
            running[0].wait()
            stopping.wait(_AGAIN_SECONDS)

    keeper = threading.Thread(target=keep, name="caretaker", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stopping.set()
        while keeper.is_alive():
            for process in running:
                process.terminate()
            keeper.join(0.1)
