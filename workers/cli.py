"""The ``skyhouse-worker`` command: worker processes of the cluster deployment, and their caretaker."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated

import typer
from pydantic import ValidationError

from tap_service.config import Config
from tap_service.services.queues import Rules

Processes = Annotated[
    int | None,
    typer.Option(help="Jobs that run at once here; by default as many as may run in all.", min=1),
]


def main() -> None:
    typer.run(work)


def work(processes: Processes = None) -> None:
    """Execute jobs until SIGTERM. The settings are those of the service: SKYHOUSE_REDIS_URL and the others."""
    try:
        settings = Config.model_validate({})
    except ValidationError as error:
        raise typer.BadParameter(str(error)) from error
    if not settings.redis_url:
        raise typer.BadParameter("workers need SKYHOUSE_REDIS_URL, SKYHOUSE_CLICKHOUSE_URL and SKYHOUSE_RESULTS_URL")
    from workers.app import app  # reads the settings

    caretaker = subprocess.Popen([sys.executable, "-m", "workers.care", str(os.getpid())])  # noqa: S603 (our own)
    options = [
        "--pool=prefork",
        f"--concurrency={processes or Rules.of(settings).at_once}",
        "--loglevel=WARNING",
        "--hostname=%h",
    ]
    try:
        app.worker_main(["--quiet", "worker", *options, "--without-gossip", "--without-mingle", "--without-heartbeat"])
    finally:
        caretaker.terminate()
        caretaker.wait()
