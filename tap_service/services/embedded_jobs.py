"""The jobs of a service that is one process: records in SQLite, results on the local disk, work on threads."""

from __future__ import annotations

import logging
import os
from datetime import timedelta

from tap_service.config import Config
from tap_service.metrics import Metrics
from tap_service.models.instants import now
from tap_service.services.dispatch import ThreadDispatcher
from tap_service.services.jobs import JobService
from tap_service.services.lifetimes import Lifetimes, Sweeper
from tap_service.services.preparation import Preparation
from tap_service.services.query_log import QueryLog
from tap_service.services.run_job import JobRunner
from tap_service.storage.engine import Engine
from tap_service.storage.result_stores import result_store
from tap_service.storage.sqlite_jobs import SqliteJobStore

_log = logging.getLogger("skyhouse")

#: no worker outlives this process, so a heartbeat in the future is a clock that was set back
_ALL = timedelta(days=36_500)


class EmbeddedJobs:
    def __init__(
        self, config: Config, engine: Engine, preparation: Preparation, metrics: Metrics, log: QueryLog
    ) -> None:
        """Raises JobStoreUnavailable or OSError if the directory for jobs cannot be used."""
        if config.jobs_path is None:
            raise ValueError("no directory for jobs is set: give SKYHOUSE_JOBS_PATH")
        self.store = SqliteJobStore(config.jobs_path)
        self.results = result_store(config.results_url or str(config.jobs_path / "results"))
        self._lifetimes = Lifetimes(engine, self.store, self.results)
        worker = f"pid {os.getpid()}"
        self._runner = JobRunner(config, engine, preparation, self.store, self.results, metrics, log, worker)
        self._dispatcher = ThreadDispatcher(self._runner.run_job, config.concurrent_jobs)
        self._sweeper = Sweeper(self._lifetimes)
        self.service = JobService(config, self.store, self.results, self._dispatcher, self._lifetimes)
        metrics.jobs.set_function(lambda: self._runner.running)

    def start(self) -> None:
        """Take up the jobs that another process, which this one follows, has left."""
        self._runner.start()
        waiting = self._lifetimes.recover(now() + _ALL)
        self._lifetimes.expire(now())
        self._lifetimes.sweep(minimum_age=0)
        for job_id in waiting:
            self._dispatcher.submit(job_id)
        if waiting:
            _log.warning("%d jobs of an earlier process are queued again", len(waiting))
        self._sweeper.start()

    def close(self) -> None:
        """What runs begins anew at the next start."""
        self._dispatcher.close()
        self._sweeper.close()
        self._runner.close()
        self.store.close()
