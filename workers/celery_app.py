"""The Celery application of the workers: one task, which calls ``run_next``.

``skyhouse-worker`` starts it. Each worker process connects to the engine at its first task, or at a later one if the
engine is unreachable then; the caretaker sends tasks again when the engine answers.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any

from celery import signals
from celery.worker.request import Request
from kombu.asynchronous import get_event_loop

from tap_service.config import read_config
from tap_service.models.work_class import WorkClass
from tap_service.service_manager import READY, STOPPING, notify_manager
from tap_service.services.jobs.celery_dispatcher import TASK, build_celery_app
from tap_service.storage.accounts import AccountError
from tap_service.storage.engine.engine import EngineError
from workers.worker_runtime import WorkerRuntime

_log = logging.getLogger("skyhouse")

config = read_config()
app = build_celery_app(config.redis_url, config.async_hard_seconds)

#: A pipe that becomes readable when the main process shuts down. Waiting for a multiprocessing.Event would hang after a
#: process that watched it was killed.
_stopping, _stop_writing = os.pipe()

#: the classes of jobs that this worker executes
work_classes: Collection[WorkClass] = tuple(WorkClass)

#: where the processes of this worker share their metrics; the command creates and deletes the folder
metrics_folder = Path()

_runtime: WorkerRuntime | None = None


class _TaskRequest(Request):  # type: ignore[misc]
    """A task of a worker, which reconnects to Redis if it cannot acknowledge the task.

    Celery only logs this failure, and counts the task as running for as long as the connection lasts. A worker with as
    many such tasks as processes would take no more tasks, and would not even notice that the connection is lost.
    """

    def acknowledge(self) -> None:
        super().acknowledge()
        self._check_acknowledged()

    def reject(self, requeue: bool = False) -> None:
        super().reject(requeue)
        self._check_acknowledged()

    def _check_acknowledged(self) -> None:
        loop = get_event_loop()
        if not self.message.acknowledged and loop is not None:
            loop.call_soon(_lose_connection)  # type: ignore[no-untyped-call]


def _lose_connection() -> None:
    raise ConnectionResetError("a task could not be acknowledged")


def run_next() -> None:
    """Execute jobs until none may start; a task for each job would take longer than a short job.

    Jobs stay QUEUED while the engine is unreachable, and are requeued if this worker shuts down.
    """
    while (runtime := _reach_engine()) is not None:
        has_run = runtime.run_next()
        if is_stopping():
            runtime.wake_others()
            return
        if not (has_run and runtime.wake_others(is_next_mine=True)):
            return


def _reach_engine() -> WorkerRuntime | None:
    """Return the runtime; None if the engine is unreachable, or the file of users cannot be used."""
    global _runtime
    try:
        _runtime = _runtime or _start_runtime()
    except EngineError as error:
        _log.warning("jobs wait for the engine: %s", error.detail)
    except AccountError as error:  # it has the groups that may see tables
        _log.warning("jobs wait for the file of users: %s", error)
    return _runtime


def _announce_start(**_: Any) -> None:
    notify_manager(READY)


def _announce_shutdown(**_: Any) -> None:
    notify_manager(STOPPING)
    os.write(_stop_writing, b"stop")


def _close_runtime(**_: Any) -> None:
    if _runtime is not None:
        _runtime.close()


def is_stopping(wait_seconds: float | None = 0) -> bool:
    """Return whether this worker was asked to shut down, within ``wait_seconds``; None waits for it."""
    return bool(select.select([_stopping], [], [], wait_seconds)[0])


def _start_runtime() -> WorkerRuntime:
    runtime = WorkerRuntime(config, app, work_classes, metrics_folder)
    runtime.start()
    threading.Thread(target=_stop_jobs_at_shutdown, args=(runtime,), name="stopping", daemon=True).start()
    return runtime


def _stop_jobs_at_shutdown(runtime: WorkerRuntime) -> None:
    """Return running jobs to the queue at once; otherwise the worker would run until they end."""
    is_stopping(None)
    runtime.stop_jobs()


app.task(run_next, name=TASK, Request=_TaskRequest)
signals.worker_ready.connect(_announce_start)
signals.worker_shutting_down.connect(_announce_shutdown)
signals.worker_process_shutdown.connect(_close_runtime)
