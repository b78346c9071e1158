"""The Celery application of the workers: one task, which is a shell around ``run_next``.

``skyhouse-worker`` starts it. Each worker process connects at its first task, and again if the engine was away then.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Collection
from typing import Any

from celery import signals

from tap_service.config import read_config
from tap_service.models.work_class import WorkClass
from tap_service.services.jobs.celery_dispatcher import TASK, celery_app
from tap_service.storage.engine.engine import EngineError
from workers.worker_runtime import Runtime

_log = logging.getLogger("skyhouse")

#: how long a task waits for an engine that is away before it looks again
_AGAIN_SECONDS = 2

config = read_config()
app = celery_app(config.redis_url, config.async_hard_seconds)

#: Has something to read as soon as the main process shuts down. An event of multiprocessing would be waited for without
#: end once a process that watched it has been killed.
_stopping, _stop_writing = os.pipe()

#: the classes of the jobs that this worker does
works: Collection[WorkClass] = tuple(WorkClass)

_runtime: Runtime | None = None


def run_next() -> None:
    """Execute the job whose turn it is: QUEUED still if the engine is away, and again if this worker shuts down."""
    global _runtime
    while True:
        try:
            _runtime = _runtime or _started()
            _runtime.check_engine()
            break
        except EngineError as error:
            _log.warning("jobs wait for the engine: %s", error)
            if _is_stopping(_AGAIN_SECONDS):
                return
    if _runtime.run_next() or _is_stopping():
        _runtime.wake_another()


def _stop(**_: Any) -> None:
    os.write(_stop_writing, b"stop")


def _ended(**_: Any) -> None:
    if _runtime is not None:
        _runtime.close()


def _is_stopping(wait_seconds: float | None = 0) -> bool:
    return bool(select.select([_stopping], [], [], wait_seconds)[0])


def _started() -> Runtime:
    runtime = Runtime(config, app, works)
    runtime.start()
    threading.Thread(target=_close_in_time, args=(runtime,), name="stopping", daemon=True).start()
    return runtime


def _close_in_time(runtime: Runtime) -> None:
    """What runs when the worker shuts down is given back at once: it would keep the worker for as long as it lasts."""
    _is_stopping(None)
    runtime.stop_jobs()


app.task(run_next, name=TASK)
signals.worker_shutting_down.connect(_stop)
signals.worker_process_shutdown.connect(_ended)
