"""The objects of a worker process: the engine, the stores, and the runner of jobs."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Collection
from pathlib import Path

from billiard import current_process
from celery import Celery

from tap_service.config import Config
from tap_service.factory.job_factory import build_job_queue, build_job_runner
from tap_service.factory.query_services import build_query_services
from tap_service.models.work_class import WorkClass
from tap_service.services.jobs.celery_dispatcher import CeleryDispatcher
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.open_storage import open_job_stores, open_remote_engine

_log = logging.getLogger("skyhouse")


class WorkerRuntime:
    """The engine, the stores and the runner of jobs of one worker process, built after the fork.

    Parameters
    ----------
    config : Config
        The settings.
    app : Celery
        The application that wakes other workers.
    work_classes : collection of WorkClass
        The classes of jobs that this worker executes.
    metrics_folder : Path
        Where the processes of the worker share their metrics.

    Raises
    ------
    EngineUnavailable
        No server answers.
    OSError
        The result store cannot be used.
    """

    def __init__(self, config: Config, app: Celery, work_classes: Collection[WorkClass], metrics_folder: Path) -> None:
        self._engine = open_remote_engine(config)
        self._work_classes = work_classes
        stores = open_job_stores(config)
        self._stores = stores
        self._queries = build_query_services(config, self._engine, stores.jobs, are_helpers_kept_ready=False)
        self._queue = build_job_queue(config, stores)
        self._dispatcher = CeleryDispatcher(app)
        worker = f"{socket.gethostname()}:{os.getpid()}"
        self._runner = build_job_runner(self._queries, stores, self._queue, worker, work_classes)

        metrics = self._queries.metrics
        metrics.jobs.set_function(lambda: self._runner.n_running)
        metrics.share_in(metrics_folder, f"worker-{current_process().index}")

    def start(self) -> None:
        self._queries.start()
        self._runner.start()

    def run_next(self) -> bool:
        """Execute the next job to its end; return False if no job may start now, or the engine is unreachable."""
        return self._runner.run_next()

    def wake_others(self, *, is_next_mine: bool = False) -> bool:
        """Wake workers for all jobs that may start now; the caretaker does this too, but later.

        Parameters
        ----------
        is_next_mine : bool
            Whether to leave out the first job that this worker may execute.

        Returns
        -------
        bool
            Whether there is such a job.
        """
        try:
            startable = self._queue.startable_classes()
        except JobStoreUnavailable as error:
            _log.warning("no worker can be notified of a job now: %s", error)
            return False
        mine = next((work for work in startable if work in self._work_classes), None) if is_next_mine else None
        if mine is not None:
            startable.remove(mine)
        for work in dict.fromkeys(startable):
            self._dispatcher.wake(work)
        return mine is not None

    def stop_jobs(self) -> None:
        """Stop running jobs, which return to the queue, and start no more jobs."""
        self._runner.close()

    def close(self) -> None:
        self._runner.close()
        self._queries.close()
        self._stores.close()
        self._engine.close()
