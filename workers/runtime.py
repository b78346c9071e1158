"""What a worker process holds: the engine, the stores, and the runner of jobs over them."""

from __future__ import annotations

import os
import socket

from tap_service.config import Config
from tap_service.metrics import Metrics
from tap_service.models.job import ExecutionPhase
from tap_service.services.metadata import Metadata
from tap_service.services.preparation import Preparation
from tap_service.services.query_log import QueryLog
from tap_service.services.run_job import JobRunner
from tap_service.storage.engines import remote_engine
from tap_service.storage.jobs import NoSuchJob
from tap_service.storage.redis_jobs import RedisJobStore
from tap_service.storage.result_stores import result_store


class Runtime:
    """Made after the fork. Raises EngineUnavailable, and OSError if the store for results cannot be used."""

    def __init__(self, config: Config) -> None:
        self._engine = remote_engine(config)
        self._metadata = Metadata(self._engine)
        self._jobs = RedisJobStore(config.redis_url)
        metrics = Metrics()
        self._log = QueryLog(config.query_log, metrics)
        self._runner = JobRunner(
            config,
            self._engine,
            Preparation(config, self._engine, self._metadata),
            self._jobs,
            result_store(config.results_url),
            metrics,
            self._log,
            worker=f"{socket.gethostname()}:{os.getpid()}",
        )

    def start(self) -> None:
        self._metadata.start()
        self._runner.start()

    def run_job(self, job_id: str) -> None:
        """Execute a QUEUED job to its end."""
        self._runner.run_job(job_id)

    def is_queued(self, job_id: str) -> bool:
        try:
            return self._jobs.get(job_id).phase is ExecutionPhase.QUEUED
        except NoSuchJob:
            return False

    def stop_jobs(self) -> None:
        """Give back what runs, and take on nothing more."""
        self._runner.close()

    def close(self) -> None:
        self._runner.close()
        self._metadata.close()
        self._jobs.close()
        self._engine.close()
        self._log.close()
