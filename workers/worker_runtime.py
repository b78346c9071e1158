"""What a worker process holds: the engine, the stores, and the runner of jobs over them."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Collection

from celery import Celery

from tap_service.config import Config
from tap_service.models.work_class import WorkClass
from tap_service.prometheus_metrics import Metrics
from tap_service.services.catalogue.catalogue_cache import Metadata
from tap_service.services.jobs.celery_dispatcher import CeleryDispatcher
from tap_service.services.jobs.job_queues import JobQueue, Rules
from tap_service.services.jobs.job_runner import JobRunner
from tap_service.services.queries.cost_estimate import Estimator
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.query_preparation import Preparation
from tap_service.services.uploads.query_uploads import Uploads
from tap_service.services.uploads.table_files import TableFiles
from tap_service.services.user_tables.user_table_jobs import TableJobs
from tap_service.services.user_tables.user_table_requests import UserTables
from tap_service.storage.engine.engine_choice import remote_engine
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.store_choice import open_job_stores

_log = logging.getLogger("skyhouse")


class Runtime:
    """Made after the fork. Raises EngineUnavailable, and OSError if the store for results cannot be used."""

    def __init__(self, config: Config, app: Celery, works: Collection[WorkClass]) -> None:
        self._engine = remote_engine(config)
        self._metadata = Metadata(self._engine)
        stores = open_job_stores(config)
        self._jobs = stores.jobs
        self._queue = JobQueue(self._jobs, Rules.of(config))
        self._dispatcher = CeleryDispatcher(app)
        metrics = Metrics()
        files = TableFiles(config, at_once=False)
        uploads = Uploads(config, self._engine, files)
        estimator = Estimator(self._engine, self._jobs)
        preparation = Preparation(config, self._engine, self._metadata, estimator, uploads)
        tables = UserTables(config, self._engine, self._metadata, files)
        self._log = QueryLog(config.query_log, metrics)
        self._runner = JobRunner(
            config,
            self._engine,
            preparation,
            TableJobs(config, self._engine, stores, tables, preparation),
            stores,
            self._queue,
            metrics,
            self._log,
            worker=f"{socket.gethostname()}:{os.getpid()}",
            works=works,
        )

    def start(self) -> None:
        self._metadata.start()
        self._runner.start()

    def check_engine(self) -> None:
        """Raises EngineError if it is away: no job shall be started only to fail."""
        self._engine.ping()

    def run_next(self) -> bool:
        """Execute the job whose turn it is to its end; false if none may start now."""
        return self._runner.run_next()

    def wake_another(self) -> None:
        """If the place that has become free, or another one, is waited for. The caretaker does it too, but later."""
        try:
            for work in dict.fromkeys(self._queue.startable()):
                self._dispatcher.wake(work)
        except JobStoreUnavailable as error:
            _log.warning("the workers cannot be told of a job yet: %s", error)

    def stop_jobs(self) -> None:
        """Give back what runs, and take on nothing more."""
        self._runner.close()

    def close(self) -> None:
        self._runner.close()
        self._metadata.close()
        self._jobs.close()
        self._engine.close()
        self._log.close()
