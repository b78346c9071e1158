"""Jobs handed to Celery's workers, over the Redis that keeps the jobs."""

from __future__ import annotations

import logging
from typing import Any

from celery import Celery
from kombu.exceptions import OperationalError

from tap_service.models.work_class import WorkClass

_log = logging.getLogger("skyhouse")

TASK = "skyhouse.run_next"


def queue_of(work: WorkClass) -> str:
    """What the list of the tasks for jobs of this class is called in Redis: workers may be for some classes alone."""
    return f"skyhouse:tasks:{work.name.lower()}"


def celery_app(redis_url: str, longest_seconds: int) -> Celery:
    """As the service, which sends tasks, and the workers need it. No task is longer than ``longest_seconds``.

    A task says that a job is QUEUED, and no more: which job is next, and what becomes of it, is in the job store alone.
    """
    app = Celery("skyhouse", broker=redis_url, set_as_current=False)
    settings: dict[str, Any] = {
        "task_default_queue": queue_of(WorkClass.SHORT),
        "task_ignore_result": True,
        # a task is done when its job is: what a dead worker had taken on goes to another one
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_enable_remote_control": False,
        "worker_hijack_root_logger": False,
        "worker_proc_alive_timeout": 60,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {"visibility_timeout": longest_seconds + 3600, "socket_timeout": 5},
    }
    app.conf.update(settings)
    return app


class CeleryDispatcher:
    def __init__(self, app: Celery) -> None:
        self._app = app

    def wake(self, work: WorkClass) -> None:
        """A job of which no worker can be told stays QUEUED, until the caretaker sees it."""
        try:
            self._app.send_task(TASK, queue=queue_of(work), retry=False)
        except OperationalError as error:
            _log.warning("the workers cannot be told of a job yet: %s", error)

    def close(self) -> None:
        self._app.close()
