"""Takes the next job from the queue for a process that executes jobs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection

from tap_service.constants import STORE_RETRY_SECONDS
from tap_service.models.uws_job import Job
from tap_service.models.work_class import WorkClass
from tap_service.services.announcements import Announcements
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.services.jobs.job_queue import JobQueue
from tap_service.storage.jobs.job_store import JobStoreUnavailable

_log = logging.getLogger("skyhouse")


class JobIntake:
    """Takes jobs of ``work_classes`` for the process that the job store knows as ``worker``."""

    def __init__(
        self,
        queue: JobQueue,
        patience: EnginePatience,
        announcements: Announcements,
        worker: str,
        work_classes: Collection[WorkClass],
    ) -> None:
        self._queue = queue
        self._patience = patience
        self._announcements = announcements
        self._worker = worker
        self._work_classes = work_classes
        self._closed = threading.Event()

    def take_job(self) -> Job | None:
        """Take the next job; None if the service drains, the engine is unavailable, or no job may start now.

        Retry while the job store is unavailable.
        """
        if self._announcements.is_draining or self._patience.find_problem() is not None:
            return None
        while not self._closed.is_set():
            try:
                return self._queue.take_job(self._worker, self._work_classes)
            except JobStoreUnavailable as error:
                _log.warning("a job cannot be started yet: %s", error)
                self._closed.wait(STORE_RETRY_SECONDS)
        return None

    def close(self) -> None:
        self._closed.set()
