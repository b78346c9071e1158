"""Notifies Celery workers of jobs through the Redis that holds the job store."""

from __future__ import annotations

import logging
from typing import Any

from celery import Celery
from kombu.exceptions import OperationalError

from tap_service.models.work_class import WorkClass

_log = logging.getLogger("skyhouse")

TASK = "skyhouse.run_next"


def celery_queue_name(work: WorkClass) -> str:
    """Return the name of a queue of tasks, a list in Redis.

    Parameters
    ----------
    work : WorkClass
        The class of the jobs in the queue. A worker may serve some classes only.
    """
    return f"skyhouse:tasks:{work.name.lower()}"


def build_celery_app(redis_url: str, max_task_seconds: int) -> Celery:
    """Build the Celery application of the service, which sends tasks, and of the workers.

    A task only announces that a job is QUEUED; the job store alone decides which job is next and keeps its phase.

    Parameters
    ----------
    redis_url : str
        The broker, which need not answer yet.
    max_task_seconds : int
        The longest execution duration of a job. A task without an acknowledgement is sent again an hour after it.
    """
    app = Celery("skyhouse", broker=redis_url, set_as_current=False)
    settings: dict[str, Any] = {
        "task_default_queue": celery_queue_name(WorkClass.SHORT),
        "task_ignore_result": True,
        # acknowledge a task when its job has ended, so that another worker gets the task of a dead one
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_enable_remote_control": False,
        "worker_hijack_root_logger": False,
        "worker_proc_alive_timeout": 60,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {"visibility_timeout": max_task_seconds + 3600, "socket_timeout": 5},
    }
    app.conf.update(settings)
    return app


class CeleryDispatcher:
    """Implements ``Dispatcher``."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def start(self) -> None:
        """Do nothing: the caretaker takes up the jobs that dead workers have left."""

    def wake(self, work: WorkClass) -> None:
        """Send a task. If Redis is unreachable, the job stays QUEUED until the caretaker finds it."""
        try:
            self._app.send_task(TASK, queue=celery_queue_name(work), retry=False)
        except OperationalError as error:
            _log.warning("no worker can be notified of a job now: %s", error)

    def close(self) -> None:
        self._app.close()
